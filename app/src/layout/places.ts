// The places of the application. Pure.

/** Which of the panes the path names: the only one to be seen on a narrow screen. */
export type Pane = 'inbox' | 'chat' | 'threads'

export type Place = {
  pane: Pane
  email?: string
  thread?: string
  /** What the inbox shows instead of a list. */
  view?: 'summary' | 'memory'
  label?: string
  archived?: boolean
  q?: string
}

/** A list, in the place of whatever the inbox shows. */
export const LIST = {
  pane: 'inbox',
  email: undefined,
  view: undefined,
  label: undefined,
  archived: undefined,
  q: undefined,
} as const

/** What the action `navigate` writes for the person's windows. */
export type Command = { id: string; to: Partial<Place>; taken: boolean }

/** The command in a document; none where something else stands there, as everybody may write their own documents. */
export function commandOf(value: unknown): Command | undefined {
  const { id, to, taken } = fields(value)
  const place = placeOf(to)
  return typeof id === 'string' && place ? { id, to: place, taken: taken === true } : undefined
}

/** Every place that the agent can name. */
function placeOf(to: unknown): Partial<Place> | undefined {
  const { view, emailId, label, query } = fields(to)
  switch (view) {
    case 'inbox':
      return { ...LIST, label: text(label) }
    case 'archive':
      return { ...LIST, label: text(label), archived: true }
    case 'search':
      return { ...LIST, q: text(query) }
    case 'email':
      return typeof emailId === 'string' && /^e-\d+$/.test(emailId) ? { pane: 'inbox', email: emailId } : undefined
    case 'summary':
    case 'memory':
      return { ...LIST, view }
    default:
      return undefined
  }
}

const fields = (value: unknown) => (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
