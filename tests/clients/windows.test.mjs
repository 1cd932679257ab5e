import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { EventSource } from 'eventsource'
import { abortRun, runIs, storedMessages } from './lib/api.mjs'
import { calls, text } from './lib/message.mjs'
import { needsBinary, serve } from './lib/server.mjs'
import { until } from './lib/until.mjs'
import { complaints, open, transports } from './lib/view.mjs'

const WINDOW_MS = 1200
// Four and a half seconds: the window ends twice in the middle, and once more where the machine is not busy.
const LONG = '/list-emails {}\n\n@say 60 every 75ms'
// Its window ends in a silence, and its last words come after that.
const LATE = '@say 5 every 0\n@wait 6s\nthe end'

describe('windows', { skip: needsBinary, concurrency: true, timeout: 45_000 }, () => {
  let server
  before(async () => (server = await serve({ STREAM_WINDOW_MS: WINDOW_MS })))
  after(async () => {
    await server?.stop()
    assert.deepEqual(complaints, [])
  })

  for (const transport of transports) {
    describe(transport, { concurrency: true }, () => {
      it('a stream whose window ends twice in the middle shows every word once', async () => {
        const view = open(server, transport)
        await view.send(LONG)
        view.assertAnswer(60)
        assert.deepEqual(calls(view.answer), [['list-emails', 'output-available']])
        assert.ok(view.requests.length >= 3, `${view.requests.length} requests`)
        // A client that is answered with empty windows would ask again and again.
        assert.ok(view.requests.length <= 8, `${view.requests.length} requests`)
      })

      it('a page loaded in mid-run outlives its windows too', async () => {
        const first = open(server, transport)
        const sent = first.send(LONG)
        await first.shows(3)
        const second = open(server, transport, { thread: first.thread, messages: await storedMessages(server, first.thread) })
        await Promise.all([second.resume(), sent])
        second.assertAnswer(60)
        assert.deepEqual(calls(second.answer), [['list-emails', 'output-available']])
        assert.ok(second.requests.length >= 2, `${second.requests.length} requests`)
      })

      it('silence that is longer than a window is no end', async () => {
        const view = open(server, transport)
        await view.send('@say 5 every 0\n@wait 4s\nthe end')
        view.assertAnswer(5)
        assert.match(text(view.answer), /the end/)
        assert.ok(view.requests.length <= 8, `${view.requests.length} requests`)
      })

      it('a run that ends between two windows is shown to its end', async () => {
        const view = open(server, transport, { hold: untilCompleted })
        await view.send(LATE)
        view.assertAnswer(5)
        assert.match(text(view.answer), /the end/)
      })

      it('a run that ends between the page load and the resume is shown whole', async () => {
        const first = open(server, transport)
        const sent = first.send(LATE)
        await first.shows(5)
        const messages = await storedMessages(server, first.thread)
        await sent
        const second = open(server, transport, { thread: first.thread, messages })
        await second.resume()
        second.assertAnswer(5)
        assert.match(text(second.answer), /the end/)
      })

      it('a page loaded in mid-run sees the end that comes between two of its windows', async () => {
        const first = open(server, transport)
        const sent = first.send(LATE)
        await first.shows(5)
        const second = open(server, transport, {
          thread: first.thread,
          messages: await storedMessages(server, first.thread),
          hold: async (_, view) => view.requests.length > 1 && runIs(server, first.run, 'completed'),
        })
        await Promise.all([second.resume(), sent])
        second.assertAnswer(5)
        assert.match(text(second.answer), /the end/)
        assert.ok(second.requests.length >= 2, `${second.requests.length} requests`)
      })

      it('a run that is stopped between two windows comes to rest', async () => {
        const view = open(server, transport, {
          hold: async (request, view) => {
            if (request.method === 'GET') await abortRun(server, view.run)
          },
        })
        await view.send(LONG)
        view.assertClean()
        assert.ok(view.requests.length <= 3, `${view.requests.length} requests`)
      })

      it('an application that resumes after every unfinished answer comes to rest', async () => {
        // The option of the one transport left in place with the other.
        const view = open(server, transport, { resumes: true })
        await view.resume()
        view.assertClean()
        const sent = view.send(LONG)
        await view.shows(3)
        await abortRun(server, view.run)
        await sent
        view.assertClean()
        await view.resume()
        view.assertClean()
        assert.ok(view.requests.length <= 8, `${view.requests.length} requests`)
      })
    })
  }

  it('EventSource reconnects by itself, receives every id once, and stops at the 204', async () => {
    const view = open(server, 'WorkflowChatTransport')
    const sent = view.send(LONG)
    await until(() => view.run, 'the run')
    const answers = []
    const source = new EventSource(`${server.url}/runs/${view.run}/events`, {
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        answers.push([init.headers['Last-Event-ID'] ?? null, response.status])
        return response
      },
    })
    const chunks = []
    source.onmessage = ({ data, lastEventId }) => {
      if (data !== '[DONE]') chunks.push([Number(lastEventId), JSON.parse(data).type])
    }
    try {
      await until(() => source.readyState === source.CLOSED, 'the 204', { ms: 30_000 })
    } finally {
      source.close()
    }
    await sent
    assert.deepEqual(chunks.map(([id]) => id), chunks.map((_, n) => n))
    assert.equal(chunks[0][1], 'start')
    assert.equal(chunks.at(-1)[1], 'finish')
    assert.ok(answers.length >= 3, `${answers.length} requests`)
    assert.deepEqual(answers.at(0), [null, 200])
    assert.deepEqual(answers.at(-1), [String(chunks.at(-1)[0]), 204])
  })

  it('EventSource, which can send no token, reads with a ticket what its person may read', async () => {
    const headers = { authorization: 'Bearer dev.local.ann', accept: 'application/json' }
    const post = async (path, body) => {
      const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      assert.ok(response.ok, `${path}: ${response.status}`)
      return response.json()
    }
    const { runId } = await post('/api/agent-chat', { message: '@say 3 every 0' })
    const path = `/runs/${runId}/events`
    const { ticket, expiresAt } = await post('/tickets', { path })
    assert.ok(expiresAt > Date.now() && expiresAt <= Date.now() + 60_000)
    const read = async (query) => {
      const source = new EventSource(`${server.url}${path}${query}`)
      const chunks = []
      let refused
      source.onmessage = ({ data }) => data !== '[DONE]' && chunks.push(JSON.parse(data).type)
      source.onerror = ({ code }) => (refused ??= code)
      try {
        await until(() => source.readyState === source.CLOSED, 'its end', { ms: 30_000 })
      } finally {
        source.close()
      }
      return [chunks.at(-1), refused]
    }
    assert.deepEqual((await read(`?ticket=${ticket}`))[0], 'finish')
    assert.deepEqual(await read(''), [undefined, 404])
    assert.deepEqual(await read('?ticket=none.none'), [undefined, 401])
  })
})

/** Holds a resume back until the run has ended. */
async function untilCompleted(request, view) {
  if (request.method === 'GET') await runIs(view.server, view.run, 'completed')
}
