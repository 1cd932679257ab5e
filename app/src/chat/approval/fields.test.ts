import { expect, test } from 'vitest'
import { faultsOf, fieldsOf, inputOf, typedOf } from './fields'

const schema = {
  type: 'object',
  properties: {
    to: { type: 'string', description: 'Who gets it.' },
    body: { type: 'string', maxLength: 20000 },
    limit: { type: ['integer', 'null'] },
    urgent: { type: 'boolean' },
    scope: {
      anyOf: [
        {
          oneOf: [
            { type: 'string', const: 'user' },
            { type: 'string', const: 'tenant' },
          ],
        },
        { type: 'null' },
      ],
    },
    add: { type: 'array', items: { type: 'string' } },
    other: { type: 'object' },
  },
  required: ['to', 'urgent'],
}
const fields = fieldsOf(schema) ?? []

test('fields are made from a schema', () => {
  expect(fields.map(({ name, kind, choices }) => [name, kind, choices])).toEqual([
    ['to', 'line', undefined],
    ['body', 'text', undefined],
    ['limit', 'number', undefined],
    ['urgent', 'yes-no', undefined],
    ['scope', 'choice', ['user', 'tenant']],
    ['add', 'words', undefined],
    ['other', 'json', undefined],
  ])
  expect(fields[0]).toMatchObject({ label: 'To', help: 'Who gets it.', required: true })
  expect([fieldsOf(true), fieldsOf({ type: 'string' }), fieldsOf(undefined)]).toEqual([undefined, undefined, undefined])
})

test('an input that nobody changes stays what it was', () => {
  const input = {
    to: 'a',
    body: '',
    limit: 0,
    urgent: false,
    scope: 'user',
    add: ['x', 'y'],
    other: { a: [1] },
    unknown: 1,
  }
  expect(inputOf(fields, typedOf(fields, input), input)).toEqual({ input })
  expect(inputOf(fields, typedOf(fields, { to: 'a', urgent: true }), {})).toEqual({
    input: { to: 'a', urgent: true },
  })
})

test('what was typed becomes the input, and what is emptied goes', () => {
  const typed = { to: 'b', body: 'two\nlines', limit: '12', urgent: 'true', scope: '', add: ' a, ,b', other: '{"c":1}' }
  expect(inputOf(fields, typed, { scope: 'user' })).toEqual({
    input: { to: 'b', body: 'two\nlines', limit: 12, urgent: true, add: ['a', 'b'], other: { c: 1 } },
  })
})

test('what cannot be is told at its field', () => {
  const typed = { to: 'b', limit: 'many', urgent: '', other: '{' }
  expect(inputOf(fields, typed, {})).toEqual({
    faults: { limit: 'This must be a number.', urgent: 'This is needed.', other: 'This is not valid JSON.' },
  })
  expect(
    faultsOf([
      { pointer: '/input/to', detail: 'must be an address' },
      { pointer: '/add/0', detail: 'is long' },
    ]),
  ).toEqual({
    to: 'Must be an address',
    add: 'Is long',
  })
})
