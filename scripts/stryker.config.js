/**
 * Mutation tests: which changes of the code would no test notice? One room a run, minutes each:
 *
 *   npm run test:mutation -- edits
 */
export const rooms = {
  edits: { mutate: ['src/edits/**/*.ts'], tests: ['test/edits/**/*.test.ts'] },
  transaction: { mutate: ['src/transaction/**/*.ts'], tests: ['test/transaction/**/*.test.ts'] },
  gateway: {
    mutate: ['src/gateway/input/**/*.ts', 'src/gateway/judge/**/*.ts'],
    tests: [
      'test/gateway/{input,judge,models}/**/*.test.ts',
      'test/gateway/*.test.ts',
      'test/providers/request-parts.test.ts',
    ],
  },
}

export const room = rooms[process.env.MUTATION_ROOM]
if (room === undefined) throw new Error(`Name a room: ${Object.keys(rooms).join(', ')}`)

export default {
  mutate: room.mutate,
  testRunner: 'vitest',
  // Threads cannot set the umask. By `related` Vitest 4.1.12 finds no test at all.
  vitest: { configFile: 'scripts/vitest.mutation.config.js', related: false, pool: 'forks' },
  // Stryker rewrites a tsconfig by the API of TypeScript 5, which TypeScript 7 no longer has. Vitest
  // needs none.
  tsconfigFile: 'none',
  tempDirName: '.cache/stryker',
  ignorePatterns: ['.cache', 'docs'],
  // Mere text: what an error says.
  mutator: { excludedMutations: ['StringLiteral'] },
  coverageAnalysis: 'perTest',
  // What runs while a test file is loaded would cost the whole suite a mutant. What tests run too is still judged.
  ignoreStatic: true,
  timeoutMS: 20_000,
  thresholds: { high: 95, low: 90, break: 90 },
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false },
}
