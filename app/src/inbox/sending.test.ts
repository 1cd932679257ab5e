import { expect, test } from 'vitest'
import { asProblem, ProblemError } from '../api/problem'
import { keyOf, mailNotSent, NotBegun, replyNotSent, sentAs } from './sending'

const problem = (status: number, code: string, detail = 'Why.') =>
  new ProblemError(asProblem({ status, code, detail, title: code, type: 'about:blank' }, status))

test.each([
  problem(400, 'invalid_input'),
  problem(401, 'unauthenticated'),
  problem(403, 'forbidden'),
  problem(422, 'action_failed'),
  problem(429, 'throttled'),
  new NotBegun(new TypeError('Failed to fetch')),
  new NotBegun(problem(409, 'conflict')),
])('only what the server says was not done was not sent: %s', (error) => {
  expect(mailNotSent(error)).toMatch(/^It was not sent\. ./)
  expect(replyNotSent(error)).toMatch(/^The reply was not sent\. ./)
})

test.each([
  new TypeError('Failed to fetch'),
  new DOMException('signal timed out', 'TimeoutError'),
  problem(500, 'internal'),
  problem(502, 'internal'),
  problem(503, 'store_unavailable'),
  problem(504, 'timeout'),
  problem(409, 'in_progress'),
])('where no answer came the same is sent once more: %s', (error) => {
  for (const words of [mailNotSent(error), replyNotSent(error)]) {
    expect(words).toMatch(/may have been sent.* again, without a change: it does not leave twice\.$/)
    expect(words).not.toContain('not sent')
  }
})

test.each([problem(409, 'outcome_unknown'), problem(409, 'conflict')])('nobody knows: %s', (error) => {
  for (const words of [mailNotSent(error), replyNotSent(error)]) {
    expect(words).toMatch(/may have been sent, or not\. .* before you send it again\.$/)
  }
})

test('a text has one key until it changes, or is sent', () => {
  const first = keyOf('drafts/e-1', 'Hi')
  expect(keyOf('drafts/e-1', 'Hi')).toBe(first)
  expect(keyOf('drafts/e-2', 'Hi')).not.toBe(first)
  const changed = keyOf('drafts/e-1', 'Hi!')
  expect(changed).not.toBe(first)
  sentAs('drafts/e-1')
  expect(keyOf('drafts/e-1', 'Hi!')).not.toBe(changed)
})
