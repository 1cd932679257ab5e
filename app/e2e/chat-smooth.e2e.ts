import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { said, say } from './lib/chat'
import { inBrowser } from './lib/inBrowser'
import { watchShifts } from './lib/shifts'

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

type Traced = {
  name: string
  pid: number
  tid: number
  ts: number
  dur?: number
  tdur?: number
  args?: { name?: string }
}

/** How long the main thread of the page worked without a break, at most, in milliseconds of its own time. */
function longestTask(trace: Buffer): number {
  const events: Traced[] = JSON.parse(trace.toString()).traceEvents
  const threads = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
  const mains = new Set(threads.map(({ pid, tid }) => `${pid} ${tid}`))
  const onMain = events.filter(({ pid, tid }) => mains.has(`${pid} ${tid}`))
  // What this test itself asks of the page is not the page's.
  const asked = onMain.filter(({ name }) => name === 'DevToolsSession::DispatchProtocolCommand').map(({ ts }) => ts)
  const tasks = onMain.filter(
    ({ name, ts, dur = 0 }) => name === 'RunTask' && !asked.some((at) => at >= ts && at <= ts + dur),
  )
  expect(tasks.length).toBeGreaterThan(1000)
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000
}

const distanceToEnd = (page: Page) => said(page).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)

test('a long answer in a long conversation streams smoothly, and the end stays in sight', async () => {
  const thread = await converse(200, 'ann')
  const { page, complaints } = await tandem.open(`threads/${thread}`, { as: 'ann' })
  await said(page).getByText('Message 99').first().waitFor()
  await expect.poll(() => distanceToEnd(page)).toBeLessThan(2)
  await page.waitForTimeout(500)
  const shifts = await watchShifts(page)
  // The machine may be busy with something else: what counts is the time that the page itself takes.
  await tandem.browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline'] })
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
  const trace = await tandem.browser.stopTracing()
  const { shift, shifted } = await shifts()
  expect(shift, shifted.join('\n')).toBeLessThan(0.001)
  expect(longestTask(trace)).toBeLessThan(50)
  expect(complaints).toEqual([])
}, 300_000)
