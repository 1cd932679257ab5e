// What the store holds beside what a client shows.
import assert from 'node:assert/strict'
import { storedMessages } from './api.mjs'
import { calls, text } from './message.mjs'

/** The store holds the thread that the client shows: the same messages by id, role, text and calls. */
export async function assertStored(view) {
  const facts = message => [message.id, message.role, text(message), calls(message)]
  assert.deepEqual((await storedMessages(view.server, view.thread)).map(facts), view.messages.map(facts))
}
