import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    testTimeout: 30_000,
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/clients/**',
      'test/crash/**',
      'test/browser/**',
      'test/pack/**',
      'test/network/**',
      'test/sdk/**',
      'test/load/**',
    ],
  },
})
