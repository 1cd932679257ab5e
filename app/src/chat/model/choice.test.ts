import { expect, test } from 'vitest'
import { holding, modelIn, named, shortName } from './choice'

const models = [
  { id: 'scripted', default: true },
  { id: 'openai/x/y', default: false },
]

test('a turn names what was chosen, as long as it is there', () => {
  expect(named('openai/x/y', models)).toBe('openai/x/y')
  expect(named('openai/x/y', undefined)).toBe('openai/x/y')
  expect([named(undefined, models), named('scripted', models), named('openai/gone', models)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('what is being written holds, then the document, and until it is read what was known before', () => {
  const before = () => 'openai/before'
  expect(holding('openai/new', { value: { model: 'openai/old' } }, before)).toBe('openai/new')
  expect(holding(undefined, { value: { model: 'openai/old' } }, before)).toBe('openai/old')
  expect(holding(undefined, undefined, before)).toBe('openai/before')
  expect(holding(undefined, null, before)).toBeUndefined()
})

test('a document that names no model is as good as none', () => {
  for (const value of [null, undefined, 'openai/x', 4, [], {}, { model: null }, { model: 4 }, { model: '' }]) {
    expect(modelIn(value)).toBeUndefined()
  }
  expect(modelIn({ model: 'openai/x' })).toBe('openai/x')
})

test('a model is called by its name alone', () => {
  expect(['scripted', 'openai/x/y'].map(shortName)).toEqual(['scripted', 'x/y'])
})
