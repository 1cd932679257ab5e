import { expect, test } from 'vitest'
import { expectAccessible } from './lib/browser'
import { isOver, said, say, words } from './lib/chat'
import { inBrowser } from './lib/inBrowser'

// Who chooses the second one is told that there is no key for it.
const tandem = inBrowser({ MODEL: 'scripted', MODELS: 'openai/another', OPENAI_API_KEY: '' })

test('the model is chosen for a conversation, which keeps it', async () => {
  const { page, complaints } = await tandem.open('', { as: 'ann' })
  await page.getByRole('button', { name: 'Model: scripted' }).click()
  await expectAccessible(page)
  await page.getByRole('menuitem', { name: 'openai/another' }).click()
  await say(page, '@say 4 every 0')
  await said(page).getByText('The server has no key for the model').waitFor()
  await page.reload()
  await said(page).getByText('The server has no key for the model').waitFor()
  await page.getByRole('button', { name: 'Model: another' }).click()
  await page.getByRole('menuitem', { name: 'scripted (default)' }).click()
  await said(page).getByRole('button', { name: 'Try again' }).click()
  await said(page)
    .getByText(`${words(4)} done`, { exact: true })
    .waitFor()
  await isOver(page)

  await page.getByRole('button', { name: 'Model: scripted' }).click()
  await page.getByRole('menuitem', { name: 'openai/another' }).click()
  await page.getByRole('button', { name: 'New chat' }).click()
  await page.getByRole('button', { name: 'Model: scripted' }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Model: another' }).waitFor()
  expect(complaints).toEqual([])
})
