import type { Call } from '../tool/ToolCard'
import { nameOf, useDecider } from './useApproval'

/** What a person said to a call, and who. */
export function Decision({ call }: { call: Call }) {
  const decider = useDecider(call.toolCallId)
  const { approved, reason } = call.approval ?? {}
  if (reason === 'superseded') {
    return <Line>The conversation went on without an answer, so this was not carried out.</Line>
  }
  // Somebody's word counts only as far as it is what holds.
  const by = decider?.approved === approved ? decider?.user : undefined
  return (
    <Line>
      {approved ? 'Approved' : 'Refused'}
      {by && (
        <>
          {' by '}
          <span className="foreign">{nameOf(by)}</span>
        </>
      )}
      {reason && (
        <>
          {': '}
          <q className="foreign">{reason}</q>
        </>
      )}
    </Line>
  )
}

const Line = ({ children }: { children: React.ReactNode }) => (
  <p className="border-t border-line px-3 py-1.5 text-xs text-ink-soft">{children}</p>
)
