// Calls of an answer that has ended: none of them goes on, whatever their message still says. Pure.
import type { Effect } from '../done'
import type { Call } from './ToolCard'

const NEVER_BEGAN = 'It was stopped before it began. Nothing was done.'
const CUT_OFF = 'It was stopped before it was done.'
const UNKNOWN = 'It was stopped: it may or may not have happened.'

/** A call as it is once its run has ended. What waits for a person stays as it is, and so do answers to others of it. */
export function endedCall(call: Call, effect: Effect | undefined, isAwaiting: boolean): Call {
  switch (call.state) {
    case 'input-streaming':
      return failed(call, NEVER_BEGAN)
    case 'input-available':
      return failed(call, effect === 'read' ? CUT_OFF : UNKNOWN)
    case 'approval-responded':
      if (isAwaiting) return call
      if (!call.approval.approved)
        return { ...call, state: 'output-denied', approval: { ...call.approval, approved: false } }
      return failed(call, effect === 'read' ? CUT_OFF : UNKNOWN)
    default:
      return call
  }
}

/** A call that waited for a person when the conversation went on, as the store will tell it. */
export function passedCall(call: Call): Call {
  if (call.state !== 'approval-requested') return call
  return { ...call, state: 'output-denied', approval: { id: call.approval.id, approved: false, reason: 'superseded' } }
}

function failed(call: Call, errorText: string): Call {
  return { ...call, state: 'output-error', errorText, output: undefined } as Call
}
