import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessible } from './lib/browser'
import { inBrowser } from './lib/inBrowser'

const tandem = inBrowser()

const focused = (page: Page) =>
  expect.poll(() =>
    page.evaluate(() => {
      const { activeElement: one } = document
      return one?.getAttribute('data-email') ?? one?.getAttribute('aria-label') ?? one?.tagName
    }),
  )
const path = (page: Page) => expect.poll(() => new URL(page.url()).pathname)
const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}

test('the inbox is worked through with keys alone', async () => {
  const { page, complaints } = await tandem.open('inbox', { as: 'ann' })
  await page.locator('[data-email=e-8]').waitFor()
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await press(page, 'j')
  await focused(page).toBe('e-8')
  await press(page, 'ArrowDown', 'ArrowDown')
  await focused(page).toBe('e-6')
  await press(page, 'Enter')
  await path(page).toBe('/app/inbox/e-6')
  await focused(page).toBe('H2')
  await press(page, 'r')
  await focused(page).toBe('Reply to Lena Vogt')
  await page.keyboard.type('jj')
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await press(page, 'u')
  await path(page).toBe('/app/inbox')
  await focused(page).toBe('e-6')
  await press(page, 'e')
  await page.locator('[data-email=e-6]').waitFor({ state: 'detached' })
  await focused(page).toBe('e-5')
  await press(page, '/')
  await focused(page).toBe('Search emails')
  await page.keyboard.type('order')
  await page.getByText('2 emails for “order”').waitFor()
  await press(page, 'Escape')
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await press(page, 'g', 's')
  await path(page).toBe('/app/summary')
  await press(page, 'g', 'c')
  await focused(page).toBe('Message to the agent')
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await press(page, 'g', 't')
  await focused(page).not.toBe('Message to the agent')
  expect(complaints).toEqual([])
})

test('the keys are listed, and can be turned off', async () => {
  const { page, complaints } = await tandem.open('inbox', { as: 'bo' })
  await page.locator('[data-email=e-8]').waitFor()
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await press(page, '?')
  await page.getByRole('dialog').getByText('Archive the open email, or the line in focus').waitFor()
  await expectAccessible(page)
  await focused(page).toBe('Close')
  await press(page, 'Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await press(page, '?')
  await page.getByLabel('Use these keys').uncheck()
  await press(page, 'Escape')
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await press(page, 'g', 's')
  await page.waitForTimeout(300)
  await path(page).toBe('/app/inbox')
  expect(complaints).toEqual([])
})
