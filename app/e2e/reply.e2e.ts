import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { call } from './lib/api'
import { expectAccessible, screenshot } from './lib/browser'
import { isOver, said, say } from './lib/chat'
import { inBrowser } from './lib/inBrowser'

const tandem = inBrowser()

const box = (page: Page) => page.getByRole('textbox', { name: /^Reply to / })
const text = (page: Page) => expect.poll(() => box(page).inputValue(), { timeout: 10_000 })
const saved = (page: Page) => page.getByText('Draft saved').waitFor()
const both = (email: string) => Promise.all(['ann', 'bo'].map((as) => tandem.open(`inbox/${email}`, { as })))
/** Who is not heard keeps what is typed: a network that is gone, for documents alone. */
const deaf = (page: Page) => page.route(/\/docs\/drafts/, (route) => route.abort())

test('two people write one reply: each sees the other write, and both sets of words come together', async () => {
  const [ann, bo] = await both('e-1')
  if (!ann || !bo) throw new Error('two windows')
  await ann.page.getByText('bo also here').waitFor()
  await bo.page.getByText('ann also here').waitFor()
  const isSeen = async () => {
    await box(ann.page).pressSequentially('H')
    return bo.page.getByText('ann is writing…').isVisible()
  }
  await expect.poll(isSeen, { timeout: 15_000, interval: 500 }).toBe(true)
  await box(ann.page).fill('Hello, the 15th works.')
  await screenshot(bo.page, 'reply')
  await text(bo.page).toBe('Hello, the 15th works.')
  await expectAccessible(bo.page)

  // Both go on from the same words before either is heard.
  await deaf(ann.page)
  await box(ann.page).fill('Hello Maya, the 15th works.')
  await box(bo.page).fill('Hello, the 15th works. See you then!')
  await text(ann.page).toBe('Hello Maya, the 15th works. See you then!')
  await ann.page.unrouteAll()
  await text(bo.page).toBe('Hello Maya, the 15th works. See you then!')
  await saved(ann.page)

  // The caret stays at its words when the other writes before them.
  await box(bo.page).focus()
  await bo.page.keyboard.press('Control+End')
  await box(ann.page).fill('Oh hello Maya, the 15th works. See you then!')
  await text(bo.page).toBe('Oh hello Maya, the 15th works. See you then!')
  await bo.page.keyboard.type(' Bo')
  await text(ann.page).toBe('Oh hello Maya, the 15th works. See you then! Bo')
  await saved(bo.page)

  await ann.page.getByRole('button', { name: 'Reply', exact: true }).click()
  for (const { page } of [ann, bo]) {
    await page.getByRole('region', { name: 'Reply of ann' }).getByText('Oh hello Maya').waitFor()
    await text(page).toBe('')
  }
  const left = await ann.page.evaluate(async () => {
    const headers = { authorization: 'Bearer dev.local.ann' }
    return (await (await fetch('/state/app:inbox?prefix=drafts/', { headers })).json()).items
  })
  expect(left).toEqual([])
  expect([...ann.complaints, ...bo.complaints].filter((one) => !/409|ERR_FAILED/.test(one))).toEqual([])
})

test('words that both have changed are shown in two versions, and the chosen one holds for both', async () => {
  const [ann, bo] = await both('e-2')
  if (!ann || !bo) throw new Error('two windows')
  await box(ann.page).fill('We pay on Friday.')
  await text(bo.page).toBe('We pay on Friday.')
  await saved(ann.page)
  await deaf(ann.page)
  await box(ann.page).fill('We pay on Monday.')
  await box(bo.page).fill('We pay on Sunday.')
  const versions = ann.page.getByRole('region', { name: 'Two versions of the reply' })
  await versions.getByText('We pay on Sunday.').waitFor()
  await text(ann.page).toBe('We pay on Monday.')
  await expectAccessible(ann.page)
  await ann.page.unrouteAll()
  await versions.getByRole('button', { name: 'Keep mine' }).click()
  await text(bo.page).toBe('We pay on Monday.')
  await bo.page.getByRole('button', { name: 'Discard' }).click()
  for (const { page } of [ann, bo]) await text(page).toBe('')
  expect([...ann.complaints, ...bo.complaints].filter((one) => !/409|ERR_FAILED/.test(one))).toEqual([])
})

test('two people who type at the same place lose no key, and none becomes a shortcut', async () => {
  const [ann, bo] = await both('e-7')
  if (!ann || !bo) throw new Error('two windows')
  for (const { page } of [ann, bo]) await box(page).focus()
  const typed = { ann: '', bo: '' }
  const press = async (who: 'ann' | 'bo', key: string) => {
    typed[who] += key
    await (who === 'ann' ? ann : bo).page.keyboard.press(key)
  }
  for (const key of 'enj/') {
    await press('ann', key)
    await press('bo', key === 'e' ? 'j' : 'e')
  }
  // Bo types on while Ann's words are written, and after they are there.
  const versions = bo.page.getByRole('region', { name: 'Two versions of the reply' })
  const isThere = async () => {
    await press('bo', 'u')
    return versions.isVisible()
  }
  await expect.poll(isThere, { timeout: 10_000, interval: 100 }).toBe(true)
  for (const key of 'enj/gs') await press('bo', key)
  await text(bo.page).toBe(typed.bo)
  await versions.getByText(typed.ann, { exact: true }).waitFor()
  await expectAccessible(bo.page)

  await versions.getByRole('button', { name: 'Keep both' }).click()
  for (const { page } of [ann, bo]) await text(page).toBe(`${typed.bo}\n\n${typed.ann}`)
  await bo.page.keyboard.press('Control+End')
  await bo.page.keyboard.press('e')
  await text(ann.page).toBe(`${typed.bo}\n\n${typed.ann}e`)
  for (const { page } of [ann, bo]) {
    expect(new URL(page.url()).pathname).toBe('/app/inbox/e-7')
    await page.getByRole('article').waitFor()
    expect(await page.getByRole('button', { name: 'Put back' }).count()).toBe(0)
  }
  await bo.page.getByRole('button', { name: 'Discard' }).click()
  expect([...ann.complaints, ...bo.complaints].filter((one) => !/409/.test(one))).toEqual([])
})

test('what is typed before the stored draft has been read is kept beside it, and writes over nothing', async () => {
  const stored = () => call(tandem.url, '/state/app:inbox?prefix=drafts/e-8', { as: 'ann' })
  await call(tandem.url, '/state/app:inbox/docs/drafts/e-8', {
    as: 'ann',
    method: 'PUT',
    body: { value: { text: 'Stored words' } },
  })
  const { page, complaints } = await tandem.open('about:blank', { as: 'bo' })
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(/prefix=drafts/, async (route) => {
    await held
    await route.continue().catch(() => {})
  })
  await page.goto(new URL('inbox/e-8', tandem.url).href)
  await box(page).pressSequentially('Early words')
  await page.getByText('Reading the draft…').waitFor()
  expect(await page.getByRole('button', { name: 'Reply', exact: true }).isDisabled()).toBe(true)
  // Left and come back to, which would be the time to write it.
  await page.getByRole('button', { name: 'Back to the list' }).click()
  await page.locator('button[data-email=e-8]').click()
  await text(page).toBe('Early words')
  expect((await stored()).items[0].value.text).toBe('Stored words')
  release()
  const versions = page.getByRole('region', { name: 'Two versions of the reply' })
  await versions.getByText('Stored words').waitFor()
  await text(page).toBe('Early words')
  await versions.getByRole('button', { name: 'Keep both' }).click()
  await saved(page)
  expect((await stored()).items[0].value.text).toBe('Early words\n\nStored words')
  expect(complaints).toEqual([])
})

test('the agent drafts along: it builds on what it has read, and never writes over other words', async () => {
  const [ann, bo] = await both('e-3')
  if (!ann || !bo) throw new Error('two windows')
  const revision = () =>
    bo.page.evaluate(async () => {
      const headers = { authorization: 'Bearer dev.local.bo' }
      const [draft] = (await (await fetch('/state/app:inbox?prefix=drafts/e-3', { headers })).json()).items
      return draft?.rev ?? 0
    })
  const ask = (text: string, ifRev: number) =>
    say(ann.page, `/draft-reply ${JSON.stringify({ emailId: 'e-3', text, ifRev })}`)
  await ask('Hello, we look into it.', 0)
  for (const { page } of [ann, bo]) await text(page).toBe('Hello, we look into it.')
  await isOver(ann.page)

  // Bo goes on while the agent still has the first words before it: its own are refused, with Bo's beside them.
  const read = await revision()
  await box(bo.page).fill('Hello, we look into it on Monday.')
  await text(ann.page).toBe('Hello, we look into it on Monday.')
  await saved(bo.page)
  await ask('Hello, we look into it today.', read)
  await said(ann.page).getByText('Nothing was written: there is a draft of bo').waitFor()
  await text(bo.page).toBe('Hello, we look into it on Monday.')
  await isOver(ann.page)

  // Words that nobody has heard yet come together with the agent's, as those of a person would.
  await deaf(ann.page)
  await box(ann.page).fill('Hello Ines, we look into it on Monday.')
  await ask('Hello, we look into it on Monday. You will hear from us.', await revision())
  await text(ann.page).toBe('Hello Ines, we look into it on Monday. You will hear from us.')
  await ann.page.unrouteAll()
  await text(bo.page).toBe('Hello Ines, we look into it on Monday. You will hear from us.')
  await isOver(ann.page)

  // The same words changed by both are shown in two versions.
  await deaf(ann.page)
  await box(ann.page).fill('Hello Ines, we look into it on Friday. You will hear from us.')
  await ask('Hello Ines, we look into it on Sunday. You will hear from us.', await revision())
  const versions = ann.page.getByRole('region', { name: 'Two versions of the reply' })
  await versions.getByRole('region', { name: 'The version of the agent, for ann' }).getByText('on Sunday').waitFor()
  expect(await box(ann.page).inputValue()).toContain('on Friday')
  await ann.page.unrouteAll()
  await versions.getByRole('button', { name: 'Keep mine' }).click()
  await text(bo.page).toBe('Hello Ines, we look into it on Friday. You will hear from us.')
  expect([...ann.complaints, ...bo.complaints].filter((one) => !/409|ERR_FAILED/.test(one))).toEqual([])
})

test('what was typed is there after a reload, and the list shows that there is a draft', async () => {
  const { page, complaints } = await tandem.open('inbox/e-4', { as: 'cleo' })
  await box(page).fill('Two things:')
  await page.getByRole('button', { name: 'Back to the list' }).click()
  await page.locator('button[data-email=e-4]').getByText('Draft', { exact: true }).waitFor()
  await page.goto(`${tandem.url}inbox/e-4`)
  await text(page).toBe('Two things:')
  expect(complaints).toEqual([])
})

test('what others and the agent change is marked with who did it', async () => {
  const eva = await tandem.open('inbox', { as: 'eva' })
  const fred = await tandem.open('inbox', { as: 'fred' })
  const row = (page: Page, id: string) =>
    page
      .getByRole('list', { name: 'Emails' })
      .getByRole('listitem')
      .filter({ has: page.locator(`[data-email=${id}]`) })
  for (const { page } of [eva, fred]) await row(page, 'e-5').waitFor()

  await say(fred.page, '/label-email {"emailId":"e-5","add":["second-look"]}')
  await row(eva.page, 'e-5').getByText('second-look').waitFor()
  await row(eva.page, 'e-5').getByText('The agent, for fred has just changed it').waitFor({ state: 'attached' })
  await row(fred.page, 'e-5').getByText('The agent has just changed it').waitFor({ state: 'attached' })
  expect(await eva.page.getByText('has just changed it').count()).toBe(1)
  await expectAccessible(eva.page)

  await fred.page.locator('[data-email=e-6]').click()
  await row(eva.page, 'e-6').getByText('Looking at it: fred').waitFor({ state: 'attached' })
  await eva.page
    .getByRole('list', { name: 'Also here' })
    .getByRole('button', { name: /^fred looks at/ })
    .click()
  await expect.poll(() => new URL(eva.page.url()).pathname).toBe('/app/inbox/e-6')
  await fred.page.getByText('eva also here').waitFor()
  await fred.page.getByRole('article').waitFor()
  await fred.page.getByRole('button', { name: 'Archive', exact: true }).last().click()
  await eva.page.getByText(/^fred archived “Icons/).waitFor()
  expect([...eva.complaints, ...fred.complaints]).toEqual([])
})

test('a reply that somebody began to send and left can be sent by others', async () => {
  const body = { value: { text: 'We are coming.', sending: true } }
  await call(tandem.url, '/state/app:inbox/docs/drafts/e-6', { as: 'ann', method: 'PUT', body })
  const { page, complaints } = await tandem.open('about:blank', { as: 'bo' })
  await page.clock.install()
  await page.goto(new URL('inbox/e-6', tandem.url).href)
  await page.getByText('ann is sending this reply').waitFor()
  const send = page.getByRole('button', { name: 'Reply', exact: true })
  expect(await send.isDisabled()).toBe(true)
  await page.clock.fastForward(21_000)
  await send.click()
  await page.getByRole('region', { name: 'Reply of bo' }).getByText('We are coming.').waitFor()
  await text(page).toBe('')
  // The action has deleted the draft already.
  expect(complaints.filter((one) => !/409/.test(one))).toEqual([])
})

test('a reply whose answer was lost may have been sent, and is sent once', async () => {
  const { page, complaints } = await tandem.open('inbox/e-1', { as: 'gil' })
  await box(page).fill('We are there.')
  await saved(page)
  const keys: (string | undefined)[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/email')) keys.push(request.headers()['idempotency-key'])
  })
  const send = page.getByRole('button', { name: 'Reply', exact: true })
  for (let times = 0; times < 2; times += 1) {
    await page.route('**/api/email', (route) => route.abort(), { times: 1 })
    await send.click()
    await page.getByText('The reply may have been sent: look above.').waitFor()
    await saved(page)
  }
  await expectAccessible(page)
  await send.click()
  await page.getByRole('region', { name: 'Reply of gil' }).getByText('We are there.').waitFor()
  await text(page).toBe('')
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
  expect(complaints.filter((one) => !/409|ERR_FAILED/.test(one))).toEqual([])
})
