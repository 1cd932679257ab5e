import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launch, openWindow } from './lib/browser'
import { said, say } from './lib/chat'
import { type Server, serve } from './lib/server'

let server: Server
let browser: Browser
beforeAll(async () => {
  server = await serve()
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  await server?.stop()
})

/** A conversation of `count` messages. */
async function converse(count: number, person: string): Promise<string> {
  const thread = `t-${crypto.randomUUID()}`
  const headers = { authorization: `Bearer dev.local.${person}` }
  for (let n = 0; n < count / 2; n += 1) {
    const parts = [{ type: 'text', text: `Message ${n}\n@say 40 every 0\n- one\n- two **${n}**` }]
    const body = JSON.stringify({ id: thread, messages: [{ id: `m-${n}`, role: 'user', parts }] })
    const response = await fetch(new URL('/api/agent-chat', server.url), { method: 'POST', headers, body })
    await response.text()
  }
  return thread
}

type Shift = { value: number; hadRecentInput: boolean; sources: { node?: Node }[] }

/** Notes what moves without being touched. */
async function watchShift(page: Page) {
  await page.evaluate(() => {
    const seen = { shift: 0, what: [] as string[] }
    Object.assign(window, { seen })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & Shift)[]) {
        // What a person does may move things at once: that is what it was done for.
        if (entry.hadRecentInput) continue
        seen.shift += entry.value
        seen.what.push(`${entry.value} ${entry.sources.map(({ node }) => node?.textContent?.slice(0, 40)).join(' | ')}`)
      }
    }).observe({ type: 'layout-shift' })
  })
  return () => page.evaluate(() => (window as unknown as { seen: { shift: number; what: string[] } }).seen)
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
  const { page, complaints } = await openWindow(browser, `${server.url}threads/${thread}`, { as: 'ann' })
  await said(page).getByText('Message 99').first().waitFor()
  await expect.poll(() => distanceToEnd(page)).toBeLessThan(2)
  await page.waitForTimeout(500)
  const shift = await watchShift(page)
  // The machine may be busy with something else: what counts is the time that the page itself takes.
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline'] })
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
    .waitFor({ timeout: 60_000 })
  await expect.poll(() => distanceToEnd(page)).toBeLessThan(2)
  const trace = await browser.stopTracing()
  const moved = await shift()
  expect(moved.shift, moved.what.join('\n')).toBeLessThan(0.01)
  expect(longestTask(trace)).toBeLessThan(50)
  expect(complaints).toEqual([])
}, 180_000)
