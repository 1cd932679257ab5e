// A chunk as it is stored, made fit to be looked at.
import type { Chunk } from '../api'

/** Longest JSON that is shown: the rest of it can be copied. */
export const MOST_SHOWN = 20_000
const PREVIEW = 160

/** What cannot be seen, or turns the direction of what follows, as the escape that JSON has for it. */
export function visible(json: string): string {
  return json.replace(/[\p{Cf}\p{Co}\p{DI}\u0080-\u009f\u2028\u2029]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  )
}

const escaped = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`

/** How the chunk begins, on one line. */
export function preview(chunk: Chunk): string {
  let text = previews.get(chunk)
  if (text === undefined) {
    const { type: _, ...rest } = chunk
    const json = JSON.stringify(rest)
    text = json === '{}' ? '' : visible(json.length > PREVIEW ? `${json.slice(0, PREVIEW)}…` : json)
    previews.set(chunk, text)
  }
  return text
}
const previews = new WeakMap<Chunk, string>()

/** All of the chunk, or as much of it as can be looked at. */
export function pretty(chunk: Chunk): { text: string; missing: number } {
  const json = JSON.stringify(chunk, null, 2)
  return { text: visible(json.slice(0, MOST_SHOWN)), missing: Math.max(0, json.length - MOST_SHOWN) }
}
