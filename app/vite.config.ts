import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

const SERVER = process.env.TANDEM_URL ?? 'http://127.0.0.1:8787'
const API = ['/api', '/threads', '/runs', '/events', '/state', '/presence', '/openapi.json', '/healthz', '/mcp']
const proxy = Object.fromEntries(API.map((path) => [path, { target: SERVER, changeOrigin: true }]))

export default defineConfig({
  base: '/app/',
  plugins: [react(), tailwindcss()],
  server: { proxy },
  preview: { proxy },
  build: { manifest: true, target: 'es2022', chunkSizeWarningLimit: 600 },
  test: { include: ['src/**/*.test.ts'] },
})
