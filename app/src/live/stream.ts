// Server-sent events over `fetch`, as `EventSource` cannot send a token.
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { authorizedFetch } from '../api/client'
import { asProblem, ProblemError } from '../api/problem'

/** The server breaks silence every 10 s. Whoever is silent for longer than this is gone. */
export const SILENCE_MS = 25_000
/** For a response to begin. A connection may be gone without a word: whoever asks on it would wait for ever. */
export const ANSWER_MS = 10_000

/** Calls `onEvent` for each event until the response ends. Throws where there is no response, or it breaks. */
export async function readStream(
  path: string,
  options: {
    signal: AbortSignal
    lastEventId?: string
    onOpen?: () => void
    onEvent: (event: EventSourceMessage) => void
  },
): Promise<void> {
  const broken = new AbortController()
  const signal = AbortSignal.any([options.signal, broken.signal])
  let timer: ReturnType<typeof setTimeout> | undefined
  const listen = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => broken.abort(new Error('The stream fell silent.')), ms)
  }
  listen(ANSWER_MS)
  try {
    const headers: Record<string, string> = { accept: 'text/event-stream' }
    if (options.lastEventId) headers['last-event-id'] = options.lastEventId
    const response = await authorizedFetch(path, { headers, signal, cache: 'no-store' })
    if (!response.ok || !response.body) {
      const body = await response.json().catch(() => undefined)
      throw new ProblemError(asProblem(body, response.status))
    }
    listen(SILENCE_MS)
    options.onOpen?.()
    const parser = createParser({ onEvent: options.onEvent })
    const decoder = new TextDecoder()
    const reader = response.body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      listen(SILENCE_MS)
      parser.feed(decoder.decode(value, { stream: true }))
    }
  } finally {
    clearTimeout(timer)
  }
}

/** How long to wait before the next try: after none to begin with, then longer and longer, up to 10 s, never in step. */
export function backoff(failures: number, random: number): number {
  if (failures === 0) return 0
  return Math.min(10_000, 250 * 2 ** (failures - 1)) * (0.5 + random / 2)
}

/** Waits; a connection that has come back, or a tab that is looked at again, ends it early. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      window.removeEventListener('online', end)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    window.addEventListener('online', end)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}
