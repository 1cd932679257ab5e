import { expect, test } from 'vitest'
import { fits, idOf, keyOf, labelsOf, repliesOf, senderOf, storedEmails } from './email'

const stored = (n: number, more = {}) => ({
  key: keyOf(`e-${n}`),
  rev: n,
  by: { user: 'ann', caller: 'agent' as const },
  value: {
    id: `e-${n}`,
    conversation: 'c',
    from: 'Ann <ann@example.com>',
    subject: `Subject ${n}`,
    date: '2026-01-01T00:00:00Z',
    labels: ['billing'],
    unread: true,
    archived: false,
    answered: false,
    body: 'One\n\n two',
    ...more,
  },
})

test('documents become lines, newest first, with who changed them', () => {
  const docs = new Map([1, 10, 9].map((n) => [`k${n}`, stored(n)]))
  const emails = storedEmails({ rev: 1, docs })
  expect(emails.map(({ id }) => id)).toEqual(['e-10', 'e-9', 'e-1'])
  expect(emails[0]).toMatchObject({ snippet: 'One two', by: { user: 'ann', caller: 'agent' } })
})

test('a list holds what has its label and all its words, and is not archived unless asked', () => {
  const [email] = storedEmails({ rev: 1, docs: new Map([['k', stored(1)]]) })
  if (!email) throw new Error('no email')
  expect(fits(email, {})).toBe(true)
  expect(fits(email, { archived: true })).toBe(false)
  expect(fits(email, { label: 'billing', q: 'ANN two' })).toBe(true)
  expect(fits(email, { label: 'urgent' })).toBe(false)
  expect(fits(email, { q: 'ann three' })).toBe(false)
})

test('a search finds archived emails too, in the whole of their text', () => {
  const body = `${'long '.repeat(100)}needle`
  const [email] = storedEmails({ rev: 1, docs: new Map([['k', stored(1, { archived: true, body })]]) })
  if (!email) throw new Error('no email')
  expect(fits(email, { q: 'NEEDLE' })).toBe(true)
  expect(fits(email, { q: '  ' })).toBe(false)
})

test('labels are counted, those of most emails first', () => {
  const docs = new Map([
    ['a', stored(1, { labels: ['b', 'z'] })],
    ['b', stored(2, { labels: ['z'] })],
    ['c', stored(3, { labels: ['a'] })],
  ])
  const counts = labelsOf(storedEmails({ rev: 1, docs })).map(({ label, emails }) => `${label} ${emails}`)
  expect(counts).toEqual(['z 2', 'a 1', 'b 1'])
})

test('a sender is a name and an address, or what stands there', () => {
  expect(senderOf('"Ann E." <ann@example.com>')).toEqual({ name: 'Ann E.', address: 'ann@example.com' })
  expect(senderOf('<ann@example.com>')).toEqual({ name: 'ann@example.com', address: 'ann@example.com' })
  expect(senderOf('ann')).toEqual({ name: 'ann' })
  expect(keyOf('e-12')).toBe('emails/00000012')
  expect(idOf('emails/00000012')).toBe('e-12')
  expect(repliesOf('e-12')).toBe('sent/00000012/')
})
