import { useMutation, useQuery } from '@tanstack/react-query'
import type { Run } from '../api'
import { answer, api } from '../api/client'
import { wordsOf } from '../api/problem'
import { toast } from '../ui/Toast'

export const isOver = (run: Run) => run.status !== 'dispatched' && run.status !== 'running'

/** The record of a run. It is read again when `version` changes. */
export function useRun(id: string, version: string) {
  return useQuery({
    queryKey: ['run', id, version],
    queryFn: ({ signal }) => answer(api.GET('/runs/{run}', { params: { path: { run: id } }, signal })),
    placeholderData: (before) => (before?.runId === id ? before : undefined),
  })
}

/** The run that goes on with the message of this one, as soon as there is one. */
export function useContinuedBy(run: Run | undefined) {
  const thread = run?.status === 'awaiting_approval' ? run.threadId : undefined
  const { data } = useQuery({
    queryKey: ['continued-by', run?.runId],
    enabled: thread !== undefined,
    queryFn: ({ signal }) => findContinuation(run as Run, thread as string, signal),
    refetchInterval: ({ state }) => (state.data ? false : 3000),
  })
  return data ?? undefined
}

async function findContinuation(run: Run, threadId: string, signal: AbortSignal): Promise<string | null> {
  let cursor: string | undefined
  do {
    const page = await answer(api.GET('/runs', { params: { query: { threadId, cursor } }, signal }))
    const next = page.items.find((one) => one.continues === run.runId)
    if (next) return next.runId
    // Newest first, and what goes on began later.
    const oldest = page.items.at(-1)
    if (oldest && oldest.createdAt < run.createdAt) return null
    cursor = page.cursor
  } while (cursor !== undefined)
  return null
}

export function useStop(id: string) {
  return useMutation({
    mutationFn: () => answer(api.POST('/runs/{run}/abort', { params: { path: { run: id } } })),
    onError: (error) => toast(wordsOf(error), { kind: 'failed' }),
  })
}
