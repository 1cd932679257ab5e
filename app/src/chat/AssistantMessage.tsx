import { getToolName, isToolUIPart } from 'ai'
import { Copy, RefreshCw } from 'lucide-react'
import { memo } from 'react'
import { RunLink } from '../layout/RunLink'
import { IconButton } from '../ui/IconButton'
import { LongText } from '../ui/LongText'
import { toast } from '../ui/Toast'
import { ANSWER_AGAIN, askingFor, type EffectOf, hasDone } from './done'
import { type Message, type Progress, runOf } from './history'
import { leftOutInWords } from './leftOut'
import { Markdown } from './Markdown'
import { textOf } from './placing'
import { endedCall, passedCall } from './tool/ended'
import { type Call, ToolCard } from './tool/ToolCard'

type Props = {
  message: Message
  isStreaming: boolean
  /** Somebody has said something after it: nothing that it asked can be answered any more. */
  isPassed: boolean
  /** Its run has ended: nothing of it goes on, whatever its calls still say. */
  isOver: boolean
  /** What each action changes. */
  effectOf: EffectOf
  /** Where another answer may be asked for: one in its place, or, with words of the person, one after it. */
  again?: Again
}

export type Again = { anew: () => void; ask: (text: string) => void }

/** What the agent says and does, part by part. */
export const AssistantMessage = memo(function AssistantMessage({
  message,
  isStreaming,
  isPassed,
  isOver,
  effectOf,
  again,
}: Props) {
  const run = runOf(message)
  // Another answer in its place would do once more what it has done.
  const isKept = again !== undefined && hasDone(message, effectOf)
  const isAwaiting =
    !isPassed && message.parts.some((part) => isToolUIPart(part) && part.state === 'approval-requested')
  const callOf = (part: Call): Call => {
    const call = isPassed ? passedCall(part) : part
    return isOver ? endedCall(call, effectOf(getToolName(part)), isAwaiting) : call
  }
  const retryOf = (call: Call) => {
    if (!again || call.state !== 'output-error') return undefined
    if (!isKept) return { label: 'Try again', run: again.anew }
    const { label, text } = askingFor(getToolName(call), call)
    return { label, run: () => again.ask(text) }
  }
  const leftOut = message.metadata?.leftOut && leftOutInWords(message.metadata.leftOut)
  const progress = new Map<string, Progress>()
  for (const part of message.parts) if (part.type === 'data-progress' && part.id) progress.set(part.id, part.data)
  return (
    <div className="group flex flex-col gap-3">
      {message.parts.map((part, at) => {
        // Parts only ever come at the end, so that their number names them.
        const key = `${message.id}-${at}`
        if (part.type === 'text' && part.text) {
          return <Markdown key={key} text={part.text} isPartial={isStreaming && part.state === 'streaming'} />
        }
        if (part.type === 'reasoning' && part.text) {
          return <Thoughts key={key} text={part.text} isStreaming={isStreaming && part.state === 'streaming'} />
        }
        if (isToolUIPart(part)) {
          const call = callOf(part)
          return (
            <ToolCard
              key={part.toolCallId}
              name={getToolName(part)}
              call={call}
              progress={progress.get(part.toolCallId)}
              run={run}
              decidedBy={message.metadata?.decidedBy?.[part.toolCallId]}
              isOver={isOver}
              retry={retryOf(call)}
            />
          )
        }
        return null
      })}
      {/* Below a growing answer it would move all the time. */}
      {!isStreaming && leftOut && <p className="text-xs text-ink-soft">{leftOut}</p>}
      {!isStreaming && (
        <div className="-mt-1 -ml-1.5 flex opacity-60 transition-opacity group-hover:opacity-100 focus-within:opacity-100">
          {textOf(message) && (
            <IconButton label="Copy the answer" className="size-7" onClick={() => void copy(textOf(message))}>
              <Copy size={14} aria-hidden />
            </IconButton>
          )}
          {again && (
            <IconButton
              label={isKept ? ANSWER_AGAIN.label : 'Answer again'}
              className="size-7"
              onClick={isKept ? () => again.ask(ANSWER_AGAIN.text) : again.anew}
            >
              <RefreshCw size={14} aria-hidden />
            </IconButton>
          )}
          {run && <RunLink run={run} iconOnly />}
        </div>
      )}
    </div>
  )
})

async function copy(text: string) {
  try {
    await navigator.clipboard.writeText(text)
    toast('Copied')
  } catch {
    toast('The browser did not allow to copy it.', { kind: 'failed' })
  }
}

function Thoughts({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  return (
    <details className="text-sm text-ink-soft">
      <summary className="w-fit cursor-pointer hover:text-ink">
        <span className={isStreaming ? 'animate-pulse' : undefined}>{isStreaming ? 'Thinking…' : 'Thoughts'}</span>
      </summary>
      <p className="mt-1 border-l-2 border-line pl-3 whitespace-pre-wrap foreign">
        <LongText>{text}</LongText>
      </p>
    </details>
  )
}
