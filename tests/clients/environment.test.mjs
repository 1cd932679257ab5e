import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsBinary, serve } from './lib/server.mjs'
import { open, transports } from './lib/view.mjs'

test('a key and a model of whoever runs the tests do not reach the program', { skip: needsBinary }, async () => {
  Object.assign(process.env, { ANTHROPIC_API_KEY: 'theirs', MODEL: 'anthropic/theirs' })
  const server = await serve()
  try {
    const view = open(server, transports[0])
    await view.send('@say 3 every 0')
    view.assertAnswer(3)
  } finally {
    await server.stop()
  }
})
