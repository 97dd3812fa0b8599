import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'

/** Another provider of Codex that would receive the new key: every command disables it, and a rollback restores it. */

const oldKey = 'sk-canary-old-0a1b2c3d4e5f6071'
const newKey = 'sk-canary-new-8293a4b5c6d7e8f9'
const config = '.codex/config.toml'

const byHand = `# as the service describes it
model = "gpt-5.6-sol"
model_provider = "old"

[model_providers.old] # mine
name = "Old"
base_url = "https://old.example/v1"
wire_api = "responses"
requires_openai_auth = true
`

const gateway = await withGateway({ key: newKey })
const other = await withGateway({ key: newKey })

function aHomeWithOld(): Home {
  const home = aHome({ [config]: byHand })
  home.put('.codex/auth.json', JSON.stringify({ OPENAI_API_KEY: oldKey }), 0o600)
  return home
}

async function repoint(home: Home, line: string, url = gateway.url) {
  const env = { REPOINT_API_KEY: newKey, REPOINT_BASE_URL: url }
  const result = await runHere(home, line.split(' '), env)
  for (const key of [oldKey, newKey]) expect(result.text).not.toContain(key)
  return result
}

const isTurnedOff = (home: Home) => home.text(config).includes('env_key = "REPOINT_SET_ASIDE"')

test.each(['codex', 'setup codex'])(
  '%s disables the other provider, and a rollback restores every byte',
  async (line) => {
    const home = aHomeWithOld()
    const before = home.snapshot()
    const { status, json } = await repoint(home, `${line} --yes`)
    expect(status).toBe(0)
    const message = expect.stringContaining('codex fork ID')
    expect(json['warnings']).toContainEqual(
      expect.objectContaining({ code: 'codex-other-provider', message }),
    )
    expect(isTurnedOff(home)).toBe(true)
    expect((await repoint(home, `${line} --yes`)).json).toMatchObject({ changed: false })
    expect((await repoint(home, 'status codex --exit-code')).status).toBe(0)

    await repoint(home, 'rollback --yes')
    expect(home.snapshot()).toEqual(before)
    await repoint(home, 'rollback --yes --redo')
    expect(isTurnedOff(home)).toBe(true)
  },
)

test('key, use and doctor --fix --yes disable a provider that was added later', async () => {
  for (const line of ['key --yes', 'use one --yes', 'doctor codex --fix --yes --no-verify']) {
    const home = aHome()
    await repoint(home, 'codex --yes --name two', other.url)
    await repoint(home, 'codex --yes --name one')
    const table = byHand.slice(byHand.indexOf('[model_providers.old]'))
    home.put(config, `${home.text(config)}\n${table}`)
    const doctor = await repoint(home, 'doctor codex --no-verify')
    expect(doctor.text).toContain('codex-other-provider')

    await repoint(home, line)
    expect(isTurnedOff(home)).toBe(true)
    expect((await repoint(home, 'doctor codex --no-verify')).text).not.toContain('other-provider')
  }
})

test('--keep-old-gateway keeps the provider with its key, in a file that others cannot read', async () => {
  const home = aHomeWithOld()
  const before = home.snapshot()
  await repoint(home, 'codex --yes --keep-old-gateway')
  expect(home.text(config)).toContain(`experimental_bearer_token = "${oldKey}"`)
  expect(home.text('.codex/auth.json')).toContain(newKey)
  expect(statSync(home.at(config)).mode & 0o777).toBe(0o600)
  const again = await repoint(home, 'codex --yes --keep-old-gateway')
  expect(again.json).toMatchObject({ changed: false })

  await repoint(home, 'rollback --yes')
  expect(home.snapshot()).toEqual(before)
})

test("a setup refuses a profile that redirects the gateway's provider, with and without --yes", async () => {
  const home = aHomeWithOld()
  home.put('.codex/x.config.toml', 'openai_base_url = "https://old.example/v1"\n')
  const before = home.snapshot()
  const { json, status } = await repoint(home, 'codex --yes')
  expect(status).toBe(8)
  expect(json).toMatchObject({ error: { code: 'codex-key-elsewhere', filesChanged: false } })
  expect(home.snapshot()).toEqual(before)
})
