import clsx from 'clsx'
import { useState } from 'react'
import { Button } from '../ui/Button'
import type { Item } from './timeline'
import { describe, type Whole } from './words'

const MORE = 100

type Props = { whole: Whole; chosen?: number; onChoose: (at: number) => void }

/** The timeline in words. */
export function ItemTable({ whole, chosen, onChoose }: Props) {
  const [shown, setShown] = useState(MORE)
  const { items } = whole.timeline
  return (
    <section
      aria-label="Table of the run"
      tabIndex={0}
      className="min-h-0 overflow-auto focus-visible:-outline-offset-2"
    >
      <table className="w-full text-left text-sm">
        <thead className="sticky top-0 bg-panel text-xs text-ink-soft">
          <tr className="border-b border-line">
            <th className="px-3 py-1.5 font-normal">What</th>
            <th className="px-3 py-1.5 font-normal">How it went</th>
            <th className="px-3 py-1.5 text-right font-normal">Chunks</th>
          </tr>
        </thead>
        <tbody>
          {items.slice(0, shown).map((item, at) => {
            const { name, told, tone } = describe(item, whole)
            return (
              <tr
                key={keyOf(item)}
                className={clsx('border-b border-line/60 align-baseline', at === chosen && 'bg-accent-soft')}
              >
                <th scope="row" className="px-3 py-1.5 font-medium">
                  <button
                    type="button"
                    aria-pressed={at === chosen}
                    onClick={() => onChoose(at)}
                    className="min-h-6 text-left underline decoration-line-strong underline-offset-3 hover:decoration-ink foreign"
                  >
                    {name}
                  </button>
                </th>
                <td className={clsx('px-3 py-1.5 foreign', tone === 'bad' ? 'text-danger' : 'text-ink-soft')}>
                  {told}
                </td>
                <td className="px-3 py-1.5 text-right whitespace-nowrap text-ink-soft tabular-nums">
                  {item.first === item.last ? item.first : `${item.first}–${item.last}`}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {items.length > shown && (
        <div className="p-3">
          <Button onClick={() => setShown(shown + MORE)}>Show more of {items.length.toLocaleString()}</Button>
        </div>
      )}
    </section>
  )
}

const keyOf = (item: Item) => `${item.kind} ${item.first} ${'id' in item ? item.id : ''}`
