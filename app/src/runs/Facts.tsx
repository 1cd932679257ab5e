import clsx from 'clsx'
import type { ReactNode } from 'react'
import type { Run } from '../api'
import { Time } from '../ui/Time'
import type { Timeline } from './timeline'
import { duration, STATUS, type Tone } from './words'

/** The record of a run, and what its log adds up to. */
export function Facts({ run, timeline }: { run: Run; timeline: Timeline }) {
  const { tokens } = timeline
  const facts: [string, ReactNode][] = [
    ['Asked by', run.owner.user],
    ['Began', <Time key="began" at={run.createdAt} />],
    ['Ended', run.endedAt === undefined ? 'Not yet' : <Ended key="ended" run={run} at={run.endedAt} />],
    ['Attempts', run.attempt],
    ['Hand-overs', run.continuations],
    ['Steps', timeline.steps],
  ]
  if (run.action) facts.push(['Action', <code key="action">{run.action}</code>])
  if (tokens && !run.action) {
    const cached = tokens.cachedInputTokens > 0 ? `, ${tokens.cachedInputTokens.toLocaleString()} cached` : ''
    const thought = tokens.reasoningTokens > 0 ? `, ${tokens.reasoningTokens.toLocaleString()} thinking` : ''
    facts.push(['Tokens in', `${tokens.inputTokens.toLocaleString()}${cached}`])
    facts.push(['Tokens out', `${tokens.outputTokens.toLocaleString()}${thought}`])
  }
  return (
    <dl className="flex flex-wrap gap-x-7 gap-y-2 text-sm">
      {facts.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-xs text-ink-soft">{name}</dt>
          <dd className="font-medium tabular-nums foreign">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Ended({ run, at }: { run: Run; at: number }) {
  return (
    <>
      <Time at={at} /> <span className="font-normal text-ink-soft">after {duration(at - run.createdAt)}</span>
    </>
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
