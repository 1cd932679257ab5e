import { defineConfig } from 'vitest/config'

// One browser at a time: journeys have time limits, and a machine may be small.
export default defineConfig({
  test: {
    dir: import.meta.dirname,
    include: ['**/*.e2e.ts'],
    fileParallelism: false,
    // A journey that fails and then passes is told as such in the report. Browsers on busy machines do that.
    retry: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
