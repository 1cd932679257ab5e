import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from 'react'
import type { WindowEvent } from '../api'
import { answer, api } from '../api/client'
import { type Doc, type Documents, NOTHING, takePage, takeWritten } from './documents'
import { documentsKey, presenceKey } from './keys'
import type { Live, LiveStatus } from './live'

export const LiveContext = createContext<Live | undefined>(undefined)

export function useLive(): Live {
  const live = useContext(LiveContext)
  if (!live) throw new Error('There is no LiveContext around this component.')
  return live
}

export function useLiveStatus(): LiveStatus {
  const live = useLive()
  return useSyncExternalStore(live.watch, () => live.status)
}

/** All documents of a scope whose keys begin so, kept up to date. Scopes: those of live.ts, and the thread's own. */
export function useDocuments(scope: string, prefix: string): UseQueryResult<Documents> {
  const live = useLive()
  return useQuery({
    queryKey: documentsKey(scope, prefix),
    queryFn: ({ signal }) => readDocuments(live, scope, prefix, signal),
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })
}

/** One document, kept up to date: undefined while it is loading, null where there is none. */
export function useDocument<T>(scope: string, key: string): Doc<T> | null | undefined {
  const { data } = useDocuments(scope, key)
  return data && ((data.docs.get(key) as Doc<T> | undefined) ?? null)
}

export type Participants = Extract<WindowEvent, { type: 'presence' }>['present']

/** Who is here: every window of every person, this one among them, and the agent while it works. */
export function usePresence(scope: string): Participants {
  const { data } = useQuery<Participants>({
    queryKey: presenceKey(scope),
    queryFn: async () => (await answer(api.GET('/presence/{scope}', { params: { path: { scope } } }))).present,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data ?? NOBODY
}
const NOBODY: Participants = []

/** Calls the newest `listener` with each event of the stream. */
export function useLiveEvents(listener: (event: WindowEvent) => void): void {
  const live = useLive()
  const newest = useRef(listener)
  useEffect(() => {
    newest.current = listener
  })
  useEffect(() => live.listen((event) => newest.current(event)), [live])
}

/** Writes a document. `ifRev` 0: it must not exist yet. A conflict is a `ProblemError` with `problem.current`. */
export function useWriteDocument(scope: string) {
  const cache = useQueryClient()
  return async function write<T>(key: string, value: T, ifRev?: number): Promise<Doc<T>> {
    const path = { scope, key }
    const body = { value: value as never, ifRev }
    const doc = (await answer(api.PUT('/state/{scope}/docs/{key}', { params: { path }, body }))) as Doc<T>
    for (const [queryKey] of cache.getQueriesData<Documents>({ queryKey: ['state', scope] })) {
      if (!key.startsWith(String(queryKey[2]))) continue
      cache.setQueryData<Documents>(queryKey, (have) => have && takeWritten(have, doc))
    }
    return doc
  }
}

async function readDocuments(live: Live, scope: string, prefix: string, signal: AbortSignal): Promise<Documents> {
  // Twice is enough: the second time everything that changes meanwhile is in the journal.
  for (let tries = 0; ; tries += 1) {
    let snapshot: Documents = NOTHING
    let cursor: string | undefined
    do {
      const query = { prefix, cursor, limit: 1000 }
      const page = await answer(api.GET('/state/{scope}', { params: { path: { scope }, query }, signal }))
      snapshot = takePage(snapshot, page)
      cursor = page.cursor
    } while (cursor !== undefined)
    const now = live.feed.bringForward(scope, prefix, snapshot)
    if (now) return now
    if (tries > 0) throw new Error('The documents change faster than they can be read. Try again in a moment.')
  }
}
