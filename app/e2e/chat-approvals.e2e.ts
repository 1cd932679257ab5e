import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { call, chunksOf } from './lib/api'
import { expectAccessible, screenshot } from './lib/browser'
import { isOver, said, say } from './lib/chat'
import { inBrowser } from './lib/inBrowser'

const tandem = inBrowser()

const MAIL = '/send-email {"to":"ann@example.com","subject":"Hi","body":"Hello!"}'
const card = (page: Page) => said(page).getByRole('region', { name: /^Send an email/ })

/** Lets everybody of the tenant into the conversation that is open. */
async function share(page: Page, person: string) {
  const thread = new URL(page.url()).pathname.split('/').at(-1)
  const status = await page.evaluate(
    async ([thread, person]) => {
      const headers = { authorization: `Bearer dev.local.${person}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ shared: true })
      return (await fetch(`/threads/${thread}`, { method: 'PATCH', headers, body })).status
    },
    [thread, person],
  )
  expect(status).toBe(200)
}

test('a call that needs a word waits through a reload, is changed, and runs as it was changed', async () => {
  const { page, complaints } = await tandem.open('', { as: 'ann' })
  await say(page, MAIL)
  await card(page).getByRole('button', { name: 'Approve' }).waitFor()
  await page.reload()
  await card(page).getByText('ann@example.com', { exact: true }).waitFor()
  await expectAccessible(page)
  await screenshot(page, 'approval')
  await card(page).getByRole('button', { name: 'Edit first' }).click()
  await expectAccessible(page)
  await card(page).getByLabel('To').fill('nobody')
  await card(page).getByRole('button', { name: 'Approve with changes' }).click()
  await card(page).getByLabel('To').and(page.locator('[aria-invalid=true]')).waitFor()
  await card(page).getByLabel('To').fill('bo@example.com')
  await card(page).getByLabel('Subject').fill('Good morning')
  await card(page).getByRole('button', { name: 'Approve with changes' }).click()
  await card(page).getByText('Approved by you').waitFor()
  await isOver(page)
  for (let times = 0; times < 2; times += 1) {
    await said(page)
      .getByRole('region', { name: 'Send an email to bo@example.com' })
      .getByRole('definition')
      .getByText('Good morning')
      .waitFor()
    await card(page).getByText('Approved by you').waitFor()
    expect(await said(page).getByText('done', { exact: true }).count()).toBe(1)
    await page.reload()
  }
  // The server's word that the address is none.
  expect(complaints.filter((complaint) => !complaint.includes('status of 400'))).toEqual([])
})

test('a call is refused with a reason, which the agent and everybody reads', async () => {
  const { page, complaints } = await tandem.open('', { as: 'bo' })
  await say(page, MAIL)
  await card(page).getByRole('button', { name: 'Refuse' }).click()
  await card(page)
    .getByLabel(/Why not/)
    .fill('Not today')
  await card(page).getByRole('button', { name: 'Refuse it' }).click()
  await card(page).getByText('Refused by you: Not today').waitFor()
  await page.reload()
  await card(page).getByText('Refused by you: Not today').waitFor()
  expect(complaints).toEqual([])
})

test('of two people only who asked may agree, and both see what was said', async () => {
  const cleo = await tandem.open('', { as: 'cleo' })
  await say(cleo.page, MAIL)
  await card(cleo.page).getByRole('button', { name: 'Approve' }).waitFor()
  await share(cleo.page, 'cleo')
  const dan = await tandem.open(cleo.page.url(), { as: 'dan' })
  await card(dan.page).getByText('Only cleo, who asked the agent, may approve it').waitFor()
  expect(await card(dan.page).getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
  await expectAccessible(dan.page)
  await card(cleo.page).getByRole('button', { name: 'Approve' }).click()
  await card(cleo.page).getByText('Approved by you').waitFor()
  await card(dan.page).getByText('Approved by cleo').waitFor()
  for (const { page } of [cleo, dan]) {
    await said(page).getByText('done', { exact: true }).waitFor()
    await isOver(page)
    expect(await card(page).count()).toBe(1)
  }

  await say(dan.page, `${MAIL}\n${MAIL.replace('ann@', 'eve@')}`)
  const toEve = (page: Page) => said(page).getByRole('region', { name: 'Send an email to eve@example.com' })
  // The one that is answered waits for the other one.
  await toEve(cleo.page).getByRole('button', { name: 'Refuse' }).click()
  await toEve(cleo.page).getByRole('button', { name: 'Refuse it' }).click()
  await toEve(cleo.page).getByText('Refused by you.').waitFor()
  await toEve(dan.page).getByText('Refused by cleo.').waitFor()
  for (const { page } of [cleo, dan]) {
    await toEve(page).getByText('Answered', { exact: true }).waitFor()
    expect(await toEve(page).getByText('Needs your word').count()).toBe(0)
  }
  // What was answered never asks again, not for a moment.
  for (const { page } of [cleo, dan]) {
    await toEve(page).evaluate((region) => {
      const look = () => {
        if (region.querySelector('button')) document.body.dataset.askedAgain = 'yes'
      }
      new MutationObserver(look).observe(region, { subtree: true, childList: true })
    })
  }
  await card(dan.page)
    .filter({ has: dan.page.getByRole('button', { name: 'Approve' }) })
    .getByRole('button', { name: 'Approve' })
    .click()
  for (const { page } of [cleo, dan]) await toEve(page).getByText('Refused by', { exact: false }).waitFor()
  await toEve(dan.page).getByText('Refused', { exact: true }).waitFor()
  expect(await said(dan.page).innerText()).toContain('Approved by you')
  for (const { page } of [cleo, dan]) {
    expect(await page.evaluate(() => document.body.dataset.askedAgain)).toBeUndefined()
  }
  expect([...cleo.complaints, ...dan.complaints]).toEqual([])
})

test('who answered is told to everybody, wherever it was said', async () => {
  const ina = await tandem.open('', { as: 'ina' })
  await say(ina.page, MAIL)
  await card(ina.page).getByRole('button', { name: 'Approve' }).waitFor()
  await share(ina.page, 'ina')
  const jon = await tandem.open(ina.page.url(), { as: 'jon' })
  await card(jon.page).getByText('Only ina').waitFor()
  const thread = new URL(ina.page.url()).pathname.split('/').at(-1)
  const { awaitingRunId: run } = await call(tandem.url, `/threads/${thread}`, { as: 'ina' })
  const log = await chunksOf(tandem.url, run, 'ina')
  const [asked] = log.flatMap(({ chunk }) => (chunk.type === 'tool-approval-request' ? [chunk.toolCallId] : []))
  await call(tandem.url, `/runs/${run}/approvals/${asked}`, { as: 'ina', body: { approved: true } })
  for (const [{ page }, who] of [
    [ina, 'you'],
    [jon, 'ina'],
  ] as const) {
    await card(page).getByText(`Approved by ${who}`).waitFor()
    await isOver(page)
    await page.reload()
    await card(page).getByText(`Approved by ${who}`).waitFor()
  }
  expect([...ina.complaints, ...jon.complaints]).toEqual([])
})

test('a call that nobody answered is not carried out once the conversation goes on', async () => {
  const { page, complaints } = await tandem.open('', { as: 'fay' })
  await say(page, MAIL)
  await card(page).getByRole('button', { name: 'Approve' }).waitFor()
  await say(page, 'never mind')
  await said(page).getByText('The conversation went on without an answer').waitFor()
  expect(await card(page).getByRole('button', { name: 'Approve' }).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('whoever answers later is told that somebody else was faster', async () => {
  const first = await tandem.open('', { as: 'gus' })
  await say(first.page, MAIL)
  await card(first.page).getByRole('button', { name: 'Approve' }).waitFor()
  // A window that hears of nothing.
  const second = await tandem.open('about:blank', { as: 'gus' })
  await second.page.route('**/events?*', (route) => route.abort())
  await second.page.goto(first.page.url())
  await card(second.page).getByRole('button', { name: 'Refuse' }).click()
  await card(first.page).getByRole('button', { name: 'Approve' }).click()
  await card(first.page).getByText('Approved by you').waitFor()
  await card(second.page).getByRole('button', { name: 'Refuse it' }).click()
  await card(second.page).getByText('Somebody else was faster').waitFor()
  expect(first.complaints).toEqual([])
})
