import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { resultFor } from '../../../src/commands/setup/prove/results.ts'
import { causesOf } from '../../../src/gateway/judge/causes/find-causes.ts'
import type { Cause } from '../../../src/gateway/judge/causes/row.ts'
import { readErrorBody } from '../../../src/gateway/judge/error-body.ts'
import { errorFor } from '../../../src/gateway/send.ts'
import { type OutcomeCode, outcomeCodes } from '../../../src/outcome-codes.ts'
import { byId } from '../../client-modules/support.ts'
import { diagnoseAnswer } from './diagnosed.ts'

/** A rejection of each cause: its status and its words. Only a code says that a model has no price. */
const examples: Readonly<Record<Cause, readonly [status: number, words: string]>> = {
  key: [401, 'Incorrect API key provided'],
  quota: [403, 'You have no credits left'],
  plan: [403, 'Your plan has expired'],
  rate: [429, 'Too many requests'],
  client: [403, 'This key works only with Claude Code'],
  region: [403, 'Your country is not supported'],
  network: [403, 'Your IP address is not allowed'],
  content: [400, 'The prompt was blocked by the content filter'],
  account: [403, 'Your account has been suspended'],
  'model-unknown': [404, 'The model does not exist'],
  'provider-unknown': [400, 'Unknown provider'],
  'model-not-allowed': [403, 'This key is not allowed to use the model'],
  'model-unpriced': [400, 'model_price_error'],
  protocol: [400, 'The model is not supported on this endpoint'],
  route: [403, 'This key is not allowed to use the endpoint'],
  upstream: [401, 'The upstream account was rejected'],
  gateway: [500, 'Database connection failed'],
}

/** The rows of the table in the header of diagnose.ts. */
const table = [
  ...readFileSync('src/gateway/judge/diagnose.ts', 'utf8').matchAll(
    /^ \* {5}(\S.*?) {2,}([a-z-]+) {2,}([a-z]+) {2,}(yes|no)$/gm,
  ),
].flatMap(([, causes, code, blames, stopsAll]) =>
  causes!.split(', ').map((cause) => ({
    cause: cause as Cause,
    code: code as OutcomeCode,
    blames,
    stopsAll: stopsAll === 'yes',
  })),
)

test('the table in the header of diagnose.ts has every cause once', () => {
  expect(table.map(({ cause }) => cause).sort()).toEqual(Object.keys(examples).sort())
})

test.each(table)('$cause: $code', async ({ cause, code, blames, stopsAll }) => {
  const [status, message] = examples[cause]
  const body = { error: message.includes(' ') ? { message } : { code: message } }
  const errorBody = readErrorBody({ headers: {}, body: JSON.stringify(body) })
  expect(causesOf(errorBody, status)[0]).toBe(cause)

  const request = { apiAnswered: 'catalog' as const }
  const outcome = diagnoseAnswer({ asked: 'chat', status, body, more: { request } })!
  expect([outcome.code, outcomeCodes[code].blames]).toEqual([code, blames])

  const error = errorFor(outcome)
  const result = resultFor(byId('codex'), () => Promise.reject(error))
  if (stopsAll) await expect(result).rejects.toBe(error)
  else expect(await result).toMatchObject({ kind: 'failed', error })
})
