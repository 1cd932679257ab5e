import { expect, test } from 'vitest'
import { meant, SHORTCUTS } from './shortcuts'

test('a key counts alone, or soon after g', () => {
  expect(meant('i', 'g', 300)).toBe('g i')
  expect(meant('i', 'g', 5000)).toBe('i')
  expect(meant('i', undefined, 0)).toBe('i')
})

test('no two shortcuts have the same keys, and none begins another but with g', () => {
  const keys = SHORTCUTS.map((one) => one.keys)
  expect(new Set(keys).size).toBe(keys.length)
  expect(keys).not.toContain('g')
})
