import { expect, test } from 'vitest'
import type { Author } from '../api'
import { isMemoryName, memoriesOf, nameFor, withText } from './memory'

const by: Author = { user: 'ann', caller: 'agent' }

test('whatever is stored is a memory that can be read', () => {
  const values = {
    'memory/tone': { text: 'Short', date: '2026-01-01T00:00:00Z' },
    'memory/a': 'plain',
    'memory/x': { n: 7 },
  }
  const docs = new Map(Object.entries(values).map(([key, value]) => [key, { key, value, rev: 1, by }]))
  expect(memoriesOf({ rev: 1, docs }).map(({ name, text, date }) => [name, text, date])).toEqual([
    ['a', 'plain', undefined],
    ['tone', 'Short', '2026-01-01T00:00:00Z'],
    ['x', '{"n":7}', undefined],
  ])
})

test('a correction keeps what else the document holds', () => {
  const now = new Date('2026-02-03T04:05:06Z')
  expect(withText({ text: 'a', source: 'b' }, 'c', now)).toEqual({ text: 'c', source: 'b', date: now.toISOString() })
  expect(withText('a', 'c', now)).toEqual({ text: 'c', date: now.toISOString() })
})

test('a memory is named after how it begins, as the agent names them', () => {
  expect(nameFor('Ann writes short replies, always and everywhere')).toBe('ann-writes-short-replies-always')
  expect(nameFor('Grüße zuerst!')).toBe('gru-e-zuerst')
  expect(isMemoryName(nameFor('x'.repeat(100)))).toBe(true)
  expect(isMemoryName('A b')).toBe(false)
})
