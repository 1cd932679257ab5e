import { useNavigate, useParams, useRouterState, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

/** Which of the panes the path names: the only one to be seen on a narrow screen. */
export type Pane = 'inbox' | 'chat' | 'threads'

/** In the path of a conversation that has not begun. */
const NEW = 'new'

export type Place = {
  pane: Pane
  email?: string
  thread?: string
  label?: string
  archived?: boolean
  q?: string
}

/** What this window shows, as its address says. */
export function usePlace(): Place {
  const { email, thread: named } = useParams({ strict: false })
  const thread = named === NEW ? undefined : named
  const { label, archived, q, ...beside } = useSearch({ from: '/workspace' })
  const path = useRouterState({ select: (state) => state.location.pathname })
  const pane: Pane = path.startsWith('/threads/') ? 'chat' : path === '/threads' ? 'threads' : 'inbox'
  return { pane, email: email ?? beside.email, thread: thread ?? beside.thread, label, archived, q }
}

/** Goes to another place; what is not said stays as it is. `undefined` closes it. */
export function useGo() {
  const navigate = useNavigate()
  const here = usePlace()
  const now = JSON.stringify(here)
  return useCallback(
    (to: Partial<Place>) => {
      const { pane, email, thread, ...list } = { ...(JSON.parse(now) as Place), ...to }
      const search = { ...list, email, thread }
      if (pane === 'threads') return navigate({ to: '/threads', search })
      if (pane === 'chat') {
        return navigate({
          to: '/threads/$thread',
          params: { thread: thread ?? NEW },
          search: { ...search, thread: undefined },
        })
      }
      if (email) return navigate({ to: '/inbox/$email', params: { email }, search: { ...search, email: undefined } })
      return navigate({ to: '/inbox', search })
    },
    [navigate, now],
  )
}
