/**
 * Configures the mutation tests, which find changes of the code that no test notices. Run them for one part
 * of src after a change of it; each part takes minutes.
 *
 *   npm run test:mutation -- edits
 */
export const parts = {
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

export const part = parts[process.env.MUTATION_PART]
if (part === undefined) throw new Error(`Name a part: ${Object.keys(parts).join(', ')}`)

export default {
  mutate: part.mutate,
  testRunner: 'vitest',
  // Threads cannot set the umask. By `related` Vitest 4.1.12 finds no test at all.
  vitest: { configFile: 'scripts/vitest.mutation.config.js', related: false, pool: 'forks' },
  // Stryker rewrites a tsconfig by the API of TypeScript 5, which TypeScript 7 no longer has. Vitest
  // needs none.
  tsconfigFile: 'none',
  tempDirName: '.cache/stryker',
  ignorePatterns: ['.cache', 'docs'],
  // The texts of errors.
  mutator: { excludedMutations: ['StringLiteral'] },
  coverageAnalysis: 'perTest',
  // Each mutant of code that runs while a module is loaded would need the whole suite.
  ignoreStatic: true,
  timeoutMS: 20_000,
  thresholds: { high: 95, low: 90, break: 90 },
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false },
}
