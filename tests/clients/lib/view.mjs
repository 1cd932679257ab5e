// A chat window without a window: the stock `Chat` over one of the two stock transports, and everything it showed.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Chat } from '@ai-sdk/react'
import { WorkflowChatTransport } from '@ai-sdk/workflow/client'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { roles, rules, words } from './message.mjs'
import { until } from './until.mjs'

export const transports = ['DefaultChatTransport', 'WorkflowChatTransport']

/**
 * Opens a thread with the options that the documentation asks for. `hold` is awaited before each request;
 * `resumes` resumes after each unfinished answer with either transport.
 */
export function open(server, transport, { thread = newId(), messages = [], hold, resumes = false } = {}) {
  const view = new View(server, thread, hold)
  const api = `${server.url}/api/agent-chat`
  const setup = {
    // An ended window is no end of the turn.
    DefaultChatTransport: () => ({
      transport: new DefaultChatTransport({ api, fetch: view.fetch }),
      onFinish: view.resumeUnlessFinished,
    }),
    // Without the option no thread id is sent.
    WorkflowChatTransport: () => ({
      transport: new WorkflowChatTransport({
        api,
        fetch: view.fetch,
        prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
          body: { id, messages, trigger, messageId },
        }),
      }),
    }),
  }[transport]()
  if (resumes) setup.onFinish = view.resumeUnlessFinished
  // Once a person has answered all that was asked, the client goes on by itself.
  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses
  const watched = { onError: view.onError, onData: view.onData }
  view.attach(new Chat({ id: thread, messages, sendAutomaticallyWhen, ...setup, ...watched }))
  return view
}

const newId = () => `t-${randomUUID()}`

class View {
  /** Every request: `{method, url, status, run}`. */
  requests = []
  errors = []
  data = []
  /** Rules that a rendering broke. */
  broken = new Set()
  #active = 0

  constructor(server, thread, hold) {
    this.server = server
    this.thread = thread
    this.hold = hold
  }

  attach(chat) {
    this.chat = chat
    chat['~registerMessagesCallback'](() => rules(chat.messages).forEach(rule => this.broken.add(rule)))
  }

  fetch = async (url, init = {}) => {
    const request = { method: init.method ?? 'GET', url: String(url).slice(this.server.url.length) }
    this.requests.push(request)
    await this.hold?.(request, this)
    const response = await fetch(url, init)
    request.status = response.status
    request.run = response.headers.get('x-run-id')
    return response
  }

  resumeUnlessFinished = ({ finishReason, isAbort, isError }) => {
    if (!finishReason && !isAbort && !isError) this.#act(this.chat.resumeStream())
  }

  onError = error => this.errors.push(error)
  onData = part => this.data.push(part)

  // Each resolves when the client has come to rest, with all that it resumed by itself.
  send = (text, options = {}) => this.#settle(this.chat.sendMessage({ text, ...options }))
  regenerate = options => this.#settle(this.chat.regenerate(options))
  resume = () => this.#settle(this.chat.resumeStream())

  /** Answers a call that waits for approval, as the buttons of a card do; the client sends the answers by itself. */
  decide = async (call, approved, reason) => {
    await this.#settle(this.chat.addToolApprovalResponse({ id: call.approval.id, approved, reason }))
    const open = () => this.answer.parts.some(part => part.state === 'approval-responded')
    const done = () => this.chat.status === 'ready' && (this.asked.length > 0 || !open()) && this.#active === 0
    await until(done, 'the answer to be carried out', { ms: 20_000 })
  }

  /** The calls that wait for a person. */
  get asked() {
    return this.answer?.parts.filter(part => part.state === 'approval-requested') ?? []
  }

  async #settle(action) {
    this.#act(action)
    await until(() => this.#active === 0, 'the client to come to rest', { ms: 20_000 })
  }

  #act(action) {
    this.#active += 1
    action.catch(this.onError).finally(() => (this.#active -= 1))
  }

  get messages() {
    return this.chat.messages
  }
  /** The last message if it is an answer. */
  get answer() {
    const last = this.messages.at(-1)
    return last?.role === 'assistant' ? last : undefined
  }
  /** The run that the last answered request streamed. */
  get run() {
    return this.requests.findLast(request => request.run)?.run
  }

  /** Waits until the answer shows that many words. */
  shows = count => until(() => words(this.answer).length >= count, `${count} words on the screen`)

  /** The client is at rest and at no moment showed an error, a word twice, or two answers to one message. */
  assertClean() {
    assert.deepEqual(this.errors, [])
    assert.equal(this.chat.error, undefined)
    assert.equal(this.chat.status, 'ready')
    assert.deepEqual([...this.broken], [])
  }

  /** `assertClean`, and the thread is these roles, ending with an answer of exactly w1 to w<count>. */
  assertAnswer(count, shape = 'user assistant') {
    this.assertClean()
    assert.equal(roles(this.messages), shape)
    assert.equal(words(this.answer).join(' '), numbered(count))
  }
}

const numbered = count => Array.from({ length: count }, (_, n) => `w${n + 1}`).join(' ')

/** What the clients complained about on the console: the transports hide faults there. */
export const complaints = []
console.error = (...args) => {
  // A client that goes away is reported by the transport as an error of its own.
  if (!args.some(arg => arg?.name === 'AbortError')) complaints.push(args.map(String).join(' '))
}
