import { expect, test } from 'vitest'
import { pieces } from './longWords'

test('text without a long word stays in one piece', () => {
  for (const text of ['', 'a b', `${'a'.repeat(120)} ${'b'.repeat(120)}\n`]) expect(pieces(text)).toEqual([text])
})

test('no word of any text is longer than a piece may be, and nothing is lost', () => {
  for (const word of ['A', '\u0628', '👍', '漢']) {
    const text = `before ${word.repeat(5000)} after ${word.repeat(3000)}`
    const found = pieces(text)
    expect(found.join('')).toBe(text)
    for (const piece of found) for (const part of piece.split(/\s/)) expect(part.length).toBeLessThanOrEqual(122)
  }
})

test('what is drawn as one character stays in one piece', () => {
  const family = '👩\u200d👩\u200d👧'
  for (const one of ['👍', 'e\u0301', family]) {
    for (const piece of pieces(one.repeat(500))) expect(piece.length % one.length).toBe(0)
  }
})
