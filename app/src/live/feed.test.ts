import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Author, WindowEvent } from '../api'
import { type Documents, NOTHING, takePage } from './documents'
import { CROWD_MS, Feed } from './feed'
import { documentsKey, presenceKey } from './keys'

const SCOPE = 'app:inbox'
const by: Author = { user: 'ann', caller: 'http' }
const doc = (key: string, value: unknown, rev: number) => ({ key, value, rev, by })
const put = (key: string, value: unknown, rev: number): WindowEvent => ({
  type: 'state',
  scope: SCOPE,
  ...doc(key, value, rev),
})
const ready = (rev: number): WindowEvent => ({ type: 'ready', scopes: { [SCOPE]: rev } })
const key = documentsKey(SCOPE, 'emails/')
const snapshot = (rev: number) => takePage(NOTHING, { rev, items: [doc('emails/1', 'old', rev)] })

let cache: QueryClient
let feed: Feed
const shown = () => cache.getQueryData<Documents>(key)?.docs.get('emails/1')?.value
const isStale = () => cache.getQueryState(key)?.isInvalidated
beforeEach(() => {
  vi.useFakeTimers()
  cache = new QueryClient()
  feed = new Feed(cache)
})
afterEach(() => {
  vi.useRealTimers()
  cache.clear()
})

test('changes are shown together, under the prefix that they belong to', () => {
  cache.setQueryData(key, snapshot(5))
  feed.take(ready(5), true)
  feed.take(put('emails/1', 'new', 6), false)
  feed.take(put('drafts/1', 'text', 6), true)
  expect(shown()).toBe('old')
  vi.advanceTimersByTime(CROWD_MS)
  expect(shown()).toBe('new')
  expect(cache.getQueryData<Documents>(key)?.docs.size).toBe(1)
})

test('the stream is taken up after the last whole commit', () => {
  expect(feed.position(SCOPE)).toBeUndefined()
  feed.take(ready(5), true)
  feed.take(put('emails/1', 'new', 6), false)
  expect(feed.position(SCOPE)).toBe(5)
  feed.take(put('emails/2', 'new', 6), true)
  expect(feed.position(SCOPE)).toBe(6)
})

test('what is read while changes come is brought forward, and what is too old is read again', () => {
  feed.take(ready(5), true)
  feed.take(put('emails/1', 'new', 6), true)
  expect(feed.bringForward(SCOPE, 'emails/', snapshot(5))?.docs.get('emails/1')?.value).toBe('new')
  expect(feed.bringForward(SCOPE, 'emails/', snapshot(4))).toBeUndefined()
})

test('what was read before the stream began is read again only if something lies in between', () => {
  cache.setQueryData(key, snapshot(5))
  feed.take(ready(5), true)
  expect(isStale()).toBe(false)
  feed.take({ type: 'reset', scope: SCOPE, rev: 9 }, true)
  expect(isStale()).toBe(true)
  cache.setQueryData(key, snapshot(7))
  new Feed(cache).take(ready(8), true)
  expect(isStale()).toBe(true)
})

test('a connection that goes on where the last one ended reads nothing again', () => {
  cache.setQueryData(key, snapshot(5))
  feed.take(ready(5), true)
  feed.take(put('emails/1', 'new', 6), true)
  feed.take(ready(6), true)
  expect(isStale()).toBe(false)
})

test('who is here replaces who was here', () => {
  const present = [{ user: 'ann', client: 'w-1', activity: {} }]
  feed.take({ type: 'presence', scope: SCOPE, present }, false)
  feed.take({ type: 'presence', scope: SCOPE, present: [] }, false)
  expect(cache.getQueryData(presenceKey(SCOPE))).toEqual([])
})
