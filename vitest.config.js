import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** One folder of test/ that is slow or needs something installed: `npm run test:NAME`. */
function slow(name, timeoutMs) {
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
    },
  }
}

/** As `slow`, with one file after the other: each needs the machine, a port or a terminal alone. */
function alone(name, timeoutMs) {
  const { test } = slow(name, timeoutMs)
  return { test: { ...test, fileParallelism: false } }
}

/** Files that are flushed wait for no disk. */
const inMemory = { globalSetup: 'test/support/temporary-folder.ts' }

export default defineConfig({
  test: {
    // Vitest leaves a core free otherwise, which is half of a small machine.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'unit',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          ...inMemory,
          // A third of their time the tests wait, for timers and programs.
          maxWorkers: Math.ceil(1.5 * availableParallelism()),
          // Of the tests that only wait and therefore run at once.
          maxConcurrency: 8,
          // Neither src nor a test keeps state in a module that another could see: loaded once a worker,
          // it costs half the processor time. A test that replaced a module (vi.mock) would replace it for
          // the files after it, too.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [
            'clients',
            'crash',
            'browser',
            'pack',
            'network',
            'sdk',
            'load',
            'windows',
            'fleet',
            'binary',
          ].map((folder) => `test/${folder}/**`),
        },
      },
      {
        test: {
          ...slow('clients', 300_000).test,
          // Of the real clients that say they may run at once, in each of two files.
          maxConcurrency: 2,
        },
      },
      { test: { ...alone('crash', 240_000).test, ...inMemory } },
      alone('browser', 60_000),
      alone('network', 20_000),
      alone('load', 120_000),
      alone('windows', 400_000),
      alone('fleet', 240_000),
      alone('binary', 120_000),
      slow('pack', 120_000),
      slow('sdk', 30_000),
    ],
  },
})
