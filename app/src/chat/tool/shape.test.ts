import { expect, test } from 'vitest'
import { inWords, viewOf } from './shape'

const email = { id: 'e-1', subject: 's', from: 'f', date: '2025-09-01T10:00:00Z' }

test.each([
  ['nothing', null, { kind: 'nothing' }],
  ['an empty list', [], { kind: 'nothing' }],
  ['a number', 3, { kind: 'scalar', value: 3 }],
  ['a text of lines', 'a\nb', { kind: 'text', text: 'a\nb' }],
  ['names', ['a', 'b'], { kind: 'list', items: ['a', 'b'] }],
  ['emails', [email], { kind: 'emails', emails: [email] }],
  ['a page of emails', { emails: [email], cursor: 'e-1' }, { kind: 'emails', emails: [email] }],
  [
    'names with numbers',
    [
      { label: 'a', emails: 2 },
      { label: 'b', emails: 1 },
    ],
    {
      kind: 'chart',
      label: 'label',
      value: 'emails',
      rows: [
        { label: 'a', emails: 2 },
        { label: 'b', emails: 1 },
      ],
    },
  ],
  [
    'rows',
    [{ id: 'x', name: 'a', size: 1, tags: ['t'] }],
    { kind: 'table', columns: ['name', 'size', 'tags'], rows: [{ id: 'x', name: 'a', size: 1, tags: ['t'] }] },
  ],
  ['rows with something deep', [{ deep: { a: 1 } }], { kind: 'tree', value: [{ deep: { a: 1 } }] }],
  [
    'an object',
    { count: 2, names: ['a'], none: null },
    { kind: 'facts', facts: [['count', 2]], more: [['names', { kind: 'list', items: ['a'] }]] },
  ],
  [
    'something deeper than people read',
    { a: { b: { c: 1 } } },
    {
      kind: 'facts',
      facts: [],
      more: [['a', { kind: 'facts', facts: [], more: [['b', { kind: 'tree', value: { c: 1 } }]] }]],
    },
  ],
])('%s has a form', (_, value, view) => {
  expect(viewOf(value)).toEqual(view)
})

test('values in words', () => {
  expect([10000, true, null, ['a', 1]].map(inWords)).toEqual(['10,000', 'yes', '–', 'a, 1'])
  expect(inWords('2025-09-01T10:00:00Z')).toMatch(/1 Sept? 2025/)
  expect(inWords('2025-09-01')).toBe('2025-09-01')
})
