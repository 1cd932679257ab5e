// Two people's changes of one text. Pure.
import { diff3Merge } from 'node-diff3'

/** Both changes of `base` in one text; undefined where they touch the same words. */
export function merge(mine: string, base: string, theirs: string): string | undefined {
  if (mine === base) return theirs
  if (theirs === base || theirs === mine) return mine
  const [a, o, b] = [mine, base, theirs].map(tokens) as [string[], string[], string[]]
  const parts = diff3Merge(a, o, b, { excludeFalseConflicts: true })
  if (parts.some((part) => part.conflict)) return undefined
  return parts.flatMap((part) => part.ok ?? []).join('')
}

/** Where a caret at `at` of one text belongs in the next one: at the same words. */
export function moveCaret(at: number, before: string, after: string): number {
  const most = Math.min(before.length, after.length)
  let same = 0
  while (same < most && before[same] === after[same]) same += 1
  if (at <= same) return at
  let sameEnd = 0
  while (sameEnd < most - same && before.at(-1 - sameEnd) === after.at(-1 - sameEnd)) sameEnd += 1
  // Within what was replaced it goes behind it.
  return Math.max(at, before.length - sameEnd) + after.length - before.length
}

/** Words, and what stands between them. */
const tokens = (text: string) => text.split(/(\s)/).filter((token) => token !== '')
