// What an answer has done: another one in its place would do it once more, and could not know. Pure.
import { getToolName, isToolUIPart } from 'ai'
import type { components, Output } from '../api'
import type { Message } from './history'
import type { Call } from './tool/ToolCard'
import { callInWords, isUnknown } from './tool/words'

export type Effect = components['schemas']['Effect']
/** What an action changes; undefined where that is not known. */
export type EffectOf = (action: string) => Effect | undefined

export function effectsOf(catalogue: Output<'listActions'> | undefined): EffectOf {
  const effects = new Map(catalogue?.actions.map(({ name, effect }) => [name, effect]))
  return (action) => effects.get(action)
}

/** Whether an answer that has ended has changed anything, or may have. */
export function hasDone({ parts }: Message, effectOf: EffectOf): boolean {
  return parts.some((part) => isToolUIPart(part) && mayHaveDone(part, effectOf(getToolName(part))))
}

function mayHaveDone(call: Call, effect: Effect | undefined): boolean {
  if (effect === 'read') return false
  switch (call.state) {
    case 'output-available':
      return true
    case 'output-error':
      // Long work that fails in the middle has done its beginning.
      return effect === 'checkpointed' || isUnknown(call.errorText) || HAPPENED.test(call.errorText)
    case 'input-available':
      return true
    case 'approval-responded':
      return call.approval.approved
    case 'input-streaming':
    case 'approval-requested':
    case 'output-denied':
      return false
  }
}

/** Failures of something that has happened all the same. */
const HAPPENED = /^It (was done|has happened)\b/

/** What a person asks for where another answer would repeat what is done: the model goes on knowing it. */
export type Asking = { label: string; text: string }

export const GO_ON: Asking = {
  label: 'Ask to go on',
  text: 'Go on where you stopped. Do not do again what is done already.',
}

export const ANSWER_AGAIN: Asking = {
  label: 'Ask for another answer',
  text: 'Answer again, in another way. Do not do again what is done already.',
}

/** For one call that failed, or of which nobody knows whether it happened. */
export function askingFor(name: string, call: Call): Asking {
  const what = callInWords(name, call.input)
  if (call.state === 'output-error' && isUnknown(call.errorText)) {
    return {
      label: 'Ask to check it',
      text: `Find out whether this has happened: ${what}. Do it again only if it has not.`,
    }
  }
  return { label: 'Ask to try it again', text: `Try this again: ${what}. Leave what is done already as it is.` }
}
