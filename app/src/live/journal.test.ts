import { expect, test } from 'vitest'
import type { Change } from './documents'
import { Journal } from './journal'

const change = (rev: number): Change => ({
  type: 'state',
  scope: 's',
  key: `k${rev}`,
  rev,
  by: { user: 'ann', caller: 'http' },
  value: rev,
})

test('a journal gives what came after a position, or says that it cannot', () => {
  const journal = new Journal(10, 3)
  for (const rev of [11, 12, 13]) journal.add(change(rev), true)
  expect(journal.since(9)).toBeUndefined()
  expect(journal.since(10)?.map(({ rev }) => rev)).toEqual([11, 12, 13])
  journal.add(change(14), true)
  expect(journal.since(10)).toBeUndefined()
  expect(journal.since(12)?.map(({ rev }) => rev)).toEqual([13, 14])
})

test('the position to come back to is that of the last whole commit', () => {
  const journal = new Journal(10)
  journal.add(change(11), false)
  expect(journal.complete).toBe(10)
  journal.add(change(11), true)
  expect(journal.complete).toBe(11)
})
