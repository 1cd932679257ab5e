import type { Author, Output } from '../api'
import type { Doc, Documents } from '../live/documents'

/** A line of the list. */
export type Email = Output<'list-emails'>['emails'][number] & { by?: Author }
type Stored = Omit<Email, 'snippet' | 'by'> & { body: string }

export const EMAILS = 'emails/'

/** The emails that are documents, newest first. */
export function storedEmails({ docs }: Documents): Email[] {
  return [...docs.values()].map((doc) => lineOf(doc as Doc<Stored>)).sort((a, b) => numberOf(b.id) - numberOf(a.id))
}

export function fits(
  email: Email,
  { label, archived, q }: { label?: string; archived?: boolean; q?: string },
): boolean {
  if (email.archived !== (archived ?? false)) return false
  if (label && !email.labels.includes(label)) return false
  const text = `${email.from} ${email.subject} ${email.labels.join(' ')} ${email.snippet}`.toLowerCase()
  return (q ?? '')
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** Name and address of `Ann Example <ann@example.com>`. */
export function senderOf(from: string): { name: string; address?: string } {
  const [, name, address] = /^\s*"?(.*?)"?\s*<([^<>]+)>\s*$/.exec(from) ?? []
  return address ? { name: name || address, address } : { name: from }
}

export const keyOf = (id: string) => EMAILS + String(numberOf(id)).padStart(8, '0')

const numberOf = (id: string) => Number(id.slice(2))

function lineOf({ value: { body, ...email }, by }: Doc<Stored>): Email {
  return { ...email, snippet: body.slice(0, 200).replace(/\s+/g, ' ').slice(0, 140), by }
}
