import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { EventSource } from 'eventsource'
import { abortRun, runIs, storedMessages } from './lib/api.mjs'
import { calls } from './lib/message.mjs'
import { needsBinary, serve } from './lib/server.mjs'
import { until } from './lib/until.mjs'
import { complaints, open, transports } from './lib/view.mjs'

const WINDOW_MS = 1200
// Three seconds: the window ends twice in the middle.
const LONG = '/list-emails {}\n\n@say 60 every 50ms'

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
        assert.ok(view.requests.length <= 6, `${view.requests.length} requests`)
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
        await view.send('@say 3 every 20ms\n@wait 2500ms\nstill here')
        view.assertAnswer(3)
        assert.match(JSON.stringify(view.answer.parts), /still here/)
        assert.ok(view.requests.length <= 6, `${view.requests.length} requests`)
      })

      it('a run that ends between two windows is shown to its end', async () => {
        const view = open(server, transport, { hold: untilCompleted })
        await view.send('@say 30 every 50ms')
        view.assertAnswer(30)
      })

      it('a run that ends between the page load and the resume is shown whole', async () => {
        const first = open(server, transport)
        const sent = first.send('@say 20 every 25ms')
        await first.shows(3)
        const messages = await storedMessages(server, first.thread)
        await sent
        const second = open(server, transport, { thread: first.thread, messages })
        await second.resume()
        second.assertAnswer(20)
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
})

/** Holds a resume back until the run has ended. */
async function untilCompleted(request, view) {
  if (request.method === 'GET') await runIs(view.server, view.run, 'completed')
}
