// What was said to a call that a person must agree to, and saying it.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../../api/client'
import { ProblemError } from '../../api/problem'
import { useDocument, useWriteDocument } from '../../live/hooks'
import { whoAmI } from '../../session/session'
import { useThread } from '../threadContext'

export type Said = { approved: boolean; input?: unknown; reason?: string }

/**
 * A message tells who answered once the next run writes it. Until then, while other calls of the run still wait, a
 * document of the thread's scope does.
 */
const keyOf = (call: string) => `approvals/${call}`

/** Who answered a call whose message does not tell it yet. */
export function useDecider(call: string): { user: string; approved: boolean } | undefined {
  const doc = useDocument<{ approved: boolean }>(`thread:${useThread()}`, keyOf(call))
  return doc ? { user: doc.by.user, approved: doc.value.approved } : undefined
}

/** Who asked the agent, with whose rights the call runs; undefined while that is not known. */
export function useAsker(run: string | undefined): string | undefined {
  const { data } = useQuery({
    queryKey: ['run', run, 'asker'],
    queryFn: ({ signal }) => answer(api.GET('/runs/{run}', { params: { path: { run: run as string } }, signal })),
    enabled: run !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data?.owner.user
}

export function useAnswer(run: string | undefined, call: string) {
  const write = useWriteDocument(`thread:${useThread()}`)
  const [isSaying, setSaying] = useState(false)
  const [problem, setProblem] = useState<ProblemError | Error>()
  const [overruled, setOverruled] = useState(false)
  const say = async (said: Said) => {
    if (run === undefined) return
    setSaying(true)
    setProblem(undefined)
    try {
      const params = { path: { run, call } }
      const body = { ...said, input: said.input as never }
      const holds = await answer(api.POST('/runs/{run}/approvals/{call}', { params, body }))
      setOverruled(holds.approved !== said.approved)
      // Whoever was first has written it already.
      if (holds.approved === said.approved) await write(keyOf(call), { approved: said.approved }, 0).catch(() => {})
    } catch (error) {
      setProblem(error as Error)
      if (error instanceof ProblemError && error.code !== 'conflict') throw error
    } finally {
      setSaying(false)
    }
  }
  return { say, isSaying, problem, overruled }
}

export const nameOf = (user: string) => (user === whoAmI().user ? 'you' : user)
