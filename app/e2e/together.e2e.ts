import { expect, test } from 'vitest'
import { said, say, words } from './lib/chat'
import { inBrowser } from './lib/inBrowser'

const tandem = inBrowser()

test('the agent opens an email beside the conversation in which it was asked', async () => {
  const { page, complaints } = await tandem.open('', { as: 'ann' })
  await page.getByText('Work on the inbox together').waitFor()
  await say(page, '/navigate {"view":"email","emailId":"e-3"}')
  await page.getByRole('article').getByRole('heading', { name: 'Order 4471 arrived incomplete' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/app/inbox/e-3')
  expect(await said(page).innerText()).toContain('Open email e-3')
  expect(complaints).toEqual([])
})

test('a window that is opened in the middle of an answer shows all of it, and both go on together', async () => {
  const first = await tandem.open('', { as: 'bo' })
  await first.page.getByText('Work on the inbox together').waitFor()
  await say(first.page, '@say 40 every 50ms')
  await first.page.getByText('w1 w2 w3 w4 w5').waitFor()
  const second = await tandem.open(first.page.url(), { as: 'bo' })
  for (const { page } of [first, second]) await page.getByText(`${words(40)} done`).waitFor()

  await second.page.getByRole('button', { name: 'Send' }).waitFor()
  await say(second.page, '@say 9 every 50ms')
  for (const { page } of [first, second]) {
    await page.getByText(`${words(9)} done`, { exact: true }).waitFor()
    const text = await said(page).innerText()
    expect(text.match(/@say 9/g)).toHaveLength(1)
    expect(text.match(/w9\b/g)).toHaveLength(2)
    expect(text.match(/w40\b/g)).toHaveLength(1)
  }
  expect([...first.complaints, ...second.complaints]).toEqual([])
})

test('an answer is stopped with its button', async () => {
  const { page, complaints } = await tandem.open('', { as: 'cleo' })
  await page.getByText('Work on the inbox together').waitFor()
  await say(page, '@say 5 every 0\n@wait 60s')
  await page.getByText(words(5)).waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  await say(page, '@say 3 every 0')
  await page.getByText(`${words(3)} done`, { exact: true }).waitFor()
  expect(complaints).toEqual([])
})
