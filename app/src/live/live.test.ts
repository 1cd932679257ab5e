import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { WindowEvent } from '../api'
import { Feed } from './feed'

/** What each connection asks for, and what it is answered. */
type Asked = { query: URLSearchParams; cursor: string | null }
const asked: Asked[] = []
let answers: (() => Response)[] = []

async function server(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const headers = new Headers(init?.headers)
  asked.push({ query: new URL(String(input), 'http://app').searchParams, cursor: headers.get('last-event-id') })
  const answer = answers.shift()
  if (answer) return answer()
  // Nothing more happens, until the window closes it.
  return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
}
vi.mock('../api/client', () => ({ authorizedFetch: server }))
const { Live } = await import('./live')

const refused = (status: number, code: string, more: object = {}) => {
  const problem = { type: 'about:blank', title: code, detail: code, status, code, ...more }
  return () => new Response(JSON.stringify(problem), { status })
}
const events = (...told: [string | undefined, object][]) => {
  const lines = told.map(([id, event]) => `${id ? `id: ${id}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
  return () => new Response(lines.join(''))
}
const ready = { type: 'ready', scopes: { 'app:inbox': 7 } }
const message = { type: 'message', threadId: 't', n: 0, message: { id: 'u0', role: 'user', parts: [] } }

let live: InstanceType<typeof Live>
let heard: WindowEvent[]
beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('window', new EventTarget())
  asked.length = 0
  heard = []
  live = new Live(new Feed(new QueryClient()))
  live.listen((event) => heard.push(event))
})
afterEach(() => {
  live.stop()
  vi.useRealTimers()
})

async function connect(times: number, ...given: (() => Response)[]): Promise<Asked> {
  answers = given
  live.followThread('t', '4.4.1')
  live.start()
  for (let seconds = 0; asked.length < times && seconds < 60; seconds += 1) await vi.advanceTimersByTimeAsync(1000)
  expect(asked).toHaveLength(times)
  return asked.at(-1) as Asked
}

test.each([
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [429, 'throttled'],
  [500, 'internal'],
  [503, 'store_unavailable'],
])('after %s %s it goes on where it was: what others did meanwhile comes', async (status, code) => {
  const last = await connect(
    4,
    events(['c1', ready]),
    refused(status, code),
    refused(status, code),
    events(['c2', message]),
  )
  expect(last.cursor).toBe('c1')
  await vi.waitFor(() => expect(heard).toContainEqual(message))
})

test('it comes back no sooner than it is asked to', async () => {
  answers = [events(['c1', ready]), refused(429, 'throttled', { retryAfter: 30 })]
  live.start()
  await vi.advanceTimersByTimeAsync(25_000)
  expect(asked).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(asked).toHaveLength(3)
})

test.each(['invalid_input', 'expired'])(
  'a cursor that is refused as %s is given up, then positions are',
  async (code) => {
    await connect(4, events(['c1', ready]), refused(400, code), refused(400, code))
    expect(asked.map(({ cursor }) => cursor)).toEqual([null, 'c1', null, null])
    const [, , positions, nothing] = asked.map(({ query }) => [query.get('thread'), query.get('scope')])
    expect(positions).toEqual(['t@4.4.1', 'app:inbox@7'])
    expect(nothing).toEqual(['t', 'app:inbox'])
  },
)

test('a thread that is not there any more is not asked for again', async () => {
  const last = await connect(3, events(['c1', ready]), refused(404, 'not_found'))
  expect(last.query.has('thread')).toBe(false)
  expect(last.cursor).toBe('c1')
})
