import { getToolName, isToolUIPart } from 'ai'
import { lazy, memo, Suspense } from 'react'
import { whoAmI } from '../session/session'
import type { Message } from './history'
import { ToolCard } from './ToolCard'

const Markdown = lazy(() => import('./Markdown').then(({ Markdown }) => ({ default: Markdown })))

/** One message, part by part. */
export const MessageView = memo(function MessageView({ message }: { message: Message }) {
  if (message.role === 'user') {
    return (
      <div className="ml-8 rounded-lg bg-accent-soft px-3.5 py-2">
        <Author message={message} />
        {message.parts.map((part, at) =>
          part.type === 'text' ? (
            <p key={partKey(message, at)} className="whitespace-pre-wrap foreign">
              {part.text}
            </p>
          ) : null,
        )}
      </div>
    )
  }
  return (
    <div className="flex flex-col gap-3">
      {message.parts.map((part, at) => {
        const key = partKey(message, at)
        if (part.type === 'text') {
          return (
            <Suspense key={key} fallback={<p className="whitespace-pre-wrap foreign">{part.text}</p>}>
              <Markdown text={part.text} isPartial={part.state === 'streaming'} />
            </Suspense>
          )
        }
        if (part.type === 'reasoning' && part.text) {
          return (
            <details key={key} className="text-sm text-ink-soft">
              <summary className="cursor-pointer">Thoughts</summary>
              <p className="mt-1 border-l-2 border-line pl-3 whitespace-pre-wrap foreign">{part.text}</p>
            </details>
          )
        }
        if (isToolUIPart(part)) return <ToolCard key={key} name={getToolName(part)} part={part} />
        return null
      })}
    </div>
  )
})

/** Parts only ever come at the end, so that their number names them. */
const partKey = (message: Message, at: number) => `${message.id}-${at}`

/** Who said it, where that is somebody else. */
function Author({ message }: { message: Message }) {
  const user = message.metadata?.author
  return user && user !== whoAmI().user ? <p className="text-xs font-medium text-accent foreign">{user}</p> : null
}
