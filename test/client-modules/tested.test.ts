import { describe, expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { clients } from '../../scripts/drift/clients.js'
import { sentFirst } from '../../src/clients/claude/sent.ts'
import tested from '../../src/clients/claude/tested.json' with { type: 'json' }
import { slots } from '../../src/clients/client.ts'
import { familyRows, loadClients } from '../../src/clients/list.ts'

/** `tested.json` in a client's folder is what `npm run drift` saw real clients do. */

test.each(await loadClients(familyRows))(
  '$id: its newest version does all right',
  async (client) => {
    const { command, testedVersions } = client.program
    const path = `../../src/clients/${command}/tested.json`
    const { default: seen } = await import(path, { with: { type: 'json' } })
    expect(seen.rows.at(-1)).toMatchObject({ client: command, version: testedVersions.at(-1) })
    // Of some clients npm has one version.
    const { versions } = clients[command]!
    expect(testedVersions.length).toBeGreaterThanOrEqual(Math.min(2, versions.length))
  },
)

describe('the table of what Claude Code sends is what the real versions sent', () => {
  const cases = tested.rows.flatMap(({ version, setup, models }) => {
    const named = slots.find((slot) => setup === `claude --slot ${slot}`)
    const slot = setup === 'claude' ? 'sonnet' : named
    return slot !== undefined ? [{ version, slot, models }] : []
  })

  test.each(cases)('$version, $slot', ({ version, slot, models }) => {
    expect(models).toContain(sentFirst(version, slot))
  })
})
