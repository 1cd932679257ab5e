// A `fetch` for conversations: where the network fails it asks again, for as long as it takes.
import { ANSWER_MS, backoff, pause, SILENCE_MS } from '../../live/stream'

const LONGEST_PAUSE_MS = 3_000

/** What a gateway answers while the server behind it is away; what the server itself says is a problem. */
const isAway = ({ status, headers }: Response) =>
  [502, 503, 504].includes(status) || (status >= 500 && !headers.get('content-type')?.includes('problem+json'))

/** Longest that the server may ask to wait. */
const LONGEST_ASKED_S = 60

/** How long the server asks to wait, where it says that only for now there is too much to do; undefined elsewhere. */
function askedToWait({ status, headers }: Response): number | undefined {
  if (status !== 429) return undefined
  const seconds = Number(headers.get('retry-after') ?? 1)
  return 1000 * Math.min(Number.isFinite(seconds) ? seconds : 1, LONGEST_ASKED_S)
}

type Options = {
  silenceMs?: number
  answerMs?: number
  /** Waits before the next try, `atLeastMs` if the server has said so. */
  wait?: (failures: number, signal: AbortSignal, atLeastMs: number) => Promise<void>
}

/**
 * Asks again where it cannot connect or no answer begins, and a read also where it came too often; and ends a body that breaks, or falls silent, as if it were
 * complete: the transport then asks for what is missing. Only for requests that may be repeated.
 */
export function steadyFetch(inner: typeof fetch, options: Options = {}): typeof fetch {
  const wait =
    options.wait ??
    ((failures, signal, atLeastMs) =>
      pause(Math.max(atLeastMs, Math.min(backoff(failures, Math.random()), LONGEST_PAUSE_MS)), signal))
  let failures = 0
  return async (input, init) => {
    const signal = init?.signal ?? new AbortController().signal
    const isRead = (init?.method ?? 'GET') === 'GET'
    for (let atLeastMs = 0; ; ) {
      await wait(failures, signal, atLeastMs)
      atLeastMs = 0
      signal.throwIfAborted()
      let response: Response
      try {
        // A line that is only slow gets more time with each failure.
        const answerMs = (options.answerMs ?? ANSWER_MS) * (1 + failures / 2)
        response = await inTime((signal) => inner(input, { ...init, signal }), signal, answerMs)
      } catch (error) {
        if (signal.aborted || !(error instanceof TypeError)) throw error
        failures += 1
        continue
      }
      // A person is told that what they say comes too often. What was said already is only to be read.
      const asked = isRead ? askedToWait(response) : undefined
      if (isAway(response) || asked !== undefined) {
        failures += 1
        atLeastMs = asked ?? 0
        void response.body?.cancel()
        continue
      }
      if (!response.ok || !response.body) return response
      const body = quietEnd(response.body, options.silenceMs ?? SILENCE_MS, signal, (saidSomething) => {
        failures = saidSomething ? 0 : failures + 1
      })
      return new Response(body, { status: response.status, headers: response.headers })
    }
  }
}

/** The response, if it begins in time; else what a network that fails says. */
async function inTime(
  ask: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal,
  ms: number,
): Promise<Response> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new TypeError('No answer has begun.')), ms)
  try {
    return await ask(AbortSignal.any([signal, late.signal]))
  } finally {
    clearTimeout(timer)
  }
}

function quietEnd(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
  signal: AbortSignal,
  onEnd: (saidSomething: boolean) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let bytes = 0
  const end = (controller: ReadableStreamDefaultController) => {
    // An opening comment alone is nothing: a server that only says that is not asked again without a pause.
    onEnd(bytes > 64)
    controller.close()
  }
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await withinTime(reader.read(), silenceMs)
        if (done) return end(controller)
        bytes += value.length
        controller.enqueue(value)
      } catch (error) {
        void reader.cancel().catch(() => {})
        if (signal.aborted) controller.error(error)
        else end(controller)
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

async function withinTime<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The stream fell silent.')), ms)
  })
  try {
    return await Promise.race([promise, silence])
  } finally {
    clearTimeout(timer)
  }
}
