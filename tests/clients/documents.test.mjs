// The snippets of README.md and docs/front-end.md, as they stand there, against a server.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { EventSource } from 'eventsource'
import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { words } from './lib/message.mjs'
import { needsBinary, serve } from './lib/server.mjs'
import { until } from './lib/until.mjs'

const WORDS = 30
const TURN = `@say ${WORDS} every 50ms`
const read = path => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The one block of a document that has this text. */
async function block(path, text) {
  const found = [...(await read(path)).matchAll(/^```(?:ts|js|py)\n(.*?)^```$/gms)].map(match => match[1])
  const [only, ...more] = found.filter(code => code.includes(text))
  assert.ok(only && more.length === 0, `${path} has ${found.length} snippets, and not one with ${text}`)
  return only
}

/** A module is read once by its name. */
let snippets = 0

/** What a snippet makes, with these things around it. */
async function made(code, name, around = {}) {
  const file = new URL(`./.snippet-${process.pid}-${(snippets += 1)}.mjs`, import.meta.url)
  const [names, values] = [Object.keys(around), Object.values(around)]
  const imports = code.match(/^import .*$/gm)?.join('\n') ?? ''
  const body = code.replace(/^import .*$/gm, '')
  await writeFile(file, `${imports}\nexport default (${names.join(', ')}) => {\n${body}\nreturn ${name}\n}\n`)
  try {
    return (await import(file)).default(...values)
  } finally {
    await rm(file)
  }
}

/** Starts a turn and leaves it to the snippet. */
async function started(server, more = {}) {
  const headers = { accept: 'application/json', ...more }
  const answer = await fetch(`${server.url}/api/agent-chat`, { method: 'POST', headers, body: JSON.stringify({ message: TURN }) })
  return (await answer.json()).runId
}

function complete(chunks) {
  const said = chunks.filter(chunk => chunk.type === 'text-delta').map(chunk => chunk.delta).join('')
  assert.deepEqual(said.match(/\bw\d+\b/g), Array.from({ length: WORDS }, (_, n) => `w${n + 1}`))
  assert.deepEqual([chunks[0].type, chunks.at(-1).type], ['start', 'finish'])
}

describe('the snippets of the documents', { skip: needsBinary }, () => {
  let server
  before(async () => {
    // Each answer ends in the midst of the turn.
    server = await serve({ STREAM_WINDOW_MS: '400' })
  })
  after(() => server?.stop())

  /** Says something and waits for the whole answer. */
  async function whole(chat) {
    const sent = chat.sendMessage({ text: TURN })
    await until(() => words(chat.messages.at(-1)).length === WORDS, 'every word', { ms: 20_000 })
    await sent
    assert.deepEqual(words(chat.messages.at(-1)), Array.from({ length: WORDS }, (_, n) => `w${n + 1}`))
  }

  it('useChat with the WorkflowChatTransport', async () => {
    const code = (await block('README.md', 'new WorkflowChatTransport({')).replaceAll("'/api", `'${server.url}/api`)
    await whole(new Chat({ id: 't-workflow', transport: await made(code, 'transport') }))
  })

  it('useChat with the DefaultChatTransport', async () => {
    const code = (await block('README.md', 'new DefaultChatTransport({')).replaceAll("'/api", `'${server.url}/api`)
    const useChat = setup => new Chat({ id: 't-default', ...setup })
    await whole(await made(code, 'chat', { useChat, DefaultChatTransport }))
  })

  it('EventSource', async () => {
    const follow = await made(await block('docs/front-end.md', 'async function follow(url,'), 'follow')
    const watch = await made(await block('docs/front-end.md', 'function watch(url,'), 'watch', { EventSource, follow })
    const chunks = []
    const source = watch(server.url, await started(server), chunk => chunks.push(chunk))
    await until(() => source.readyState === source.CLOSED, 'the end', { ms: 20_000 })
    complete(chunks)
  })

  it('fetch', async () => {
    const follow = await made(await block('docs/front-end.md', 'async function follow(url,'), 'follow')
    const chunks = []
    await follow(server.url, await started(server), chunk => chunks.push(chunk))
    complete(chunks)
    await assert.rejects(follow(server.url, 'run_unknown', () => {}), /not/)
  })

  it('EventSource with a ticket', async () => {
    const headers = { authorization: 'Bearer dev.local.ann' }
    const shown = []
    const sources = []
    // As on a page of the same origin.
    class AtServer extends EventSource {
      constructor(path) {
        super(server.url + path)
        sources.push(this)
      }
    }
    const full = { status: 429, headers: { 'retry-after': '1' } }
    const refusals = [Response.json({ code: 'throttled', retryAfter: 1 }, full)]
    const around = {
      headers,
      show: event => shown.push(event),
      EventSource: AtServer,
      fetch: async (path, init) => refusals.pop() ?? fetch(server.url + path, init),
    }
    const follow = await made(await block('docs/front-end.md', 'async function follow(thread)'), 'follow', around)
    const body = JSON.stringify({ threadId: 't-ticket' })
    const thread = await fetch(`${server.url}/threads`, { method: 'POST', headers, body })
    assert.equal(thread.status, 201)
    try {
      await follow('t-ticket')
      await until(() => shown.some(event => event.type === 'ready'), 'the stream')
      assert.equal(sources.length, 1, 'none without a ticket')
      const turn = JSON.stringify({ threadId: 't-ticket', message: TURN })
      const start = { method: 'POST', headers: { ...headers, accept: 'application/json' }, body: turn }
      assert.equal((await fetch(`${server.url}/api/agent-chat`, start)).status, 202)
      const chunks = () => shown.filter(event => event.type === 'chunk').map(event => event.chunk)
      await until(() => chunks().at(-1)?.type === 'finish', 'the end of the turn', { ms: 20_000 })
      complete(chunks())
    } finally {
      for (const source of sources) source.close()
    }
  })
})

describe('the snippets of the documents where a person has as many streams as they may', { skip: needsBinary, concurrency: true }, () => {
  let server
  before(async () => {
    server = await serve({ MAX_STREAMS_PER_USER: '1' })
  })
  after(() => server?.stop())

  /** Opens the one stream that somebody may have; what it gives closes it. */
  async function taken(headers) {
    const stop = new AbortController()
    const answer = await fetch(`${server.url}/events?scope=user`, { headers, signal: stop.signal })
    assert.equal(answer.status, 200)
    return () => stop.abort()
  }

  /** `follow`, and the answers that it gets. There is room for it once it was refused. */
  async function follower(headers) {
    const answers = []
    const close = await taken(headers)
    const noted = async (...request) => {
      const answer = await fetch(...request)
      answers.push({ status: answer.status, at: Date.now() })
      if (answer.status === 429) close()
      return answer
    }
    const follow = await made(await block('docs/front-end.md', 'async function follow(url,'), 'follow', { fetch: noted })
    return [follow, answers]
  }

  function assertPatient(answers) {
    assert.deepEqual([answers[0].status, answers.at(-1).status], [429, 200])
    const pause = answers[1].at - answers[0].at
    assert.ok(pause >= 4900, `${pause} ms and not the 5 s of Retry-After`)
  }

  it('fetch', async () => {
    const headers = { authorization: 'Bearer dev.local.ann' }
    const [follow, answers] = await follower(headers)
    const chunks = []
    await follow(server.url, await started(server, headers), chunk => chunks.push(chunk), { headers })
    complete(chunks)
    assertPatient(answers)
  })

  it('EventSource', async () => {
    const [follow, answers] = await follower({})
    const watch = await made(await block('docs/front-end.md', 'function watch(url,'), 'watch', { EventSource, follow })
    const chunks = []
    watch(server.url, await started(server), chunk => chunks.push(chunk))
    await until(() => chunks.at(-1)?.type === 'finish', 'the end', { ms: 20_000 })
    complete(chunks)
    assertPatient(answers)
  })

  it('Python', async () => {
    const code = await block('docs/front-end.md', 'import json, os')
    const began = Date.now()
    setTimeout(await taken({ authorization: 'Bearer dev.local.bob' }), 2000)
    const env = { PATH: process.env.PATH, URL: `${server.url}/`, TOKEN: 'dev.local.bob' }
    const { stdout } = await promisify(execFile)('python3', ['-c', code], { env, timeout: 60_000 })
    assert.match(stdout, /w1 w2 w3/)
    assert.ok(Date.now() - began >= 5000, 'it was let in at once')
  })
})
