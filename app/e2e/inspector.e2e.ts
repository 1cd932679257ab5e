import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { begin, call, chunksOf, ended, turn } from './lib/api'
import { expectAccessible, NARROW, screenshot } from './lib/browser'
import { inBrowser } from './lib/inBrowser'
import { serve } from './lib/server'

const tandem = inBrowser()

const MIXED = [
  '@think 30 every 5ms',
  'I look at the inbox.',
  '/list-emails {"limit":3}',
  '/read-email {"emailId":"e-99999"}',
  '',
  '/label-email {"emailId":"e-4","add":["seen"]}',
  '',
  '@say 60 every 50ms',
].join('\n')

const rows = (page: Page) => page.getByRole('listbox', { name: 'Timeline' }).getByRole('option')
const row = (page: Page, name: string | RegExp) => rows(page).filter({ hasText: name })
const chunks = (page: Page) => page.getByRole('region', { name: 'Chunks', exact: true })

test('a run shows its attempts, model calls and tool calls, and each bar opens its chunks', async () => {
  // The foreground begins, and hands over after a second.
  const short = { AGENT_CHAT_DURABLE_BACKGROUND: 'false', FOREGROUND_SOFT_TIMEOUT_MS: '1000', CLAIM_GRACE_MS: '800' }
  const { url, stop } = await serve(short)
  onTestFinished(stop)
  const { runId, threadId } = await turn(url, MIXED)
  const log = await chunksOf(url, runId)
  const { page, complaints } = await tandem.open(`${url}runs/${runId}`)
  await page.getByText('It did what it was asked.').waitFor()
  await row(page, 'Attempt 1 · foreground').getByText('handed over: its time was up').waitFor()
  await row(page, 'Attempt 2 · background').getByText('went on after a hand-over').waitFor()
  await row(page, 'list-emails').getByText('done').waitFor()
  await row(page, 'read-email').getByText('failed: ').waitFor()
  await row(page, 'Step 1 · model call')
    .getByText(/^[\d,]+ tokens in, [\d,]+ out/)
    .waitFor()
  await row(page, 'Changes in app:inbox').getByText('1 commit').waitFor()
  await page.getByRole('heading', { name: `All ${log.length} chunks` }).waitFor()
  await screenshot(page, 'run')

  await row(page, 'label-email').click()
  const own = log.filter(({ chunk }) => JSON.stringify(chunk).includes('_1_3"'))
  await page.getByRole('heading', { name: `${own.length} chunks of label-email` }).waitFor()
  await chunks(page).getByRole('button', { name: 'tool-input-available' }).click()
  const shown = JSON.parse(await chunks(page).locator('pre').innerText())
  expect(shown).toEqual(own.find(({ chunk }) => chunk.type === 'tool-input-available')?.chunk)
  await expectAccessible(page)

  await page.getByRole('link', { name: 'Open the conversation' }).click()
  await page.waitForURL(`**/app/threads/${threadId}`)
  expect(complaints).toEqual([])
})

test('the timeline can be read and used with the keyboard, and as a table', async () => {
  const { runId } = await turn(tandem.url, '/list-emails {"limit":2}\n\n@say 3 every 0')
  const { page, complaints } = await tandem.open(`runs/${runId}`, { size: NARROW })
  await rows(page).first().waitFor()
  await page.getByRole('listbox').focus()
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key)
  const third = page.getByRole('option', { selected: true })
  expect(await third.getAttribute('aria-posinset')).toBe('3')
  expect(await page.getByRole('listbox').getAttribute('aria-activedescendant')).toBe(await third.getAttribute('id'))
  await page.getByRole('heading', { name: /chunks of list-emails$/ }).waitFor()
  await expectAccessible(page)
  await page.keyboard.press('End')
  await page.getByRole('heading', { name: '1 chunk of End' }).waitFor()

  await page.getByRole('button', { name: 'Table' }).click()
  const table = page.getByRole('table')
  expect(await table.getByRole('row').count()).toBe(1 + Number(await page.getByRole('row').count()) - 1)
  await table.getByRole('button', { name: 'list-emails' }).press('Enter')
  await page.getByRole('heading', { name: /chunks of list-emails$/ }).waitFor()
  await expectAccessible(page)
  const overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  expect(overflows).toBe(false)
  expect(complaints).toEqual([])
})

test('a run that goes on is shown as it goes on, through a lost connection, until it is stopped', async () => {
  const { url, stop } = await serve({ STREAM_WINDOW_MS: '1500' })
  onTestFinished(stop)
  const { runId } = await begin(url, '@say 300 every 50ms\n@wait 60s')
  const { page } = await tandem.open(`${url}runs/${runId}`)
  const heading = page.getByRole('heading', { name: /^All \d+ chunks$/ })
  const count = async () => Number(/\d+/.exec(await heading.innerText())?.[0])
  await row(page, 'Text').waitFor()
  const before = await count()
  await expect.poll(count, { timeout: 10_000 }).toBeGreaterThan(before + 10)
  await page.getByText('Chunks come as they are written.').waitFor()

  const events = `**/runs/${runId}/events*`
  await page.route(events, (route) => route.abort())
  await page.getByText('The connection is lost. Connecting again…').waitFor()
  await page.unroute(events)
  await page.getByText('The connection is lost. Connecting again…').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Stop the run' }).click()
  await page.getByText('Somebody stopped it.').waitFor()
  await row(page, 'Stopped').waitFor()
  expect((await ended(url, runId)).status).toBe('aborted')
  const log = await chunksOf(url, runId)
  await page.getByRole('heading', { name: `All ${log.length} chunks` }).waitFor()
  await chunks(page).focus()
  await page.keyboard.press('End')
  await chunks(page)
    .getByRole('button', { name: `${log.length - 1} abort` })
    .waitFor()
})

test('a silence is shown where it was seen', async () => {
  const { runId } = await begin(tandem.url, '@say 80 every 50ms\n@wait 4s\n@say 2 every 0')
  const { page, complaints } = await tandem.open(`runs/${runId}`)
  await page.getByText(/^No chunk for [23] s, as seen here\.$/).waitFor()
  await page.getByText('It did what it was asked.').waitFor()
  await row(page, /No chunk.*for [345]\.\d s, as seen here/).waitFor()
  await page.reload()
  await row(page, 'End').waitFor()
  expect(await row(page, 'No chunk').count()).toBe(0)
  expect(complaints).toEqual([])
})

test('runs of one message lead to each other, and the command for the log works', async () => {
  const { runId } = await turn(tandem.url, '/send-email {"to":"ann@example.com","subject":"Hi","body":"Hello!"}')
  const { page, context, complaints } = await tandem.open(`runs/${runId}`)
  await row(page, 'send-email').getByText('waits for a person to agree').waitFor()
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy as curl' }).click()
  await page.getByText('The command for the log is in the clipboard').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    `curl -N -H 'Authorization: Bearer dev.local.you' '${new URL(`/runs/${runId}/events`, tandem.url)}'`,
  )

  const log = await chunksOf(tandem.url, runId)
  const [callId] = log.flatMap(({ chunk }) => (chunk.type === 'tool-approval-request' ? [chunk.toolCallId] : []))
  const { runId: next } = await call(tandem.url, `/runs/${runId}/approvals/${callId}`, { body: { approved: true } })
  await page.getByRole('link', { name: 'Continued by the next run' }).click()
  await page.waitForURL(`**/app/runs/${next}`)
  await row(page, 'send-email').getByText('done, as you agreed').waitFor()
  await page.getByRole('link', { name: 'Goes on with an earlier run' }).click()
  await page.waitForURL(`**/app/runs/${runId}`)
  await row(page, 'waits for a person to agree').waitFor()
  expect(complaints).toEqual([])
})
