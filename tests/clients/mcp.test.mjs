// The official MCP clients against `POST /mcp`: the SDK of the new revision, the one that shakes hands, the Inspector's CLI.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { needsServer, serve } from './lib/server.mjs'

const run = promisify(execFile)
const NEW = '2026-07-28'
// An input for every action that needs nothing from outside; `list` must name exactly these, OUTSIDE and ONCE.
const CALLS = {
  'list-emails': { limit: 2 },
  'search-emails': { query: 'the' },
  'read-email': { emailId: 'e-1' },
  email: { emailId: 'e-1', body: 'Thanks!' },
  'archive-email': { emailId: 'e-2' },
  'unarchive-email': { emailId: 'e-2' },
  'mark-email': { emailId: 'e-2', unread: true },
  'label-email': { emailId: 'e-1', add: ['mcp'] },
  'import-emails': { count: 3 },
  'summarize-inbox': {},
  remember: { name: 'tea', text: 'Green.' },
  recall: {},
  forget: { name: 'tea' },
  'view-screen': {},
  navigate: { view: 'inbox' },
}
const OUTSIDE = ['send-email', 'notify-webhook']
// The same call again would write over a draft, and is refused.
const ONCE = ['draft-reply']
const MAIL = { to: 'ann@example.com', subject: 'Hello', body: 'From a test.' }

let server
before(async () => (server = await serve()))
after(() => server?.stop())
const endpoint = () => new URL('/mcp', server.url)

/** A client of the new revision; `answer` is what its person says to a question. */
async function connected(versionNegotiation, answer) {
  const capabilities = answer ? { elicitation: { form: {} } } : {}
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation })
  const questions = []
  if (answer) {
    client.setRequestHandler('elicitation/create', async (request) => {
      questions.push(request.params.message)
      return answer
    })
  }
  await client.connect(new StreamableHTTPClientTransport(endpoint()))
  return { client, questions }
}

async function listsAndCalls(client) {
  const { tools } = await client.listTools()
  const names = tools.map((tool) => tool.name).sort()
  assert.deepEqual(names, [...Object.keys(CALLS), ...OUTSIDE, ...ONCE].sort())
  for (const [name, input] of Object.entries(CALLS)) {
    // The client checks the result against the output schema.
    const result = await client.callTool({ name, arguments: input })
    assert.notEqual(result.isError, true, `${name}: ${JSON.stringify(result)}`)
    assert.equal(JSON.stringify(result.structuredContent), result.content[0].text, name)
  }
  const refused = await client.callTool({ name: 'list-emails', arguments: { limit: 'many' } })
  assert.equal(refused.isError, true)
  assert.deepEqual(refused._meta['tandem/problem'].errors.map((fault) => fault.pointer), ['/limit'])
}

test('the SDK of the new revision lists and calls every action', { skip: needsServer }, async () => {
  const { client } = await connected({ mode: { pin: NEW } })
  await listsAndCalls(client)
  await client.close()
})

test('a client that finds out by itself speaks the new revision', { skip: needsServer }, async () => {
  const { client } = await connected({ mode: 'auto' })
  assert.equal(client.getNegotiatedProtocolVersion(), NEW)
  await client.close()
})

test('the SDK that shakes hands lists and calls every action', { skip: needsServer }, async () => {
  const client = new OldClient({ name: 'old', version: '1' })
  await client.connect(new OldTransport(endpoint()))
  await listsAndCalls(client)
  const refused = await client.callTool({ name: 'send-email', arguments: MAIL })
  assert.equal(refused._meta['tandem/problem'].code, 'approval_required')
  assert.match(refused.content[0].text, /tandem action send-email/)
  await client.close()
})

test('a person is asked through the client, and their word counts', { skip: needsServer }, async () => {
  const yes = await connected({ mode: { pin: NEW } }, { action: 'accept', content: { approve: true } })
  const sent = await yes.client.callTool({ name: 'send-email', arguments: MAIL })
  assert.notEqual(sent.isError, true, JSON.stringify(sent))
  assert.equal(sent.structuredContent.subject, MAIL.subject)
  assert.equal(yes.questions.length, 1)
  assert.match(yes.questions[0], /ann@example\.com/)
  const no = await connected({ mode: { pin: NEW } }, { action: 'decline' })
  const denied = await no.client.callTool({ name: 'send-email', arguments: MAIL })
  assert.equal(denied._meta['tandem/problem'].code, 'denied')
  await Promise.all([yes.client.close(), no.client.close()])
})

test("the Inspector's CLI lists and calls every action", { skip: needsServer }, async () => {
  const inspector = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')
  const program = join(dirname(inspector), 'clients/launcher/build/index.js')
  const inspect = async (...args) => {
    const all = [program, '--cli', endpoint().href, '--transport', 'http', ...args]
    return JSON.parse((await run(process.execPath, all)).stdout)
  }
  const { tools } = await inspect('--method', 'tools/list')
  assert.equal(tools.length, Object.keys(CALLS).length + OUTSIDE.length + ONCE.length)
  for (const [name, input] of Object.entries(CALLS)) {
    const pairs = Object.entries(input).flatMap(([field, value]) => {
      return ['--tool-arg', `${field}=${typeof value === 'string' ? value : JSON.stringify(value)}`]
    })
    const result = await inspect('--method', 'tools/call', '--tool-name', name, ...pairs)
    assert.notEqual(result.isError, true, `${name}: ${JSON.stringify(result)}`)
  }
})
