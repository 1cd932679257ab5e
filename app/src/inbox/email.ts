import type { Author, Output } from '../api'
import type { Doc, Documents } from '../live/documents'

/** A line of the list. Those that are documents have their whole text, and who changed them last. */
export type Email = Output<'list-emails'>['emails'][number] & { body?: string; by?: Author }
/** An email as its document holds it. */
export type StoredEmail = Omit<Email, 'snippet' | 'by'> & { body: string }

/** Where the emails are. */
export const SCOPE = 'app:inbox'
export const EMAILS = 'emails/'

/** Which emails a list shows. */
export type Wanted = { label?: string; archived?: boolean; q?: string }

// A document never changes, another one takes its place: what was made of it is made once.
const lines = new WeakMap<object, Email>()
const texts = new WeakMap<Email, string>()

/** The emails that are documents, newest first. */
export function storedEmails({ docs }: Documents): Email[] {
  const emails = [...docs.values()].map((doc) => lineOf(doc as Doc<StoredEmail>))
  return emails.sort((a, b) => numberOf(b.id) - numberOf(a.id))
}

/** A search finds archived ones too, as the action `search-emails` does. */
export function fits(email: Email, { label, archived, q }: Wanted): boolean {
  const words = wordsIn(q)
  if (words.length === 0 && email.archived !== (archived ?? false)) return false
  if (label && !email.labels.includes(label)) return false
  return words.every((word) => textOf(email).includes(word))
}

export const wordsIn = (q = '') => q.toLowerCase().split(/\s+/).filter(Boolean)

/** Labels with how many emails of these have each, most first. */
export function labelsOf(emails: readonly Email[]): { label: string; emails: number }[] {
  const counts = new Map<string, number>()
  for (const { labels } of emails) for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1)
  const sorted = [...counts].sort(([a, many], [b, more]) => more - many || a.localeCompare(b))
  return sorted.map(([label, emails]) => ({ label, emails }))
}

/** Name and address of `Ann Example <ann@example.com>`. */
export function senderOf(from: string): { name: string; address?: string } {
  const [, name, address] = /^\s*"?(.*?)"?\s*<([^<>]+)>\s*$/.exec(from) ?? []
  return address ? { name: name || address, address } : { name: from }
}

export const keyOf = (id: string) => EMAILS + digitsOf(id)
export const repliesOf = (id: string) => `sent/${digitsOf(id)}/`
export const draftOf = (id: string) => `drafts/${id}`
export const idOf = (key: string) => `e-${Number(key.slice(EMAILS.length))}`

const numberOf = (id: string) => Number(id.slice(2))
const digitsOf = (id: string) => id.slice(2).padStart(8, '0')

function lineOf(doc: Doc<StoredEmail>): Email {
  const known = lines.get(doc)
  if (known) return known
  const snippet = doc.value.body.slice(0, 200).replace(/\s+/g, ' ').slice(0, 140)
  const line = { ...doc.value, snippet, by: doc.by }
  lines.set(doc, line)
  return line
}

function textOf(email: Email): string {
  let text = texts.get(email)
  if (text === undefined) {
    const { from, subject, labels, body, snippet } = email
    text = [from, subject, labels.join(' '), body ?? snippet].join('\n').toLowerCase()
    texts.set(email, text)
  }
  return text
}
