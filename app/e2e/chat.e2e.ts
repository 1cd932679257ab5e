import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { call } from './lib/api'
import { expectAccessible, screenshot } from './lib/browser'
import { isOver, said, say, words } from './lib/chat'
import { inBrowser } from './lib/inBrowser'

const tandem = inBrowser()

const answers = async (page: Page) => (await said(page).innerText()).match(/\bw\d+\b/g)?.join(' ')

test('what comes out of calls is shown in words, lines and charts, and all of it on request', async () => {
  const { page, complaints } = await tandem.open('', { as: 'ann' })
  await page.getByRole('button', { name: 'Summarize the inbox' }).click()
  const summary = said(page).getByRole('region', { name: 'Summarize the inbox' })
  await summary.getByRole('figure').first().waitFor()
  await summary.locator('svg .recharts-bar-rectangle').first().waitFor()
  await isOver(page)
  await expectAccessible(page)
  await screenshot(page, 'chat')
  await say(page, '/search-emails {"query":"invoice"}')
  const found = said(page).getByRole('region', { name: 'Search for “invoice”' })
  await found.getByRole('listitem').first().getByRole('button').click()
  await page.getByRole('article').waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/app\/inbox\/e-/)
  await found.getByText('Show data').click()
  await found.getByText('What came out').waitFor()
  await expectAccessible(page)
  await say(page, '/read-email {"emailId":"e-999"}')
  await said(page).getByText('There is no email e-999').waitFor()
  await said(page).getByRole('button', { name: 'Try again' }).waitFor()
  const cards = await said(page).getByRole('region').allInnerTexts()
  expect(cards).toHaveLength(3)
  expect(cards.join()).not.toMatch(/[{}"]/)
  expect(complaints).toEqual([])
})

test('an answer is asked for again, and a question is said differently, in every window', async () => {
  const first = await tandem.open('', { as: 'bo' })
  await say(first.page, '@say 4 every 0')
  await isOver(first.page)
  await say(first.page, '@say 6 every 0')
  await said(first.page).getByText(words(6)).waitFor()
  await isOver(first.page)
  const second = await tandem.open(first.page.url(), { as: 'bo' })
  await said(second.page).getByText(words(6)).waitFor()

  await first.page.getByRole('button', { name: 'Answer again' }).click()
  for (const { page } of [first, second]) {
    await isOver(page)
    await expect.poll(() => answers(page)).toBe(`${words(4)} ${words(6)}`)
  }
  await second.page.getByRole('button', { name: 'Say it differently' }).first().click()
  await second.page.getByRole('textbox', { name: 'Say it differently' }).fill('@say 9 every 20ms')
  await second.page.getByRole('button', { name: 'Send' }).first().click()
  for (const { page } of [first, second]) {
    await expect.poll(() => answers(page), { timeout: 10_000 }).toBe(words(9))
    expect(await said(page).getByText('@say').count()).toBe(1)
  }
  expect([...first.complaints, ...second.complaints]).toEqual([])
})

test('an answer that is under way is stopped for something else', async () => {
  const { page, complaints } = await tandem.open('', { as: 'cleo' })
  await say(page, '@say 5 every 0\n@wait 60s')
  await said(page).getByText(words(5)).waitFor()
  await page.getByLabel('Message to the agent').fill('@say 2 every 0')
  await page.getByRole('button', { name: 'Stop and send' }).click()
  await said(page)
    .getByText(`${words(2)} done`, { exact: true })
    .waitFor()
  expect(await answers(page)).toBe(`${words(5)} ${words(2)}`)
  await page.reload()
  await said(page)
    .getByText(`${words(2)} done`, { exact: true })
    .waitFor()
  expect(await answers(page)).toBe(`${words(5)} ${words(2)}`)
  expect(complaints).toEqual([])
})

test('an answer that was stopped says so, also after a reload', async () => {
  const { page, complaints } = await tandem.open('', { as: 'dan' })
  await say(page, '@say 5 every 0\n@wait 60s')
  // Also before anything has been said.
  await page.getByRole('button', { name: 'Stop' }).click()
  await isOver(page)
  await said(page).getByText('This answer was stopped.').waitFor()
  await page.reload()
  await said(page).getByText('This answer was stopped.').waitFor()
  expect(complaints).toEqual([])
})

test('two people speak in one conversation, and each sees everything in order', async () => {
  const eve = await tandem.open('', { as: 'eve' })
  await say(eve.page, '@say 3 every 0')
  await isOver(eve.page)
  const thread = new URL(eve.page.url()).pathname.split('/').at(-1)
  await eve.page.evaluate(async (thread) => {
    const headers = { authorization: 'Bearer dev.local.eve', 'content-type': 'application/json' }
    await fetch(`/threads/${thread}`, { method: 'PATCH', headers, body: '{"shared":true}' })
  }, thread)
  const fay = await tandem.open(eve.page.url(), { as: 'fay' })
  await said(fay.page).getByText(words(3)).waitFor()
  await say(fay.page, '@say 40 every 50ms')
  await said(eve.page).getByText('fay', { exact: true }).waitFor()
  await said(eve.page).getByText(words(10)).waitFor()
  // Somebody else's answer is stopped for one's own.
  await eve.page.getByLabel('Message to the agent').fill('@say 5 every 20ms')
  await eve.page.getByRole('button', { name: 'Stop and send' }).click()
  for (const { page } of [eve, fay]) {
    await said(page)
      .getByText(`${words(5)} done`, { exact: true })
      .waitFor()
    await isOver(page)
  }
  expect(await answers(fay.page)).toBe(await answers(eve.page))
  await fay.page.reload()
  await said(fay.page)
    .getByText(`${words(5)} done`, { exact: true })
    .waitFor()
  expect(await answers(fay.page)).toBe(await answers(eve.page))
  expect([...eve.complaints, ...fay.complaints]).toEqual([])
})

test('an import shows how far it is, also after a reload in its middle', async () => {
  const { page, complaints } = await tandem.open('', { as: 'gus' })
  await say(page, '/import-emails {"count":10000}')
  const bar = said(page).getByRole('progressbar', { name: 'Importing emails' })
  const done = async () => Number(await bar.getAttribute('aria-valuenow'))
  await expect.poll(done, { timeout: 30_000 }).toBeGreaterThan(200)
  await said(page)
    .getByText(/^[\d,]+ of 10,000$/)
    .waitFor()
  await expectAccessible(page)
  await screenshot(page, 'import')
  const before = await done()
  await page.reload()
  await bar.waitFor()
  await expect.poll(done, { timeout: 20_000 }).toBeGreaterThan(before)
  const card = said(page).getByRole('region', { name: 'Import 10,000 emails' })
  await card.getByText('Done', { exact: true }).waitFor({ timeout: 120_000 })
  expect(await card.innerText()).toContain('10,000')
  expect(complaints).toEqual([])
}, 180_000)

test('files and texts that are too long are refused before they are sent', async () => {
  const { page, complaints } = await tandem.open('', { as: 'hal' })
  const box = page.getByLabel('Message to the agent')
  await box.evaluate((element) => {
    const data = new DataTransfer()
    data.items.add(new File(['%PDF'], 'offer.pdf', { type: 'application/pdf' }))
    element.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
  })
  await page.getByText('“offer.pdf” cannot be sent').waitFor()
  await box.fill('ü'.repeat(60_000))
  await page.getByText('a message holds at most 100 KB').waitFor()
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
  expect(complaints).toEqual([])
})

test('what the server does not take is told in plain words, and said again', async () => {
  const { page, complaints } = await tandem.open('', { as: 'ida' })
  const body = JSON.stringify({ code: 'throttled', detail: 'x', title: 'x', status: 429, type: 'about:blank' })
  await page.route('**/api/agent-chat', (route) => route.fulfill({ status: 429, body }), { times: 1 })
  await say(page, '@say 4 every 0')
  await said(page).getByRole('alert').getByText('There is too much to do at the moment.').waitFor()
  await expectAccessible(page)
  await said(page).getByRole('button', { name: 'Try again' }).click()
  await said(page)
    .getByText(`${words(4)} done`, { exact: true })
    .waitFor()
  expect(await said(page).getByRole('alert').count()).toBe(0)
  await page.reload()
  await said(page)
    .getByText(`${words(4)} done`, { exact: true })
    .waitFor()
  expect(await said(page).getByText('@say').count()).toBe(1)
  expect(complaints.filter((complaint) => !complaint.includes('status of 429'))).toEqual([])
})

test('a model that fails is told in plain words, also after a reload, and asked again', async () => {
  const { page, complaints } = await tandem.open('', { as: 'jo' })
  await say(page, '@fail context x99')
  for (let times = 0; times < 2; times += 1) {
    await said(page)
      .getByRole('alert')
      .getByText(/too long for the model/)
      .waitFor()
    expect(await said(page).getByRole('alert').innerText()).not.toMatch(/\[\w+\]/)
    await page.reload()
  }
  await said(page).getByRole('button', { name: 'Try again' }).click()
  await said(page).getByRole('alert').waitFor({ state: 'detached' })
  await said(page).getByRole('alert').waitFor()
  expect(complaints).toEqual([])
})

test('what an answer has done is not done again when it is asked to go on', async () => {
  const { page, complaints } = await tandem.open('', { as: 'lea' })
  const replies = async () => (await call(tandem.url, '/api/read-email?emailId=e-4', { as: 'lea' })).replies.length
  const reply = '/email {"emailId":"e-4","body":"On my way."}'
  await say(page, `${reply}\n\n/read-email {"emailId":"e-999999"}`)
  const failed = said(page).getByRole('region', { name: 'Read email e-999999' })
  await failed.getByRole('button', { name: 'Ask to try it again' }).waitFor()
  expect(await said(page).getByRole('button', { name: 'Answer again' }).count()).toBe(0)
  await expectAccessible(page)
  await failed.getByRole('button', { name: 'Ask to try it again' }).click()
  await said(page)
    .getByText(/^Try this again: Read email e-999999/)
    .first()
    .waitFor()
  await isOver(page)
  expect(await replies()).toBe(1)

  await say(page, `${reply}\n\n@fail context x99`)
  const alert = said(page).getByRole('alert')
  for (let times = 0; times < 2; times += 1) {
    await alert.getByRole('button', { name: 'Ask to go on' }).waitFor()
    await page.reload()
  }
  await alert.getByRole('button', { name: 'Ask to go on' }).click()
  await alert.waitFor({ state: 'detached' })
  await isOver(page)
  expect(await replies()).toBe(2)
  expect(await said(page).getByRole('region', { name: 'Reply to email e-4' }).count()).toBe(2)
  expect(complaints).toEqual([])
})

test('what cannot be said as the answer cannot be stopped comes back', async () => {
  const { page, complaints } = await tandem.open('', { as: 'mo' })
  await say(page, '@say 5 every 0\n@wait 60s')
  await said(page).getByText(words(5)).waitFor()
  const body = JSON.stringify({ code: 'throttled', detail: 'x', title: 'x', status: 429, type: 'about:blank' })
  await page.route('**/runs/*/abort', (route) => route.fulfill({ status: 429, body }))
  const box = page.getByLabel('Message to the agent')
  const send = page.getByRole('button', { name: 'Stop and send' })
  for (let times = 0; times < 2; times += 1) {
    await box.fill('@say 2 every 0')
    await send.click()
    await expect.poll(() => box.inputValue()).toBe('@say 2 every 0')
    await expect.poll(() => send.isEnabled()).toBe(true)
    await page.getByText('There is too much to do at the moment.').first().waitFor()
  }
  await page.unrouteAll()
  await send.click()
  await said(page)
    .getByText(`${words(2)} done`, { exact: true })
    .waitFor()
  expect(await box.inputValue()).toBe('')
  expect(complaints.filter((complaint) => !complaint.includes('status of 429'))).toEqual([])
})

test('a call that was under way when its answer was stopped does not spin on', async () => {
  const { page, complaints } = await tandem.open('', { as: 'nia' })
  await say(page, '/import-emails {"count":10000}')
  const card = said(page).getByRole('region', { name: 'Import 10,000 emails' })
  await card.getByRole('progressbar').waitFor()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await isOver(page)
  for (let times = 0; times < 2; times += 1) {
    await said(page).getByText('This answer was stopped.').waitFor()
    expect(await card.getByText(/^(Working|Preparing)$/).count()).toBe(0)
    expect(await card.locator('.animate-spin').count()).toBe(0)
    expect(await card.getByRole('progressbar').count()).toBe(0)
    await page.reload()
  }
  expect(complaints).toEqual([])
})

test('from a conversation or a run that is not there, there is a way to the inbox', async () => {
  const { page, complaints } = await tandem.open('about:blank', { as: 'kim' })
  for (const path of ['threads/t-nothing', 'runs/run_nothing']) {
    await page.goto(new URL(path, tandem.url).href)
    await page.getByRole('alert').getByRole('link', { name: 'Go to the inbox' }).click()
    await page.getByRole('list', { name: 'Emails' }).waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/app/')
  }
  expect(complaints.filter((one) => !/status of 40[04]/.test(one))).toEqual([])
})
