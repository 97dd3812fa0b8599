import { describe, expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { clients } from '../../scripts/real-clients.js'
import { sentFirst } from '../../src/clients/claude/slots/sent.ts'
import tested from '../../src/clients/claude/tested.json' with { type: 'json' }
import { slots } from '../../src/clients/contract/options.ts'
import { familyRows, loadClients } from '../../src/clients/list.ts'

/** `tested.json` in a client's folder has the results of `npm run check-releases` with real clients. */

test.each(await loadClients(familyRows))(
  '$id: the newest tested version is recorded',
  async (client) => {
    const { command, testedVersions } = client.program
    const path = `../../src/clients/${command}/tested.json`
    const { default: seen } = await import(path, { with: { type: 'json' } })
    expect(seen.rows.at(-1)).toMatchObject({ client: command, version: testedVersions.at(-1) })
    // npm has only one version of some clients.
    const { versions } = clients[command]!
    expect(testedVersions.length).toBeGreaterThanOrEqual(Math.min(2, versions.length))
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
