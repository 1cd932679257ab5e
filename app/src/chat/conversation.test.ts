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
vi.mock('../api/client', () => ({ authorizedFetch: server, answer: (call: unknown) => call, api: { POST: vi.fn() } }))
vi.mock('./history', async (original) => ({ ...(await original<object>()), readHistory: history }))
const { Conversation } = await import('./conversation')

const user = (id: string): Message => ({ id, role: 'user', parts: [{ type: 'text', text: id }] })
const texts = (messages: Message[]) =>
  messages.map(({ id, parts }) => `${id}:${parts.map((part) => ('text' in part ? part.text : '')).join('')}`)

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

test('a conversation that is gone says so', () => {
  const { made } = conversation([user('u0')])
  made.take({ type: 'gone', threadId: 't' })
  expect(made.extra.gone).toBe(true)
})
