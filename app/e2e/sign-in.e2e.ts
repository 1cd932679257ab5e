import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { expectAccessible, launch } from './lib/browser'
import { AUDIENCE, CLIENT, type IssuerServer, startIssuer } from './lib/issuer'
import { type Server, serveParts } from './lib/server'

/** A token is renewed a minute before it ends: these few seconds after it came. */
const RENEWED_AFTER_S = 4

let issuer: IssuerServer
let server: Pick<Server, 'url' | 'stop'>
let browser: Browser
beforeAll(async () => {
  issuer = await startIssuer(60 + RENEWED_AFTER_S)
  server = await serveParts({ OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: AUDIENCE })
  issuer.allow(server.url)
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  await server?.stop()
  await issuer?.stop()
})

test('who signs in acts under their own name, stays signed in, and signs out', async () => {
  const { page, tokens } = await visit(`${server.url}inbox/e-3`)
  await signIn(page, 'ada|7')
  await page.getByRole('article').getByRole('heading', { name: 'Order 4471 arrived incomplete' }).waitFor()
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/app/inbox/e-3')
  await expectAccessible(page)

  await page.getByRole('textbox', { name: /^Reply to / }).fill('The boxes are on their way.')
  await page.getByRole('button', { name: 'Reply', exact: true }).click()
  await page.getByRole('region', { name: 'Reply of ada~7C7' }).waitFor()

  await expect.poll(() => issuer.grants, { timeout: 20_000 }).toContain('refresh_token')
  await page.getByLabel('Message to the agent').fill('@say 3 every 0')
  await page.keyboard.press('Enter')
  await page.getByText('w1 w2 w3').waitFor()
  expect(tokens.at(-1)).not.toBe(tokens[0])

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
  const { page } = await visit(server.url)
  await page.getByRole('link', { name: /cancel/i }).click()
  await page.getByText('You could not be signed in').waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Try again' }).click()
  await signIn(page, 'bo')
  await page.getByRole('button', { name: 'You are bo of Acme. Account' }).waitFor()
})

/** A window of a deployment whose `config.json` names the issuer; and the tokens that it sends. */
async function visit(url: string) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, bypassCSP: true })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const oidc = { authority: issuer.url, clientId: CLIENT }
  await page.route('**/app/config.json', (route) => route.fulfill({ json: { oidc } }))
  const tokens: string[] = []
  page.on('request', (request) => {
    const { authorization } = request.headers()
    if (authorization && request.url().startsWith(new URL(url).origin)) tokens.push(authorization)
  })
  await page.goto(url)
  return { page, tokens }
}

async function signIn(page: Page, name: string) {
  await page.getByPlaceholder(/login/i).fill(name)
  await page.getByPlaceholder(/password/i).fill('any')
  await page.getByRole('button', { name: /sign-in/i }).click()
  await page.getByRole('button', { name: /continue/i }).click()
}
