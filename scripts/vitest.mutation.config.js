import { defineConfig } from 'vitest/config'
import { vitePage } from './build/page.js'
import { room } from './stryker.config.js'

/** Only the room's own tests: what they miss counts as missed. */
export default defineConfig({
  plugins: [vitePage],
  test: {
    include: room.tests,
    // They take seconds each: they say how long it may take, or sweep over every call of a run.
    exclude: ['**/busy-*.test.ts', '**/{power-loss,faults}.test.ts'],
    root: '.',
    testTimeout: 30_000,
  },
})
