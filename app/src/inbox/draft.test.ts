import { expect, test } from 'vitest'
import { type Change, change, type Draft, EMPTY, isDirty, isKept, mayWrite } from './draft'

const after = (...events: Change[]) => events.reduce<Draft>(change, EMPTY)
const told = (text: string, rev: number): Change => ({ type: 'told', version: { text, rev, by: 'bo' } })
const typed = (text: string): Change => ({ type: 'typed', text })

test('what is typed is written from the version that it was made from', () => {
  const draft = after(told('Hi', 4), typed('Hi Ann'))
  expect(draft.base.rev).toBe(4)
  expect(mayWrite(draft)).toBe(true)
  const saved = [{ type: 'writing' }, typed('Hi Ann,'), { type: 'written', rev: 5 }] as const
  expect(saved.reduce(change, draft)).toEqual({ mine: 'Hi Ann,', base: { text: 'Hi Ann', rev: 5 } })
})

test('an own change that comes back before its answer, or after a lost one, is no other version', () => {
  const draft = after(typed('a b'), { type: 'writing' }, typed('a b c'), told('a b', 7), { type: 'written', rev: 7 })
  expect(draft).toMatchObject({ mine: 'a b c', base: { text: 'a b', rev: 7 } })
  expect(mayWrite(draft)).toBe(true)
  const lost = after(typed('a'), { type: 'writing' }, { type: 'lost' }, { type: 'writing' }, told('a', 3))
  expect(lost).toMatchObject({ mine: 'a', base: { rev: 3 } })
  expect(isDirty(lost)).toBe(false)
})

test("another's words come in beside what is typed here", () => {
  const draft = after(told('Hello, thanks', 1), typed('Hello Ann, thanks'), told('Hello, thanks a lot', 2))
  expect(draft).toMatchObject({ mine: 'Hello Ann, thanks a lot', base: { rev: 2 } })
  expect(mayWrite(draft)).toBe(true)
})

test('the same words changed twice wait for a person, and lose nothing', () => {
  const both = after(told('on Friday', 1), typed('on Monday'), told('on Sunday', 2))
  expect(both).toMatchObject({ mine: 'on Monday', theirs: { text: 'on Sunday', rev: 2 } })
  expect(mayWrite(both)).toBe(false)
  const chosen = change(both, { type: 'chosen', text: 'on Monday' })
  expect(chosen).toMatchObject({ mine: 'on Monday', base: { rev: 2 }, theirs: undefined })
  expect(mayWrite(chosen)).toBe(true)
  // If the other goes on and the versions fit again, there is nothing to choose.
  expect(change(both, told('on Friday', 3)).theirs).toBeUndefined()
})

test('what is typed beside another version is kept, also when that one goes away', () => {
  const both = after(told('on Friday', 1), typed('on Monday'), told('on Sunday', 2), typed('on Monday, en'))
  expect(both).toMatchObject({ mine: 'on Monday, en', theirs: { text: 'on Sunday' } })
  expect(mayWrite(both)).toBe(false)
  const alone = after(typed('ab'), told('cd', 1), typed('abe'), told('', 0))
  expect(alone).toMatchObject({ mine: 'abe', base: { rev: 0 }, theirs: undefined })
  expect(mayWrite(alone)).toBe(true)
})

test('what is typed before the document is read goes on from it, or stands beside it', () => {
  const early = after(typed('Early'))
  expect([isKept(early, false), isKept(early, true), isKept(EMPTY, false)]).toEqual([true, false, false])
  expect(change(early, told('', 0))).toEqual(early)
  expect(change(early, told('Early', 3))).toMatchObject({ mine: 'Early', base: { rev: 3 }, theirs: undefined })
  const beside = change(early, told('Stored', 3))
  expect(beside).toMatchObject({ mine: 'Early', theirs: { text: 'Stored' } })
  expect(isKept(beside, true)).toBe(true)
})

test('a draft that somebody has sent leaves an empty one, or the words that were not in it', () => {
  expect(after(told('Hi', 1), told('', 0))).toMatchObject({ mine: '', base: { rev: 0 }, gone: undefined })
  expect(after(told('Hi', 1), typed('Hi Ann'), told('', 0))).toMatchObject({ mine: 'Hi Ann', gone: true })
})
