import { useEffect, useRef, useState } from 'react'
import type { Chunk } from '../api'
import { ProblemError } from '../api/problem'
import { backoff, pause, readStream } from '../live/stream'

export type Numbered = { seq: number; chunk: Chunk }

/** All chunks of a run, those to come too. `onEnd` is called once, when the run has ended. */
export function useRunChunks(run: string, onEnd: () => void): { chunks: Numbered[]; error?: unknown } {
  const [chunks, setChunks] = useState<Numbered[]>([])
  const [error, setError] = useState<unknown>()
  const ended = useRef(onEnd)
  useEffect(() => {
    ended.current = onEnd
  })
  useEffect(() => {
    const stop = new AbortController()
    setChunks([])
    setError(undefined)
    follow(run, stop.signal, (more) => setChunks((have) => [...have, ...more])).then(
      () => ended.current(),
      (failure) => !stop.signal.aborted && setError(failure),
    )
    return () => stop.abort()
  }, [run])
  return { chunks, error }
}

/** Reads until the log is over, however often the connection ends in between. */
async function follow(run: string, signal: AbortSignal, onChunks: (chunks: Numbered[]) => void): Promise<void> {
  let next: string | undefined
  let failures = 0
  let isOver = false
  let crowd: Numbered[] = []
  const flush = () => {
    if (crowd.length > 0 && !signal.aborted) onChunks(crowd)
    crowd = []
  }
  const timer = setInterval(flush, 60)
  try {
    while (!isOver) {
      signal.throwIfAborted()
      try {
        await readStream(`/runs/${encodeURIComponent(run)}/events`, {
          signal,
          lastEventId: next,
          onOpen: () => {
            failures = 0
          },
          onEvent: ({ id, data }) => {
            if (data === '[DONE]') {
              isOver = true
              return
            }
            next = id ?? next
            crowd.push({ seq: Number(id), chunk: JSON.parse(data) as Chunk })
          },
        })
      } catch (error) {
        if (error instanceof ProblemError && error.problem.status < 500) throw error
        failures += 1
        await pause(backoff(failures, Math.random()), signal)
      }
    }
  } finally {
    clearInterval(timer)
    flush()
  }
}
