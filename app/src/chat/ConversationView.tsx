import { useQuery } from '@tanstack/react-query'
import { CloudOff } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { answer, api } from '../api/client'
import { wordsOf } from '../api/problem'
import { RunLink } from '../layout/RunLink'
import { useGo } from '../layout/usePlace'
import { useLiveStatus } from '../live/hooks'
import { Button } from '../ui/Button'
import { EmptyState } from '../ui/EmptyState'
import { ErrorNote } from '../ui/ErrorNote'
import { toast } from '../ui/Toast'
import { AssistantMessage } from './AssistantMessage'
import { Composer } from './Composer'
import { GO_ON, hasDone } from './done'
import { endingOf, failureInWords, hasCode } from './ending'
import { type History, runOf } from './history'
import { ModelMenu } from './model/ModelMenu'
import { useModel } from './model/useModel'
import { Scroller } from './Scroller'
import { ThreadContext } from './threadContext'
import { UserMessage } from './UserMessage'
import { useEffects } from './useCatalogue'
import { useConversation } from './useConversation'
import { Welcome } from './Welcome'

type Props = { thread: string; history: History }

/** One conversation: what was said, and a place to say something. */
export function ConversationView({ thread, history }: Props) {
  const { conversation, messages, isBusy, status, error, extra } = useConversation(thread, history)
  const isOffline = useLiveStatus() === 'offline'
  const go = useGo()
  const last = messages.at(-1)
  const choice = useModel(thread)
  useEffect(() => {
    conversation.model = choice.model
  }, [conversation, choice.model])

  const effectOf = useEffects()
  useEffect(() => {
    conversation.effectOf = effectOf
  }, [conversation, effectOf])
  const trouble = error ?? extra.trouble
  const isOpen = isBusy || extra.isReading === true
  // After an answer that only broke off here, nobody knows how it stands.
  const isOver = !isOpen && (trouble === undefined || isOfRun(trouble))
  const isKept = last?.role === 'assistant' && hasDone(last, effectOf)

  const [said, setSaid] = useState(0)

  const send = (text: string) => {
    setSaid((times) => times + 1)
    conversation.send(text)
    go({ pane: 'chat', thread })
  }
  const interrupt = (text: string) => {
    setSaid((times) => times + 1)
    void conversation.interrupt(text).catch((problem) => toast(wordsOf(problem), { kind: 'failed' }))
  }
  const edit = useCallback((message: string, text: string) => conversation.edit(message, text), [conversation])
  const ways = useMemo(
    () => ({
      anew: () => conversation.again(),
      ask: (text: string) => {
        setSaid((times) => times + 1)
        conversation.send(text)
      },
    }),
    [conversation],
  )
  const stop = () => void conversation.stop().catch((problem) => toast(wordsOf(problem), { kind: 'failed' }))

  const goOn = isKept ? { retry: GO_ON.label, onRetry: () => ways.ask(GO_ON.text) } : { onRetry: ways.anew }

  if (extra.gone) {
    return (
      <EmptyState icon={CloudOff} title="This conversation is not here any more">
        <p className="mb-4">It was deleted, or is not shared with you any more.</p>
        <Button onClick={() => go({ thread: undefined })}>Begin a new one</Button>
      </EmptyState>
    )
  }
  return (
    <ThreadContext value={thread}>
      <Scroller said={said}>
        {messages.length === 0 && <Welcome onPick={send} />}
        <ol data-busy={isBusy || undefined} className="flex flex-col gap-5 p-4">
          {messages.map((message) => (
            <li key={message.id}>
              {message.role === 'user' ? (
                <UserMessage message={message} onEdit={edit} />
              ) : (
                <AssistantMessage
                  message={message}
                  isStreaming={isBusy && message === last}
                  isPassed={message !== last}
                  isOver={message !== last || isOver}
                  effectOf={effectOf}
                  again={message === last && isOver ? ways : undefined}
                />
              )}
            </li>
          ))}
          {((isBusy && last?.role !== 'assistant') || extra.isReading) && <Waiting isOffline={isOffline} />}
        </ol>
        {trouble && !isOpen && <ErrorNote error={inWords(trouble)} {...(isOver ? goOn : { onRetry: ways.anew })} />}
        {!trouble && !isOpen && last && <Ending run={runOf(last) ?? extra.run} {...goOn} />}
        {/* An answer of which nothing came has no place of its own for it. */}
        {!isBusy && last?.role === 'user' && extra.run && (
          <p className="-mt-2 px-4 pb-4">
            <RunLink run={extra.run} />
          </p>
        )}
      </Scroller>
      <p role="status" className="sr-only">
        {isOpen ? 'The agent is answering.' : status === 'ready' && messages.length > 0 && 'The answer is complete.'}
      </p>
      {extra.unsent !== undefined && (
        <p role="status" className="mx-3 mb-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
          Another answer was under way, so what you wrote was not sent. Stop it and send, or wait for its end.
        </p>
      )}
      <Composer
        unsent={extra.unsent}
        onSend={send}
        onInterrupt={interrupt}
        onStop={stop}
        isBusy={isBusy}
        isStopping={extra.isStopping === true}
        menu={<ModelMenu {...choice} />}
      />
    </ThreadContext>
  )
}

const inWords = (error: Error) => (error.constructor === Error ? new Error(failureInWords(error.message)) : error)

/** What a run that has failed said on its stream. */
const isOfRun = (error: Error) => error.constructor === Error && hasCode(error.message)

function Waiting({ isOffline }: { isOffline: boolean }) {
  return (
    <li className="flex min-h-6 items-center gap-1.5 text-sm text-ink-soft">
      {isOffline ? (
        'Waiting for the connection…'
      ) : (
        <>
          <span className="sr-only">The agent is answering</span>
          {[0, 150, 300].map((delay) => (
            <span
              key={delay}
              aria-hidden
              className="size-1.5 animate-pulse rounded-full bg-ink-soft"
              style={{ animationDelay: `${delay}ms` }}
            />
          ))}
        </>
      )}
    </li>
  )
}

/** That an answer was stopped, or failed, is known to its run alone. */
function Ending({ run, ...retry }: { run?: string; retry?: string; onRetry: () => void }) {
  const { data } = useQuery({
    queryKey: ['run', run, 'ended'],
    queryFn: ({ signal }) => answer(api.GET('/runs/{run}', { params: { path: { run: run as string } }, signal })),
    enabled: run !== undefined,
  })
  const ending = data && endingOf(data)
  if (!ending) return null
  if (ending.failed) return <ErrorNote error={new Error(ending.text)} {...retry} />
  return <p className="-mt-2 px-4 pb-4 text-sm text-ink-soft">{ending.text}</p>
}
