import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { begin, ended, turn } from './lib/api'
import { expectAccessible, NARROW } from './lib/browser'
import { said } from './lib/chat'
import { inBrowser } from './lib/inBrowser'

const tandem = inBrowser()

const focusedName = (page: Page) =>
  page.evaluate(() => {
    const one = document.activeElement as HTMLElement | null
    const label = one?.id ? document.querySelector(`label[for="${CSS.escape(one.id)}"]`) : undefined
    return one?.ariaLabel ?? label?.textContent ?? one?.innerText?.trim() ?? ''
  })

/** Goes on with Tab until what has the focus is called so, and shows that it has it. */
async function tabTo(page: Page, name: RegExp, key = 'Tab') {
  const passed: string[] = []
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press(key)
    const now = await focusedName(page)
    if (name.test(now)) {
      // A field shows it with the frame around it.
      const isShown = await page.evaluate(() => {
        const one = document.activeElement as HTMLElement
        return one.matches('input, textarea') || getComputedStyle(one).outlineStyle !== 'none'
      })
      expect(isShown, `the focus on ${now} is to be seen`).toBe(true)
      return
    }
    passed.push(now.slice(0, 40))
  }
  throw new Error(`Tab does not lead to ${name}; it passed ${passed.join(' | ')}`)
}

test('an email is found and archived, the agent asked, approved and stopped, with the keyboard alone', async () => {
  const { page, complaints } = await tandem.open('inbox', { as: 'ann' })
  await page
    .getByRole('button', { name: /^Archive “/ })
    .first()
    .waitFor()
  await tabTo(page, /^Search emails/)
  await page.keyboard.type('4471')
  const found = page.getByRole('button', { name: /^Archive “Re: Order 4471/ })
  await found.waitFor()
  const others = page.getByRole('button', { name: /^Archive “(?!Order|Re: Order)/ })
  await others.first().waitFor({ state: 'detached' })
  await tabTo(page, /^Archive “Re: Order 4471/)
  await page.keyboard.press('Enter')
  await found.waitFor({ state: 'detached' })

  await tabTo(page, /^Message to the agent/)
  await page.keyboard.type('/send-email {"to":"ann@example.com","subject":"Hi","body":"Hello!"}')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^(Approve|Agree|Send it)/ }).waitFor()
  await tabTo(page, /^(Approve|Agree|Send it)/, 'Shift+Tab')
  await page.keyboard.press('Enter')
  await said(page).getByText('done', { exact: true }).last().waitFor()

  await tabTo(page, /^Message to the agent/)
  await page.keyboard.type('@say 3 every 0')
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.type('@wait 60s')
  await page.keyboard.press('Enter')
  await said(page).getByText('w1 w2 w3').waitFor()
  await tabTo(page, /^Stop/)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
  expect(complaints).toEqual([])
})

test('every view keeps the rules of accessibility, also on a narrow screen', async () => {
  const as = 'bo'
  const { runId, threadId } = await turn(tandem.url, 'Hello **you**\n/list-emails {"limit":3}', { as })
  const waits = await begin(tandem.url, '/send-email {"to":"a@example.com","subject":"Hi","body":"Hello!"}', { as })
  await ended(tandem.url, waits.runId, as)
  const { page, complaints } = await tandem.open('', { as, size: NARROW })
  const places = [
    ['', 'Inbox'],
    ['inbox/e-3', 'Order 4471'],
    [`threads/${threadId}`, 'Hello'],
    [`threads/${waits.threadId}`, 'Hello!'],
    [`runs/${runId}`, 'It did what it was asked.'],
    ['nowhere', 'There is no such page'],
  ] as const
  for (const [path, sign] of places) {
    await page.goto(`${tandem.url}${path}`)
    await page.getByText(sign).locator('visible=true').first().waitFor()
    await expectAccessible(page)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width, path).toBeLessThanOrEqual(NARROW.width)
  }
  expect(complaints).toEqual([])
})
