import clsx from 'clsx'
import { useMemo, useState } from 'react'
import { Button } from '../ui/Button'
import { ChunkList } from './ChunkList'
import { ItemTable } from './ItemTable'
import { Lanes } from './Lanes'
import { belongs } from './timeline'
import type { RunLog } from './useRunLog'
import { count, describe } from './words'

type View = 'Timeline' | 'Table'

/** The timeline, and beside it the chunks of what is chosen there. */
export function Inspector({ log, isAction }: { log: RunLog; isAction: boolean }) {
  const { timeline, chunks, isOver } = log
  const [view, setView] = useState<View>('Timeline')
  const [chosen, setChosen] = useState<number>()
  const whole = { timeline, isOver, isAction }
  const item = chosen === undefined ? undefined : timeline.items[chosen]
  const shown = useMemo(() => {
    if (!item) return chunks
    return chunks.slice(item.first, item.last + 1).filter((one) => belongs(item, one))
  }, [chunks, item])
  const Items = view === 'Timeline' ? Lanes : ItemTable
  return (
    <div className="grid min-h-0 flex-1 grid-rows-[minmax(20rem,1fr)_minmax(20rem,1fr)] lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] lg:grid-rows-[minmax(16rem,1fr)]">
      <section aria-labelledby="run-items" className="flex min-h-0 min-w-0 flex-col border-line lg:border-r">
        <div className={HEAD}>
          <h2 id="run-items" className="font-semibold">
            What happened
          </h2>
          <fieldset className="ml-auto flex rounded-md border border-line p-0.5">
            <legend className="sr-only">Show it as</legend>
            {(['Timeline', 'Table'] as const).map((name) => (
              <button
                key={name}
                type="button"
                aria-pressed={view === name}
                onClick={() => setView(name)}
                className={clsx(
                  'min-h-6 rounded-sm px-2.5 text-xs font-medium',
                  view === name ? 'bg-accent-soft text-accent' : 'text-ink-soft hover:text-ink',
                )}
              >
                {name}
              </button>
            ))}
          </fieldset>
        </div>
        <Items whole={whole} chosen={chosen} onChoose={setChosen} />
      </section>
      <section
        aria-labelledby="run-chunks"
        className="flex min-h-0 min-w-0 flex-col border-t border-line lg:border-t-0"
      >
        <div className={HEAD}>
          <h2 id="run-chunks" className="min-w-0 truncate font-semibold foreign">
            {item
              ? `${count(shown.length, 'chunk')} of ${describe(item, whole).name}`
              : `All ${count(shown.length, 'chunk')}`}
          </h2>
          {item && (
            <Button quiet className="ml-auto shrink-0" onClick={() => setChosen(undefined)}>
              Show all
            </Button>
          )}
        </div>
        <ChunkList key={chosen} chunks={shown} />
      </section>
    </div>
  )
}

const HEAD = 'flex h-11 shrink-0 items-center gap-3 border-b border-line px-3'
