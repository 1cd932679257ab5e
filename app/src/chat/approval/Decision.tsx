import type { Call } from '../tool/ToolCard'
import { nameOf } from './useApproval'

/** What a person said to a call, and who. */
export function Decision({ call, by }: { call: Call; by?: string }) {
  const { approved, reason } = call.approval ?? {}
  if (reason === 'superseded') {
    return <Line>The conversation went on without an answer, so this was not carried out.</Line>
  }
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
