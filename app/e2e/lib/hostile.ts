// Text of somebody who means harm, and what it must not bring about.
import type { BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Nobody answers there, and nobody may ask. */
export const ELSEWHERE = 'https://calls-home.example'

const RAN = 'window.__ran = 1'
const BIDI =
  '\u202egnp.eciovni\u202c \u2066\u2067user\u2069 \u200b\u200d\ufeff\u00ad\u2060 a\u0301\u0301\u0301\u0301\u0301'

export const HTML = [
  `<script>${RAN};fetch('${ELSEWHERE}/script')</script>`,
  `<img src="${ELSEWHERE}/pixel.png" onerror="${RAN}">`,
  `<svg onload="${RAN}"><image href="${ELSEWHERE}/svg.png"/></svg>`,
  `<iframe src="${ELSEWHERE}/frame"></iframe><iframe srcdoc="<script>parent.__ran=1</script>"></iframe>`,
  `<a href="javascript:${RAN}" autofocus onfocus="${RAN}">open</a>`,
  `<form action="${ELSEWHERE}/form"><input autofocus onfocus="${RAN}"></form>`,
  `<style>* { display: none; background: url(${ELSEWHERE}/style) }</style>`,
  `<link rel="stylesheet" href="${ELSEWHERE}/sheet"><link rel="preload" as="image" href="${ELSEWHERE}/preload">`,
  `<base href="${ELSEWHERE}/"><meta http-equiv="refresh" content="0;url=${ELSEWHERE}/refresh">`,
  `<object data="${ELSEWHERE}/object"></object><video src="${ELSEWHERE}/video" autoplay></video>`,
  `</p></div></article></textarea></title></script><h1 style="position:fixed;inset:0">over it all</h1>`,
  `"><script>${RAN}</script>' onmouseover='${RAN}' {{constructor.constructor("${RAN}")()}} \${${RAN}}`,
].join('\n')

export const MARKDOWN = [
  `[one](javascript:${RAN.replace(/ /g, '')}) [two](JaVaScRiPt:alert(1)) [three](&#106;avascript:alert(1))`,
  `[four](data:text/html,<script>${RAN}</script>) [five](vbscript:alert(1)) [six](file:///etc/passwd)`,
  `![seven](${ELSEWHERE}/markdown.png) ![eight][ref] <javascript:alert(1)> [nine]( java\tscript:alert(1) )`,
  `[ten](//calls-home.example/relative) [eleven](/runs/x "onmouseover=${RAN}") [twelve][js]`,
  '',
  `[ref]: ${ELSEWHERE}/reference.png`,
  '[js]: javascript:alert(1)',
  '',
  `| a | b |\n|---|---|\n| ![](${ELSEWHERE}/cell.png) | ${'wide'.repeat(200)} |`,
  '',
  `\`\`\`html\n<script>${RAN}</script>${'x'.repeat(500)}\n\`\`\``,
].join('\n')

/** Letters that a browser is slow to break into lines. */
export const oneLine = (length: number) => `${'A'.repeat(length / 2)} ${'\u0628\u0633'.repeat(length / 8)}`
export const SHORT = `${BIDI} <img src=${ELSEWHERE}/s.png onerror=${RAN.replace(/ /g, '')}> ${'wide'.repeat(60)}`
export const EVERYTHING = `${BIDI}\n${HTML}\n\n${MARKDOWN}\n`

/** Watches a window from before its page is there. `harm` is what has been done so far. */
export async function watch(context: BrowserContext, app: string) {
  const harm: string[] = []
  const { origin } = new URL(app)
  context.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url())
    if (asked !== origin && protocol !== 'data:') harm.push(`request ${request.url().slice(0, 200)}`)
  })
  context.on('page', (page) => {
    page.on('dialog', (dialog) => {
      harm.push(`dialog ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('pageerror', (error) => harm.push(`error ${error.message}`))
    page.on('popup', (popup) => harm.push(`popup ${popup.url()}`))
    page.on('framenavigated', (frame) => {
      if (frame !== page.mainFrame()) harm.push(`frame ${frame.url()}`)
    })
  })
  await context.exposeFunction('tellHarm', (text: string) => void harm.push(text))
  await context.addInitScript(() => {
    const tell = (window as unknown as { tellHarm: (text: string) => void }).tellHarm
    // Nothing may even try: a policy that has to step in is a hole above it.
    document.addEventListener('securitypolicyviolation', (event) =>
      tell(`policy ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
    )
    Object.defineProperty(window, '__ran', { set: () => tell('a script ran') })
    const seen = Object.assign(window, { worst: 0 })
    let before = performance.now()
    setInterval(() => {
      const now = performance.now()
      seen.worst = Math.max(seen.worst, now - before)
      before = now
    }, 10)
  })
  return harm
}

/** What is to be seen is only text: it keeps to its place, and leads nowhere that it should not. */
export async function expectHarmless(page: Page): Promise<void> {
  const found = await page.evaluate(() => {
    const told: string[] = []
    const { scrollWidth } = document.documentElement
    if (scrollWidth > innerWidth) told.push(`the page is ${scrollWidth} wide`)
    const frame = document.querySelector('header')?.getBoundingClientRect()
    if (frame?.top !== 0 || frame.height > 120) told.push('the header has lost its place')
    for (const link of document.querySelectorAll('a[href]')) {
      const { protocol, origin } = new URL((link as HTMLAnchorElement).href)
      const isPlain = ['http:', 'https:', 'mailto:'].includes(protocol)
      if (!isPlain) told.push(`link ${link.outerHTML.slice(0, 200)}`)
      else if (origin !== location.origin && !link.getAttribute('rel')?.includes('noopener')) {
        told.push(`link without noopener ${link.outerHTML.slice(0, 200)}`)
      }
    }
    for (const one of document.querySelectorAll(
      'iframe, object, embed, base, form[action], meta[http-equiv=refresh]',
    )) {
      told.push(`element ${one.outerHTML.slice(0, 200)}`)
    }
    for (const image of document.querySelectorAll('img, image, video, audio, source')) {
      const from = image.getAttribute('src') ?? image.getAttribute('href') ?? ''
      if (new URL(from, location.href).origin !== location.origin) told.push(`picture ${from}`)
    }
    // What turns the direction of text must not reach beyond the text that it came with.
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
      if (!/[\u202a-\u202e\u2066-\u2069]/.test(texts.currentNode.nodeValue ?? '')) continue
      let at: Element | null = texts.currentNode.parentElement
      while (at && !/isolate|plaintext/.test(getComputedStyle(at).unicodeBidi)) {
        if (getComputedStyle(at).display === 'block' && at.tagName === 'ARTICLE') break
        at = at.parentElement
      }
      if (!at || at === document.body || at.tagName === 'MAIN') {
        told.push(`direction leaks from ${texts.currentNode.parentElement?.outerHTML.slice(0, 200)}`)
      }
    }
    return told
  })
  expect(found).toEqual([])
}

/** The longest time, in milliseconds, that the page has not reacted to anything since it was opened. */
export const worstReaction = (page: Page): Promise<number> =>
  page.evaluate(() => (window as unknown as { worst: number }).worst)
