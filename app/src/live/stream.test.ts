import { expect, test, vi } from 'vitest'

vi.mock('../api/client', () => ({ authorizedFetch: vi.fn() }))
const { backoff } = await import('./stream')

test('a second try comes soon, later ones after longer, none after more than ten seconds', () => {
  expect([0, 1, 2, 3, 20].map((failures) => backoff(failures, 1))).toEqual([0, 250, 500, 1000, 10_000])
  expect(backoff(20, 0)).toBe(5000)
})
