import { beforeEach, expect, test, vi } from 'vitest'
import type { WindowEvent } from '../api'
import type { Message } from './history'

type Ask = { path: string; method: string; body?: Record<string, unknown> }
const asked: Ask[] = []
let answers: Record<string, () => Response> = {}

/** What the server answers, by method and path. */
async function server(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const path = String(input).split('?')[0] as string
  const method = init?.method ?? 'GET'
  asked.push({ path, method, body: init?.body ? JSON.parse(String(init.body)) : undefined })
  const answer = answers[`${method} ${path}`]
  if (!answer) throw new Error(`nobody expects ${method} ${path}`)
  return answer()
}
const history = vi.fn()
const status = vi.fn()
const abort = vi.fn()
vi.mock('../api/client', () => ({ authorizedFetch: server, answer: (call: unknown) => call, api: { POST: abort } }))
vi.mock('./history', async (original) => ({
  ...(await original<object>()),
  readHistory: history,
  readStatus: status,
}))
const { Conversation } = await import('./conversation')

const user = (id: string): Message => ({ id, role: 'user', parts: [{ type: 'text', text: id }] })
const texts = (messages: Message[]) =>
  messages.map(({ id, parts }) => `${id}:${parts.map((part) => ('text' in part ? part.text : '')).join('')}`)

const problem = (status: number, code: string, headers?: Record<string, string>) => () =>
  new Response(JSON.stringify({ type: 'about:blank', title: code, detail: code, status, code }), { status, headers })

/** The stream of a run that breaks after these chunks. */
function broken(run: string, ...chunks: object[]): () => Response {
  const body = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
  return () => new Response(body, { headers: { 'x-run-id': run, 'x-workflow-run-id': run } })
}
const HALF = [
  { type: 'start', messageId: 'a1' },
  { type: 'start-step' },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'hel' },
]
const DONE = [
  { type: 'tool-input-available', toolCallId: 'c1', toolName: 'email', input: {} },
  { type: 'tool-output-available', toolCallId: 'c1', output: {} },
]
const posts = () => asked.filter(({ method }) => method === 'POST')

/** The stream of a run that says `text`; `hold` keeps its end back. */
function stream(run: string, message: string, text: string, hold?: Promise<void>): () => Response {
  return () => {
    const chunks = [
      { type: 'start', messageId: message },
      { type: 'start-step' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: text },
      { type: 'text-end', id: 't' },
      { type: 'finish-step' },
    ]
    const line = (chunk: object) => new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`)
    const body = new ReadableStream({
      async start(controller) {
        for (const chunk of chunks) controller.enqueue(line(chunk))
        await hold
        controller.enqueue(line({ type: 'finish', finishReason: 'stop' }))
        controller.close()
      },
    })
    return new Response(body, { headers: { 'x-run-id': run, 'x-workflow-run-id': run } })
  }
}

const told = (n: number, message: Message) => ({ type: 'message', threadId: 't', n, message }) as unknown as WindowEvent
const ran = (n: number, runId: string, messageId: string) =>
  ({ type: 'run', threadId: 't', n, run: { runId, messageId } }) as unknown as WindowEvent

const RESUME = 'GET /api/agent-chat/t/stream'

function conversation(messages: Message[]) {
  const followThread = vi.fn()
  const made = new Conversation('t', { messages }, { followThread, onRun: () => {} })
  made.open()
  return { made, followThread, shown: () => texts(made.chat.messages) }
}

beforeEach(() => {
  vi.stubGlobal('window', new EventTarget())
  asked.length = 0
  answers = {}
  for (const each of [history, status, abort]) each.mockReset()
})

test('what somebody else says is shown, and the answer to it is followed', async () => {
  answers[RESUME] = stream('run_1', 'a1', 'hello')
  const { made, shown } = conversation([])
  made.take(told(0, user('u0')))
  made.take(ran(1, 'run_1', 'a1'))
  await vi.waitFor(() => expect(shown()).toEqual(['u0:u0', 'a1:hello']))
  await vi.waitFor(() => expect(made.isBusy).toBe(false))
  // Told again, as a stream may be: nothing is asked anew.
  made.take(ran(1, 'run_1', 'a1'))
  expect(asked).toHaveLength(1)
})

test('what happens while an answer streams comes after it, in order', async () => {
  let end = () => {}
  const hold = new Promise<void>((resolve) => {
    end = resolve
  })
  answers['POST /api/agent-chat'] = stream('run_1', 'a1', 'mine', hold)
  answers[RESUME] = stream('run_2', 'a3', 'theirs')
  const { made, shown } = conversation([])
  made.send('mine')
  await vi.waitFor(() => expect(shown()[1]).toBe('a1:mine'))
  const mine = made.chat.messages[0] as Message
  for (const event of [told(0, mine), ran(1, 'run_1', 'a1'), told(2, user('u2')), ran(3, 'run_2', 'a3')])
    made.take(event)
  expect(shown()).toHaveLength(2)
  end()
  await vi.waitFor(() => expect(shown().slice(1)).toEqual(['a1:mine', 'u2:u2', 'a3:theirs']))
})

test('an edit elsewhere takes away what followed', async () => {
  answers[RESUME] = stream('run_2', 'b1', 'again')
  const { made, shown } = conversation([user('u0'), { ...user('a1'), role: 'assistant' }])
  made.take(told(0, { ...user('u0'), parts: [{ type: 'text', text: 'edited' }] }))
  made.take(ran(1, 'run_2', 'b1'))
  await vi.waitFor(() => expect(shown()).toEqual(['u0:edited', 'b1:again']))
})

test('a run that is not there any more is read from the store', async () => {
  // The window slept: another run is under way by now.
  answers[RESUME] = stream('run_9', 'a9', 'something else')
  history.mockResolvedValue({ messages: [user('u0'), user('u1')], position: '5' })
  const { made, shown, followThread } = conversation([])
  made.take(told(0, user('u0')))
  made.take(ran(1, 'run_1', 'a1'))
  await vi.waitFor(() => expect(shown()).toEqual(['u0:u0', 'u1:u1']))
  expect(followThread).toHaveBeenCalledWith('5')
  expect(made.chat.error).toBeUndefined()
})

test('what cannot be said as another answer is under way goes back to where it was written', async () => {
  const problem = { code: 'thread_busy', detail: 'busy', title: 'busy', status: 409, type: 'about:blank' }
  answers['POST /api/agent-chat'] = () => new Response(JSON.stringify(problem), { status: 409 })
  history.mockResolvedValue({ messages: [user('u0')], position: '1', activeRunId: 'run_3' })
  answers[RESUME] = stream('run_3', 'a1', 'theirs')
  const { made, shown } = conversation([])
  made.send('mine')
  await vi.waitFor(() => expect(shown()).toEqual(['u0:u0', 'a1:theirs']))
  expect(made.extra.unsent).toBe('mine')
})

test('what is said while what is stored is read waits for it, and nothing of it is lost', async () => {
  answers['POST /api/agent-chat'] = problem(409, 'thread_busy')
  let read: (history: object) => void = () => {}
  history.mockReturnValueOnce(
    new Promise((resolve) => {
      read = resolve
    }),
  )
  const { made } = conversation([user('u0')])
  made.send('one')
  await vi.waitFor(() => expect(made.extra.isReading).toBe(true))
  made.send('two')
  expect(posts()).toHaveLength(1)
  read({ messages: [user('u0')] })
  // The first came back, and the second with it: neither was sent.
  await vi.waitFor(() => expect(made.extra.unsent).toBe('one\n\ntwo'))
  expect(posts()).toHaveLength(1)
})

test.each(['unauthenticated', 'invalid_request'])(
  'what was refused as %s is asked again as what it was: an edit, another answer, a message',
  async (code) => {
    const refused = () => new Response(JSON.stringify({ code, detail: 'no', title: 'no' }), { status: 400 })
    const { made, shown } = conversation([user('u0'), { ...user('a1'), role: 'assistant' }])
    const twice = async (ask: () => void) => {
      asked.length = 0
      answers['POST /api/agent-chat'] = refused
      ask()
      await vi.waitFor(() => expect(made.chat.status).toBe('error'))
      answers['POST /api/agent-chat'] = stream(`run_${Math.random()}`, `a${Math.random()}`, 'fine')
      made.again()
      await vi.waitFor(() => expect(made.chat.status).toBe('ready'))
      expect(asked).toHaveLength(2)
      return asked.map(({ body }) => body ?? {})
    }
    const edits = await twice(() => made.edit('u0', 'changed'))
    for (const body of edits) {
      expect(body).toMatchObject({ trigger: 'submit-message', messageId: 'u0' })
      expect(body.messages).toMatchObject([{ id: 'u0', parts: [{ text: 'changed' }] }])
    }
    expect(shown()).toHaveLength(2)
    const answersAgain = await twice(() => made.again())
    expect(answersAgain.map(({ trigger }) => trigger)).toEqual(['regenerate-message', 'regenerate-message'])
    const [said, saidAgain] = await twice(() => made.send('more'))
    expect(said?.messageId).toBeUndefined()
    expect(saidAgain?.messageId).toBeUndefined()
    expect(saidAgain?.messages).toEqual(said?.messages)
  },
)

const AGAIN = 'GET /api/agent-chat/run_1/stream'

/** An answer whose stream breaks in its middle, and cannot be read on. */
async function brokenOff(...more: object[]) {
  answers['POST /api/agent-chat'] = broken('run_1', ...HALF, ...more)
  const given = [problem(429, 'throttled', { 'retry-after': '0' }), problem(401, 'unauthenticated')]
  answers[AGAIN] = () => (given.shift() as () => Response)()
  const { made, shown } = conversation([])
  made.effectOf = (action) => (action === 'email' ? 'transactional' : 'read')
  made.send('hi')
  await vi.waitFor(() => expect(made.chat.status).toBe('error'))
  // Too much to do is waited out; who is not signed in any more is told.
  expect(asked.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET'])
  expect(made.chat.error?.message).toContain('not signed in')
  return { made, shown }
}

test.each(['running', 'completed'])('an answer that only broke off here is followed to its end: %s', async (now) => {
  const { made, shown } = await brokenOff()
  status.mockRejectedValueOnce(new TypeError('Failed to fetch')).mockResolvedValue(now)
  answers[RESUME] = stream('run_1', 'a1', 'hello')
  made.again()
  made.again()
  await vi.waitFor(() => expect(shown()[1]).toBe('a1:hello'))
  await vi.waitFor(() => expect(made.chat.status).toBe('ready'))
  expect(shown()).toHaveLength(2)
  expect(posts()).toHaveLength(1)
  expect(made.chat.error).toBeUndefined()
})

test('it is tried again as often as it takes, and what was there of it stays', async () => {
  const { made, shown } = await brokenOff()
  status.mockResolvedValue('running')
  for (let times = 0; times < 2; times += 1) {
    answers[RESUME] = problem(401, 'unauthenticated')
    made.again()
    await vi.waitFor(() => expect(made.chat.status).toBe('error'))
    expect(shown()[1]).toBe('a1:hel')
  }
  answers[RESUME] = stream('run_1', 'a1', 'hello')
  made.again()
  await vi.waitFor(() => expect(shown()[1]).toBe('a1:hello'))
  expect(posts()).toHaveLength(1)
})

test('an answer that has failed meanwhile is asked for anew, unless it has done something', async () => {
  const nothing = await brokenOff()
  status.mockResolvedValue('failed')
  answers['POST /api/agent-chat'] = stream('run_2', 'a2', 'fine')
  nothing.made.again()
  await vi.waitFor(() => expect(nothing.shown()[1]).toBe('a2:fine'))
  expect(posts().map(({ body }) => body?.trigger)).toEqual(['submit-message', 'regenerate-message'])

  asked.length = 0
  const something = await brokenOff(...DONE)
  history.mockResolvedValue({ messages: [user('u0'), { ...user('a1'), role: 'assistant' }], position: '3' })
  something.made.again()
  await vi.waitFor(() => expect(something.shown()).toEqual(['u0:u0', 'a1:a1']))
  expect(posts()).toHaveLength(1)
  expect(something.made.chat.status).toBe('ready')
})

test('what cannot be read is told, and the conversation is still there', async () => {
  const { made } = await brokenOff()
  const { ProblemError } = await import('../api/problem')
  const refused = new ProblemError({ type: '', title: '', detail: '', status: 401, code: 'unauthenticated' })
  status.mockResolvedValue('gone')
  history.mockRejectedValueOnce(refused).mockResolvedValue({ messages: [user('u0')], position: '1' })
  made.again()
  await vi.waitFor(() => expect(made.extra).toMatchObject({ trouble: refused, isReading: false }))
  expect(made.extra.gone).toBeUndefined()
  made.again()
  await vi.waitFor(() => expect(texts(made.chat.messages)).toEqual(['u0:u0']))
  expect(made.extra.trouble).toBeUndefined()
})

test('what cannot be said as the answer cannot be stopped comes back, and can be said again', async () => {
  let end = () => {}
  const hold = new Promise<void>((resolve) => {
    end = resolve
  })
  answers['POST /api/agent-chat'] = stream('run_1', 'a1', 'mine', hold)
  const { made, shown } = conversation([])
  made.send('one')
  await vi.waitFor(() => expect(shown()[1]).toBe('a1:mine'))
  for (let times = 0; times < 2; times += 1) {
    abort.mockRejectedValueOnce(new TypeError('Failed to fetch'))
    await expect(made.interrupt('two')).rejects.toThrow(TypeError)
    expect(made.extra).toMatchObject({ unsent: 'two', isStopping: false })
    expect(posts()).toHaveLength(1)
  }
  abort.mockImplementation(async () => end())
  answers['POST /api/agent-chat'] = stream('run_2', 'a3', 'fine')
  await made.interrupt('two')
  await vi.waitFor(() => expect(shown()[3]).toBe('a3:fine'))
  expect(made.extra).toMatchObject({ unsent: undefined, isStopping: false })
  expect(posts().at(-1)?.body).toMatchObject({ whenBusy: 'interrupt', messages: [{ parts: [{ text: 'two' }] }] })
})

test('an answer that begins only while it is stopped is stopped then, or it is told', async () => {
  let begin: (response: Response) => void = () => {}
  const begun = new Promise<Response>((resolve) => {
    begin = resolve
  })
  answers['POST /api/agent-chat'] = () => begun as unknown as Response
  const { made } = conversation([])
  made.send('one')
  await vi.waitFor(() => expect(asked).toHaveLength(1))
  abort.mockResolvedValueOnce({}).mockRejectedValueOnce(new TypeError('Failed to fetch'))
  const stopped = made.stop()
  await vi.waitFor(() => expect(abort).toHaveBeenCalledTimes(1))
  begin(stream('run_1', 'a1', 'mine', new Promise(() => {}))())
  await expect(stopped).rejects.toThrow(TypeError)
  expect(abort.mock.calls.map(([path]) => path)).toEqual(['/threads/{thread}/turns/{turn}/abort', '/runs/{run}/abort'])
  expect(made.extra.isStopping).toBe(false)
  made.close()
})

test('a conversation that is gone says so', () => {
  const { made } = conversation([user('u0')])
  made.take({ type: 'gone', threadId: 't' })
  expect(made.extra.gone).toBe(true)
})
