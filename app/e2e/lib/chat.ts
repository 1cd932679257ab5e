// What people do in a chat, and what they see there.
import type { Page } from 'playwright-core'

export async function say(page: Page, text: string): Promise<void> {
  const box = page.getByLabel('Message to the agent')
  await box.fill(text)
  await box.press('Enter')
}

/** The conversation itself. */
export const said = (page: Page) => page.getByRole('region', { name: 'Messages' })

/** What the scripted model says to `@say count`. */
export const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n + 1}`).join(' ')

/** The answer is complete: there is a place to say more. */
export const isOver = (page: Page) =>
  page.getByRole('button', { name: 'Send', exact: true }).waitFor({ timeout: 60_000 })

/** Complaints of the browser about requests that could not be made, which a test has brought about. */
export const isNetwork = (complaint: string) => /net::ERR_|status of 50\d/.test(complaint)
