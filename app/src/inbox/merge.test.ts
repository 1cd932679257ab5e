import { expect, test } from 'vitest'
import { merge, moveCaret } from './merge'

test('changes of different words come together, changes of the same words do not', () => {
  for (const [mine, base, theirs, want] of [
    ['Hi Ann, thanks', 'Hi, thanks', 'Hi, thanks a lot', 'Hi Ann, thanks a lot'],
    ['one TWO three', 'one two three', 'one two three four', 'one TWO three four'],
    ['a\nB\nc', 'a\nb\nc', 'a\nb\nc\nd', 'a\nB\nc\nd'],
    ['same', 'base', 'same', 'same'],
    ['base', 'base', 'theirs', 'theirs'],
    ['mine', 'base', 'base', 'mine'],
    ['on Monday', 'on Friday', 'on Sunday', undefined],
    ['mine', '', 'theirs', undefined],
  ] as const) {
    expect(merge(mine, base, theirs), `${mine} | ${theirs}`).toBe(want)
  }
})

test('a caret stays at its words', () => {
  expect(moveCaret(2, 'Hello', 'Hello there')).toBe(2)
  expect(moveCaret(5, 'Hello', 'Oh, Hello')).toBe(9)
  expect(moveCaret(8, 'one two three', 'one 2 three')).toBe(6)
  expect(moveCaret(5, 'one two three', 'one 2 three')).toBe(5)
  expect(moveCaret(5, 'one two six', 'one six')).toBe(4)
  expect(moveCaret(4, 'text', '')).toBe(0)
})
