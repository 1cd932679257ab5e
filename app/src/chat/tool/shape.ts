// In which form a value is shown: by its shape alone, so that any action's output has one. Pure.
import { isFields } from './words'

export type Scalar = string | number | boolean | null
export type Row = Record<string, unknown>

export type View =
  | { kind: 'nothing' }
  | { kind: 'scalar'; value: Scalar }
  | { kind: 'text'; text: string }
  | { kind: 'list'; items: Scalar[] }
  | { kind: 'emails'; emails: EmailLine[] }
  | { kind: 'chart'; label: string; value: string; rows: Row[] }
  | { kind: 'table'; columns: string[]; rows: Row[] }
  | { kind: 'facts'; facts: [string, Scalar][]; more: [string, View][] }
  | { kind: 'tree'; value: unknown }

export type EmailLine = { id: string; subject: string; from: string; date?: string; unread?: boolean }

/** Longer texts stand on lines of their own. */
const LONG = 80
const MOST_COLUMNS = 4
/** Where they are all that there is, nobody needs their name. */
const SAYS_ITSELF: View['kind'][] = ['emails', 'chart', 'table']

export function viewOf(value: unknown, depth = 0): View {
  if (value === undefined || value === null || value === '') return { kind: 'nothing' }
  if (typeof value === 'string' && (value.length > LONG || value.includes('\n'))) return { kind: 'text', text: value }
  if (isScalar(value)) return { kind: 'scalar', value }
  if (Array.isArray(value)) return viewOfArray(value)
  if (!isFields(value) || depth > 1) return { kind: 'tree', value }
  const facts: [string, Scalar][] = []
  const more: [string, View][] = []
  for (const [key, each] of Object.entries(value)) {
    const view = viewOf(each, depth + 1)
    if (view.kind === 'scalar') facts.push([key, view.value])
    else if (view.kind !== 'nothing') more.push([key, view])
  }
  // Ids tell people little, as long as there is something else.
  const telling = facts.filter(([key]) => !isIdName(key))
  const [only] = more
  if (only && more.length + telling.length === 1 && SAYS_ITSELF.includes(only[1].kind)) return only[1]
  if (telling.length + more.length > 0) return { kind: 'facts', facts: telling, more }
  return facts.length === 0 ? { kind: 'nothing' } : { kind: 'facts', facts, more }
}

function viewOfArray(items: unknown[]): View {
  if (items.length === 0) return { kind: 'nothing' }
  if (items.every(isScalar)) return { kind: 'list', items }
  if (!items.every(isFields)) return { kind: 'tree', value: items }
  if (items.every(isEmail)) return { kind: 'emails', emails: items }
  const chart = asChart(items)
  if (chart) return chart
  const columns = columnsOf(items)
  return columns.length > 0 ? { kind: 'table', columns, rows: items } : { kind: 'tree', value: items }
}

/** Pairs of a name and a number. */
function asChart(rows: Row[]): View | undefined {
  const keys = Object.keys(rows[0] ?? {})
  const label = keys.find((key) => rows.every((row) => typeof row[key] === 'string'))
  const value = keys.find((key) => rows.every((row) => typeof row[key] === 'number'))
  const isPairs = rows.length > 1 && rows.every((row) => Object.keys(row).length === 2)
  return isPairs && label && value ? { kind: 'chart', label, value, rows } : undefined
}

/** The columns that tell most: flat ones, without ids as long as there are others. */
function columnsOf(rows: Row[]): string[] {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const flat = keys.filter((key) => rows.every((row) => isFlat(row[key])))
  const telling = flat.filter((key) => !isIdName(key))
  return (telling.length > 0 ? telling : flat).slice(0, MOST_COLUMNS)
}

/** Also the place of a next page: it is for whoever asks for it. */
const isIdName = (key: string) => /^id$|Id$|^cursor$/.test(key)

export function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

const isFlat = (value: unknown) =>
  value === undefined || isScalar(value) || (Array.isArray(value) && value.every(isScalar))

export function isEmail(value: unknown): value is EmailLine {
  if (!isFields(value)) return false
  return [value.id, value.subject, value.from].every((field) => typeof field === 'string')
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/

/** A value in words: instants as people write them, numbers with separators. */
export function inWords(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return value.toLocaleString('en')
  if (Array.isArray(value)) return value.map(inWords).join(', ')
  if (typeof value === 'string' && INSTANT.test(value)) {
    return new Date(value).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
  }
  return String(value)
}
