// What leaves must not leave twice: the keys of what is sent, and what people are told when it may have left.
import { didNothing, ProblemError, wordsOf } from '../api/problem'

/** It was not even asked for: `why` is from what came before. */
export class NotBegun extends Error {
  constructor(readonly why: unknown) {
    super(wordsOf(why))
  }
}

const keys = new Map<string, { text: string; key: string }>()

/** The Idempotency-Key of a text that is sent at `place`: the same until the text changes, or it was sent. */
export function keyOf(place: string, text: string): string {
  const known = keys.get(place)
  if (known?.text === text) return known.key
  const key = crypto.randomUUID()
  keys.set(place, { text, key })
  return key
}

/** It was sent: the same words are another message from now on. */
export const sentAs = (place: string) => void keys.delete(place)

/** Why a new email did not come back as sent. */
export function mailNotSent(error: unknown): string {
  if (wasNotSent(error)) return `It was not sent. ${wordsOf(error)}`
  if (isUnknown(error)) return 'It may have been sent, or not. Ask whether it has come before you send it again.'
  return 'It may have been sent: no answer came. Press Send again, without a change: it does not leave twice.'
}

/** Why a reply did not come back as sent. It is shown with its email if it was. */
export function replyNotSent(error: unknown): string {
  if (wasNotSent(error)) return `The reply was not sent. ${wordsOf(error)}`
  if (isUnknown(error)) return 'The reply may have been sent, or not. Look above before you send it again.'
  return 'The reply may have been sent: look above. If it is not there, press Reply again, without a change: it does not leave twice.'
}

const wasNotSent = (error: unknown) => error instanceof NotBegun || didNothing(error)

/** The server cannot tell either, and says the same again for the same key. */
const isUnknown = (error: unknown) =>
  error instanceof ProblemError && (error.code === 'outcome_unknown' || error.code === 'conflict')
