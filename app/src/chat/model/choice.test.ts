import { expect, test } from 'vitest'
import { named, shortName } from './choice'

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

test('a model is called by its name alone', () => {
  expect(['scripted', 'openai/x/y'].map(shortName)).toEqual(['scripted', 'x/y'])
})
