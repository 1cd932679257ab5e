import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible } from './lib/browser'
import { say } from './lib/chat'
import { inBrowser } from './lib/inBrowser'
import { AUDIENCE, CLIENT, type IssuerServer, startIssuer } from './lib/issuer'

/** A token is renewed a minute before it ends: these few seconds after it came. */
const RENEWED_AFTER_S = 4

let issuer: IssuerServer
const tandem = inBrowser(async () => {
  issuer = await startIssuer(60 + RENEWED_AFTER_S)
  return { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: AUDIENCE, UI_CLIENT_ID: CLIENT }
})
beforeAll(() => issuer.allow(tandem.url))
afterAll(() => issuer?.stop())

test('who signs in acts under their own name, stays signed in, and signs out', async () => {
  const { page, tokens } = await visit('inbox/e-3')
  await signIn(page, 'ada|7')
  await page.getByRole('article').getByRole('heading', { name: 'Order 4471 arrived incomplete' }).waitFor()
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/app/inbox/e-3')
  await expectAccessible(page)

  await page.getByRole('textbox', { name: /^Reply to / }).fill('The boxes are on their way.')
  await page.getByRole('button', { name: 'Reply', exact: true }).click()
  await page.getByRole('region', { name: 'Reply of ada~7C7' }).waitFor()

  await expect.poll(() => issuer.grants, { timeout: 20_000 }).toContain('refresh_token')
  await say(page, '@say 3 every 0')
  await page.getByText('w1 w2 w3').waitFor()
  expect(tokens.at(-1)).not.toBe(tokens[0])

  // A token that is refused all the same is renewed at once.
  const renewals = () => issuer.grants.filter((grant) => grant === 'refresh_token').length
  const renewed = renewals()
  const body = JSON.stringify({ code: 'unauthenticated', detail: 'x', title: 'x', status: 401, type: 'about:blank' })
  await page.route('**/api/agent-chat', (route) => route.fulfill({ status: 401, body }), { times: 1 })
  await say(page, '@say 2 every 0')
  await page.getByText('w1 w2 done', { exact: true }).waitFor()
  expect(renewals()).toBeGreaterThan(renewed)

  // Another load needs no page of the issuer.
  const grants = issuer.grants.filter((grant) => grant === 'authorization_code').length
  await page.reload()
  await page.getByText('w1 w2 w3').waitFor()
  expect(issuer.grants.filter((grant) => grant === 'authorization_code')).toHaveLength(grants)

  await page.getByRole('button', { name: 'You are ada|7 of Acme. Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: /yes/i }).click()
  await page.getByPlaceholder(/login/i).waitFor()
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
})

test('a sign-in that is refused is told, with a way to try again', async () => {
  const { page } = await visit('')
  await page.getByRole('link', { name: /cancel/i }).click()
  await page.getByText('You could not be signed in').waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Try again' }).click()
  await signIn(page, 'bo')
  await page.getByRole('button', { name: 'You are bo of Acme. Account' }).waitFor()
})

/** A window, and the tokens that it sends. */
async function visit(path: string) {
  const { page } = await tandem.open(path)
  const tokens: string[] = []
  page.on('request', (request) => {
    const { authorization } = request.headers()
    if (authorization && request.url().startsWith(new URL(tandem.url).origin)) tokens.push(authorization)
  })
  return { page, tokens }
}

async function signIn(page: Page, name: string) {
  await page.getByPlaceholder(/login/i).fill(name)
  await page.getByPlaceholder(/password/i).fill('any')
  await page.getByRole('button', { name: /sign-in/i }).click()
  await page.getByRole('button', { name: /continue/i }).click()
}
