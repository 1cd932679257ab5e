import { useVirtualizer } from '@tanstack/react-virtual'
import clsx from 'clsx'
import { type KeyboardEvent, useEffect, useId, useRef } from 'react'
import { Bar } from './Bar'
import type { Item } from './timeline'
import { type Described, describe, range, type Whole } from './words'

export const ROW = 44

type Props = {
  whole: Whole
  /** Where in the items the chosen one is. */
  chosen?: number
  onChoose: (at: number) => void
}

/** Every item of the run on a line of its own, drawn over the numbers of its chunks. Arrow keys choose. */
export function Lanes({ whole, chosen, onChoose }: Props) {
  const { items, count } = whole.timeline
  const box = useRef<HTMLDivElement>(null)
  const id = useId()
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 8,
  })
  const choose = (at: number) => {
    const to = Math.max(0, Math.min(items.length - 1, at))
    rows.scrollToIndex(to)
    onChoose(to)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const now = chosen ?? -1
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / ROW) - 1)
    const to: Record<string, number> = {
      ArrowDown: now + 1,
      ArrowUp: now - 1,
      PageDown: now + page,
      PageUp: now - page,
      Home: 0,
      End: items.length - 1,
    }
    const next = to[event.key]
    if (next === undefined) return
    event.preventDefault()
    choose(next)
  }
  useStuckToEnd(box, items.length, chosen === undefined && !whole.isOver)
  return (
    <div className="flex min-h-0 flex-col">
      <Axis count={count} />
      <div
        ref={box}
        role="listbox"
        aria-label="Timeline"
        tabIndex={0}
        aria-activedescendant={chosen === undefined ? undefined : `${id}-${chosen}`}
        onKeyDown={onKeyDown}
        className="min-h-0 overflow-y-auto focus-visible:-outline-offset-2"
      >
        <div role="presentation" className="relative" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start }) => {
            const item = items[index]
            if (!item) return null
            const told = describe(item, whole)
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox has the focus, and takes the keys
              <div
                key={index}
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === chosen}
                aria-posinset={index + 1}
                aria-setsize={items.length}
                onClick={() => choose(index)}
                style={{ height: ROW, transform: `translateY(${start}px)` }}
                className={clsx(
                  'absolute inset-x-0 grid cursor-pointer grid-cols-[10rem_minmax(0,1fr)] sm:grid-cols-[17rem_minmax(0,1fr)] items-center gap-3 border-b border-line/60 px-3',
                  index === chosen ? 'bg-accent-soft' : 'hover:bg-hover',
                )}
              >
                <Name item={item} told={told} />
                <Bar item={item} tone={told.tone} count={count} />
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

const DEPTH: Record<Item['kind'], string> = {
  attempt: '',
  gap: '',
  end: '',
  step: 'pl-3',
  reset: 'pl-6',
  changes: 'pl-6',
  text: 'pl-6',
  reasoning: 'pl-6',
  call: 'pl-6',
}

function Name({ item, told: { name, told, tone } }: { item: Item; told: Described }) {
  return (
    <div className={clsx('min-w-0 leading-tight', DEPTH[item.kind])}>
      <div
        className={clsx(
          'truncate text-sm foreign',
          item.kind === 'call' ? 'font-mono text-xs leading-5' : 'font-medium',
        )}
      >
        {name}
      </div>
      <div className={clsx('truncate text-xs foreign', tone === 'bad' ? 'text-danger' : 'text-ink-soft')} title={told}>
        {told}
        <span className="sr-only">, {range(item)}</span>
      </div>
    </div>
  )
}

/** Numbers of chunks, as many as there is room for. */
function Axis({ count }: { count: number }) {
  const marks = [0, 0.25, 0.5, 0.75].map((part) => Math.floor(count * part))
  return (
    <div className="grid shrink-0 grid-cols-[10rem_minmax(0,1fr)] sm:grid-cols-[17rem_minmax(0,1fr)] gap-3 border-b border-line px-3 py-1.5 text-xs text-ink-soft">
      <span>{count > 0 ? `By number of chunk, 0 to ${(count - 1).toLocaleString()}` : 'No chunk yet'}</span>
      <div className="relative hidden sm:block" aria-hidden>
        {[...new Set(marks)].map((mark) => (
          <span key={mark} className="absolute tabular-nums" style={{ left: `${(mark / Math.max(1, count)) * 100}%` }}>
            {mark.toLocaleString()}
          </span>
        ))}
      </div>
    </div>
  )
}

/** Keeps the end in sight while more comes, unless somebody has scrolled away from it. */
function useStuckToEnd(box: { current: HTMLElement | null }, length: number, isWanted: boolean) {
  const wasAtEnd = useRef(true)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const look = () => {
      wasAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 2 * ROW
    }
    element.addEventListener('scroll', look, { passive: true })
    return () => element.removeEventListener('scroll', look)
  }, [box])
  useEffect(() => {
    if (isWanted && wasAtEnd.current && length > 0) box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [box, length, isWanted])
}
