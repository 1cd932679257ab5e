import { defineConfig } from 'vitest/config'

// One browser at a time: journeys have time limits, and a machine may be small.
export default defineConfig({
  test: {
    dir: import.meta.dirname,
    include: ['**/*.e2e.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
