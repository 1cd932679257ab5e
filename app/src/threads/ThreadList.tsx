import { MessageSquareText, Search, SquarePen } from 'lucide-react'
import { type KeyboardEvent, useDeferredValue, useEffect, useRef, useState } from 'react'
import { useGo, usePlace } from '../layout/usePlace'
import { Button } from '../ui/Button'
import { EmptyState } from '../ui/EmptyState'
import { ErrorNote } from '../ui/ErrorNote'
import { IconButton } from '../ui/IconButton'
import { Spinner } from '../ui/Spinner'
import { ThreadRow } from './ThreadRow'
import { useThreads, type Which } from './useThreads'

const LISTS: { which: Which; name: string }[] = [
  { which: 'mine', name: 'Mine' },
  { which: 'shared', name: 'Shared' },
  { which: 'archived', name: 'Archive' },
]

/** The person's conversations, and those that the team shares. */
export function ThreadList() {
  const go = useGo()
  const { thread: open } = usePlace()
  const [which, setWhich] = useState<Which>('mine')
  const [text, setText] = useState('')
  const q = useDeferredValue(text.trim())
  const threads = useThreads(which, q)
  const items = threads.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <>
      <div className="flex h-12 shrink-0 items-center justify-between pr-2 pl-4">
        <h2 className="text-sm font-semibold">Conversations</h2>
        <IconButton label="New conversation" onClick={() => go({ pane: 'chat', thread: undefined })}>
          <SquarePen size={16} aria-hidden />
        </IconButton>
      </div>
      <div className="shrink-0 px-3 pb-2">
        <div className="relative">
          <Search size={14} aria-hidden className="pointer-events-none absolute top-2.25 left-2.5 text-ink-soft" />
          <input
            aria-label="Search conversations"
            placeholder="Search titles"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => event.key === 'Escape' && setText('')}
            className="h-8 w-full rounded-md border border-line bg-panel pr-2 pl-8 text-sm placeholder:text-ink-soft"
          />
        </div>
        <nav aria-label="Which conversations" className="mt-2 flex gap-1">
          {LISTS.map((list) => (
            <button
              key={list.which}
              type="button"
              aria-current={list.which === which ? 'page' : undefined}
              onClick={() => setWhich(list.which)}
              className={`min-h-6 rounded-full px-2.5 text-xs font-medium ${list.which === which ? 'bg-accent-soft text-accent' : 'text-ink-soft hover:bg-hover hover:text-ink'}`}
            >
              {list.name}
            </button>
          ))}
        </nav>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
        {threads.isPending && (
          <div className="p-2">
            <Spinner />
          </div>
        )}
        {threads.isError && <ErrorNote error={threads.error} onRetry={() => threads.refetch()} />}
        {threads.isSuccess && items.length === 0 && !threads.hasNextPage && (
          <Nothing which={which} searched={q !== ''} />
        )}
        <ul aria-label="Conversations" onKeyDown={moveFocus} className="flex flex-col gap-0.5">
          {items.map((thread) => (
            <ThreadRow key={thread.threadId} thread={thread} isOpen={thread.threadId === open} />
          ))}
        </ul>
        {threads.hasNextPage && (
          <More
            isBusy={threads.isFetchingNextPage}
            onMore={() => !threads.isFetching && void threads.fetchNextPage()}
          />
        )}
      </div>
    </>
  )
}

function moveFocus(event: KeyboardEvent<HTMLElement>) {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-thread]')]
  const at = rows.indexOf(event.target as HTMLElement)
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key]
  if (at < 0 || to === undefined) return
  event.preventDefault()
  rows[Math.min(Math.max(to, 0), rows.length - 1)]?.focus()
}

/** Asks for the next page when it comes into sight. */
function More({ isBusy, onMore }: { isBusy: boolean; onMore: () => void }) {
  const end = useRef<HTMLDivElement>(null)
  const newest = useRef(onMore)
  useEffect(() => {
    newest.current = onMore
  })
  useEffect(() => {
    const watcher = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting && !isBusy) newest.current()
    })
    if (end.current) watcher.observe(end.current)
    return () => watcher.disconnect()
  }, [isBusy])
  return (
    <div ref={end} className="flex justify-center p-2">
      {isBusy ? (
        <Spinner label="Loading more" />
      ) : (
        <Button quiet onClick={onMore}>
          Show more
        </Button>
      )}
    </div>
  )
}

function Nothing({ which, searched }: { which: Which; searched: boolean }) {
  if (searched) return <EmptyState icon={Search} title="No title fits" />
  if (which === 'shared') {
    return (
      <EmptyState icon={MessageSquareText} title="Nothing is shared">
        Share a conversation, and everybody in the team finds it here.
      </EmptyState>
    )
  }
  if (which === 'archived') return <EmptyState icon={MessageSquareText} title="The archive is empty" />
  return (
    <EmptyState icon={MessageSquareText} title="No conversations yet">
      Ask the agent something in the chat, and it is kept here.
    </EmptyState>
  )
}
