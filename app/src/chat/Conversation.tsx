import { useChat } from '@ai-sdk/react'
import { useQueryClient } from '@tanstack/react-query'
import { Sparkles } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { answer, api } from '../api/client'
import { useGo } from '../layout/usePlace'
import { useLive, useLiveEvents } from '../live/hooks'
import { Button } from '../ui/Button'
import { EmptyState } from '../ui/EmptyState'
import { ErrorNote } from '../ui/ErrorNote'
import { Composer } from './Composer'
import type { Message } from './history'
import { MessageView } from './MessageView'
import { transport } from './transport'

type Props = { thread: string; messages: Message[]; activeRunId?: string }

/** One conversation: what was said, and a place to say something. */
export function Conversation({ thread, messages: stored, activeRunId }: Props) {
  const live = useLive()
  const cache = useQueryClient()
  const go = useGo()
  const chat = useChat<Message>({ id: thread, messages: stored, transport, throttle: 40 })
  const { messages, status, error } = chat
  const isBusy = status === 'submitted' || status === 'streaming'

  const resumed = useRef(false)
  useEffect(() => {
    if (!activeRunId || resumed.current) return
    resumed.current = true
    void chat.resumeStream()
  }, [activeRunId, chat.resumeStream])

  // A conversation exists once its first answer streams.
  const isStreaming = status === 'streaming'
  useEffect(() => {
    if (!isStreaming) return
    live.followThread(thread)
    void cache.invalidateQueries({ queryKey: ['threads'] })
  }, [isStreaming, live, thread, cache])

  // What others say, and answers that were asked for in another window.
  useLiveEvents((event) => {
    if (!('threadId' in event) || event.threadId !== thread || isBusy) return
    if (event.type === 'message' && !messages.some(({ id }) => id === event.message.id)) {
      chat.setMessages((now) => [...now.slice(0, event.n), event.message as Message])
    }
    if (event.type === 'run' && !messages.some(({ id }) => id === event.run.messageId)) void chat.resumeStream()
  })

  const send = (text: string) => {
    void chat.sendMessage({ text })
    go({ pane: 'chat', thread })
  }
  const stop = async () => {
    const { run } = await answer(api.GET('/runs/active', { params: { query: { threadId: thread } } }))
    if (run) await answer(api.POST('/runs/{run}/abort', { params: { path: { run: run.runId } } }))
  }

  return (
    <>
      <Scroller follow={messages}>
        {messages.length === 0 && <Welcome onPick={send} />}
        <ol className="flex flex-col gap-5 p-4">
          {messages.map((message) => (
            <li key={message.id}>
              <MessageView message={message} />
            </li>
          ))}
        </ol>
        {error && <ErrorNote error={error} onRetry={() => void chat.regenerate()} />}
      </Scroller>
      <p role="status" className="sr-only">
        {isBusy ? 'The agent is answering.' : messages.length > 0 && 'The answer is complete.'}
      </p>
      <Composer onSend={send} onStop={() => void stop()} isBusy={isBusy} />
    </>
  )
}

/** Stays at the end while new text comes, unless the person has scrolled up. */
function Scroller({ follow, children }: { follow: unknown; children: React.ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `follow` is what makes the content longer.
  useEffect(() => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [follow])
  return (
    <section
      ref={box}
      tabIndex={0}
      aria-label="Messages"
      className="min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2"
      onScroll={({ currentTarget: at }) => {
        isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < 48
      }}
    >
      {children}
    </section>
  )
}

/** What can be said without any key: lines that the scripted model understands, and a real one too. */
const SUGGESTIONS = [
  { label: 'What is in my inbox?', text: '/list-emails {"limit":5}' },
  { label: 'Summarize the inbox', text: '/summarize-inbox {}' },
  { label: 'Read the first email', text: '/read-email {"emailId":"e-1"}' },
]

function Welcome({ onPick }: { onPick: (text: string) => void }) {
  return (
    <EmptyState icon={Sparkles} title="Work on the inbox together">
      <p className="mb-4">The agent reads, labels, answers and archives with the same actions as you.</p>
      <div className="flex flex-col gap-2">
        {SUGGESTIONS.map(({ label, text }) => (
          <Button key={label} onClick={() => onPick(text)}>
            {label}
          </Button>
        ))}
      </div>
    </EmptyState>
  )
}
