import { chmodSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

/** What a setup depends on: the modes of the files, and earlier conversations. */

const gateway = await withGateway({ key: 'sk-ground-0123456789abcdef' })

interface Said {
  readonly changed: boolean
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
  readonly error?: { readonly code: string; readonly message: string }
}

async function run(home: Home, args: readonly string[], cwd = home.path) {
  const env = { REPOINT_BASE_URL: gateway.url, REPOINT_API_KEY: gateway.key }
  const { json, status } = await runInProcess(home, [...args, '--json'], { env, cwd })
  return { ...(json as Said), status }
}

describe('a file or folder that decides where the key goes, and that others may write', () => {
  test.each([
    ['codex', '.codex', 0o777],
    ['codex', '.codex/config.toml', 0o666],
    ['claude', '.claude', 0o757],
    ['opencode', '.config/opencode', 0o777],
  ])('%s: a setup reports %s, with the cure', async (client, place, mode) => {
    const home = aHome({
      '.codex/config.toml': 'model = "gpt-5.4"\n',
      '.claude/settings.json': '{}',
      '.config/opencode/opencode.json': '{}',
    })
    expect((await run(home, ['doctor', client, '--no-verify'])).status).toBe(0)
    chmodSync(home.at(place), mode)
    const asked = await run(home, [client])
    expect(asked.status).toBe(2)
    expect(asked.error?.message).toMatch(/consent, .*Every user of this machine/)
    expect(asked.error?.message).toContain(`chmod go-w ~/${place}`)

    const accepted = await run(home, [client, '--yes'])
    expect(accepted.warnings.map(({ code }) => code)).toContain('open-to-others')
    const { status } = await run(home, ['doctor', client, '--no-verify'])
    expect(status).toBe(8)
    chmodSync(home.at(place), mode & ~0o022)
    expect((await run(home, ['doctor', client, '--no-verify'])).status).toBe(0)
  })
})

test('rollback says which recorded conversations no longer open, before it changes a file', async () => {
  const home = aHome()
  await run(home, ['codex', '--yes'])
  home.put(
    '.codex/sessions/2026/11/22/rollout-2026-11-22T10-00-00-0.jsonl',
    '{"type":"session_meta","payload":{"model_provider":"gateway"}}\n',
  )
  const { warnings } = await run(home, ['rollback', '--dry-run'])
  expect(warnings).toContainEqual(
    expect.objectContaining({
      code: 'codex-conversations-closed',
      hint: expect.stringContaining('codex fork SESSION_ID'),
    }),
  )
  const { stdout } = await runInProcess(home, ['rollback', '--yes'])
  expect(stdout).toMatch(/Conversations of the provider .*\n(?:.*\n)*Undone/)
})
