import { describe, expect, test } from 'vitest'
import { sentFirst } from '../../src/clients/claude/sent.ts'
import { slots } from '../../src/clients/client.ts'
import tested from '../../src/clients/tested.json' with { type: 'json' }
import { byId } from './support.ts'

/** `src/clients/tested.json` is what `npm run drift` saw real clients do. */

test.each(['codex', 'claude', 'opencode'])('%s: its newest version does all right', (id) => {
  const { command, testedVersions } = byId(id).binary
  const newest = tested.rows.findLast(({ client }) => client === command)
  expect(newest?.version).toBe(testedVersions.at(-1))
  expect(testedVersions.length).toBeGreaterThan(3)
})

describe('the table of what Claude Code sends is what the real versions sent', () => {
  const cases = tested.rows.flatMap(({ client, version, setup, models }) => {
    const named = slots.find((slot) => setup === `claude --slot ${slot}`)
    const slot = setup === 'claude' ? 'sonnet' : named
    return client === 'claude' && slot !== undefined ? [{ version, slot, models }] : []
  })

  test.each(cases)('$version, $slot', ({ version, slot, models }) => {
    expect(models).toContain(sentFirst(version, slot))
  })
})
