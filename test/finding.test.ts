import { describe, expect, test } from 'vitest'
import { blocksSetup, type Finding, messageWithLocation, shownAs } from '../src/finding.ts'

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

test.each([
  ['It is broken', '/home/me/.codex/config.toml', 'It is broken (/home/me/.codex/config.toml)'],
  ['Cannot read ~/.codex/config.toml: no', '/home/me/.codex/config.toml', undefined],
  ['Cannot read /home/me/a.json', '/home/me/a.json', undefined],
  ['Cannot read ~/a.json', '/home/me/b.json', 'Cannot read ~/a.json (/home/me/b.json)'],
  ['~/a.json sets it', '/home/me/a.json:7', '~/a.json sets it (/home/me/a.json:7)'],
])('"%s" at %s names the place once', (message, location, shown = message) => {
  expect(messageWithLocation(aProblem({ message, location }))).toBe(shown)
})
