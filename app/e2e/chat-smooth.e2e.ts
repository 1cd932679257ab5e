import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { said, say } from './lib/chat'
import { inBrowser } from './lib/inBrowser'
import { traced } from './lib/trace'

const tandem = inBrowser()

/** A conversation of `count` messages. */
async function converse(count: number, person: string): Promise<string> {
  const thread = `t-${crypto.randomUUID()}`
  const headers = { authorization: `Bearer dev.local.${person}` }
  for (let n = 0; n < count / 2; n += 1) {
    const parts = [{ type: 'text', text: `Message ${n}\n@say 40 every 0\n- one\n- two **${n}**` }]
    const body = JSON.stringify({ id: thread, messages: [{ id: `m-${n}`, role: 'user', parts }] })
    const response = await fetch(new URL('/api/agent-chat', tandem.url), { method: 'POST', headers, body })
    await response.text()
  }
  return thread
}

const distanceToEnd = (page: Page) => said(page).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)

test('a long answer in a long conversation streams smoothly, and the end stays in sight', async () => {
  const thread = await converse(200, 'ann')
  const { page, complaints } = await tandem.open(`threads/${thread}`, { as: 'ann' })
  await said(page).getByText('Message 99').first().waitFor()
  await expect.poll(() => distanceToEnd(page)).toBeLessThan(2)
  await page.waitForTimeout(500)
  const seen = await traced(tandem.browser, page, async () => {
    await say(page, '@say 5000 every 2ms')
    await said(page)
      .getByText(/w1 w2 w3/)
      .last()
      .waitFor()
    for (let looks = 0; looks < 5; looks += 1) {
      await page.waitForTimeout(500)
      expect(await distanceToEnd(page)).toBeLessThan(60)
    }
    // Whoever reads further up is left there.
    await said(page).evaluate((box) => box.scrollBy(0, -2000))
    await page.waitForTimeout(200)
    const at = await said(page).evaluate((box) => box.scrollTop)
    await page.waitForTimeout(1500)
    expect(await said(page).evaluate((box) => box.scrollTop)).toBe(at)
    await page.getByRole('button', { name: 'To the end' }).click()
    await said(page)
      .getByText(/w5000 done$/)
      .waitFor({ timeout: 120_000 })
    await expect.poll(() => distanceToEnd(page)).toBeLessThan(2)
    // Nothing jumps while everything is read from its end to its beginning, and back.
    await said(page).hover()
    for (const by of [-1200, 1200]) {
      for (let turns = 0; turns < 60; turns += 1) {
        await page.mouse.wheel(0, by)
        await page.waitForTimeout(30)
      }
    }
  })
  expect(seen.shift, seen.shifted.join('\n')).toBeLessThan(0.001)
  // The machine may be busy with something else: what counts is the time that the page itself takes.
  expect(seen.longestTask, seen.hot.join('\n')).toBeLessThan(50)
  expect(complaints).toEqual([])
}, 300_000)
