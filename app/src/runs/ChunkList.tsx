import { useVirtualizer } from '@tanstack/react-virtual'
import clsx from 'clsx'
import { ChevronRight, Copy } from 'lucide-react'
import { useRef, useState } from 'react'
import { Button } from '../ui/Button'
import { LongText } from '../ui/LongText'
import { copy } from './copy'
import { pretty, preview } from './raw'
import type { Numbered } from './timeline'

/** Chunks as they are stored; each opens. */
export function ChunkList({ chunks }: { chunks: readonly Numbered[] }) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  const box = useRef<HTMLElement>(null)
  const rows = useVirtualizer({
    count: chunks.length,
    getScrollElement: () => box.current,
    getItemKey: (index) => chunks[index]?.seq ?? index,
    estimateSize: () => 33,
    overscan: 12,
  })
  const toggle = (seq: number) => {
    const next = new Set(open)
    if (!next.delete(seq)) next.add(seq)
    setOpen(next)
  }
  return (
    <section
      ref={box}
      aria-label="Chunks"
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2"
    >
      <div className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const one = chunks[index]
          if (!one) return null
          const isOpen = open.has(one.seq)
          return (
            <div
              key={key}
              ref={rows.measureElement}
              data-index={index}
              className="absolute inset-x-0 border-b border-line/60"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Line one={one} isOpen={isOpen} onToggle={() => toggle(one.seq)} />
              {isOpen && <Whole one={one} />}
            </div>
          )
        })}
      </div>
    </section>
  )
}

function Line({ one: { seq, chunk }, isOpen, onToggle }: { one: Numbered; isOpen: boolean; onToggle: () => void }) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onToggle}
      className="flex h-8 w-full items-center gap-2 px-3 text-left text-xs hover:bg-hover focus-visible:-outline-offset-2"
    >
      <ChevronRight
        size={13}
        aria-hidden
        className={clsx('shrink-0 text-ink-soft transition-transform', isOpen && 'rotate-90')}
      />
      <span className="min-w-8 shrink-0 text-right font-mono text-ink-soft tabular-nums">{seq}</span>
      <span className="shrink-0 font-medium">{chunk.type}</span>
      <span className="min-w-0 flex-1 truncate font-mono text-ink-soft foreign">{preview(chunk)}</span>
    </button>
  )
}

function Whole({ one: { chunk, arrived } }: { one: Numbered }) {
  const { text, missing } = pretty(chunk)
  return (
    <div className="flex flex-col gap-2 bg-sunken px-3 py-2">
      <pre tabIndex={0} className="max-h-80 overflow-auto font-mono text-xs whitespace-pre-wrap foreign">
        <LongText>{text}</LongText>
      </pre>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-soft">
        {missing > 0 && <span>{missing.toLocaleString()} characters more.</span>}
        {arrived !== undefined && <span>Came to this window at {clock.format(arrived)}.</span>}
        <Button quiet className="-ml-2 text-xs" onClick={() => copy(JSON.stringify(chunk), 'The chunk')}>
          <Copy size={13} aria-hidden /> Copy JSON
        </Button>
      </div>
    </div>
  )
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})
