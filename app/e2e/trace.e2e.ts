// How the page keeps up with much at once. Takes a minute or two and a machine at rest: TRACE=1 runs it.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { begin, chunksOf, ended, turn } from './lib/api'
import { said, say } from './lib/chat'
import { inBrowser } from './lib/inBrowser'
import { type Traced, traced } from './lib/trace'

const wanted = test.skipIf(process.env.TRACE !== '1')
// Every word is a chunk of its own.
const tandem = inBrowser({ FLUSH_INTERVAL_MS: '1' })

const WORDS = 5000

/** No frame is late and nothing moves by itself. */
function expectSmooth(what: string, seen: Traced) {
  const { hot, ...rest } = seen
  console.log(`${what}: ${JSON.stringify(rest)}\n  ${hot.join('\n  ')}`)
  expect.soft(seen.longestTask, `${what}: the longest task, in ms`).toBeLessThan(50)
  expect.soft(seen.shift, `${what}: layout shift`).toBeLessThan(0.001)
}

async function scroll(page: Page, turns: number, by: number) {
  for (let turn = 0; turn < turns; turn += 1) {
    await page.mouse.wheel(0, by)
    await page.waitForTimeout(30)
  }
}

wanted('a conversation of 200 messages takes in 5,000 chunks and is scrolled', { timeout: 240_000 }, async () => {
  const as = 'ann'
  const { threadId } = await turn(tandem.url, '@say 20 every 0', { as })
  for (let more = 1; more < 100; more += 1) {
    await turn(tandem.url, `Some **words** and a list:\n- one ${more}\n- two\n@say 30 every 0`, { as, threadId })
  }
  const { page } = await tandem.open(`threads/${threadId}`, { as })
  await said(page).getByText('one 99').first().waitFor()
  await page.waitForTimeout(1000)
  const streaming = await traced(tandem.browser, page, async () => {
    await say(page, `@say ${WORDS} every 2ms`)
    await said(page).getByText(`w${WORDS} done`).waitFor({ timeout: 120_000 })
    await page.waitForTimeout(500)
  })
  await said(page).hover()
  const scrolling = await traced(tandem.browser, page, async () => {
    await scroll(page, 60, -900)
    await scroll(page, 60, 900)
  })
  expectSmooth('chat, streaming', streaming)
  expectSmooth('chat, scrolling', scrolling)
})

wanted('a run of 5,000 chunks is read, followed and scrolled', { timeout: 240_000 }, async () => {
  const as = 'bo'
  const many = Array.from({ length: WORDS / 6 }, () => '@think 1 every 0\n@say 1 every 0').join('\n')
  const { runId } = await turn(tandem.url, many, { as })
  expect((await chunksOf(tandem.url, runId, as)).length).toBeGreaterThan(WORDS - 50)
  const { page } = await tandem.open('', { as })
  await page.getByText('Work on the inbox together').waitFor()
  await page.goto(`${tandem.url}runs/${runId}`)
  await page.getByRole('option').first().waitFor()
  const reading = await traced(tandem.browser, page, async () => {
    await page.getByRole('link', { name: 'Tandem' }).click()
    await page.getByText('Work on the inbox together').waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: /^All [45],\d+ chunks$/ }).waitFor()
    await page.waitForTimeout(500)
  })
  await page.getByRole('listbox').hover()
  const scrolling = await traced(tandem.browser, page, async () => {
    await scroll(page, 40, 3000)
    await page.getByRole('option').last().click()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('region', { name: 'Chunks', exact: true }).hover()
    await scroll(page, 40, 4000)
  })

  const live = await begin(tandem.url, `@say ${WORDS} every 2ms`, { as })
  await page.goto(`${tandem.url}runs/${live.runId}`)
  await page.getByRole('option').first().waitFor()
  const following = await traced(tandem.browser, page, async () => {
    await page.getByText('It did what it was asked.').waitFor({ timeout: 120_000 })
    await page.waitForTimeout(500)
  })
  await ended(tandem.url, live.runId, as)
  expectSmooth('run, reading', reading)
  expectSmooth('run, scrolling', scrolling)
  expectSmooth('run, following', following)
})
