import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { usePlace } from '../layout/usePlace'
import { useLive } from '../live/hooks'
import { ErrorNote } from '../ui/ErrorNote'
import { Spinner } from '../ui/Spinner'
import { Conversation } from './Conversation'
import { readHistory } from './history'

/** The open conversation, or one that has not begun. */
export function ChatPane() {
  const { thread } = usePlace()
  const [fresh, setFresh] = useState({ id: newThread(), begun: false })
  // The conversation that began here stays the same component; after it, the next new one is another.
  if (thread === fresh.id && !fresh.begun) setFresh({ ...fresh, begun: true })
  if (thread === undefined && fresh.begun) setFresh({ id: newThread(), begun: false })
  const id = thread ?? fresh.id
  return (
    <>
      <div className="flex h-12 shrink-0 items-center border-b border-line px-4">
        <h2 className="text-sm font-semibold">Chat</h2>
      </div>
      {id === fresh.id ? <NewConversation key={id} thread={id} /> : <StoredConversation key={id} thread={id} />}
    </>
  )
}

const newThread = () => `t-${crypto.randomUUID()}`

function NewConversation({ thread }: { thread: string }) {
  const live = useLive()
  // It does not exist before its first message, so there is nothing to follow yet.
  useEffect(() => live.followThread(undefined), [live])
  return <Conversation thread={thread} messages={[]} />
}

function StoredConversation({ thread }: { thread: string }) {
  const live = useLive()
  const history = useQuery({
    queryKey: ['history', thread],
    queryFn: ({ signal }) => readHistory(thread, signal),
    // From then on the conversation keeps itself up to date.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const position = history.data?.position
  useEffect(() => {
    if (position !== undefined) live.followThread(thread, position)
  }, [live, thread, position])
  if (history.isPending)
    return (
      <div className="p-6">
        <Spinner label="Reading the conversation" />
      </div>
    )
  if (history.isError) return <ErrorNote error={history.error} onRetry={() => history.refetch()} />
  return <Conversation thread={thread} messages={history.data.messages} activeRunId={history.data.activeRunId} />
}
