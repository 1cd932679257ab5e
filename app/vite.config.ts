import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

const SERVER = process.env.TANDEM_URL ?? 'http://127.0.0.1:8787'
const API = ['/api', '/threads', '/runs', '/events', '/state', '/presence', '/openapi.json', '/healthz', '/mcp']
const proxy = Object.fromEntries(API.map((path) => [path, { target: SERVER, changeOrigin: true }]))

/** The font is asked for with the page, and never takes the place of another one that is to be seen already. */
const font: Plugin = {
  name: 'font',
  enforce: 'post',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'asset' || !file.fileName.endsWith('.css')) continue
      file.source = String(file.source).replaceAll(/font-display:\s*swap/g, 'font-display:optional')
    }
  },
  transformIndexHtml: {
    order: 'post',
    handler(_, { bundle = {} }) {
      const latin = Object.keys(bundle).find((name) => /-latin-wght-normal-.*\.woff2$/.test(name))
      const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true, href: `/app/${latin}` }
      return latin ? [{ tag: 'link', attrs, injectTo: 'head' }] : []
    },
  },
}

export default defineConfig({
  base: '/app/',
  plugins: [react(), tailwindcss(), font],
  server: { proxy },
  preview: { proxy },
  build: { manifest: true, target: 'es2022', chunkSizeWarningLimit: 600 },
  test: { include: ['src/**/*.test.ts'] },
})
