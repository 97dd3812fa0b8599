import { defineConfig } from 'vitest/config'

// The packed tarball, as a new user gets it.
export default defineConfig({
  test: {
    include: ['test/pack/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
