// What was said to a call that a person must agree to, and saying it.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Thread } from '../../api'
import { answer, api } from '../../api/client'
import { ProblemError } from '../../api/problem'
import { threadKey } from '../../live/keys'
import { whoAmI } from '../../session/session'
import { useThread } from '../threadContext'

export type Answered = { by: string; approved: boolean }
export type Said = { approved: boolean; input?: unknown; reason?: string }

/**
 * Who answered a call whose message does not tell it yet: it does once the next run writes it. Until then, while other
 * calls of the run still wait, the thread does.
 */
export function useAnswered(call: string): Answered | undefined {
  const { data } = useQuery<Thread>({ queryKey: threadKey(useThread()), enabled: false })
  const told = data?.answered?.find((answered) => answered.toolCallId === call)
  // With the last answer the thread forgets all of them, before the message tells of any: an answer stays one.
  const [last, setLast] = useState(told)
  if (told && told !== last) setLast(told)
  return told ?? last
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
  const [isSaying, setSaying] = useState(false)
  const [problem, setProblem] = useState<ProblemError | Error>()
  const [overruled, setOverruled] = useState(false)
  /** It was taken: how it was said is known, before the thread or the message tells it. */
  const [taken, setTaken] = useState<Said>()
  const say = async (said: Said) => {
    if (run === undefined) return
    setSaying(true)
    setProblem(undefined)
    try {
      const params = { path: { run, call } }
      const body = { ...said, input: said.input as never }
      const holds = await answer(api.POST('/runs/{run}/approvals/{call}', { params, body }))
      setOverruled(holds.approved !== said.approved)
      if (holds.approved === said.approved) setTaken(said)
    } catch (error) {
      setProblem(error as Error)
      if (error instanceof ProblemError && error.code !== 'conflict') throw error
    } finally {
      setSaying(false)
    }
  }
  return { say, isSaying, problem, overruled, taken }
}

export const nameOf = (user: string) => (user === whoAmI().user ? 'you' : user)
