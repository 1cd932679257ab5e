import { useEffect, useState } from 'react'
import { answer, api } from '../api/client'
import { ProblemError } from '../api/problem'
import { backoff, pause, readStream } from '../live/stream'
import { EMPTY, fold, type Numbered, type Timeline } from './timeline'

export type RunLog = {
  chunks: readonly Numbered[]
  timeline: Timeline
  /** Everything that there will ever be is here. */
  isOver: boolean
  /** What is stored has been read; what comes now comes as it is written. */
  isLive: boolean
  /** The connection is lost and being made again. */
  isLost: boolean
  /** It cannot be read. */
  error?: unknown
}

const NOTHING: RunLog = { chunks: [], timeline: EMPTY, isOver: false, isLive: false, isLost: false }

/** How often the page is drawn anew, at most: chunks come much faster. */
const CROWD_MS = 60

/** The log of a run, and what is still to come of it. */
export function useRunLog(run: string): RunLog {
  const [log, setLog] = useState(NOTHING)
  useEffect(() => {
    const stop = new AbortController()
    setLog(NOTHING)
    const tell = (to: Partial<RunLog>, more: Numbered[] = []) => {
      if (stop.signal.aborted) return
      setLog((have) => {
        if (more.length === 0) return { ...have, ...to }
        return { ...have, ...to, chunks: [...have.chunks, ...more], timeline: fold(have.timeline, more) }
      })
    }
    follow(run, stop.signal, tell).catch((error) => tell({ error }))
    return () => stop.abort()
  }, [run])
  return log
}

type Tell = (to: Partial<RunLog>, more?: Numbered[]) => void

/** Reads until the log is over, however often the connection ends in between. */
async function follow(run: string, signal: AbortSignal, tell: Tell): Promise<void> {
  const cursor: Cursor = {}
  let failures = 0
  while (!signal.aborted) {
    try {
      const isOver = await readStored(run, cursor, signal, tell)
      failures = 0
      tell({ isOver, isLive: !isOver, isLost: false })
      if (isOver) return
      const began = Date.now()
      await readLive(run, cursor, signal, tell)
      // One that ends at once would be asked for without a pause.
      if (Date.now() - began < 1000) await pause(500, signal)
    } catch (error) {
      if (signal.aborted) return
      const status = error instanceof ProblemError ? error.problem.status : 500
      if (status >= 400 && status < 500) throw error
      // Without a body (204) it has ended meanwhile.
      if (status >= 500) failures += 1
      if (failures > 1) tell({ isLost: true })
      await pause(backoff(failures, Math.random()), signal)
    }
  }
}

/** Fewer chunks than this are no backlog any more. */
const FEW = 100

/** The number of the last chunk that has been read. */
type Cursor = { after?: number }

/** The chunks that are there already, whose time of arrival says nothing. Tells whether they are all. */
async function readStored(run: string, cursor: Cursor, signal: AbortSignal, tell: Tell): Promise<boolean> {
  for (;;) {
    const params = { path: { run }, query: cursor }
    const headers = { accept: 'application/json' }
    const page = await answer(api.GET('/runs/{run}/events', { params, headers, signal }))
    if (!('events' in page)) throw new TypeError('A stream came where JSON was asked for.')
    const last = page.events.at(-1)
    if (last) cursor.after = last.seq
    tell({}, page.events)
    // A run writes on while it is read: what is left comes live.
    if (page.done || page.events.length < FEW) return page.done
  }
}

/** The chunks that come until the response ends. */
async function readLive(run: string, cursor: Cursor, signal: AbortSignal, tell: Tell): Promise<void> {
  let crowd: Numbered[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    tell({}, crowd)
    crowd = []
  }
  const query = cursor.after === undefined ? '' : `?after=${cursor.after}`
  try {
    await readStream(`/runs/${encodeURIComponent(run)}/events${query}`, {
      signal,
      onEvent: ({ id, data }) => {
        if (id === undefined || data === '[DONE]') return
        cursor.after = Number(id)
        crowd.push({ seq: cursor.after, chunk: JSON.parse(data), arrived: Date.now() })
        timer ??= setTimeout(flush, CROWD_MS)
      },
    })
  } finally {
    clearTimeout(timer)
    flush()
  }
}
