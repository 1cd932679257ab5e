import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { call, chunksOf, ended, turn } from './lib/api'
import { NARROW } from './lib/browser'
import { EVERYTHING, expectHarmless, oneLine, SHORT, watch, worstReaction } from './lib/hostile'
import { inBrowser } from './lib/inBrowser'

const tandem = inBrowser()

async function open(path: string, as: string, viewport = { width: 1440, height: 900 }) {
  const context = await tandem.browser.newContext({ viewport, locale: 'en-GB' })
  const harm = await watch(context, tandem.url)
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  await page.addInitScript((name) => sessionStorage.setItem('tandem.person', name), as)
  const response = await page.goto(`${tandem.url}${path}`)
  const policy = response?.headers()['content-security-policy'] ?? ''
  for (const part of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "base-uri 'none'"]) {
    expect(policy.split(/;\s*/)).toContain(part)
  }
  return { page, harm, close: () => context.close() }
}

/** One letter as a mail program exports it. */
const letter = (from: string, subject: string, body: string, labels = '') =>
  [
    'From x@example.com Mon Jan  6 10:00:00 2025',
    `From: =?utf-8?b?${base64(from)}?= <mallory@example.com>`,
    `Subject: =?utf-8?b?${base64(subject)}?=`,
    `Keywords: ${labels}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    body,
    '',
  ].join('\n')
const base64 = (text: string) => Buffer.from(text).toString('base64')

async function receive(mbox: string, as: string) {
  const { runId } = await call(tandem.url, '/api/import-emails', { as, body: { mbox } })
  expect(await ended(tandem.url, runId, as)).toMatchObject({ status: 'completed' })
  const { events } = await call(tandem.url, `/runs/${runId}/events`, { as })
  const output = events.map(({ chunk }: { chunk: { output?: { firstId: string } } }) => chunk.output).find(Boolean)
  return { runId, emailId: output.firstId as string }
}

/** In milliseconds; a machine with other work is slow, but a page that stands still takes far longer. */
const QUICK = 5000

/** What became of the calls of a run, or that a person is asked. */
async function outcomes(run: string, as: string): Promise<string[]> {
  const types = (await chunksOf(tandem.url, run, as)).map(({ chunk }) => chunk.type)
  return types.filter((type) => /^tool-(output|approval)-/.test(type))
}

/** Opens what is closed, and what that brings to light, until nothing is. `closed` matches only what is. */
async function openAll(closed: Locator): Promise<number> {
  await closed.first().waitFor()
  let opened = 0
  for (; (await closed.count()) > 0; opened += 1) {
    expect(opened, 'what is opened stays open').toBeLessThan(100)
    await closed.first().click()
  }
  return opened
}

const inbox = (page: Page) => page.getByRole('region', { name: 'Inbox', exact: true })
const messages = (page: Page) => page.getByRole('region', { name: 'Messages' })

test('a hostile email is only text, in the list, opened, answered and labelled', async () => {
  const as = 'ann'
  const tenant = `/state/${encodeURIComponent('app:inbox')}/docs`
  const { emailId } = await receive(letter(SHORT, `Subject ${SHORT}`, EVERYTHING + oneLine(40_000), '<b>x</b>'), as)
  await call(tandem.url, '/api/label-email', { as, body: { emailId, add: [SHORT.slice(0, 40)] } })
  await call(tandem.url, '/api/email', { as, body: { emailId, body: EVERYTHING } })
  const draft = { text: EVERYTHING, at: SHORT, by: SHORT }
  await call(tandem.url, `${tenant}/drafts/${emailId}`, { as, method: 'PUT', body: { value: draft } })
  await call(tandem.url, `/state/user/docs/memory/hostile`, { as, method: 'PUT', body: { value: EVERYTHING } })

  for (const size of [{ width: 1440, height: 900 }, NARROW]) {
    const { page, harm, close } = await open('inbox', as, size)
    await inbox(page).getByText('calls-home.example').first().waitFor()
    await expectHarmless(page)
    await page.goto(`${tandem.url}inbox/${emailId}`)
    await page.getByRole('article').getByText('over it all').first().waitFor()
    await page.getByRole('article').focus()
    for (const key of ['PageDown', 'PageDown', 'End', 'Home']) await page.keyboard.press(key)
    await page.waitForTimeout(300)
    await expectHarmless(page)
    expect(await worstReaction(page)).toBeLessThan(QUICK)
    expect(harm).toEqual([])
    await close()
  }
})

test('hostile words of a person, the model and tools are only text, in the chat and in the run', async () => {
  const as = 'bo'
  const { emailId } = await receive(letter(SHORT, SHORT, EVERYTHING), as)
  const script = EVERYTHING.replaceAll('\n\n', '\n \n')
  const calls = [
    `/read-email ${JSON.stringify({ emailId })}`,
    `/search-emails ${JSON.stringify({ query: SHORT.slice(0, 200) })}`,
    `/label-email ${JSON.stringify({ emailId, add: [`${SHORT.slice(0, 40)}`] })}`,
    `/remember ${JSON.stringify({ name: 'x', text: EVERYTHING })}`,
    `/list-emails {"limit":2}`,
  ]
  const { runId, threadId } = await turn(tandem.url, `${script}\n${calls.join('\n')}`, { as })
  // A call that is refused shows a line of ours, and not what was meant to be shown.
  expect(await outcomes(runId, as)).toEqual(Array(calls.length).fill('tool-output-available'))
  const mail = { to: 'a@example.com', subject: SHORT.slice(0, 200), body: EVERYTHING }
  const asking = await turn(tandem.url, `/send-email ${JSON.stringify(mail)}`, { as, threadId })
  expect(await outcomes(asking.runId, as)).toEqual(['tool-approval-request'])
  await call(tandem.url, `/threads/${threadId}`, { as, method: 'PATCH', body: { title: SHORT.slice(0, 80) } })

  for (const size of [{ width: 1440, height: 900 }, NARROW]) {
    const { page, harm, close } = await open(`threads/${threadId}`, as, size)
    await messages(page).getByText('over it all').first().waitFor()
    expect(await openAll(messages(page).locator('details:not([open]) > summary:visible'))).toBeGreaterThan(calls.length)
    await page.waitForTimeout(300)
    await expectHarmless(page)
    await page.goto(`${tandem.url}runs/${runId}`)
    await page.getByRole('option').filter({ hasText: 'read-email' }).click()
    const chunks = page.getByRole('region', { name: 'Chunks', exact: true })
    expect(await openAll(chunks.getByRole('button', { expanded: false }))).toBeGreaterThan(2)
    await expectHarmless(page)
    // The log shows what cannot be seen elsewhere.
    await page.getByText('\\u202e').first().waitFor()
    expect(harm).toEqual([])
    await close()
  }
})

test('a million characters on one line are shown, and the page still reacts', async () => {
  const as = 'cleo'
  const { runId: big } = await receive(letter('Big', 'One line', oneLine(140_000)), as)
  const line = oneLine(80_000)
  const { threadId } = await turn(tandem.url, line, { as })
  for (let more = 0; more < 5; more += 1) await turn(tandem.url, line, { as, threadId })

  const { page, harm, close } = await open(`runs/${big}`, as)
  await page.getByRole('option').filter({ hasText: 'import-emails' }).click()
  await page.getByRole('button', { name: /tool-input-available/ }).click()
  await page.getByText(/^[\d,]+ characters more\.$/).waitFor()
  await expectHarmless(page)
  expect(await worstReaction(page)).toBeLessThan(QUICK)

  await page.goto(`${tandem.url}threads/${threadId}`)
  await messages(page).getByText('AAAA').first().waitFor()
  await page.getByLabel('Message to the agent').fill('still here')
  await messages(page).hover()
  await page.mouse.wheel(0, -3000)
  await page.waitForTimeout(300)
  await expectHarmless(page)
  expect(await worstReaction(page)).toBeLessThan(QUICK)
  expect(harm).toEqual([])
  await close()
})

test('documents that hold something else than expected break nothing', async () => {
  const as = 'dan'
  const app = `/state/${encodeURIComponent('app:inbox')}/docs`
  const put = (path: string, value: unknown) => call(tandem.url, path, { as, method: 'PUT', body: { value } })
  const odd = [null, 7, 'text', [], { text: { deep: true }, by: [], at: {} }]
  for (const [at, value] of odd.entries()) {
    await put(`${app}/drafts/e-${at + 1}`, value)
    await put(`/state/user/docs/memory/odd-${at}`, value)
  }
  await put('/state/user/docs/view', { pane: SHORT, email: '../../x' })
  const { page, harm, close } = await open('inbox/e-1', as)
  for (let email = 1; email <= odd.length; email += 1) {
    await page.goto(`${tandem.url}inbox/e-${email}`)
    await page.getByRole('article').waitFor()
  }
  for (const to of [null, 'x', {}, { view: 'email', emailId: '../../runs/x' }, { view: 'javascript:alert(1)' }]) {
    await put('/state/user/docs/navigate', { id: crypto.randomUUID(), at: Date.now(), to, taken: false })
  }
  for (const value of odd) await put('/state/user/docs/navigate', value)
  const activity = [null, 7, SHORT, { email: { odd: 1 }, thread: 3, typing: SHORT, label: SHORT }]
  for (const [at, one] of activity.entries()) {
    const path = `/presence/${encodeURIComponent('app:inbox')}`
    await call(tandem.url, path, { as: `eve${at}`, method: 'PUT', body: { client: `w-${at}`, activity: one } })
  }
  await page.waitForTimeout(1500)
  await page.goto(`${tandem.url}inbox`)
  await inbox(page).getByRole('listitem').first().waitFor()
  await expectHarmless(page)
  expect(harm).toEqual([])
  await close()
})
