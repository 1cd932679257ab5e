import { expect, test, vi } from 'vitest'

vi.mock('../../api/client', () => ({ authorizedFetch: vi.fn() }))
const { steadyFetch } = await import('./steadyFetch')

type Answer = Response | Error | 'nothing'

function network(answers: Answer[]) {
  const waits: number[] = []
  const asked: number[] = []
  const inner: typeof fetch = async (_, init) => {
    const answer = answers.shift() ?? new Error('asked too often')
    if (answer === 'nothing') {
      return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
    }
    if (answer instanceof Error) throw answer
    return answer
  }
  const wait = async (failures: number, _: AbortSignal, atLeastMs: number) => {
    waits.push(failures)
    asked.push(atLeastMs)
  }
  return { waits, asked, ask: steadyFetch(inner, { wait, silenceMs: 50, answerMs: 50 }) }
}

const cut = () => new TypeError('Failed to fetch')

function body(texts: string[], end?: 'breaks' | 'silent'): Response {
  const stream = new ReadableStream({
    pull(controller) {
      const text = texts.shift()
      if (text !== undefined) controller.enqueue(new TextEncoder().encode(text))
      else if (end === 'breaks') controller.error(new TypeError('network error'))
      else if (end === undefined) controller.close()
    },
  })
  return new Response(stream)
}

test('it asks until there is an answer, and waits longer after each failure', async () => {
  const { ask, waits } = network([
    cut(),
    new Response('', { status: 502 }),
    new Response('', { status: 500 }),
    body(['fine']),
  ])
  expect(await (await ask('/')).text()).toBe('fine')
  expect(waits).toEqual([0, 1, 2, 3])
})

test('a body that breaks or falls silent ends with what has come', async () => {
  const long = 'x'.repeat(100)
  const { ask, waits } = network([
    body([long], 'breaks'),
    body([long, 'more'], 'silent'),
    body([''], 'breaks'),
    body([]),
  ])
  expect(await (await ask('/')).text()).toBe(long)
  expect(await (await ask('/')).text()).toBe(`${long}more`)
  expect(await (await ask('/')).text()).toBe('')
  await ask('/')
  // Only after one that said nothing it is not asked again at once.
  expect(waits).toEqual([0, 0, 0, 1])
})

test('it asks again where no answer begins', async () => {
  const { ask, waits } = network(['nothing', 'nothing', body(['fine'])])
  expect(await (await ask('/')).text()).toBe('fine')
  expect(waits).toEqual([0, 1, 2])
})

test('what the server refuses is told', async () => {
  const problem = { headers: { 'content-type': 'application/problem+json' } }
  const { ask } = network([new Response('{}', { status: 409 }), new Response('{}', { status: 500, ...problem })])
  expect([(await ask('/')).status, (await ask('/')).status]).toEqual([409, 500])
})

test('a read that comes too often waits as long as it is asked to, and what is said is refused', async () => {
  const often = (after?: string) =>
    new Response('{}', { status: 429, headers: after ? { 'retry-after': after } : undefined })
  const { ask, asked } = network([often('7'), often(), often('3600'), cut(), body(['fine']), often('7')])
  expect(await (await ask('/')).text()).toBe('fine')
  expect(asked).toEqual([0, 7000, 1000, 60_000, 0])
  expect((await ask('/', { method: 'POST' })).status).toBe(429)
})

test('whoever gives up gets no answer', async () => {
  const { ask } = network([cut(), body(['late'])])
  const giveUp = new AbortController()
  giveUp.abort(new DOMException('stopped', 'AbortError'))
  await expect(ask('/', { signal: giveUp.signal })).rejects.toThrow('stopped')
})
