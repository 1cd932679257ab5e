/** A browser breaks a longer word into lines so slowly that the page stands still: 60,000 letters take ten seconds. */
const MOST = 120
const LONG = new RegExp(`\\S{${MOST + 1}}`)

/** The text in pieces, with a place to break between one and the next. One piece where no word is long. */
export function pieces(text: string): string[] {
  if (!LONG.test(text)) return [text]
  const found: string[] = []
  let from = 0
  let word = 0
  for (let at = 0; at < text.length; at += 1) {
    if (SPACE.test(text[at] as string)) {
      word = at + 1
    } else if (at - word >= MOST && !isInside(text, at)) {
      found.push(text.slice(from, at))
      from = at
      word = at
    }
  }
  found.push(text.slice(from))
  return found
}

const SPACE = /\s/

/** Whether the character at `at` is drawn together with the one before. */
function isInside(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  if (unit >= 0xdc00 && unit <= 0xdfff) return true
  return text[at - 1] === '\u200d' || JOINED.test(text[at] as string)
}
const JOINED = /[\p{M}\u200d]/u
