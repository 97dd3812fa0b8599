import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { room } from './stryker.config.js'

/** Only the room's own tests: what they miss counts as missed. */
export default defineConfig({
  test: {
    include: room.tests,
    // Loaded before any test: what a test loads by itself would be judged by that test alone.
    setupFiles: globSync(room.mutate).map((path) => resolve(path)),
    // They take seconds each: they say how long it may take, or sweep over every call of a run.
    exclude: ['**/busy-*.test.ts', '**/{power-loss,faults}.test.ts'],
    root: '.',
    testTimeout: 30_000,
  },
})
