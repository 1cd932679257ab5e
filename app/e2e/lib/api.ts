// What a journey needs to be there before it begins, made through the same API.
import type { Chunk, Run } from '../../src/api'

type Started = { runId: string; threadId: string }

/** `app` is where the application is; the API is beside it. */
export async function call(app: string, path: string, options: { as?: string; method?: string; body?: unknown } = {}) {
  const { as = 'you', body, method = body === undefined ? 'GET' : 'POST' } = options
  const headers: Record<string, string> = { authorization: `Bearer dev.local.${as}`, accept: 'application/json' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const response = await fetch(new URL(path, app), { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.status === 204 ? undefined : response.json()
}

/** Starts a turn; the scripted model does what `message` says. */
export const begin = (app: string, message: string, options: { as?: string; threadId?: string } = {}) =>
  call(app, '/api/agent-chat', { as: options.as, body: { message, threadId: options.threadId } }) as Promise<Started>

/** The record of a run that has ended. */
export async function ended(app: string, run: string, as?: string): Promise<Run> {
  for (let tries = 0; tries < 200; tries += 1) {
    const record: Run = await call(app, `/runs/${run}`, { as })
    if (record.status !== 'running' && record.status !== 'dispatched') return record
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`The run ${run} does not end.`)
}

/** A whole turn. */
export async function turn(app: string, message: string, options: { as?: string; threadId?: string } = {}) {
  const started = await begin(app, message, options)
  await ended(app, started.runId, options.as)
  return started
}

export async function chunksOf(app: string, run: string, as?: string): Promise<{ seq: number; chunk: Chunk }[]> {
  return (await call(app, `/runs/${run}/events`, { as })).events
}
