/** Configures vitest for the mutation tests of one part of src: see stryker.config.js. */
import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { part } from './stryker.config.js'

/** Only the tests of the part: what they miss counts as missed. */
export default defineConfig({
  test: {
    include: part.tests,
    // Loaded before any test. Otherwise only the test that loads a module would judge it.
    setupFiles: globSync(part.mutate).map((path) => resolve(path)),
    // These take seconds each: they measure time, or try every file call of a run.
    exclude: ['**/busy-*.test.ts', '**/{power-loss,faults}.test.ts'],
    root: '.',
    testTimeout: 30_000,
    provide: { hangLimitMs: 24_000 },
  },
})
