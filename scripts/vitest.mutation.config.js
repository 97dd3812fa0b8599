import { defineConfig } from 'vitest/config'
import { vitePage } from './build/page.js'
import { room } from './stryker.config.js'

/** Only the room's own tests: what they miss counts as missed. */
export default defineConfig({
  plugins: [vitePage],
  test: {
    include: [`${room.tests}/**/*.test.ts`],
    // They take seconds each, and say how long it may take, not what comes out.
    exclude: ['**/busy-*.test.ts'],
    root: '.',
    testTimeout: 30_000,
  },
})
