import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessible, NARROW, screenshot } from './lib/browser'
import { say } from './lib/chat'
import { inBrowser } from './lib/inBrowser'

const tandem = inBrowser()

test('a first visit leads to a first answer, which is still there after a reload', async () => {
  const { page, complaints } = await tandem.open()
  await page.getByText('Work on the inbox together').waitFor()
  await expectAccessible(page)

  await say(page, '@say 6 every 20ms')
  await page.getByText('w1 w2 w3 w4 w5 w6').waitFor()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/app\/threads\/t-/)
  await expectAccessible(page)

  await page.reload()
  await page.getByText('w1 w2 w3 w4 w5 w6').waitFor()
  expect(await page.getByText('w1 w2 w3 w4 w5 w6').count()).toBe(1)
  // With one model there is nothing to choose.
  expect(await page.getByRole('button', { name: /^Model/ }).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('an email that is archived with its button leaves the list, in every window', async () => {
  const ann = await tandem.open('', { as: 'ann' })
  const bo = await tandem.open('inbox', { as: 'bo' })
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
  const { page, complaints } = await tandem.open('', { as: 'cleo' })
  await page
    .getByRole('button', { name: /^Archive “/ })
    .first()
    .waitFor()
  await say(page, '/label-email {"emailId":"e-6","add":["from-the-agent"]}')
  await page.getByRole('region', { name: 'Inbox' }).getByText('from-the-agent').waitFor()
  await page.getByText('Done', { exact: true }).waitFor()
  await screenshot(page, 'workspace')

  await page.getByRole('link', { name: 'Look into this run' }).click()
  await page.getByText('tool-output-available', { exact: true }).waitFor()
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('everything can be reached on a narrow screen', async () => {
  const { page, complaints } = await tandem.open('', { size: NARROW, as: 'dan' })
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
