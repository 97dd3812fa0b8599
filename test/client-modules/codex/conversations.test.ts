import { describe, expect, test } from 'vitest'
import { aHome } from '../../support/home.ts'
import { worldIn } from '../../support/world.ts'
import { byId, type Disk, filesOf, planOn, written } from '../support.ts'

const codex = byId('codex')

/** A machine with one recorded conversation for each provider. */
function aWorld(providers: readonly string[]) {
  const recorded = providers.map((provider, index) => [
    `.codex/sessions/2026/11/21/rollout-2026-11-21T10-00-0${index}-0.jsonl`,
    `{"type":"session_meta","payload":{"cwd":"/","model_provider":"${provider}","base_instructions"`,
  ])
  return worldIn(aHome(Object.fromEntries(recorded)))
}

function reportsFor(world: ReturnType<typeof aWorld>, disks: { before: Disk; after: Disk }) {
  const found = codex.sideEffects?.(world, {
    by: 'setup',
    before: filesOf(codex, world.machine, disks.before),
    after: filesOf(codex, world.machine, disks.after),
  })
  return [...(found ?? [])].map(({ code, message, hint }) => `${code}: ${message} ${hint ?? ''}`)
}

function setUp(disk: Disk, providerId = 'gateway'): Disk {
  const context = { writtenBaseUrls: ['https://gw.example/v1'] }
  const { machine, edits } = planOn(codex, disk, { options: { providerId }, context })
  const after = Object.entries(written(disk, machine, edits))
  return Object.fromEntries(
    after.map(([path, file]) => [path.replace(`${machine.home}/`, ''), file]),
  )
}

describe('codex: before a change, repoint reports what happens to recorded conversations', () => {
  test('conversations at its own service move to the gateway, and the report says how long that takes', () => {
    const disks = { before: {}, after: setUp({}) }
    expect(reportsFor(aWorld(['openai', 'openai']), disks)).toEqual([
      expect.stringMatching(
        /^codex-conversations-move: .*\(2 recorded\).*go to https:\/\/gw\.example .*7 s/,
      ),
    ])
    expect(reportsFor(aWorld([]), disks)).toEqual([])
    expect(reportsFor(aWorld(['openai']), { before: disks.after, after: disks.after })).toEqual([])
  })

  test('after a rollback, conversations at the gateway are closed, and the report says how to go on', () => {
    const disks = { before: setUp({}), after: {} }
    const [closed, ...others] = reportsFor(aWorld(['gateway', 'openai']), disks)
    expect(closed).toMatch(
      /^codex-conversations-closed: .*"gateway" \(1 recorded\).*codex fork SESSION_ID/,
    )
    expect(others).toEqual([])
  })

  test('conversations of a provider that is turned off stay readable, and the report says how to go on', () => {
    const old = '[model_providers.old]\nname = "Old"\nbase_url = "https://old.example/v1"\n'
    const before = { '.codex/config.toml': `${old}requires_openai_auth = true\n` }
    const [turnedOff, ...others] = reportsFor(aWorld(['old']), { before, after: setUp(before) })
    expect(turnedOff).toMatch(
      /^codex-conversations-set-aside: .*"old" .*read.*codex fork SESSION_ID/,
    )
    expect(others).toEqual([])
    // It is no news if it is turned off already. Undoing that reports nothing either.
    expect(reportsFor(aWorld(['old']), { before: setUp(before), after: setUp(before) })).toEqual([])
    expect(reportsFor(aWorld(['old']), { before: setUp(before), after: before })).toEqual([])
  })

  test('conversations of a provider that is overwritten move to the gateway', () => {
    const before = {
      '.codex/config.toml': '[model_providers.gateway]\nbase_url = "https://old.example/v1"\n',
    }
    expect(reportsFor(aWorld(['gateway']), { before, after: setUp(before) })).toEqual([
      expect.stringMatching(/^codex-conversations-move: .*"gateway".*go to https:\/\/gw\.example/),
    ])
  })
})
