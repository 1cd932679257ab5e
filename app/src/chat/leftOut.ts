// What the model was not told of a conversation that is too long for it, in words. Pure.
import type { Metadata } from './history'
import { amount } from './tool/words'

export type LeftOut = NonNullable<Metadata['leftOut']>

/** Undefined where it was told everything. */
export function leftOutInWords({ messages, characters }: LeftOut): string | undefined {
  const what = [
    messages > 0 && `${amount(messages)} older ${messages === 1 ? 'message' : 'messages'}`,
    characters > 0 && `${amount(characters)} characters`,
  ].filter(Boolean)
  if (what.length === 0) return undefined
  return `${what.join(' and ')} ${messages === 1 && what.length === 1 ? 'was' : 'were'} left out for the model.`
}
