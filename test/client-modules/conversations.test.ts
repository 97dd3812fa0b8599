import { describe, expect, test } from 'vitest'
import type { Platform } from '../../src/platform/platform.ts'
import { aMachine, byId, type Disk, planOn, textsOf, written } from './support.ts'

const codex = byId('codex')

/** Recorded conversations, one of each provider, and what Codex says to `--version`. */
function aWorld(providers: readonly string[], version = 'codex-cli 0.169.0') {
  const sessions = '/home/ada/.codex/sessions'
  const recorded = new Map(
    providers.map((provider, index) => [
      `${sessions}/2026/11/21/rollout-2026-11-21T10-00-0${index}-0.jsonl`,
      `{"type":"session_meta","payload":{"cwd":"/","model_provider":"${provider}","base_instructions"`,
    ]),
  )
  const names = (folder: string) => [
    ...new Set(
      [...recorded.keys()]
        .filter((path) => path.startsWith(`${folder}/`))
        .map((path) => path.slice(folder.length + 1).split('/')[0]!),
    ),
  ]
  return {
    machine: aMachine(),
    files: {
      readdir: (folder: string) => {
        if (names(folder).length === 0) throw new Error('no such folder')
        return names(folder)
      },
      readStart: (path: string) => new TextEncoder().encode(recorded.get(path)),
    },
    processes: {
      which: () => '/usr/bin/codex',
      run: async () => ({ exitStatus: 0, reason: 'exited', stdout: version, stderr: '' }),
    },
  } as unknown as Pick<Platform, 'files' | 'processes' | 'machine'>
}

async function said(world: ReturnType<typeof aWorld>, disks: { before: Disk; after: Disk }) {
  const notices = await codex.aboutConversations?.(world, {
    before: textsOf(codex, world.machine, disks.before),
    after: textsOf(codex, world.machine, disks.after),
  })
  return notices?.map(({ code, message, hint }) => `${code}: ${message} ${hint ?? ''}`) ?? []
}

function setUp(disk: Disk, providerId = 'gateway'): Disk {
  const context = { ownBaseUrls: ['https://gw.example'] }
  const { machine, edits } = planOn(codex, disk, { options: { providerId }, context })
  return written(disk, machine, edits)
}

describe('codex: what becomes of recorded conversations is said before', () => {
  test('those of its own service go to the gateway, and it takes a while', async () => {
    const disks = { before: {}, after: setUp({}) }
    expect(await said(aWorld(['openai', 'openai']), disks)).toEqual([
      expect.stringMatching(/^codex-conversations-move: 2 .*go to https:\/\/gw\.example .*7 s/),
    ])
    expect(await said(aWorld([]), disks)).toEqual([])
    expect(await said(aWorld(['openai']), { before: disks.after, after: disks.after })).toEqual([])
  })

  test('a Codex that does not know the address for them is told of', async () => {
    const disks = { before: {}, after: setUp({}) }
    const [, stray] = await said(aWorld(['openai'], 'codex-cli 0.98.0'), disks)
    expect(stray).toMatch(/^codex-conversations-stray: Codex 0\.98\.0 .*Update Codex/)
  })

  test('after a rollback those of the gateway are closed, and there is a way', async () => {
    const disks = { before: setUp({}), after: {} }
    const [closed, ...others] = await said(aWorld(['gateway', 'openai']), disks)
    expect(closed).toMatch(/^codex-conversations-closed: One .*"gateway".*codex fork SESSION_ID/)
    expect(others).toEqual([])
  })

  test('so are those of the id before, when a setup takes another', async () => {
    const before = setUp({})
    const [closed] = await said(aWorld(['gateway']), { before, after: setUp(before, 'work') })
    expect(closed).toMatch(/^codex-conversations-closed: One .*"gateway"/)
  })
})
