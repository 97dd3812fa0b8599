import { describe, expect, test } from 'vitest'
import { blocksSetup, type Finding, shownAs } from '../src/finding.ts'

const fix = { fileKind: 'config', changes: [] }
const needsConsentTo = 'Remove it.'

function aProblem(members: Partial<Finding>): Finding {
  return { code: 'a-problem', severity: 'error', message: 'It does not work', ...members }
}

describe('a problem of a client in a setup', () => {
  test.each([
    [{}, 'finding', true],
    [{ severity: 'warning' }, 'finding', false],
    [{ fix }, 'fix', false],
    [{ needsConsentTo }, 'consent', false],
    [{ fix, needsConsentTo }, 'consent', false],
  ] as const)('%j is shown as a %s', (members, line, blocks) => {
    const problem = aProblem(members)
    expect(shownAs(problem)).toBe(line)
    expect(blocksSetup(problem)).toBe(blocks)
  })
})
