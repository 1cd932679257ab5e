// The endpoints that tests ask for facts.
import assert from 'node:assert/strict'
import { until } from './until.mjs'

async function call(server, method, path) {
  const response = await fetch(server.url + path, { method, headers: { accept: 'application/json' } })
  assert.ok(response.ok, `${method} ${path}: ${response.status}`)
  return response.json()
}

export const runRecord = (server, run) => call(server, 'GET', `/runs/${run}`)

export const abortRun = (server, run) => call(server, 'POST', `/runs/${run}/abort`)

export const runIs = (server, run, status) =>
  until(async () => (await runRecord(server, run)).status === status, `${run} to be ${status}`)

/** The stored messages of a thread, as a page load gets them. */
export async function storedMessages(server, thread) {
  const page = await call(server, 'GET', `/threads/${thread}/messages`)
  return page.messages ?? page.items ?? page
}
