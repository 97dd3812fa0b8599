import { defineConfig } from 'vitest/config'

// Real clients, file after file: each takes half a gigabyte and, at its start, a core.
export default defineConfig({
  test: {
    include: ['test/clients/**/*.test.ts'],
    fileParallelism: false,
    // Of the tests that say they may run at once: the clients wait more than they work.
    maxConcurrency: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
