// What moves in a page without being touched.
import type { Page } from 'playwright-core'

/** The cumulative layout shift, and what moved each time. */
export type Shifts = { shift: number; shifted: string[] }

/** Watches from now on, in the next pages of the window too. The answer tells what the page of then has seen. */
export async function watchShifts(page: Page): Promise<() => Promise<Shifts>> {
  await page.addInitScript(watch)
  await page.evaluate(watch)
  return () => page.evaluate(() => (window as unknown as { shifts: Shifts }).shifts)
}

type Entry = PerformanceEntry & { value: number; hadRecentInput: boolean; sources: { node?: Node }[] }

/** Within the page. */
function watch() {
  const seen: Shifts = { shift: 0, shifted: [] }
  Object.assign(window, { shifts: seen })
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries() as Entry[]) {
      // What a person does may move things at once: that is what it was done for.
      if (hadRecentInput) continue
      seen.shift += value
      const what = sources.map(({ node }) => `${node?.nodeName} ${node?.textContent?.slice(0, 40)}`)
      seen.shifted.push(`${value.toFixed(4)} ${what.join(' | ')}`)
    }
  }).observe({ type: 'layout-shift' })
}
