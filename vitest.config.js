import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** One folder of test/ that is slow or needs something installed: `npm run test:NAME`. */
function slow(name, timeoutMs) {
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      ...limits(timeoutMs),
    },
  }
}

/** Time limits that only end what hangs. Those within a test are shorter, so that it reports what it waited for. */
function limits(timeoutMs) {
  const hangLimitMs = 0.8 * timeoutMs
  return {
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    expect: { poll: { timeout: hangLimitMs } },
    provide: { hangLimitMs },
  }
}

/** Like `slow`, but its files run one after the other: each needs a machine, port or terminal that is free. */
function alone(name, timeoutMs) {
  const { test } = slow(name, timeoutMs)
  return { test: { ...test, fileParallelism: false } }
}

/** The homes of the tests are in memory, so that flushing a file does not wait for a disk. */
const inMemory = { globalSetup: 'test/support/temporary-folder.ts' }

export default defineConfig({
  test: {
    // By default Vitest leaves one core idle, which is half of a small machine.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'unit',
          ...limits(120_000),
          globalSetup: [inMemory.globalSetup, 'test/support/own-machine.ts'],
          // More workers than cores: a test spends a third of its time waiting for timers and programs.
          maxWorkers: Math.ceil(1.5 * availableParallelism()),
          // Vitest requires a separate group for a project with another number of workers.
          sequence: { groupOrder: 1 },
          // How many tests of one file run at once if they are marked concurrent. Those only wait.
          maxConcurrency: 8,
          // The files of a worker share the modules of src, which halves the processor time. No module keeps
          // state that another test could notice. A module mock (vi.mock) would also affect the next files.
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
          // How many real clients one file runs at once. Two files run in parallel.
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
