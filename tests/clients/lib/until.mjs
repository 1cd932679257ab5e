import { setTimeout as pause } from 'node:timers/promises'

/** Waits for a fact. `stop` says why it can no longer come true. */
export async function until(fact, what, { ms = 15_000, stop = () => false } = {}) {
  const deadline = performance.now() + ms
  for (;;) {
    const value = await fact()
    if (value) return value
    const reason = stop()
    if (reason) throw new Error(`waiting for ${what}: ${reason}`)
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`)
    await pause(10)
  }
}
