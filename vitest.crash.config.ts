import { defineConfig } from 'vitest/config'

// The sweeps that take minutes: real kills, and every combination of lost writes.
export default defineConfig({
  test: {
    include: ['test/crash/**/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
})
