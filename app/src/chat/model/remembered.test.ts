import { beforeEach, expect, test, vi } from 'vitest'

let user = 'ann'
vi.mock('../../session/session', () => ({ whoAmI: () => ({ tenant: 'local', user }) }))
const { recall, remember } = await import('./remembered')

const stored = new Map<string, string>()
beforeEach(() => {
  user = 'ann'
  stored.clear()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  })
})

test('a choice is there at once, for its thread and its person alone, until it is forgotten', () => {
  remember('t-1', 'openai/x')
  remember('t-2', 'openai/y')
  expect(['t-1', 't-2', 't-3'].map(recall)).toEqual(['openai/x', 'openai/y', undefined])
  user = 'bo'
  expect(recall('t-1')).toBeUndefined()
  user = 'ann'
  remember('t-1', undefined)
  expect(['t-1', 't-2'].map(recall)).toEqual([undefined, 'openai/y'])
})

test('the oldest choices go, and what is no choice is none', () => {
  for (let n = 0; n <= 200; n += 1) remember(`t-${n}`, 'm')
  expect(['t-0', 't-1', 't-200'].map(recall)).toEqual([undefined, 'm', 'm'])
  for (const text of ['null', '{', '[null, ["t-1"], ["t-1", 4]]', '{"t-1":"m"}']) {
    stored.set('tandem.models.local.ann', text)
    expect(recall('t-1')).toBeUndefined()
  }
  vi.stubGlobal('localStorage', {
    getItem: () => null,
    setItem: () => {
      throw new Error('full')
    },
  })
  expect(() => remember('t-1', 'm')).not.toThrow()
})
