import { defineConfig } from 'vitest/config'

// Real daemons of Debian on loopback, one set after another.
export default defineConfig({
  test: {
    include: ['test/network/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
})
