import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { runRecord, storedMessages } from './lib/api.mjs'
import { calls, text } from './lib/message.mjs'
import { needsBinary, serve, serveSplit } from './lib/server.mjs'
import { complaints, open, transports } from './lib/view.mjs'

// All views are seen to show ten words long before it ends.
const SCRIPT = '/list-emails {}\n\n@say 80 every 50ms'

after(() => assert.deepEqual(complaints, []))

describe('recovery', { skip: needsBinary, concurrency: true, timeout: 45_000 }, () => {
  // One crash under four clients at once: two kinds of client, with and without windows that end meanwhile.
  for (const [name, constants] of [
    ['in one window', {}],
    // Longer than a lease: who watches for less sees nobody die, and there is no sweeper here.
    ['across windows', { STREAM_WINDOW_MS: 4500 }],
  ]) {
    it(`a background that is killed is taken over, ${name}, and every word is shown once`, async () => {
      const system = await serveSplit({ LEASE_MS: 3000, HEARTBEAT_MS: 250, CLAIM_GRACE_MS: 3000, ...constants })
      try {
        const views = transports.map(transport => open(system, transport))
        const sent = views.map(view => view.send(SCRIPT))
        await Promise.all(views.map(view => view.shows(10)))
        await system.killBackground()
        await system.startBackground()
        await Promise.all(sent)
        for (const view of views) {
          view.assertAnswer(80)
          if (constants.STREAM_WINDOW_MS) assert.ok(view.requests.length > 1, 'a window has ended')
          assert.deepEqual(calls(view.answer), [['list-emails', 'output-available']])
          assert.deepEqual(attempts(view), ['1 background claimed', '2 background recovered'])
          assert.equal((await runRecord(system, view.run)).status, 'completed')
          assert.equal(text((await storedMessages(system, view.thread)).at(-1)), text(view.answer))
        }
      } finally {
        await system.stop()
      }
    })
  }

  it('a foreground whose time is up hands over to the background, and the client does not notice', async () => {
    const server = await serve({
      AGENT_CHAT_DURABLE_BACKGROUND: 'false',
      FOREGROUND_SOFT_TIMEOUT_MS: 1000,
      CLAIM_GRACE_MS: 800,
    })
    try {
      await Promise.all(
        transports.map(async transport => {
          const view = open(server, transport)
          await view.send(SCRIPT)
          view.assertAnswer(80)
          assert.deepEqual(calls(view.answer), [['list-emails', 'output-available']])
          assert.deepEqual(attempts(view), ['1 foreground claimed', '2 background continued'])
        }),
      )
    } finally {
      await server.stop()
    }
  })
})

/** The attempts that the client was told of; a replay tells them again. */
function attempts(view) {
  const told = view.data.filter(part => part.type === 'data-attempt').map(({ data }) => data)
  return [...new Set(told.map(({ attempt, holder, reason }) => `${attempt} ${holder} ${reason}`))]
}
