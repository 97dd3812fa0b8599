import { expect, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

const canary = 'sk-canary-90ab78cd56ef34121f0e'

const gateway = await withGateway({ key: canary })

/** Every changed key that the document of `--json` names. */
async function changedKeys(home: Home, args: string[], env: Record<string, string> = {}) {
  const { stdout } = await runInProcess(home, [...args, '--yes', '--json'], {
    env: { REPOINT_BASE_URL: gateway.url, REPOINT_API_KEY: canary, ...env },
  })
  expect(stdout).not.toContain(canary)
  const { files } = JSON.parse(stdout) as { files: { changes: string[] }[] }
  return files.flatMap(({ changes }) => changes).join('\n')
}

const old = `cli_auth_credentials_store = "keyring"

[model_providers.other]
name = "Other"
base_url = "https://other.example/v1"
wire_api = "chat"
`

test.each([[[]], [['--dry-run']]])(
  'codex --json %j names the repairs in other tables too',
  async (flags) => {
    const keys = await changedKeys(aHome({ '.codex/config.toml': old }), ['codex', ...flags])
    expect(keys).toContain('cli_auth_credentials_store')
    expect(keys).toContain('model_providers.other.wire_api')
    expect(keys).toContain('model_providers.gateway.base_url')
  },
)

test.each([[[]], [['--dry-run']]])('claude --json %j names NO_PROXY', async (flags) => {
  const keys = await changedKeys(aHome(), ['claude', ...flags], {
    HTTP_PROXY: 'http://127.0.0.1:9',
  })
  expect(keys).toContain('env.NO_PROXY = "127.0.0.1"')
})

test('doctor --fix --json names every key that it repairs', async () => {
  const home = aHome()
  await changedKeys(home, ['codex'])
  const text = home.text('.codex/config.toml')
  home.put('.codex/config.toml', `cli_auth_credentials_store = "keyring"\n${text}`)
  expect(await changedKeys(home, ['doctor', '--fix'])).toContain('cli_auth_credentials_store')
})
