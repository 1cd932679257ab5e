// How a run ended, where it did not end well. Pure.
import type { Run } from '../api'
import { errorInWords } from './tool/words'

const WORDS: Record<string, string> = {
  never_claimed: 'Nobody was there to answer. Try again in a moment.',
  no_progress: 'The answer did not get any further, after several tries.',
  spending_limit: 'A budget for the model is used up.',
  run_budget_exhausted: 'The answer took longer than it may.',
  too_many_steps: 'The answer took more steps than it may.',
  model_overloaded: 'The model is overloaded at the moment. Try again in a moment.',
  model_rate_limited: 'The model was asked too often. Try again in a moment.',
  model_refused: 'The model refused to answer.',
  model_failed: 'The model failed. Try again.',
  context_too_long: 'The conversation is too long for the model. Begin a new one.',
  missing_credentials: 'The server has no key for the model. Whoever runs it can set one.',
  setup_failed: 'The answer could not be prepared. Try again.',
}

/** Undefined where there is nothing to say. */
export function endingOf(run: Pick<Run, 'status' | 'endReason'>): { text: string; failed: boolean } | undefined {
  if (run.status === 'aborted') return { text: 'This answer was stopped.', failed: false }
  if (run.status !== 'failed') return undefined
  return { text: WORDS[run.endReason ?? ''] ?? 'The answer failed. Try again.', failed: true }
}

/** What a failed run said on its stream: its text ends with a code in brackets, whose words are plainer where there are some. */
export function failureInWords(text: string): string {
  const code = codeOf(text) ?? ''
  // What a provider says itself may be the only thing that helps.
  return (code !== 'model_failed' && WORDS[code]) || errorInWords(text)
}

export const hasCode = (text: string) => codeOf(text) !== undefined

const codeOf = (text: string) => /\[([a-z_]+)\]\s*$/.exec(text)?.[1]
