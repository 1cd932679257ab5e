import { expect, test } from 'vitest'
import { leftOutInWords } from './leftOut'

test.each([
  [{ messages: 12, characters: 0 }, '12 older messages were left out for the model.'],
  [{ messages: 1, characters: 0 }, '1 older message was left out for the model.'],
  [{ messages: 0, characters: 3400 }, '3,400 characters were left out for the model.'],
  [{ messages: 2, characters: 50 }, '2 older messages and 50 characters were left out for the model.'],
  [{ messages: 0, characters: 0 }, undefined],
])('%j is told as %s', (leftOut, words) => {
  expect(leftOutInWords(leftOut)).toBe(words)
})
