import { useQuery } from '@tanstack/react-query'
import type { Thread } from '../api'
import { threadKey } from '../live/keys'
import { Tooltip } from '../ui/Tooltip'
import { Face } from './Face'
import { nameOf, type Other, useOthers } from './useOthers'
import { useGo } from './usePlace'

/** Who else is here. Whose face is chosen is followed to what they look at. */
export function Faces() {
  const others = useOthers()
  const people = [...new Map(others.map((one) => [one.user, one])).values()]
  const most = people.slice(0, 5)
  if (people.length === 0) return null
  return (
    <ul aria-label="Also here" className="flex -space-x-1">
      {most.map((one) => (
        <li key={one.user}>
          <Person other={one} />
        </li>
      ))}
      {people.length > most.length && (
        <li className="flex size-8 items-center justify-center text-xs text-ink-soft">
          +{people.length - most.length}
        </li>
      )}
    </ul>
  )
}

function Person({ other }: { other: Other }) {
  const go = useGo()
  const { email, thread, typing } = other.activity
  const does = email ? (typing ? `is answering ${email}` : `looks at ${email}`) : 'is in the inbox'
  const told = `${nameOf(other)} ${does}`
  return (
    <Tooltip text={told}>
      <button
        type="button"
        onClick={() => go({ pane: 'inbox', email, ...(other.isMe && thread ? { thread } : {}) })}
        className="flex size-8 items-center justify-center rounded-full"
      >
        <span className="rounded-full ring-2 ring-panel">
          <Face name={other.user} />
        </span>
        <span className="sr-only">{told}</span>
      </button>
    </Tooltip>
  )
}

/** The agent is here while it answers in the open conversation. */
export function AgentFace({ thread }: { thread: string }) {
  const { data } = useQuery<Thread>({ queryKey: threadKey(thread), enabled: false })
  if (!data?.activeRunId) return null
  return (
    <Tooltip text="The agent is at work">
      <span className="flex motion-safe:animate-pulse">
        <Face name="agent" isAgent />
        <span className="sr-only">The agent is at work</span>
      </span>
    </Tooltip>
  )
}
