// What the events of a thread do to the messages that are shown. Pure.
import type { Run } from '../api'
import type { Message } from './history'

/** Somebody said something at `n`: an edit takes away what followed. */
export function placeMessage(messages: Message[], n: number, message: Message): Message[] {
  const here = messages[n]
  if (here?.id === message.id && textOf(here) === textOf(message)) {
    // Our own, told back: only the server knows who said it and when.
    return messages.map((each, at) => (at === n ? { ...each, metadata: message.metadata } : each))
  }
  return [...messages.slice(0, n), message]
}

/** A run writes the message at `n`: the messages before it is followed, or undefined where its message is here already. */
export function placeRun(
  messages: Message[],
  n: number,
  run: Pick<Run, 'messageId' | 'continues'>,
): Message[] | undefined {
  const here = messages[n]
  if (here?.id === run.messageId) return run.continues ? messages.slice(0, n + 1) : undefined
  return messages.slice(0, n)
}

/**
 * While a message that was shown before is told again from its beginning, it stays as it was until as much of it is
 * there again: nothing flickers.
 */
export function steady(messages: Message[], before: Message | undefined): Message[] {
  const last = messages.at(-1)
  if (before && last?.role === 'user') return [...messages, before]
  if (!before || !last || last.id !== before.id || weight(last) >= weight(before)) return messages
  return [...messages.slice(0, -1), before]
}

function weight({ parts }: Message): number {
  return parts.reduce(
    (sum, part) => sum + 1 + ('text' in part && typeof part.text === 'string' ? part.text.length : 0),
    0,
  )
}

export function textOf(message: Message): string {
  return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}
