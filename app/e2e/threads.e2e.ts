import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessible } from './lib/browser'
import { say } from './lib/chat'
import { inBrowser } from './lib/inBrowser'

const tandem = inBrowser()

const list = (page: Page) => page.getByRole('list', { name: 'Conversations' })
const titles = (page: Page) => list(page).locator('button[data-thread]')
const choose = async (page: Page, title: string, item: string) => {
  await page.getByRole('button', { name: `More for “${title}”` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}
const show = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Which conversations' }).getByRole('button', { name }).click()
const begin = (page: Page, names: string[]) =>
  page.evaluate(async (titles) => {
    const headers = { authorization: `Bearer dev.local.${sessionStorage['tandem.person']}` }
    for (const title of titles) await fetch('/threads', { method: 'POST', headers, body: JSON.stringify({ title }) })
  }, names)

test('a conversation is renamed, shared, archived and deleted', async () => {
  const { page, complaints } = await tandem.open('', { as: 'ann' })
  const bo = await tandem.open('', { as: 'bo' })
  await page.getByText('No conversations yet').waitFor()
  await say(page, 'Hello agent')
  await titles(page).getByText('Hello agent').waitFor()
  await page.getByRole('button', { name: 'Send' }).waitFor()

  await choose(page, 'Hello agent', 'Rename')
  await page.getByLabel('Title').fill('Pilot plans')
  await page.keyboard.press('Enter')
  await titles(page).getByText('Pilot plans').waitFor()
  await expectAccessible(page)

  await choose(page, 'Pilot plans', 'Share with the team')
  await list(page).getByRole('img', { name: 'Shared' }).waitFor()
  await show(bo.page, 'Shared')
  await titles(bo.page).getByText('Pilot plans').click()
  await bo.page.getByRole('region', { name: 'Messages' }).getByText('Hello agent').first().waitFor()
  expect(await bo.page.getByRole('button', { name: /^More for/ }).count()).toBe(0)
  await choose(page, 'Pilot plans', 'Stop sharing')
  await list(page).getByRole('img', { name: 'Shared' }).waitFor({ state: 'detached' })

  await choose(page, 'Pilot plans', 'Archive')
  await page.getByText('No conversations yet').waitFor()
  await show(page, 'Archive')
  await titles(page).getByText('Pilot plans').waitFor()
  await choose(page, 'Pilot plans', 'Delete…')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('The archive is empty').waitFor()
  expect(new URL(page.url()).pathname + new URL(page.url()).search).not.toContain('t-')
  expect(complaints).toEqual([])
})

test('many conversations come page by page, are found by their titles, and are walked through with arrow keys', async () => {
  const { page, complaints } = await tandem.open('', { as: 'cleo' })
  await page.getByText('No conversations yet').waitFor()
  await begin(
    page,
    Array.from({ length: 45 }, (_, n) => `Talk ${n + 1}`),
  )
  await page.reload()
  await titles(page).nth(29).waitFor()
  expect(await titles(page).count()).toBeLessThan(45)
  await titles(page).first().focus()
  await page.keyboard.press('End')
  await titles(page).nth(44).waitFor()
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowDown')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/^Talk 44/)
  await page.getByLabel('Search conversations').fill('talk 33')
  await titles(page).getByText('Talk 33').waitFor()
  await expect.poll(() => titles(page).count()).toBe(1)
  expect(complaints).toEqual([])
})
