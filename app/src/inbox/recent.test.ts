import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Author } from '../api'
import { RecentChanges, SHOWN_MS } from './recent'

const ann: Author = { user: 'ann', caller: 'http' }
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('who changed a line is told for a while, from the last change on', () => {
  const recent = new RecentChanges()
  const heard = vi.fn()
  recent.watch(heard)
  recent.tell('e-1', ann)
  vi.advanceTimersByTime(SHOWN_MS / 2)
  recent.tell('e-1', { ...ann, caller: 'agent' })
  recent.tell('e-2', ann)
  vi.advanceTimersByTime(SHOWN_MS / 2)
  expect(recent.of('e-1')?.by.caller).toBe('agent')
  vi.advanceTimersByTime(SHOWN_MS / 2)
  expect([recent.of('e-1'), recent.of('e-2')]).toEqual([undefined, undefined])
  expect(heard).toHaveBeenCalledTimes(5)
})

test('of very many changes the newest are kept', () => {
  const recent = new RecentChanges()
  for (let n = 0; n < 501; n += 1) recent.tell(`e-${n}`, ann)
  expect(recent.of('e-0')).toBeUndefined()
  expect(recent.of('e-1')).toBeDefined()
})
