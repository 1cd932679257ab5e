import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible, launch, NARROW, openWindow, screenshot } from './lib/browser'
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

test('a first visit leads to a first answer, which is still there after a reload', async () => {
  const { page, complaints } = await openWindow(browser, server.url)
  await page.getByText('Work on the inbox together').waitFor()
  await expectAccessible(page)

  await page.getByLabel('Message to the agent').fill('@say 6 every 20ms')
  await page.keyboard.press('Enter')
  await page.getByText('w1 w2 w3 w4 w5 w6').waitFor()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/app\/threads\/t-/)
  await expectAccessible(page)

  await page.reload()
  await page.getByText('w1 w2 w3 w4 w5 w6').waitFor()
  expect(await page.getByText('w1 w2 w3 w4 w5 w6').count()).toBe(1)
  expect(complaints).toEqual([])
})

test('an email that is archived with its button leaves the list, in every window', async () => {
  const ann = await openWindow(browser, server.url, { as: 'ann' })
  const bo = await openWindow(browser, `${server.url}inbox`, { as: 'bo' })
  const rows = (page: Page) => page.getByRole('region', { name: 'Inbox' }).getByRole('listitem')
  for (const { page } of [ann, bo]) await rows(page).first().waitFor()
  const before = await rows(ann.page).count()
  const archive = rows(ann.page)
    .first()
    .getByRole('button', { name: /^Archive “/ })
  const subject = /“(.*)”/.exec((await archive.getAttribute('aria-label')) ?? '')?.[1] ?? ''
  await archive.click()
  for (const { page } of [ann, bo]) {
    await expect.poll(() => rows(page).count(), { timeout: 10_000 }).toBe(before - 1)
    expect(await rows(page).getByText(subject, { exact: true }).count()).toBe(0)
  }
  await ann.page.getByText(`Archived “${subject}”`).waitFor()
  await bo.page.getByRole('list', { name: 'Also here' }).getByText('ann').waitFor({ state: 'attached' })
  await expectAccessible(ann.page)
  expect([...ann.complaints, ...bo.complaints]).toEqual([])
})

test('a call of the agent changes the inbox that is open beside it, and its run can be looked at', async () => {
  const { page, complaints } = await openWindow(browser, server.url, { as: 'cleo' })
  await page
    .getByRole('button', { name: /^Archive “/ })
    .first()
    .waitFor()
  await page.getByLabel('Message to the agent').fill('/label-email {"emailId":"e-6","add":["from-the-agent"]}')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Inbox' }).getByText('from-the-agent').waitFor()
  await page.getByText('Done', { exact: true }).waitFor()
  await screenshot(page, 'workspace')

  const { items } = await page.evaluate(async () => {
    const headers = { authorization: 'Bearer dev.local.cleo' }
    const threads = await (await fetch('/threads', { headers })).json()
    return (await fetch(`/runs?threadId=${threads.items[0].threadId}`, { headers })).json()
  })
  await page.goto(`${server.url}runs/${items[0].runId}`)
  await page.getByText('tool-output-available', { exact: true }).waitFor()
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('everything can be reached on a narrow screen', async () => {
  const { page, complaints } = await openWindow(browser, server.url, { size: NARROW, as: 'dan' })
  await page
    .getByRole('button', { name: /^Archive “/ })
    .first()
    .waitFor()
  await expectAccessible(page)
  await screenshot(page, 'narrow')
  await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Chat' }).click()
  await page.getByLabel('Message to the agent').waitFor()
  await expectAccessible(page)
  await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Conversations' }).click()
  await page.getByRole('heading', { name: 'Conversations', exact: true }).waitFor()
  await expectAccessible(page)
  await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Inbox' }).click()
  await page.getByRole('region', { name: 'Inbox' }).locator('li button').first().click()
  await page.getByRole('button', { name: 'Back to the list' }).waitFor()
  await page.getByRole('article').waitFor()
  await expectAccessible(page)
  const overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  expect(overflows).toBe(false)
  expect(complaints).toEqual([])
})
