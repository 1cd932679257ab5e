import { expect, test } from 'vitest'
import { endingOf, failureInWords } from './ending'

test('only what did not end well is told', () => {
  expect(endingOf({ status: 'completed', endReason: 'completed' })).toBeUndefined()
  expect(endingOf({ status: 'running' })).toBeUndefined()
  expect(endingOf({ status: 'aborted', endReason: 'aborted' })).toEqual({
    text: 'This answer was stopped.',
    failed: false,
  })
  expect(endingOf({ status: 'failed', endReason: 'internal' })).toEqual({
    text: 'The answer failed. Try again.',
    failed: true,
  })
})

test('a failure has the same words on the stream and after a reload, unless a provider knows more', () => {
  const { text } = endingOf({ status: 'failed', endReason: 'context_too_long' }) ?? {}
  expect(failureInWords('the prompt has 300000 tokens [context_too_long]')).toBe(text)
  expect(failureInWords('Your credit is used up. [model_failed]')).toBe('Your credit is used up.')
  expect(failureInWords('Something else')).toBe('Something else')
})
