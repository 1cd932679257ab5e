// What the journeys of a file run in: the program and a browser, there from the first journey to the last.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { launch, openWindow, type Window, type WindowOptions } from './browser'
import { type Server, serve } from './server'

/** Nothing of it is there before the first test. */
export type Tandem = {
  /** Where the application is, with a slash at the end. */
  readonly url: string
  readonly server: Server
  readonly browser: Browser
  /** A window at a path of the application, or at a whole address. */
  open: (path?: string, options?: WindowOptions) => Promise<Window>
}

/** Constants of the program, such as a shorter window. */
type Environment = Record<string, string>

export function inBrowser(environment: Environment | (() => Promise<Environment>) = {}): Tandem {
  let server: Server
  let browser: Browser
  beforeAll(async () => {
    server = await serve(typeof environment === 'function' ? await environment() : environment)
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })
  return {
    get url() {
      return server.url
    },
    get server() {
      return server
    },
    get browser() {
      return browser
    },
    open: (path = '', options = {}) => openWindow(browser, new URL(path, server.url).href, options),
  }
}
