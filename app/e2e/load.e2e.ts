// How soon something is to be seen, and how an inbox of many emails behaves. `EMAILS=10000 scripts/test-app.sh load`
// measures what app/README.md says.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { inBrowser } from './lib/inBrowser'
import { type Shifts, watchShifts } from './lib/shifts'

/** More than fit into one page of documents. */
const EMAILS = Number(process.env.EMAILS ?? 1500)
const IMPORT_MS = 30_000 + EMAILS * 20

const tandem = inBrowser()

type Seen = Shifts & { firstPaint: number }

test('the first paint comes within a second, and nothing moves afterwards', async () => {
  const loads: Seen[] = []
  // Somebody else is here, whose face comes later.
  await tandem.open('inbox', { as: 'bo' })
  // Another process may be at work: the best of three is what the page can do.
  for (let load = 0; load < 3; load += 1) {
    const { page, context, complaints } = await tandem.open('about:blank')
    const shifts = await watchShifts(page)
    await page.goto(`${tandem.url}inbox`)
    await page.locator('[data-email=e-8]').waitFor()
    await page.getByLabel('Message to the agent').waitFor()
    await page.evaluate(() => document.fonts.ready)
    await page.getByRole('button', { name: 'bo is in the inbox' }).waitFor()
    await page.waitForTimeout(300)
    loads.push({ firstPaint: await firstPaint(page), ...(await shifts()) })
    expect(complaints).toEqual([])
    await context.close()
  }
  console.log('loads:', JSON.stringify(loads))
  expect(Math.min(...loads.map(({ firstPaint }) => firstPaint))).toBeLessThan(1000)
  for (const load of loads) expect(load).toMatchObject({ shift: 0, shifted: [] })
})

test(
  `${EMAILS} emails: the newest are shown before all are read, and the list stays smooth`,
  async () => {
    await importEmails()
    const { page, complaints } = await tandem.open('about:blank')
    const shifts = await watchShifts(page)
    const devtools = await page.context().newCDPSession(page)
    // The second page of documents waits until the list has been looked at.
    let pages = 0
    let goOn = () => {}
    const looked = new Promise<void>((resolve) => {
      goOn = resolve
    })
    await page.route('**/state/app%3Ainbox?prefix=emails%2F*cursor=*', async (route) => {
      pages += 1
      await looked
      await route.continue()
    })
    const began = Date.now()
    await page.goto(`${tandem.url}inbox`)
    await page.locator(`[data-email=e-${EMAILS + 8}]`).waitFor()
    const newest = Date.now() - began
    await page.getByText('or more emails').waitFor()
    goOn()
    const all = `${(EMAILS + 8).toLocaleString('en-GB')} emails`
    await page.getByText(all, { exact: true }).waitFor({ timeout: 60_000 })
    const complete = Date.now() - began
    expect(pages).toBeGreaterThan(0)

    const frames = await scroll(page)
    const rows = await page.locator('[data-email]').count()
    await page.getByLabel('Search emails').fill(`${EMAILS - 2}`)
    const searched = Date.now()
    await page.getByText(/^[1-9]\d* emails? for “/).waitFor()
    const search = Date.now() - searched
    await devtools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await devtools.send('Runtime.getHeapUsage')
    const heap = Math.round(usedSize / 2 ** 20)
    const { shift } = await shifts()
    console.log(`${EMAILS} emails:`, JSON.stringify({ newest, complete, ...frames, search, heap, rows, shift }))
    expect(rows).toBeLessThan(60)
    expect(heap).toBeLessThan(40 + EMAILS / 100)
    expect(frames.median).toBeLessThan(50)
    expect(complaints).toEqual([])
  },
  IMPORT_MS + 90_000,
)

async function importEmails(): Promise<void> {
  const origin = new URL(tandem.url).origin
  const started = await fetch(`${origin}/api/import-emails`, {
    method: 'POST',
    body: JSON.stringify({ count: EMAILS }),
  })
  const { runId } = (await started.json()) as { runId: string }
  const status = async () => ((await (await fetch(`${origin}/runs/${runId}`)).json()) as { status: string }).status
  await expect.poll(status, { timeout: IMPORT_MS, interval: 500 }).toBe('completed')
}

/** Scrolls from the top to the end in a few seconds; times between two frames in milliseconds. */
async function scroll(page: Page): Promise<{ median: number; worst: number }> {
  return page.evaluate(async () => {
    const box = document.querySelector('ul[aria-label=Emails]')?.parentElement as HTMLElement
    const frame = () => new Promise<number>(requestAnimationFrame)
    const times: number[] = []
    let last = await frame()
    for (let step = 1; step <= 120; step += 1) {
      box.scrollTop = ((box.scrollHeight - box.clientHeight) * step) / 120
      const now = await frame()
      times.push(now - last)
      last = now
    }
    box.scrollTop = 0
    times.sort((a, b) => a - b)
    return { median: Math.round(times[60] ?? 0), worst: Math.round(times.at(-1) ?? 0) }
  })
}

const firstPaint = (page: Page) =>
  page.evaluate(() => Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN))
