// What a call does, in words that people use. Pure.

type Fields = Record<string, unknown>

/** The actions of the inbox. Of any other one the name is made readable. */
const WORDS: Record<string, (input: Fields) => string> = {
  'list-emails': ({ label }) => (label ? `List emails labelled ${label}` : 'List emails'),
  'search-emails': ({ query }) => (query ? `Search for “${query}”` : 'Search'),
  'read-email': ({ emailId }) => `Read email ${emailId ?? ''}`,
  'summarize-inbox': () => 'Summarize the inbox',
  'draft-reply': ({ emailId }) => `Draft a reply to email ${emailId ?? ''}`,
  email: ({ emailId }) => `Reply to email ${emailId ?? ''}`,
  'send-email': ({ to }) => `Send an email${to ? ` to ${to}` : ''}`,
  'archive-email': ({ emailId }) => `Archive email ${emailId ?? ''}`,
  'unarchive-email': ({ emailId }) => `Put email ${emailId ?? ''} back into the inbox`,
  'mark-email': ({ emailId, unread }) =>
    `Mark email ${emailId ?? ''}${typeof unread === 'boolean' ? ` as ${unread ? 'unread' : 'read'}` : ''}`,
  'label-email': ({ emailId, add, remove }) =>
    [`Label email ${emailId ?? ''}`, signed('+', add), signed('−', remove)].filter(Boolean).join(' '),
  'import-emails': ({ count }) => (count ? `Import ${amount(count)} emails` : 'Import emails'),
  'notify-webhook': () => 'Tell people outside the inbox',
  remember: ({ name }) => `Remember “${name ?? ''}”`,
  recall: ({ query }) => (query ? `Recall “${query}”` : 'Recall what is remembered'),
  forget: ({ name }) => `Forget “${name ?? ''}”`,
  'view-screen': () => 'Look at your screen',
  navigate: ({ view, emailId }) =>
    view === 'email' ? `Open email ${emailId ?? ''}` : `Open ${PLACES[String(view)] ?? view ?? ''}`,
}

const PLACES: Record<string, string> = {
  inbox: 'the inbox',
  archive: 'the archive',
  search: 'a search',
  summary: 'the summary',
  memory: 'what is remembered',
}

export function callInWords(name: string, input: unknown): string {
  const words = WORDS[name]
  return (words ? words(isFields(input) ? input : {}) : readable(name)).trim()
}

/** `firstId` and `list-emails` as a person would write them. */
export function readable(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[-_]+/g, ' ')
    .trim()
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Errors of calls and runs end with a code in brackets that speaks to programs. */
export function errorInWords(text: string): string {
  const words = text.replace(/\s*\[[a-z0-9_]+\]\s*$/, '').trim()
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : 'Something went wrong.'
}

/** What the server says of a call that was cut off while it changed something: nobody knows whether it has happened. */
export const isUnknown = (errorText: string) => /\bmay (or may not )?have happened\b/i.test(errorText)

/** What it says of a call that was cut off before it did anything. */
export const isStopped = (errorText: string) => /^(It was stopped|The run ended|Interrupted) before\b/.test(errorText)

export const amount = (value: unknown) => (typeof value === 'number' ? value.toLocaleString('en') : String(value))

function signed(sign: string, labels: unknown): string {
  return Array.isArray(labels) ? labels.map((label) => `${sign}${label}`).join(' ') : ''
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
