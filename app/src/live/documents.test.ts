import { expect, test } from 'vitest'
import type { Author } from '../api'
import { type Change, type Documents, NOTHING, takeChanges, takePage, takeWritten } from './documents'

const by: Author = { user: 'ann', caller: 'http' }
const doc = (key: string, value: unknown, rev: number) => ({ key, value, rev, by })
const put = (key: string, value: unknown, rev: number): Change => ({
  type: 'state',
  scope: 's',
  ...doc(key, value, rev),
})
const drop = (key: string, rev: number): Change => ({ type: 'state', scope: 's', key, rev, by, deleted: true })
const values = (documents: Documents) => Object.fromEntries([...documents.docs].map(([key, { value }]) => [key, value]))

const start = takePage(NOTHING, { rev: 5, items: [doc('a', 1, 2), doc('b', 2, 5)] })

test('a later page replaces and deletes what has changed in earlier ones', () => {
  const next = takePage(start, { rev: 9, items: [doc('a', 7, 8), doc('c', 3, 9)], deleted: ['b'] })
  expect(values(next)).toEqual({ a: 7, c: 3 })
  expect(next.rev).toBe(9)
})

test('changes put and delete, all those of one commit, in order', () => {
  const next = takeChanges(start, [put('a', 10, 6), put('c', 11, 6), drop('b', 7), put('c', 12, 8)])
  expect(values(next)).toEqual({ a: 10, c: 12 })
})

test('changes that the snapshot holds already are not applied again', () => {
  expect(takeChanges(start, [drop('a', 4), put('b', 0, 5)])).toBe(start)
})

test('the same change twice changes nothing', () => {
  const changes = [put('a', 10, 6), drop('b', 7)]
  const once = takeChanges(start, changes)
  expect(values(takeChanges(once, changes))).toEqual(values(once))
})

test('changes outside the prefix leave the very same object', () => {
  expect(takeChanges(start, [put('other', 1, 6)], 'a')).toBe(start)
})

test('what this window wrote stands until something newer comes, not older', () => {
  const written = takeWritten(start, doc('a', 'mine', 8))
  expect(values(takeChanges(written, [put('a', 'older', 7)]))).toMatchObject({ a: 'mine' })
  expect(values(takeChanges(written, [put('a', 'newer', 9)]))).toMatchObject({ a: 'newer' })
  expect(takeWritten(takeChanges(start, [put('a', 'newer', 9)]), doc('a', 'mine', 8)).docs.get('a')?.value).toBe(
    'newer',
  )
})
