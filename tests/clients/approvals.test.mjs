import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { runIs, storedMessages } from './lib/api.mjs'
import { calls, roles, text } from './lib/message.mjs'
import { needsBinary, serve } from './lib/server.mjs'
import { assertStored as assertSame } from './lib/stored.mjs'
import { complaints, open, transports } from './lib/view.mjs'

const mail = to => `/send-email ${JSON.stringify({ to, subject: 'Hello', body: 'From the agent' })}`
const ONE = `/list-emails {}\n${mail('ann@example.com')}\n\n@say 4 every 0`

describe('approvals', { skip: needsBinary, concurrency: true, timeout: 60_000 }, () => {
  let server
  before(async () => (server = await serve()))
  after(async () => {
    await server?.stop()
    assert.deepEqual(complaints, [])
  })

  for (const transport of transports) {
    describe(transport, { concurrency: true }, () => {
      it('an approved call runs in the same message', async () => {
        const view = open(server, transport)
        await view.send(ONE)
        view.assertClean()
        assert.deepEqual(calls(view.answer), [['list-emails', 'output-available'], ['send-email', 'approval-requested']])
        await view.decide(view.asked[0], true)
        view.assertAnswer(4)
        assert.deepEqual(calls(view.answer), [['list-emails', 'output-available'], ['send-email', 'output-available']])
        await assertStored(view)
      })

      it('a denied call is over, and the model goes on', async () => {
        const view = open(server, transport)
        await view.send(ONE)
        await view.decide(view.asked[0], false, 'wrong person')
        view.assertAnswer(4)
        assert.deepEqual(calls(view.answer).at(-1), ['send-email', 'output-denied'])
        await assertStored(view)
      })

      it('two questions are answered one after the other, and only then the turn goes on', async () => {
        const view = open(server, transport)
        await view.send(`${mail('ann@example.com')}\n${mail('ben@example.com')}\n\n@say 4 every 0`)
        const [first, second] = view.asked
        await view.decide(first, false)
        assert.equal(roles(view.messages), 'user assistant')
        assert.equal(text(view.answer), '')
        await view.decide(second, true)
        view.assertAnswer(4)
        assert.deepEqual(calls(view.answer).map(([, state]) => state), ['output-denied', 'output-available'])
        await assertStored(view)
      })

      it('a page loaded later answers what an earlier one was asked', async () => {
        const first = open(server, transport)
        await first.send(ONE)
        const messages = await storedMessages(server, first.thread)
        const second = open(server, transport, { thread: first.thread, messages })
        await second.decide(second.asked[0], true)
        second.assertAnswer(4)
        assert.deepEqual(calls(second.answer).at(-1), ['send-email', 'output-available'])
        await assertStored(second)
      })

      it('a page loaded while the turn goes on shows the whole message', async () => {
        const first = open(server, transport)
        await first.send(`/list-emails {}\n${mail('ann@example.com')}\n\n@say 30 every 60ms`)
        const answered = first.decide(first.asked[0], true)
        await first.shows(3)
        const messages = await storedMessages(server, first.thread)
        const second = open(server, transport, { thread: first.thread, messages })
        await Promise.all([second.resume(), answered])
        for (const view of [first, second]) {
          view.assertAnswer(30)
          assert.deepEqual(calls(view.answer), [['list-emails', 'output-available'], ['send-email', 'output-available']])
        }
        assert.equal(second.answer.id, first.answer.id)
      })

      it('of two windows that answer at once one wins, and both show the same', async () => {
        const first = open(server, transport)
        await first.send(ONE)
        const messages = await storedMessages(server, first.thread)
        const second = open(server, transport, { thread: first.thread, messages })
        await Promise.all([first.decide(first.asked[0], true), second.decide(second.asked[0], false)])
        first.assertAnswer(4)
        second.assertAnswer(4)
        assert.deepEqual(calls(first.answer).at(-1), calls(second.answer).at(-1))
        await assertStored(first)
      })

      it('a new message refuses what was asked', async () => {
        const view = open(server, transport)
        await view.send(mail('ann@example.com'))
        assert.equal(view.asked.length, 1)
        await view.send('@say 3 every 0')
        view.assertAnswer(3, 'user assistant user assistant')
        const [, asked] = await storedMessages(server, view.thread)
        assert.deepEqual(calls(asked), [['send-email', 'output-denied']])
      })
    })
  }

  it('an answer survives a restart of the server', async () => {
    const own = await serve()
    try {
      const view = open(own, 'WorkflowChatTransport')
      await view.send(ONE)
      const run = view.run
      await runIs(own, run, 'awaiting_approval')
      await own.restart()
      const answer = await fetch(`${own.url}/runs/${run}/approvals/${view.asked[0].toolCallId}`, {
        method: 'POST',
        body: JSON.stringify({ approved: true, input: { to: 'cy@example.com', subject: 'Edited', body: 'By hand' } }),
      }).then(response => response.json())
      assert.deepEqual([answer.approved, answer.pending], [true, 0])
      await runIs(own, answer.runId, 'completed')
      const [, stored] = await storedMessages(own, view.thread)
      const sent = stored.parts.find(part => part.type === 'tool-send-email')
      assert.equal(sent.state, 'output-available')
      assert.equal(sent.input.to, 'cy@example.com')
    } finally {
      await own.stop()
    }
  })
})

/** The run has completed, and the store holds what the client shows. */
async function assertStored(view) {
  await runIs(view.server, view.run, 'completed')
  await assertSame(view)
}
