// What the browser's own trace says of a time: tasks that held the page up, and what was in them.
import type { Browser, CDPSession, Page } from 'playwright-core'
import { watchShifts } from './shifts'

export type Traced = {
  /** Milliseconds of processor time; what else the machine did meanwhile does not count. */
  longestTask: number
  tasksOver50: number
  /** Cumulative layout shift, and what moved first. */
  shift: number
  shifted: string[]
  heapMb: number
  /** Functions by their own time, the longest first. */
  hot: string[]
}

type Event = {
  name: string
  ph: string
  ts: number
  dur?: number
  tdur?: number
  tid: number
  args?: { name?: string }
}

/** Calls `act` while the browser writes a trace. */
export async function traced(browser: Browser, page: Page, act: () => Promise<void>): Promise<Traced> {
  const session = await page.context().newCDPSession(page)
  await session.send('Profiler.enable')
  await session.send('Profiler.setSamplingInterval', { interval: 500 })
  const shifts = await watchShifts(page)
  await session.send('Profiler.start')
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'], screenshots: false })
  let trace: Buffer
  try {
    await act()
  } finally {
    trace = await browser.stopTracing()
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: Event[] }
  const { profile } = await session.send('Profiler.stop')
  const { shift, shifted } = await shifts()
  const tasks = mainThreadTasks(traceEvents)
  const traced = {
    longestTask: round(Math.max(0, ...tasks)),
    tasksOver50: tasks.filter((ms) => ms > 50).length,
    shift: Math.round(shift * 10_000) / 10_000,
    shifted: shifted.slice(0, 8),
    heapMb: await heap(session),
    hot: hottest(profile),
  }
  await session.detach()
  return traced
}

const round = (ms: number) => Math.round(ms * 10) / 10

/** Milliseconds of processor time of every task of the page's main thread. */
function mainThreadTasks(events: Event[]): number[] {
  const mains = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
  const threads = new Set(mains.map(({ tid }) => tid))
  return events
    .filter(({ name, ph, tid }) => ph === 'X' && threads.has(tid) && /RunTask$/.test(name))
    .map(({ tdur, dur }) => (tdur ?? dur ?? 0) / 1000)
}

async function heap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  await session.send('Performance.enable')
  const { metrics } = await session.send('Performance.getMetrics')
  const used = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0
  return Math.round(used / 1024 / 102.4) / 10
}

type Node = { id: number; callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number } }
type Profile = { nodes: Node[]; samples?: number[]; timeDeltas?: number[] }

function hottest({ nodes, samples = [], timeDeltas = [] }: Profile): string[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [at, id] of samples.entries()) {
    const name = names.get(id) ?? ''
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] ?? 0) / 1000)
  }
  const own = [...times].filter(([name]) => !/^\((idle|program)\)/.test(name))
  const longest = own.sort(([, a], [, b]) => b - a).slice(0, 8)
  return longest.map(([name, ms]) => `${Math.round(ms)} ms ${name}`)
}

function nameOf({ functionName, url, lineNumber, columnNumber }: Node['callFrame']): string {
  const file = url.split('/').at(-1)
  return file ? `${functionName || 'anonymous'} ${file}:${lineNumber + 1}:${columnNumber + 1}` : functionName
}
