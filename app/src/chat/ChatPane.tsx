import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { SquarePen } from 'lucide-react'
import { useEffect, useState } from 'react'
import { answer, api } from '../api/client'
import { useGo, usePlace } from '../layout/usePlace'
import { useLive } from '../live/hooks'
import { threadKey } from '../live/keys'
import { ErrorNote } from '../ui/ErrorNote'
import { IconButton } from '../ui/IconButton'
import { Spinner } from '../ui/Spinner'
import { ConversationView } from './ConversationView'
import { type History, readHistory } from './history'
import { sentenceOf } from './suggestions'

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
      <Heading thread={thread} />
      {id === fresh.id ? <NewConversation key={id} thread={id} /> : <StoredConversation key={id} thread={id} />}
    </>
  )
}

const newThread = () => `t-${crypto.randomUUID()}`

function Heading({ thread }: { thread: string | undefined }) {
  const go = useGo()
  const { data } = useQuery({
    queryKey: threadKey(thread ?? ''),
    queryFn: ({ signal }) =>
      answer(api.GET('/threads/{thread}', { params: { path: { thread: thread ?? '' } }, signal })),
    // The stream brings it, and all of its changes.
    enabled: false,
  })
  const title = thread && data?.title
  return (
    <div className="flex h-12 shrink-0 items-center justify-between gap-2 border-b border-line pr-2 pl-4">
      <h2 className="truncate text-sm font-semibold foreign">{title ? (sentenceOf(title) ?? title) : 'Chat'}</h2>
      {thread && (
        <IconButton label="New chat" onClick={() => go({ pane: 'chat', thread: undefined })}>
          <SquarePen size={16} aria-hidden />
        </IconButton>
      )}
    </div>
  )
}

const NOTHING: History = { messages: [] }

function NewConversation({ thread }: { thread: string }) {
  const live = useLive()
  // It does not exist before its first message, so there is nothing to follow yet.
  useEffect(() => live.followThread(undefined), [live])
  return <ConversationView thread={thread} history={NOTHING} />
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
  if (history.isError) {
    return (
      <ErrorNote error={history.error} onRetry={() => history.refetch()}>
        <Link to="/" className="underline underline-offset-3">
          Go to the inbox
        </Link>
      </ErrorNote>
    )
  }
  return <ConversationView thread={thread} history={history.data} />
}
