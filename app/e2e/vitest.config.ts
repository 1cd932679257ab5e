import { defineConfig } from 'vitest/config'

// One browser at a time: journeys have time limits, and a machine may be small.
export default defineConfig({
  test: {
    dir: import.meta.dirname,
    include: ['**/*.e2e.ts'],
    fileParallelism: false,
    // Browsers on busy machines fail at times. Who passes only then is counted, and more than one of them fails the run.
    retry: 1,
    reporters: ['default', `${import.meta.dirname}/lib/retried.ts`],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
