import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'

const SCREENSHOTS = join(import.meta.dirname, '../../../docs/screenshots')
const WIDE = { width: 1440, height: 900 }
export const NARROW = { width: 390, height: 844 }
/** Menus and tooltips float above the page: they belong to what opened them, and to no part of it. */
const FLOATING = '<div data-radix-popper'
export const THEMES = ['light', 'dark'] as const

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

export type Window = { page: Page; context: BrowserContext; complaints: string[] }
export type WindowOptions = { as?: string; size?: typeof WIDE }

/** A window of its own until the test ends, as this dev person. `complaints` are uncaught errors and what the console calls an error. */
export async function openWindow(browser: Browser, url: string, options: WindowOptions): Promise<Window> {
  const context = await browser.newContext({ viewport: options.size ?? WIDE, locale: 'en-GB' })
  // Windows of earlier tests would go on working, and be somebody who is here.
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`)
  })
  const person = options.as
  if (person) {
    await page.addInitScript((name) => {
      // about:blank has no storage.
      if (location.protocol !== 'about:') sessionStorage.setItem('tandem.person', name)
    }, person)
  }
  await page.goto(url)
  return { page, context, complaints }
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What is to be seen breaks no rule of WCAG 2.2 AA, in either theme: of the second one only the colours are new. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await settled(page)
    const axe = new AxeBuilder({ page })
    const { violations } = await (colorScheme === 'light'
      ? axe.withTags(RULES)
      : axe.withRules('color-contrast')
    ).analyze()
    const told = violations.flatMap(({ id, nodes }) => {
      const htmls = nodes.map((node) => node.html).filter((html) => !(id === 'region' && html.includes(FLOATING)))
      return htmls.length > 0 ? `${colorScheme} ${id}: ${htmls.join(' | ')}` : []
    })
    expect(told).toEqual([])
  }
}

/** Colours fade over from one theme to the other. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await new Promise(requestAnimationFrame)
    const fading = document.getAnimations().filter((one) => one instanceof CSSTransition)
    await Promise.allSettled(fading.map((one) => one.finished))
  })
}

/** With SCREENSHOTS=1 writes docs/screenshots/<name>-light.png and <name>-dark.png: every run makes them a little different. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS !== '1') return
  await mkdir(SCREENSHOTS, { recursive: true })
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.waitForTimeout(300)
    await page.screenshot({ path: join(SCREENSHOTS, `${name}-${colorScheme}.png`) })
  }
}
