import clsx from 'clsx'
import type { ReactNode } from 'react'
import type { Run } from '../api'
import { Time } from '../ui/Time'
import type { LeftOut, Timeline } from './timeline'
import { count, duration, STATUS, type Tone } from './words'

/** The record of a run, and what its log adds up to. Each has its place from the start: nothing moves at the end. */
export function Facts({ run, timeline }: { run: Run; timeline: Timeline }) {
  const { tokens, leftOut } = timeline
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, reasoningTokens = 0 } = tokens ?? {}
  const { createdAt, endedAt } = run
  const facts: [string, ReactNode][] = [
    ['Asked by', run.owner.user],
    ['Began', <Time key="began" at={createdAt} />],
    ['Ended', endedAt === undefined ? NOT_YET : <Time key="ended" at={endedAt} />],
    ['Took', endedAt === undefined ? NOT_YET : duration(endedAt - createdAt)],
    ['Attempts', run.attempt],
    ['Hand-overs', run.continuations],
    ['Steps', timeline.steps],
  ]
  if (run.action) {
    facts.push(['Action', <code key="action">{run.action}</code>])
  } else {
    facts.push(['Tokens in', <Tokens key="in" count={inputTokens} part={cachedInputTokens} is="cached" />])
    facts.push(['Tokens out', <Tokens key="out" count={outputTokens} part={reasoningTokens} is="thinking" />])
    if (leftOut) facts.push(['Left out', leftOutOf(leftOut)])
  }
  return (
    <dl className="grid grid-cols-[repeat(auto-fill,minmax(6.5rem,1fr))] gap-x-4 gap-y-2 text-sm">
      {facts.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-xs text-ink-soft">{name}</dt>
          <dd className="font-medium tabular-nums foreign">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

const NOT_YET = '–'

const leftOutOf = ({ messages, characters }: LeftOut) =>
  [messages > 0 && count(messages, 'message'), characters > 0 && count(characters, 'character')]
    .filter(Boolean)
    .join(', ')

function Tokens({ count, part, is }: { count: number; part: number; is: string }) {
  return (
    <span className="whitespace-nowrap">
      {count.toLocaleString()}
      {part > 0 && <span className="text-xs font-normal text-ink-soft"> {`${part.toLocaleString()} ${is}`}</span>}
    </span>
  )
}

const LOOKS: Record<Tone, string> = {
  good: 'bg-accent-soft text-accent',
  plain: 'bg-hover text-ink-soft',
  void: 'bg-hover text-ink-soft',
  wait: 'bg-warn-soft text-warn',
  bad: 'bg-danger-soft text-danger',
}

export function StatusBadge({ status }: { status: Run['status'] }) {
  const { name, tone } = STATUS[status]
  return <span className={clsx('rounded-full px-2.5 py-0.5 text-sm font-medium', LOOKS[tone])}>{name}</span>
}
