import { expect, test } from 'vitest'
import { callInWords, errorInWords, readable } from './words'

test.each([
  ['send-email', { to: 'ann@example.com' }, 'Send an email to ann@example.com'],
  ['import-emails', { count: 10000 }, 'Import 10,000 emails'],
  ['label-email', { emailId: 'e-1', add: ['a'], remove: ['b'] }, 'Label email e-1 +a −b'],
  ['unarchive-email', { emailId: 'e-2' }, 'Put email e-2 back into the inbox'],
  ['mark-email', { emailId: 'e-2', unread: false }, 'Mark email e-2 as read'],
  ['navigate', { view: 'email', emailId: 'e-3' }, 'Open email e-3'],
  ['navigate', { view: 'archive' }, 'Open the archive'],
  ['list-emails', undefined, 'List emails'],
  ['list-emails', 'not what was expected', 'List emails'],
  ['star_email', {}, 'Star email'],
])('%s of %j is told as %s', (name, input, words) => {
  expect(callInWords(name, input)).toBe(words)
})

test('names and errors in words', () => {
  expect(readable('firstId')).toBe('First id')
  expect(errorInWords('There is no such email. [not_found]')).toBe('There is no such email.')
  expect(errorInWords('[internal]')).toBe('Something went wrong.')
})
