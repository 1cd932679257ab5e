import { expect, test } from 'vitest'
import { call } from './lib/api'
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

  // What this browser knows holds while the document is not read yet.
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(/prefix=models/, async (route) => {
    await held
    await route.continue().catch(() => {})
  })
  await page.reload()
  await page.getByRole('button', { name: 'Model: another' }).waitFor()
  release()
  await page.unrouteAll({ behavior: 'wait' })

  const elsewhere = await tandem.open(page.url(), { as: 'ann' })
  await elsewhere.page.getByRole('button', { name: 'Model: another' }).click()
  await elsewhere.page.getByRole('menuitem', { name: 'scripted (default)' }).click()
  await page.getByRole('button', { name: 'Model: scripted' }).waitFor()
  expect(elsewhere.complaints).toEqual([])
  expect(complaints).toEqual([])
})

test('a document that names no model leaves the default one, and a page that works', async () => {
  const { page, complaints } = await tandem.open('', { as: 'cleo' })
  await say(page, '@say 2 every 0')
  await isOver(page)
  const thread = new URL(page.url()).pathname.split('/').at(-1)
  for (const value of [null, 4, { model: null }, { model: [] }]) {
    const path = `/state/user/docs/models/${thread}`
    await call(tandem.url, path, { as: 'cleo', method: 'PUT', body: { value } })
    await page.reload()
    await page.getByRole('button', { name: 'Model: scripted' }).waitFor()
  }
  expect(complaints).toEqual([])
})

test('what the model was not told of a long conversation is said below its answer', async () => {
  const { page, complaints } = await tandem.open('', { as: 'bo' })
  await say(page, 'hello')
  await isOver(page)
  await say(page, '@fail context')
  const told = said(page).getByText('2 older messages were left out for the model.')
  await told.waitFor()
  await isOver(page)
  await page.reload()
  await told.waitFor()
  await said(page).getByRole('link', { name: /run/i }).last().click()
  await page.getByText('Left out', { exact: true }).waitFor()
  expect(complaints).toEqual([])
})
