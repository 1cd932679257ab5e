import { useQuery } from '@tanstack/react-query'
import clsx from 'clsx'
import { MessageSquareText, SquarePen } from 'lucide-react'
import { answer, api } from '../api/client'
import { useGo, usePlace } from '../layout/usePlace'
import { threadsKey } from '../live/keys'
import { EmptyState } from '../ui/EmptyState'
import { ErrorNote } from '../ui/ErrorNote'
import { IconButton } from '../ui/IconButton'
import { Spinner } from '../ui/Spinner'
import { Time } from '../ui/Time'

/** The person's conversations, newest first. */
export function ThreadList() {
  const go = useGo()
  const { thread: open } = usePlace()
  const threads = useQuery({
    queryKey: threadsKey(),
    queryFn: ({ signal }) => answer(api.GET('/threads', { params: { query: { limit: 50 } }, signal })),
  })
  return (
    <>
      <div className="flex h-12 shrink-0 items-center justify-between pr-2 pl-4">
        <h2 className="text-sm font-semibold">Conversations</h2>
        <IconButton label="New conversation" onClick={() => go({ pane: 'chat', thread: undefined })}>
          <SquarePen size={16} aria-hidden />
        </IconButton>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
        {threads.isPending && (
          <div className="p-2">
            <Spinner />
          </div>
        )}
        {threads.isError && <ErrorNote error={threads.error} onRetry={() => threads.refetch()} />}
        {threads.data?.items.length === 0 && (
          <EmptyState icon={MessageSquareText} title="No conversations yet">
            Ask the agent something in the chat, and it is kept here.
          </EmptyState>
        )}
        <ul className="flex flex-col gap-0.5">
          {threads.data?.items.map((thread) => (
            <li key={thread.threadId}>
              <button
                type="button"
                aria-current={thread.threadId === open ? 'true' : undefined}
                onClick={() => go({ pane: 'chat', thread: thread.threadId })}
                className={clsx(
                  'flex w-full flex-col rounded-md px-2.5 py-2 text-left transition-colors',
                  thread.threadId === open ? 'bg-accent-soft' : 'hover:bg-hover',
                )}
              >
                <span className="w-full truncate text-sm foreign">{thread.title || 'Untitled'}</span>
                <Time at={thread.createdAt} className="text-xs text-ink-soft" />
              </button>
            </li>
          ))}
        </ul>
      </div>
    </>
  )
}
