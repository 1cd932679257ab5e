import { wordsIn } from './email'

/** Text in which the words that were searched for are marked. */
export function Found({ words, children: text }: { words?: string; children: string }) {
  const sought = wordsIn(words)
  if (sought.length === 0) return text
  let at = 0
  return pieces(text, sought).map((piece) => {
    const key = at
    at += piece.text.length
    return piece.found ? (
      <mark key={key} className="rounded-sm bg-warn-soft text-warn">
        {piece.text}
      </mark>
    ) : (
      <span key={key}>{piece.text}</span>
    )
  })
}

function pieces(text: string, words: string[]): { text: string; found: boolean }[] {
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const parts = text.split(new RegExp(`(${escaped.join('|')})`, 'i'))
  // Of a split with one group every second part is what was found.
  return parts.map((part, n) => ({ text: part, found: n % 2 === 1 })).filter((part) => part.text !== '')
}
