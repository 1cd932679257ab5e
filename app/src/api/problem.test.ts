import { expect, test } from 'vitest'
import { asProblem, isPassing, ProblemError, wordsOf } from './problem'

test('a problem without plain words of its own tells its detail', () => {
  const conflict = asProblem({ code: 'conflict', detail: 'Somebody was first.', title: 'Conflict', status: 409 }, 409)
  expect(wordsOf(new ProblemError(conflict))).toBe('Somebody was first.')
})

test('faults of an input are told instead of the general detail', () => {
  const errors = [{ pointer: '/emailId', detail: 'This is no email id.' }]
  const invalid = asProblem(
    { code: 'invalid_input', detail: 'See errors.', title: 'Invalid', status: 400, errors },
    400,
  )
  expect(wordsOf(new ProblemError(invalid))).toBe('This is no email id.')
})

test('an answer that is no problem is told by its status', () => {
  expect(asProblem('<html>', 502).detail).toBe('The server answered 502.')
  expect(asProblem(undefined, 404).code).toBe('not_found')
})

test('only what may succeed later is tried again', () => {
  expect(isPassing(new ProblemError(asProblem(undefined, 404)))).toBe(false)
  expect(isPassing(new ProblemError(asProblem(undefined, 500)))).toBe(true)
  expect(isPassing(new TypeError('Failed to fetch'))).toBe(true)
})
