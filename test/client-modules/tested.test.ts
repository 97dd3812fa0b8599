import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { clients } from '../../scripts/real-clients.js'
import { slots } from '../../src/clients/claude/flags.ts'
import { sentFirst } from '../../src/clients/claude/settings.ts'
import tested from '../../src/clients/claude/tested.json' with { type: 'json' }
import { familyRows, loadClient } from '../../src/clients/list.ts'

/**
 * `tested.json` in a client's folder has the results of `npm run check-releases` with real clients. A new client has
 * not run yet: its list of results is empty.
 */
const families = await Promise.all(
  familyRows.map(async (row) => {
    const { family, id } = row
    const path = `../../src/clients/${family}/tested.json`
    const { default: results } = await import(path, { with: { type: 'json' } })
    return { id, family, rows: results.rows, client: await loadClient(row) }
  }),
)

test.each(families.filter(({ rows }) => rows.length > 0))(
  '$id: the newest tested version is recorded',
  ({ rows, client }) => {
    const { command, testedVersions } = client.program
    expect(rows.at(-1)).toMatchObject({ client: command, version: testedVersions.at(-1) })
    // npm has only one version of some clients.
    const { versions } = clients[command]!
    expect(testedVersions.length).toBeGreaterThanOrEqual(Math.min(2, versions.length))
  },
)

test.each(families.filter(({ rows }) => rows.length > 0))(
  '$id: no fact of the example client is left that nobody observed',
  ({ family }) => {
    const folder = `src/clients/${family}`
    const modules = readdirSync(folder).filter((name) => name.endsWith('.ts'))
    const left = modules.filter((name) =>
      readFileSync(`${folder}/${name}`, 'utf8').includes('not run yet'),
    )
    expect(left).toEqual([])
  },
)

test.each(families.filter(({ rows }) => rows.length === 0))(
  '$id has not run yet, and the pages say so',
  ({ client }) => {
    const page = readFileSync('docs/tested-versions.md', 'utf8')
    const isThere = page.includes(`## ${client.label}\n\nNot run yet.`)
    expect(isThere, 'docs/tested-versions.md is out of date. Run: npm run docs').toBe(true)
  },
)

describe("the table of Claude Code's models matches the recorded versions", () => {
  const cases = tested.rows.flatMap(({ version, setup, models }) => {
    const named = slots.find((slot) => setup === `claude --slot ${slot}`)
    const slot = setup === 'claude' ? 'sonnet' : named
    return slot !== undefined ? [{ version, slot, models }] : []
  })

  test.each(cases)('of $version for $slot', ({ version, slot, models }) => {
    expect(models).toContain(sentFirst(version, slot))
  })
})
