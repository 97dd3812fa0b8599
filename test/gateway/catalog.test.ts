import { expect, test } from 'vitest'
import type { ErrorCode } from '../../src/error-codes.ts'
import { UserError } from '../../src/errors.ts'
import { adviseNamingModel } from '../../src/gateway/catalog.ts'

test.each<[ErrorCode, boolean]>([
  ['wrong-route', true],
  ['model-unknown', true],
  ['not-an-api', false],
  ['forbidden', false],
  ['timeout', false],
  ['key-rejected', false],
])('a catalog request that fails with %s advises --model: %s', (code, expected) => {
  const error = new UserError({ code, message: 'It failed', hint: 'Check --base-url.' })
  const { hint } = adviseNamingModel(error)
  expect(hint).toContain('--base-url')
  expect(hint?.includes('--model ID')).toBe(expected)
})
