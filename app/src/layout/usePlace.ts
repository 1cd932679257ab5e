import { useNavigate, useParams, useRouterState, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Beside } from '../routes/workspace'
import type { Pane, Place } from './places'

/** In the path of a conversation that has not begun. */
const NEW = 'new'

/** What this window shows, as its address says. */
export function usePlace(): Place {
  const { email, thread: named } = useParams({ strict: false })
  const thread = named === NEW ? undefined : named
  // A page without panes has none of these.
  const { label, archived, q, ...beside }: Beside = useSearch({ strict: false })
  const path = useRouterState({ select: (state) => state.location.pathname })
  const pane: Pane = path.startsWith('/threads/') ? 'chat' : path === '/threads' ? 'threads' : 'inbox'
  const view = path === '/summary' ? 'summary' : path === '/memory' ? 'memory' : beside.view
  return { pane, email: email ?? beside.email, thread: thread ?? beside.thread, view, label, archived, q }
}

/** Goes to another place; what is not said stays as it is. `undefined` closes it. */
export function useGo() {
  const navigate = useNavigate()
  const here = usePlace()
  const now = JSON.stringify(here)
  return useCallback(
    /** `replace`: going back leads to the place before this one. */
    (to: Partial<Place>, { replace = false } = {}) => {
      const { pane, email, thread, view, ...list } = { ...(JSON.parse(now) as Place), ...to }
      const search = { ...list, email, thread, view }
      if (pane === 'threads') return navigate({ to: '/threads', search, replace })
      if (pane === 'chat') {
        return navigate({
          to: '/threads/$thread',
          params: { thread: thread ?? NEW },
          search: { ...search, thread: undefined },
          replace,
        })
      }
      if (email) {
        return navigate({ to: '/inbox/$email', params: { email }, search: { ...search, email: undefined }, replace })
      }
      if (view) return navigate({ to: `/${view}`, search: { ...search, view: undefined }, replace })
      return navigate({ to: '/inbox', search, replace })
    },
    [navigate, now],
  )
}
