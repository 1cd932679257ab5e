import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from './lib/api'
import { isNetwork, isOver, said, say, words } from './lib/chat'
import { inBrowser } from './lib/inBrowser'
import { serve } from './lib/server'
import { type Wire, wireTo } from './lib/wire'

// Windows of 2 s instead of 55 s.
const WINDOWS = { STREAM_WINDOW_MS: '2000', CLAIM_GRACE_MS: '2000' }
/** Whoever holds a run is missed after 3 s instead of 10 s. */
const SOON_MISSED = { LEASE_MS: '3000', HEARTBEAT_MS: '500' }
/** Holders give a run away after 2 s instead of 40 s or 13 minutes. */
const SOON_UP = { FOREGROUND_SOFT_TIMEOUT_MS: '2000', BACKGROUND_SOFT_TIMEOUT_MS: '2000', HAND_OVER_MARGIN_MS: '8000' }

const tandem = inBrowser({ ...WINDOWS, ...SOON_MISSED })
let wire: Wire
beforeAll(async () => {
  wire = await wireTo(tandem.url)
})
afterAll(() => wire?.stop())

/** Everything was said once and in order, and nobody was told of any trouble. */
async function expectWhole(page: Page, count: number, timeout = 40_000) {
  await expect.poll(() => said(page).innerText(), { timeout }).toMatch(/\bdone\b/)
  await isOver(page)
  const text = await said(page).innerText()
  expect(text.match(/\bw\d+\b/g)?.join(' ')).toBe(words(count))
  expect(text.match(/\bdone\b/g)).toHaveLength(1)
  expect(await said(page).getByRole('alert').count()).toBe(0)
}

/** Notes every alert that is ever shown, and every time that the answer loses what it had. */
async function watchFor(page: Page) {
  await page.evaluate(() => {
    const seen = { alerts: 0, shrunk: 0, longest: 0 }
    Object.assign(window, { seen })
    const look = () => {
      const box = document.querySelector('[aria-label=Messages]')
      const length = box?.textContent?.length ?? 0
      if (box?.querySelector('[role=alert]')) seen.alerts += 1
      if (length < seen.longest) seen.shrunk += 1
      seen.longest = Math.max(seen.longest, length)
    }
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true })
  })
  return () => page.evaluate(() => (window as unknown as { seen: { alerts: number; shrunk: number } }).seen)
}

test('a reload in the middle of an answer loses nothing', async () => {
  const { page, complaints } = await tandem.open(wire.url, { as: 'bo' })
  await say(page, '@say 60 every 100ms')
  await page.getByText(words(10)).waitFor()
  await page.reload()
  await page.getByText(words(15)).waitFor()
  await expectWhole(page, 60)
  expect(complaints).toEqual([])
})

test('an answer goes on after the network was cut and is there again', async () => {
  const { page, complaints } = await tandem.open(wire.url, { as: 'cleo' })
  await say(page, '@say 60 every 100ms')
  await page.getByText(words(5)).waitFor()
  const seen = await watchFor(page)
  wire.cut()
  await page.waitForTimeout(2500)
  wire.mend()
  await page.getByText(words(20)).waitFor()
  wire.cut()
  await page.waitForTimeout(500)
  wire.mend()
  await expectWhole(page, 60)
  expect(await seen()).toMatchObject({ alerts: 0, shrunk: 0 })
  expect(complaints.filter((complaint) => !isNetwork(complaint))).toEqual([])
})

test('an answer goes on after its connections fell silent without an end', async () => {
  const { page, complaints } = await tandem.open(wire.url, { as: 'gil' })
  await say(page, '@say 60 every 100ms')
  await page.getByText(words(10)).waitFor()
  const seen = await watchFor(page)
  wire.hang()
  await page.waitForTimeout(1500)
  wire.mend()
  await expectWhole(page, 60, 100_000)
  expect(await seen()).toMatchObject({ alerts: 0, shrunk: 0 })
  // The stream of the window goes on too, and so does the conversation.
  await call(tandem.url, '/api/label-email', { as: 'hal', body: { emailId: 'e-2', add: ['after-silence'] } })
  await page.getByRole('region', { name: 'Inbox' }).getByText('after-silence').waitFor({ timeout: 30_000 })
  await say(page, '@say 7 every 20ms')
  await said(page)
    .getByText(`${words(7)} done`, { exact: true })
    .waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(complaints.filter((complaint) => !isNetwork(complaint))).toEqual([])
}, 180_000)

test('an answer that broke off here is followed on, and not asked for anew', async () => {
  const { page, complaints } = await tandem.open(wire.url, { as: 'ivy' })
  const asked: string[] = []
  page.on('request', (request) => request.method() === 'POST' && asked.push(new URL(request.url()).pathname))
  const body = JSON.stringify({ code: 'unauthenticated', detail: 'x', title: 'x', status: 401, type: 'about:blank' })
  await page.route('**/api/agent-chat/*/stream*', (route) => route.fulfill({ status: 401, body }))
  await say(page, '@say 60 every 100ms')
  const alert = said(page).getByRole('alert')
  await alert.getByText('You are not signed in any more.').waitFor()
  await page.unrouteAll()
  // What was there of it stays there while it is told again.
  const lost = await page.evaluateHandle((had) => {
    const lost = { times: 0 }
    const look = () => {
      if (!document.querySelector('[aria-label=Messages]')?.textContent?.includes(had)) lost.times += 1
    }
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true })
    return lost
  }, words(5))
  await alert.getByRole('button', { name: 'Try again' }).click()
  await expectWhole(page, 60)
  expect(await lost.jsonValue()).toEqual({ times: 0 })
  expect(asked.filter((path) => path === '/api/agent-chat')).toHaveLength(1)
  expect(complaints.filter((complaint) => !complaint.includes('status of 401'))).toEqual([])
})

test('a read that comes too often waits, and the answer goes on', async () => {
  const { page, complaints } = await tandem.open(wire.url, { as: 'jan' })
  const seen = await watchFor(page)
  const headers = { 'retry-after': '1' }
  const body = JSON.stringify({ code: 'throttled', detail: 'x', title: 'x', status: 429, type: 'about:blank' })
  const often = { status: 429, headers, body }
  await page.route('**/api/agent-chat/*/stream*', (route) => route.fulfill(often), { times: 2 })
  await say(page, '@say 60 every 100ms')
  await expectWhole(page, 60)
  expect((await seen()).alerts).toBe(0)
  expect(complaints.filter((complaint) => !complaint.includes('status of 429'))).toEqual([])
})

test('what is said while there is no network is sent when there is', async () => {
  const { page, complaints } = await tandem.open(wire.url, { as: 'dan' })
  await page.getByText('Work on the inbox together').waitFor()
  wire.cut()
  await say(page, '@say 12 every 20ms')
  await page.waitForTimeout(1500)
  expect(await page.getByRole('alert').count()).toBe(0)
  wire.mend()
  await expectWhole(page, 12)
  expect(complaints.filter((complaint) => !isNetwork(complaint))).toEqual([])
})

test('the server is killed in the middle of an answer and started again, and the answer goes on', async () => {
  const { page, complaints } = await tandem.open(wire.url, { as: 'eve' })
  await say(page, '@say 60 every 100ms')
  await page.getByText(words(10)).waitFor()
  const seen = await watchFor(page)
  await tandem.server.kill()
  // A proxy in between may hide that the connections are gone.
  wire.cut()
  await page.waitForTimeout(1500)
  await tandem.server.restart()
  wire.mend()
  await expectWhole(page, 60)
  expect((await seen()).alerts).toBe(0)
  expect(complaints.filter((complaint) => !isNetwork(complaint))).toEqual([])
})

test('an import goes on after the server was killed in its middle, and counts every email once', async () => {
  const { page, complaints } = await tandem.open(wire.url, { as: 'fay' })
  await say(page, '/import-emails {"count":2000}')
  const bar = said(page).getByRole('progressbar', { name: 'Importing emails' })
  const done = async () => Number(await bar.getAttribute('aria-valuenow'))
  await expect.poll(done, { timeout: 20_000 }).toBeGreaterThan(200)
  await tandem.server.kill()
  wire.cut()
  await tandem.server.restart()
  wire.mend()
  const card = said(page).getByRole('region', { name: 'Import 2,000 emails' })
  await card.getByText('Done', { exact: true }).waitFor({ timeout: 60_000 })
  await expect.poll(() => card.innerText()).toContain('2,000')
  await page
    .getByRole('region', { name: 'Inbox' })
    .getByText(/^2,?008\b/)
    .first()
    .waitFor()
  expect(await said(page).getByRole('alert').count()).toBe(0)
  expect(complaints.filter((complaint) => !isNetwork(complaint))).toEqual([])
}, 120_000)

test('an answer goes on through windows that end and holders that give it away', async () => {
  const other = await serve({ ...WINDOWS, ...SOON_UP })
  const { page, complaints } = await tandem.open(other.url, { as: 'ann' })
  // A run is given away between two steps.
  const step = '@say 15 every 100ms\n/view-screen {}\n\n'
  await say(page, `${step}${step}${step}${step}@say 15 every 100ms`)
  await page.getByText(words(3)).waitFor()
  const seen = await watchFor(page)
  await expectWhole(page, 75)
  expect((await seen()).alerts).toBe(0)
  const attempts = await page.evaluate(async () => {
    const headers = { authorization: 'Bearer dev.local.ann' }
    const { items } = await (await fetch('/threads', { headers })).json()
    const runs = await (await fetch(`/runs?threadId=${items[0].threadId}`, { headers })).json()
    return runs.items[0].attempt
  })
  expect(attempts).toBeGreaterThan(1)
  expect(complaints).toEqual([])
  await other.stop()
}, 90_000)
