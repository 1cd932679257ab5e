import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessible, NARROW } from './lib/browser'
import { say } from './lib/chat'
import { inBrowser } from './lib/inBrowser'

const tandem = inBrowser()

const inbox = (page: Page) => page.getByRole('region', { name: 'Inbox', exact: true })
const rows = (page: Page) => page.getByRole('list', { name: 'Emails' }).getByRole('listitem')
const subjects = (page: Page) => rows(page).locator('button[data-email]')

test('a search finds words in the text of emails, in an inbox that nobody has changed and in one that somebody has', async () => {
  const { page, complaints } = await tandem.open('inbox', { as: 'sam' })
  const search = page.getByLabel('Search emails')
  await search.fill('fitters boxes')
  await inbox(page).getByText('1 email for “fitters boxes”').waitFor()
  await rows(page).first().getByText('Order 4471 arrived incomplete').waitFor()
  await expectAccessible(page)
  await search.fill('no such words')
  await page.getByText('No email fits').waitFor()
  await page.goBack()
  await subjects(page).nth(5).waitFor()

  await rows(page).first().locator('button[data-email]').click()
  await page.getByRole('button', { name: 'Labels' }).click()
  await page.getByLabel('Find or add a label').fill('seen by sam')
  await page.keyboard.press('Enter')
  await page.getByRole('checkbox', { name: 'seen by sam' }).waitFor()
  await expectAccessible(page)
  await page.getByRole('checkbox', { name: 'shipping' }).click()
  await page.keyboard.press('Escape')
  await expect.poll(() => page.getByRole('article').getByTitle('Show all with shipping').count()).toBe(0)
  await page.getByTitle('Show all with seen by sam').click()
  await inbox(page).getByText('1 email labelled seen by sam').waitFor()
  await page.getByRole('button', { name: 'Label: seen by sam' }).click()
  await page.getByRole('menuitem', { name: 'customers (4)' }).waitFor()
  await expectAccessible(page)
  await page.getByRole('menuitem', { name: 'All labels' }).click()
  await search.fill('fitters boxes')
  await inbox(page).getByText('1 email for “fitters boxes”').waitFor()
  expect(complaints).toEqual([])
})

test('what is archived is found in the archive, and the summary counts it no more', async () => {
  const { page, complaints } = await tandem.open('inbox', { as: 'tess' })
  await page.getByRole('button', { name: 'Archive “Invoice 2025-0917 is due in 14 days”' }).click()
  await page.getByRole('navigation', { name: 'Inbox views' }).getByRole('button', { name: 'Archive' }).click()
  await rows(page).getByText('Invoice 2025-0917 is due in 14 days').waitFor()
  await expectAccessible(page)
  await page.getByRole('navigation', { name: 'Inbox views' }).getByRole('button', { name: 'Summary' }).click()
  const summary = page.getByRole('region', { name: 'Summary' })
  await summary.getByText('Arrived per day').waitFor()
  await summary.locator('svg').first().waitFor()
  const shown = await page.evaluate(async () => {
    const answer = await fetch('/api/summarize-inbox', { headers: { authorization: 'Bearer dev.local.tess' } })
    return (await answer.json()).emails as number
  })
  await summary.locator('dd').first().getByText(String(shown), { exact: true }).waitFor()
  await expectAccessible(page)
  await summary.getByRole('button', { name: /customers/ }).click()
  await inbox(page).getByText('4 emails labelled customers').waitFor()
  expect(complaints).toEqual([])
})

test('what was filed is taken back, and an email is marked as read and as unread', async () => {
  const { page, complaints } = await tandem.open('inbox', { as: 'xia' })
  const subject = 'Order 4471 arrived incomplete'
  const line = rows(page).getByText(subject, { exact: true })
  const archive = page.getByRole('button', { name: `Archive “${subject}”`, exact: true })
  const view = (name: string) =>
    page.getByRole('navigation', { name: 'Inbox views' }).getByRole('button', { name }).click()
  await archive.click()
  await line.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await line.waitFor()
  await archive.click()
  await line.waitFor({ state: 'detached' })
  await view('Archive')
  await expectAccessible(page)
  await page.getByRole('button', { name: `Put “${subject}” back` }).click()
  await line.waitFor({ state: 'detached' })
  await view('Inbox')

  await line.click()
  await page.getByRole('button', { name: 'Mark as read' }).click()
  await page.getByRole('button', { name: 'Mark as unread' }).waitFor()
  await expectAccessible(page)
  await page.keyboard.press('m')
  await page.getByRole('button', { name: 'Mark as read' }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await page.getByRole('button', { name: 'Mark as unread' }).waitFor()
  await inbox(page).getByRole('button', { name: 'Archive', exact: true }).click()
  await line.waitFor({ state: 'detached' })
  await view('Archive')
  await line.click()
  await page.getByRole('button', { name: 'Put back' }).click()
  await inbox(page).getByRole('button', { name: 'Archive', exact: true }).waitFor()
  expect(complaints).toEqual([])
})

test('the agent leads to every place that it can name', async () => {
  const { page, complaints } = await tandem.open('', { as: 'uma' })
  await page.getByText('Work on the inbox together').waitFor()
  for (const [to, path] of [
    [{ view: 'archive' }, '/app/inbox?archived=true'],
    [{ view: 'search', query: 'order' }, '/app/inbox?q=order'],
    [{ view: 'summary' }, '/app/summary'],
    [{ view: 'memory' }, '/app/memory'],
    [{ view: 'email', emailId: 'e-3' }, '/app/inbox/e-3'],
    [{ view: 'inbox', label: 'customers' }, '/app/inbox?label=customers'],
  ] as const) {
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await say(page, `/navigate ${JSON.stringify(to)}`)
    const where = () => {
      const { pathname, searchParams } = new URL(page.url())
      // What is beside it stays beside it.
      searchParams.delete('thread')
      searchParams.delete('view')
      return searchParams.size > 0 ? `${pathname}?${searchParams}` : pathname
    }
    await expect.poll(where, { timeout: 10_000 }).toBe(path)
  }
  await inbox(page).getByText('emails labelled customers').waitFor()
  expect(complaints).toEqual([])
})

test('what the agent remembers is seen, corrected and deleted', async () => {
  const { page, complaints } = await tandem.open('memory', { as: 'vera' })
  await page.getByText('Nothing is remembered yet').waitFor()
  await expectAccessible(page)
  await say(page, '/remember {"name":"tone","text":"Short replies."}')
  const memory = page.getByRole('region', { name: 'Memory' })
  await memory.getByText('Short replies.').waitFor()
  await page.getByRole('button', { name: 'Correct tone' }).click()
  await page.getByLabel('Text of tone').fill('Short and friendly replies.')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  await say(page, '/recall {"query":"friendly"}')
  await page.getByText('Done', { exact: true }).nth(1).waitFor()
  const recalled = await page.evaluate(async () => {
    const headers = { authorization: 'Bearer dev.local.vera' }
    return (await fetch('/api/recall?query=friendly', { headers })).json()
  })
  expect(recalled.memories).toMatchObject([{ name: 'tone', text: 'Short and friendly replies.', by: 'vera' }])

  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByLabel('What to remember').fill('We close on Fridays at four.')
  await page.getByLabel('For the whole team').check()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Remember', exact: true }).click()
  await page.getByRole('region', { name: 'The team’s' }).getByText('We close on Fridays at four.').waitFor()
  await page.getByRole('button', { name: 'Delete tone' }).click()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await expect.poll(() => memory.getByText('Short and friendly').count()).toBe(0)
  expect(complaints).toEqual([])
})

test('an email to somebody outside is sent with the action that the agent uses', async () => {
  const { page, complaints } = await tandem.open('inbox', { as: 'wim' })
  await page.getByRole('button', { name: 'New email' }).click()
  await page.getByLabel('To', { exact: true }).fill('nobody')
  await page.getByLabel('Subject').fill('Hello')
  await page.getByLabel('Text').fill('How are you?')
  const send = page.getByRole('dialog').getByRole('button', { name: 'Send' })
  await send.click()
  await page.getByText('It was not sent. must be an address').waitFor()
  await expectAccessible(page)
  await page.getByLabel('To', { exact: true }).fill('ann@example.com')
  // Where nobody knows, nobody is told that it was not sent.
  const keys: (string | undefined)[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/send-email')) keys.push(request.headers()['idempotency-key'])
  })
  const problem = { code: 'outcome_unknown', detail: 'x', title: 'x', status: 409, type: 'about:blank' }
  const unknown = { status: 409, body: JSON.stringify(problem) }
  await page.route('**/api/send-email', (route) => route.fulfill(unknown), { times: 1 })
  await send.click()
  await page.getByText('It may have been sent, or not. Ask whether it has come').waitFor()
  await page.route('**/api/send-email', (route) => route.abort(), { times: 1 })
  await send.click()
  await page.getByText('It may have been sent: no answer came. Press Send again, without a change').waitFor()
  expect(await page.getByText('was not sent').count()).toBe(0)
  await expectAccessible(page)
  await send.click()
  await page.getByText('Sent to ann@example.com').waitFor()
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
  expect(complaints.filter((text) => !/\/api\/send-email|ERR_FAILED/.test(text))).toEqual([])
})

test('all views fit a narrow screen', async () => {
  const { page, complaints } = await tandem.open('summary', { as: 'dan', size: NARROW })
  for (const path of ['summary', 'memory', 'inbox', 'inbox?archived=true', 'inbox/e-3']) {
    await page.goto(tandem.url + path)
    await inbox(page).locator('h2, h3, h4').first().waitFor({ state: 'attached' })
    await page.waitForTimeout(300)
    await expectAccessible(page)
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), path).toBe(false)
  }
  expect(complaints).toEqual([])
})
