import { expect, test } from 'vitest'
import { userId } from './person'

test("an issuer's name becomes the id that the server makes of it", async () => {
  for (const [subject, id] of [
    ['ada', 'ada'],
    ['auth0|17', 'auth0~7C17'],
    ['ada@example.com', 'ada~40example.com'],
    ['ü', '~C3~BC'],
  ] as const) {
    expect(await userId(subject)).toBe(id)
  }
  expect(await userId('x'.repeat(129))).toMatch(/^~sha256\.[0-9a-f]{64}$/)
})
