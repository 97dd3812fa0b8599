import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/load/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
  },
})
