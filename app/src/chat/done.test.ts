import { expect, test } from 'vitest'
import { askingFor, type Effect, effectsOf, hasDone } from './done'
import type { Message } from './history'
import type { Call } from './tool/ToolCard'

const call = (name: string, rest: object) =>
  ({ type: `tool-${name}`, toolCallId: name, input: { emailId: 'e-1' }, ...rest }) as Call
const answer = (...parts: Call[]) => ({ id: 'a', role: 'assistant', parts }) as unknown as Message
const done = { state: 'output-available', output: {} }
const failed = (errorText = 'There is no email e-1. [not_found]') => ({ state: 'output-error', errorText })

const effects: Record<string, Effect> = {
  'read-email': 'read',
  email: 'transactional',
  'import-emails': 'checkpointed',
  'notify-webhook': 'keyed',
  'send-email': 'external',
}
const effectOf = (action: string) => effects[action]
const is = (name: string, rest: object) => hasDone(answer(call(name, rest)), effectOf)

test('an answer has done something where a call has changed anything, or may have', () => {
  expect(hasDone(answer(), effectOf)).toBe(false)
  expect(is('read-email', done)).toBe(false)
  for (const name of ['email', 'import-emails', 'notify-webhook', 'send-email', 'of-somebody-else']) {
    expect(is(name, done), name).toBe(true)
  }
  expect(hasDone(answer(call('read-email', failed()), call('email', done)), effectOf)).toBe(true)
})

test('what failed has done nothing, but for long work and what may have happened all the same', () => {
  for (const name of ['read-email', 'email', 'send-email', 'of-somebody-else']) {
    expect(is(name, failed()), name).toBe(false)
  }
  expect(is('import-emails', failed())).toBe(true)
  for (const text of [
    'it may or may not have happened: check before you try again',
    'it took longer than 30 s, and may have happened all the same: check before you try again [timeout]',
    'The run ended while this was under way: it may or may not have happened.',
    'It was done. The result is too long to be shown at the end of a run.',
    'It has happened, but what it was to change here has changed in the meantime. [conflict]',
  ]) {
    expect(is('send-email', failed(text)), text).toBe(true)
    expect(is('read-email', failed(text)), text).toBe(false)
  }
})

test('what was open when the answer ended may have happened, unless nothing of it had begun', () => {
  expect(is('email', { state: 'input-available' })).toBe(true)
  expect(is('email', { state: 'input-streaming' })).toBe(false)
  expect(is('email', { state: 'approval-requested', approval: { id: 'x' } })).toBe(false)
  expect(is('email', { state: 'approval-responded', approval: { id: 'x', approved: true } })).toBe(true)
  expect(is('email', { state: 'approval-responded', approval: { id: 'x', approved: false } })).toBe(false)
  expect(is('email', { state: 'output-denied', approval: { id: 'x', approved: false } })).toBe(false)
})

test('before the catalogue is read nothing is known to be a read', () => {
  const unread = effectsOf(undefined)
  expect(unread('read-email')).toBeUndefined()
  expect(hasDone(answer(call('read-email', done)), unread)).toBe(true)
  const catalogue = { actions: [{ name: 'read-email', effect: 'read' }], models: [] }
  expect(effectsOf(catalogue as never)('read-email')).toBe('read')
})

test('a call is named where it is asked for, and one of which nobody knows is to be looked at first', () => {
  expect(askingFor('read-email', call('read-email', failed())).text).toMatch(/^Try this again: Read email e-1\./)
  const unknown = askingFor('email', call('email', failed('it may or may not have happened')))
  expect(unknown.text).toMatch(/^Find out whether this has happened: Reply to email e-1\./)
})
