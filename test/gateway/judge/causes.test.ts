import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { concernsAll } from '../../../src/commands/prove/prove.ts'
import { causeRows, causesOf } from '../../../src/gateway/judge/causes/find-causes.ts'
import type { Cause } from '../../../src/gateway/judge/causes/row.ts'
import { diagnose } from '../../../src/gateway/judge/diagnose.ts'
import { readErrorBody } from '../../../src/gateway/judge/error-body.ts'
import { errorFor } from '../../../src/gateway/judge/judge.ts'
import { type OutcomeCode, outcomeCodes } from '../../../src/outcome-codes.ts'
import { type Rejection, rejections, requestOf, responseOf } from './rejections.ts'

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
  const causes = new Set(causeRows.map(({ cause }) => cause))
  expect(table.map(({ cause }) => cause).sort()).toEqual([...causes].sort())
})

function firstCause(rejection: Rejection): Cause | undefined {
  const { status, model = 'gpt-5.6-sol' } = rejection
  return causesOf(readErrorBody(responseOf(rejection)), status, model)[0]
}

const firstCauses = rejections.map(firstCause)

test.each(table)('$cause: usually $code', ({ cause, code, blames, stopsAll }) => {
  const outcomes = rejections
    .filter((_, index) => firstCauses[index] === cause)
    .map((rejection) => diagnose(responseOf(rejection), requestOf(rejection))!)
  const usual = outcomes.filter((outcome) => outcome.code === code)
  const rule = `rejections.jsonl: more than half of the ${outcomes.length} lines with this cause first must mean ${code}`
  expect(usual.length, rule).toBeGreaterThan(outcomes.length / 2)
  expect(outcomeCodes[code].blames).toBe(blames)

  const error = errorFor(usual[0]!)
  expect(concernsAll(error)).toBe(stopsAll)
})
