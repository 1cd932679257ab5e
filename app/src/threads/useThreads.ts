import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import type { Thread } from '../api'
import { answer, api } from '../api/client'
import { wordsOf } from '../api/problem'
import { threadKey, threadsKey } from '../live/keys'
import { toast } from '../ui/Toast'

/** Which conversations are listed. */
export type Which = 'mine' | 'shared' | 'archived'

const PAGE = 30
/** What others share and rename is told by no stream until it is open. */
const LOOK_AGAIN_MS = 20_000

/** Conversations, newest first, a page at a time. */
export function useThreads(which: Which, q: string) {
  return useInfiniteQuery({
    queryKey: [...threadsKey(), which, q],
    queryFn: ({ pageParam, signal }) => {
      const wanted = { archived: which === 'archived', shared: which === 'shared', q: q || undefined }
      return answer(api.GET('/threads', { params: { query: { ...wanted, limit: PAGE, cursor: pageParam } }, signal }))
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: LOOK_AGAIN_MS,
  })
}

/** Renames, shares or archives a conversation. */
export function useChangeThread(threadId: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (body: { title?: string; shared?: boolean; archived?: boolean }) =>
      answer(api.PATCH('/threads/{thread}', { params: { path: { thread: threadId } }, body })),
    onSuccess: (thread) => {
      cache.setQueryData<Thread>(threadKey(threadId), thread)
      return cache.invalidateQueries({ queryKey: ['threads'] })
    },
    onError: (error) => toast(`It was not changed. ${wordsOf(error)}`, { kind: 'failed' }),
  })
}

export function useDeleteThread(threadId: string, onDone: () => void) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => answer(api.DELETE('/threads/{thread}', { params: { path: { thread: threadId } } })),
    onSuccess: () => {
      toast('The conversation is deleted')
      onDone()
      return cache.invalidateQueries({ queryKey: ['threads'] })
    },
    onError: (error) => toast(`It was not deleted. ${wordsOf(error)}`, { kind: 'failed' }),
  })
}
