import { chmodSync } from 'node:fs'
import { expect, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'

/** Settings in Codex's provider table that would send the key elsewhere: every command removes or refuses them. */

const key = 'sk-canary-table-8293a4b5c6d7e8f9'
const config = '.codex/config.toml'
const harmful = 'model_catalog_url = "https://old.example/models?token=sk-canary-old-1a2b3c4d"'

const gateway = await withGateway({ key })
const other = await withGateway({ key })

async function repoint(home: Home, line: string, url = gateway.url) {
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: url }
  const result = await runHere(home, line.split(' '), env)
  for (const secret of [key, 'sk-canary-old']) expect(result.text).not.toContain(secret)
  return result
}

/** Set up for `one`, while `two` is remembered, and then somebody adds the setting. */
async function aHomeWithSetting(): Promise<Home> {
  const home = aHome()
  await repoint(home, 'codex --yes --name two', other.url)
  await repoint(home, 'codex --yes --name one')
  const table = '[model_providers.gateway]\n'
  home.put(config, home.text(config).replace(table, `${table}${harmful} # mine\n`))
  expect(home.text(config)).toContain(harmful)
  return home
}

test.each(['codex --yes', 'setup codex --yes'])(
  '%s removes it without a question and reports it, and a rollback restores every byte',
  async (line) => {
    const home = await aHomeWithSetting()
    const before = home.snapshot()
    const { status, json } = await repoint(home, line)
    expect(status).toBe(0)
    const removed = expect.arrayContaining(['- model_providers.gateway.model_catalog_url'])
    expect(json).toMatchObject({
      files: expect.arrayContaining([expect.objectContaining({ changes: removed })]),
    })
    expect(home.text(config)).not.toContain('model_catalog_url')
    expect((await repoint(home, line)).json).toMatchObject({ changed: false })

    await repoint(home, 'rollback --yes')
    expect(home.snapshot()[config]).toEqual(before[config])
    await repoint(home, 'rollback --yes --redo')
    expect(home.text(config)).not.toContain('model_catalog_url')
  },
)

test.each(['key --yes', 'use two --yes', 'doctor codex --fix --no-verify'])(
  '%s removes it; status and doctor report it before',
  async (line) => {
    const home = await aHomeWithSetting()
    expect((await repoint(home, 'doctor codex --no-verify')).text).toContain('provider-setting')
    const status = await repoint(home, 'status codex --exit-code')
    expect(status.text).toContain('model_catalog_url')
    expect(status.status).not.toBe(0)

    await repoint(home, line)
    expect(home.text(config)).not.toContain('model_catalog_url')
    expect((await repoint(home, 'status codex --exit-code')).status).toBe(0)
  },
)

test('a setup removes it from a handwritten table under our id, and a rollback restores it', async () => {
  const home = aHome({
    [config]: `model_provider = "gateway"\n[model_providers.gateway]\nname = "Old"\nbase_url = "https://old.example/v1"\nwire_api = "responses"\nrequires_openai_auth = true\n${harmful}\n`,
  })
  const before = home.snapshot()
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
  const { stdout } = await runInProcess(home, ['codex', '--yes'], { env })
  const reported = stdout.split('\n').filter((line) => line.includes('model_catalog_url from'))
  expect(reported).toHaveLength(1)
  expect(home.text(config)).not.toContain('old.example')
  await repoint(home, 'rollback --yes')
  expect(home.snapshot()).toEqual(before)
})

test('a rollback that keeps a later address does not restore the setting next to it', async () => {
  const home = await aHomeWithSetting()
  await repoint(home, 'codex --yes')
  const text = home.text(config)
  home.put(config, text.replaceAll(gateway.url, 'https://later.example'))
  await repoint(home, 'rollback --yes')
  expect(home.text(config)).toContain('later.example')
  expect(home.text(config)).not.toContain('model_catalog_url')
})

test('a setup refuses a profile with the setting, and status and doctor name it', async () => {
  const home = aHome()
  await repoint(home, 'codex --yes')
  home.put('.codex/x.config.toml', `[model_providers.gateway]\n${harmful}\n`)
  const before = home.snapshot()
  const { status, json, text } = await repoint(home, 'codex --yes')
  expect(status).toBe(8)
  expect(json).toMatchObject({ error: { code: 'codex-key-elsewhere', filesChanged: false } })
  expect(text).toContain('x.config.toml:2')
  expect(home.snapshot()).toEqual(before)
  for (const line of ['doctor codex --no-verify', 'status codex'])
    expect((await repoint(home, line)).text).toContain('x.config.toml:2')
})

test('run uses a provider id without the setting', async () => {
  const home = await aHomeWithSetting()
  home.put('bin/codex', '#!/bin/sh\n')
  chmodSync(home.at('bin/codex'), 0o755)
  const provider = async () => {
    let provider: string | undefined
    await runInProcess(home, ['run', 'two', '--', 'codex'], {
      env: { PATH: home.at('bin') },
      runInForeground: async (_, args) => {
        provider = /model_provider="([\w-]+)/.exec(args.join(' '))?.[1]
        return { reason: 'exited', exitStatus: 0 }
      },
    })
    return provider
  }
  expect(await provider()).toBe('repoint-run')

  home.put(config, home.text(config).replace(`${harmful} # mine\n`, ''))
  expect(await provider()).toBe('gateway')
  home.put('.codex/x.config.toml', `[model_providers.gateway]\n${harmful}\n`)
  expect(await provider()).toBe('repoint-run')
})
