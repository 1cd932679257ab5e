import { createRoute } from '@tanstack/react-router'
import { Workspace } from '../layout/Workspace'
import { rootRoute } from './root'

/** Of the two things that a window shows beside each other, the one that the path does not name. */
export type Beside = {
  /** The email beside a thread. */
  email?: string
  /** The thread beside an email. */
  thread?: string
  /** What the inbox shows beside a thread, instead of a list. */
  view?: 'summary' | 'memory'
  /** What of the inbox is listed. */
  label?: string
  archived?: boolean
  q?: string
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** Threads, inbox and chat. Its children only say what is open: `usePlace` reads it. */
export const workspaceRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'workspace',
  component: Workspace,
  validateSearch: (search: Record<string, unknown>): Beside => ({
    email: text(search.email),
    thread: text(search.thread),
    view: search.view === 'summary' || search.view === 'memory' ? search.view : undefined,
    label: text(search.label),
    archived: search.archived === true || undefined,
    q: text(search.q),
  }),
})
