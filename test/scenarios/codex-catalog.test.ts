import { existsSync, rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { codexTable } from '../support/codex-table.ts'
import { fixtureCatalog, withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'

/** Whole commands that write a catalog for Codex. The installed Codex is a stub that prints its models. */

const key = 'sk-catalog-2b9d7e4f60c1a853'
const file = '.codex/repoint-models.json'
const config = '.codex/config.toml'

async function aGateway(...ids: string[]): Promise<Gateway> {
  const models = fixtureCatalog.filter(({ id }) => ids.length === 0 || ids.includes(id))
  const gateway = await withGateway({ key, models }, onTestFinished)
  return gateway
}

function aHomeWithCodex(): Home {
  const home = aHome({ [config]: 'approval_policy = "on-request" # mine\n' })
  home.put('table.json', codexTable)
  // A client that fails by itself decides nothing.
  const prints = `case "$*" in *ping) exit 1;; esac; case "$1" in debug) cat "${home.at('table.json')}";; *) echo codex-cli 0.169.0;; esac`
  home.put('bin/codex', `#!/bin/sh\n${prints}\n`, 0o755)
  return home
}

function repoint(home: Home, gateway: Gateway, ...args: string[]) {
  const PATH = `${home.at('bin')}:${process.env['PATH']}`
  return runHere(home, args, { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url, PATH })
}

const slugs = (home: Home): readonly string[] =>
  JSON.parse(home.text(file)).models.map(({ slug }: { slug: string }) => slug)

test('a setup writes it, later setups keep or update it, --no-catalog removes it, and rollback undoes every step', async () => {
  const gateway = await aGateway()
  const home = aHomeWithCodex()
  const before = home.text(config)
  const first = await repoint(home, gateway, 'codex', '--catalog', '--name', 'work', '--yes')
  expect(first).toMatchObject({ status: 0, json: { changed: true, warnings: [] } })
  expect(slugs(home)).toEqual(
    fixtureCatalog.filter(({ id }) => id.startsWith('gpt-5')).map(({ id }) => id),
  )
  const written = home.text(file)

  const again = await repoint(home, gateway, 'codex', '--yes')
  expect(again.json).toMatchObject({ changed: false })
  const status = await repoint(home, gateway, 'status', 'codex')
  expect(status.json).toMatchObject({
    clients: [{ hasModelsFile: true, files: [{}, { state: 'as-written' }, {}], obstacles: [] }],
  })
  expect((await repoint(home, gateway, 'doctor', 'codex')).status).toBe(0)

  const other = await aGateway('gpt-5.6-sol', 'gpt-5.4')
  await repoint(home, other, 'codex', '--name', 'other', '--yes')
  expect(slugs(home)).toEqual(['gpt-5.6-sol', 'gpt-5.4'])
  await repoint(home, gateway, 'use', 'work', '--yes')
  expect(home.text(file)).toBe(written)

  await repoint(home, gateway, 'codex', '--no-catalog', '--yes')
  expect(existsSync(home.at(file))).toBe(false)
  expect(home.text(config)).not.toContain('model_catalog_json')
  await repoint(home, gateway, 'rollback', '--yes')
  expect(home.text(file)).toBe(written)
  await repoint(home, gateway, 'rollback', '--yes', '--original')
  expect(existsSync(home.at(file))).toBe(false)
  expect(home.text(config)).toBe(before)
})

test('a new key does not change it, even if Codex is no longer installed', async () => {
  const gateway = await aGateway()
  const home = aHomeWithCodex()
  await repoint(home, gateway, 'codex', '--catalog', '--yes')
  const written = home.text(file)
  const tables = { key: codexTable.replaceAll('Instructions', 'Others'), codex: 'no table' }
  for (const [command, table] of Object.entries(tables)) {
    home.put('table.json', table)
    expect(await repoint(home, gateway, command, '--yes')).toMatchObject({ status: 0 })
  }
  expect(home.text(file)).toBe(written)
})

test('doctor reports that Codex does not start without the file, and removes the setting', async () => {
  const gateway = await aGateway()
  const home = aHomeWithCodex()
  await repoint(home, gateway, 'codex', '--catalog', '--yes')
  rmSync(home.at(file))
  const { status, json } = await repoint(home, gateway, 'doctor', 'codex')
  expect(status).toBe(8)
  expect(json['checks']).toContainEqual(
    expect.objectContaining({ id: 'codex-catalog', result: 'problem' }),
  )
  expect(await repoint(home, gateway, 'doctor', 'codex', '--fix')).toMatchObject({ status: 0 })
  expect(home.text(config)).not.toContain('model_catalog_json')
})

test('a gateway that refuses Responses Lite passes the check only with a catalog', async () => {
  const gateway = await aGateway()
  const home = aHomeWithCodex()
  expect(await repoint(home, gateway, 'codex', '--yes')).toMatchObject({ status: 0 })
  const [proof] = gateway.requests().filter(({ method }) => method === 'POST')
  expect(proof).toMatchObject({ headers: { 'x-openai-internal-codex-responses-lite': 'true' } })
  const body = JSON.parse(proof!.requestBody)
  expect(body.input[0]).toMatchObject({ type: 'additional_tools', role: 'developer' })
  expect(body).not.toHaveProperty('tools')

  const message = "Unsupported Responses API input item type: 'additional_tools'"
  gateway.setFaults([{ status: 400, holds: 'additional_tools', message }])
  const refused = {
    message: expect.stringContaining(
      `rejects a request of Codex for gpt-5.6-sol with input (HTTP 400: "Unsupported Responses API input item type: `,
    ),
  }
  const { status, json } = await repoint(home, gateway, 'doctor', 'codex')
  expect(status).toBe(5)
  const cure = expect.stringContaining('--catalog')
  expect(json['checks']).toContainEqual(
    expect.objectContaining({ id: 'parameter-unsupported', cure }),
  )
  const before = home.text(config)
  expect(await repoint(home, gateway, 'codex', '--defaults', '--yes')).toMatchObject({
    status: 5,
    json: { error: { code: 'parameter-unsupported', ...refused } },
  })
  expect(home.text(config)).toBe(before)

  const cured = await repoint(home, gateway, 'codex', '--catalog', '--yes')
  expect(cured).toMatchObject({ status: 0, json: { verified: { before: true } } })
  expect(await repoint(home, gateway, 'doctor', 'codex')).toMatchObject({ status: 0 })
})

test('a setup changes nothing if Codex does not print its table', async () => {
  const gateway = await aGateway()
  const home = aHomeWithCodex()
  home.put('table.json', 'no table')
  const before = home.text(config)
  expect(await repoint(home, gateway, 'codex', '--catalog', '--yes')).toMatchObject({
    status: 8,
    json: { error: { code: 'client-failed', hint: expect.stringContaining('0.122.0') } },
  })
  expect(home.text(config)).toBe(before)
})
