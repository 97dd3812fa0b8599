import { expect, test } from 'vitest'
import { causeRows } from '../../../src/gateway/judge/causes/find-causes.ts'
import { diagnose } from '../../../src/gateway/judge/diagnose.ts'
import { readErrorBody } from '../../../src/gateway/judge/error-body.ts'
import type { Outcome } from '../../../src/gateway/judge/types.ts'
import { type OutcomeCode, outcomeCodes } from '../../../src/outcome-codes.ts'
import { rejections, requestOf, responseOf } from './rejections.ts'

/** The code of an outcome, and after a colon what its message says more precisely: `forbidden:region`. */
function nameOf({ code, message }: Outcome): string {
  const header = /^The gateway requires the header (\S+) in/.exec(message)?.[1]
  const detail = header ?? details.find(([start]) => start.test(message))?.[1]
  return detail === undefined ? code : `${code}:${detail}`
}

/** How the messages of codes with several meanings start. */
const details: readonly (readonly [RegExp, string])[] = [
  [/^The plan of this key does not cover/, 'plan'],
  [/^The gateway does not accept requests from the account/, 'account'],
  [/^The gateway does not serve this country/, 'region'],
  [/^The gateway accepts only certain networks/, 'network'],
  [/^The gateway's content filter/, 'content'],
  [/^A firewall or web server/, 'firewall'],
  [/^Cloudflare checks for bots/, 'bots'],
  [/^The gateway does not serve the model .* has set no price for it \(/, 'unpriced'],
  [/^The gateway at \S+ cannot use the service behind it/, 'upstream'],
]

const outcomes = rejections.map((rejection) =>
  diagnose(responseOf(rejection), requestOf(rejection)),
)

test('every line of rejections.jsonl has its outcome', () => {
  const wrong = rejections.flatMap((rejection, index) => {
    const outcome = outcomes[index]
    const name = outcome === undefined ? 'none' : nameOf(outcome)
    const isRight = rejection.outcome.split('|').includes(name)
    return isRight ? [] : [{ line: index + 1, name, rejection }]
  })
  expect(wrong).toEqual([])
})

/** They need the request of a client: see request-parts.test.ts. */
const ofClient = ['parameter-unsupported']

test('every outcome of a rejection is in rejections.jsonl', () => {
  const found = new Set(outcomes.map((outcome) => outcome?.code))
  const missing = (Object.keys(outcomeCodes) as OutcomeCode[]).filter(
    (code) => !['connection', 'address'].includes(outcomeCodes[code].blames) && !found.has(code),
  )
  expect(missing).toEqual(ofClient)
})

test('every row of causes matches a rejection in rejections.jsonl', () => {
  const errors = rejections.map((rejection) => readErrorBody(responseOf(rejection)))
  const idle = causeRows.filter(
    ({ codes = [], words }) =>
      !errors.some(
        (error) =>
          error.codes.some((code) => codes.includes(code.name) || words?.test(code.words)) ||
          words?.test(error.words),
      ),
  )
  expect(idle.map(({ cause, codes, words }) => [cause, codes ?? words])).toEqual([])
})
