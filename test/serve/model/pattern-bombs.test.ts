import { expect, test } from 'vitest'
import { sampleOf } from '../../../src/serve/model/sample.ts'

const long = 'a'.repeat(34)

test.each([
  ['two patterns', { type: 'string', allOf: [{ pattern: '^(a|a)*$' }, { pattern: `^${long}b$` }] }],
  ['a constant', { type: 'string', const: `${long}!`, pattern: '^(a+)+$' }],
  [
    'names of members',
    {
      type: 'object',
      properties: { [`${long}!`]: { type: 'string' } },
      required: [`${long}!`],
      patternProperties: { '^(a+)+$': { type: 'string' } },
    },
  ],
])('a pattern that takes for ever ends the search: %s', (_, schema) => {
  const start = performance.now()
  expect(sampleOf(schema)).toBeUndefined()
  // Seconds, where it would be hours.
  expect(performance.now() - start).toBeLessThan(10_000)
  expect(sampleOf({ type: 'string', pattern: '^b{3}$' })).toBe('bbb')
})
