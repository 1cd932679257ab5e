import { expect, test } from 'vitest'
import { commandOf, LIST } from './places'

const to = (place: unknown) => commandOf({ id: 'c-1', at: 1, to: place, taken: false })?.to

test('every place that the agent can name is one of the window', () => {
  expect(to({ view: 'inbox', label: 'billing' })).toEqual({ ...LIST, label: 'billing' })
  expect(to({ view: 'archive' })).toEqual({ ...LIST, archived: true })
  expect(to({ view: 'search', query: 'order 7' })).toEqual({ ...LIST, q: 'order 7' })
  expect(to({ view: 'email', emailId: 'e-3' })).toEqual({ pane: 'inbox', email: 'e-3' })
  expect(to({ view: 'summary' })).toEqual({ ...LIST, view: 'summary' })
  expect(to({ view: 'memory' })).toEqual({ ...LIST, view: 'memory' })
})

test('what is no command leads nowhere', () => {
  for (const value of [null, 7, 'text', [], {}, { id: 'c-1' }, { id: 'c-1', to: null }]) {
    expect(commandOf(value)).toBeUndefined()
  }
  for (const place of ['x', {}, { view: 'other' }, { view: 'email' }, { view: 'email', emailId: '../x' }]) {
    expect(to(place)).toBeUndefined()
  }
})
