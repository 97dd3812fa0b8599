import { describe, expect, test } from 'vitest'
import { nextChoice } from '../../../src/commands/prove/prove-one.ts'
import type { ErrorCode } from '../../../src/error-codes.ts'
import { UserError } from '../../../src/errors.ts'
import type { Protocol } from '../../../src/gateway/types.ts'

const errorOf = (code: ErrorCode) => new UserError({ code, message: code, hint: 'x' })
const choiceOf = (probeModel: string, protocol: Protocol) => ({ probeModel, protocol })

describe('the next choice after a rejection of the model a over responses', () => {
  const choice = choiceOf('a', 'responses')
  const nextAfter = (code: ErrorCode, choose: () => typeof choice) => {
    const rejection = { model: 'a', protocol: choice.protocol, error: errorOf(code) }
    return nextChoice({ choice, rejection, rejected: [rejection] }, choose)
  }

  test.each<[ErrorCode, string, Protocol, boolean]>([
    ['model-unknown', 'b', 'responses', true],
    ['protocol-unsupported', 'a', 'chat', true],
    ['model-unknown', 'a', 'responses', false],
    ['route-not-allowed', 'a', 'chat', true],
    ['route-not-allowed', 'b', 'chat', false],
  ])('%s: %s over %s is used: %s', (code, model, protocol, isUsed) => {
    const next = choiceOf(model, protocol)
    expect(nextAfter(code, () => next)).toBe(isUsed ? next : undefined)
  })

  test('is none if nothing is left; only for a rejected model, the reason is reported', () => {
    const error = errorOf('model-unknown')
    const choose = () => {
      throw error
    }
    expect(() => nextAfter('model-unknown', choose)).toThrow(error)
    expect(nextAfter('route-not-allowed', choose)).toBeUndefined()
  })
})
