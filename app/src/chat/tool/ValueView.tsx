import { lazy, Suspense, useState } from 'react'
import { Button } from '../../ui/Button'
import { LongText } from '../../ui/LongText'
import { EmailLines } from './EmailLines'
import { inWords, type Row, type View } from './shape'
import { Tree } from './Tree'
import { readable } from './words'

const Chart = lazy(() => import('./Chart'))

/** How much of a long one is shown at first. */
const FIRST_ROWS = 6

export function ValueView({ view }: { view: View }) {
  switch (view.kind) {
    case 'nothing':
      return null
    case 'scalar':
      return (
        <p className="foreign">
          <LongText>{inWords(view.value)}</LongText>
        </p>
      )
    case 'text':
      return <Paragraphs text={view.text} />
    case 'list':
      return (
        <p className="foreign">
          <LongText>{view.items.map(inWords).join(', ')}</LongText>
        </p>
      )
    case 'emails':
      return <EmailLines emails={view.emails} />
    case 'chart':
      return (
        <Suspense fallback={<div style={{ height: chartHeight(view.rows.length) }} />}>
          <Chart {...view} height={chartHeight(view.rows.length)} />
        </Suspense>
      )
    case 'table':
      return <Table columns={view.columns} rows={view.rows} />
    case 'facts':
      return (
        <div className="flex flex-col gap-3">
          {view.facts.length > 0 && <Facts facts={view.facts} />}
          {view.more.map(([key, each]) => (
            <div key={key} className="flex min-w-0 flex-col gap-1">
              <p className="text-xs font-medium text-ink-soft foreign">{readable(key)}</p>
              <ValueView view={each} />
            </div>
          ))}
        </div>
      )
    case 'tree':
      return <Tree value={view.value} />
  }
}

const chartHeight = (rows: number) => Math.min(rows, 10) * 24 + 8

export function Facts({ facts }: { facts: [string, unknown][] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
      {facts.map(([key, value]) => (
        <div key={key} className="contents">
          <dt className="text-ink-soft foreign">{readable(key)}</dt>
          <dd className="whitespace-pre-wrap tabular-nums foreign">
            <LongText>{inWords(value)}</LongText>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Paragraphs({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(text.length < 600)
  return (
    <div className="flex flex-col items-start gap-1">
      <p className={`w-full whitespace-pre-wrap foreign ${isOpen ? '' : 'line-clamp-6'}`}>
        <LongText>{isOpen ? text : text.slice(0, 1200)}</LongText>
      </p>
      {!isOpen && (
        <Button quiet className="-ml-3" onClick={() => setOpen(true)}>
          Show all of it
        </Button>
      )}
    </div>
  )
}

function Table({ columns, rows }: { columns: string[]; rows: Row[] }) {
  const [shown, setShown] = useState(FIRST_ROWS)
  return (
    <div className="flex flex-col items-start gap-1">
      {/* biome-ignore lint/a11y/useSemanticElements: a table that is wider than its place is scrolled with the keyboard. */}
      <div role="group" aria-label="Table" tabIndex={0} className="w-full overflow-x-auto">
        <table className="w-full text-left">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col" className="py-1 pr-3 text-xs font-medium text-ink-soft foreign">
                  {readable(column)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows of an output have no names and never move.
              <tr key={at} className="border-t border-line">
                {columns.map((column) => (
                  <td key={column} className="max-w-56 py-1.5 pr-3 align-top tabular-nums foreign">
                    <LongText>{inWords(row[column])}</LongText>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <More of={rows.length} shown={shown} onMore={() => setShown(shown + 50)} />
    </div>
  )
}

export function More({ of, shown, onMore }: { of: number; shown: number; onMore: () => void }) {
  if (shown >= of) return null
  return (
    <Button quiet className="-ml-3" onClick={onMore}>
      {Math.min(50, of - shown)} more of {of.toLocaleString('en')}
    </Button>
  )
}
