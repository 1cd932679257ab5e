import { expect, test } from 'vitest'
import type { Message } from './history'
import { placeMessage, placeRun, steady } from './placing'

const user = (id: string, text = id): Message => ({ id, role: 'user', parts: [{ type: 'text', text }] })
const agent = (id: string, ...texts: string[]): Message => ({
  id,
  role: 'assistant',
  parts: texts.map((text) => ({ type: 'text', text })),
})
const [u0, a1, u2, a3] = [user('u0'), agent('a1', 'x'), user('u2'), agent('a3', 'y')]

test('what others say stands where the store has it, and nothing stands after it', () => {
  expect(placeMessage([u0, a1], 2, u2)).toEqual([u0, a1, u2])
  expect(placeMessage([u0, a1, u2, a3], 0, user('u0', 'edited'))).toEqual([user('u0', 'edited')])
  expect(placeMessage([u0, a1, u2, a3], 2, user('other'))).toEqual([u0, a1, user('other')])
})

test('what we said ourselves is told back and takes nothing away', () => {
  const told = { ...u0, metadata: { author: 'ann' } }
  expect(placeMessage([u0, a1], 0, told)).toEqual([told, a1])
})

test('a run takes the place of what stood there, unless its message is here', () => {
  expect(placeRun([u0], 1, { messageId: 'a1' })).toEqual([u0])
  expect(placeRun([u0, a1, u2, a3], 1, { messageId: 'again' })).toEqual([u0])
  expect(placeRun([u0, a1, u2, a3], 1, { messageId: 'a1' })).toBeUndefined()
})

test('a run that continues goes on with the message that is here', () => {
  expect(placeRun([u0, a1], 1, { messageId: 'a1', continues: 'run_1' })).toEqual([u0, a1])
})

test('a message that is told again stays as it was until as much of it is there', () => {
  const before = agent('a1', 'one', 'two')
  expect(steady([u0, agent('a1', 'o')], before)).toEqual([u0, before])
  const now = [u0, agent('a1', 'one', 'two', 'th')]
  expect(steady(now, before)).toBe(now)
  expect(steady([u0, agent('other', 'o')], before)).toEqual([u0, agent('other', 'o')])
  // Also until its first word is there.
  expect(steady([u0], before)).toEqual([u0, before])
  expect(steady([u0], undefined)).toEqual([u0])
})
