import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readCatalog } from '../../src/gateway/catalog.ts'
import {
  closestModels,
  defaultModels,
  gptTiers,
  resolveModel,
} from '../../src/gateway/models/rules.ts'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { accessTo, aServer, key, sendJson } from './forged.ts'

const pad = (text: string, length: number): string => text.padEnd(length, 'x')

/** Lists of many IDs. Each kind is the worst case for one of the rules. */
const lists = {
  '30,000 families, base and mini': many(
    30_000,
    (n) => `gpt-${n >> 1}.${n}${n % 2 ? '-mini' : ''}`,
  ),
  '130,000 families with a sol': many(130_000, (n) => `gpt-${n}-sol`),
  '200,000 short ids': many(200_000, (n) => `gpt-5.6-so${n}`),
  '38,000 ids of 200 characters': many(38_000, (n) => pad(`gpt-5.6-${n}-`, 200)),
  '38,000 ids of 201 characters': many(38_000, (n) => pad(`gpt-5.6-${n}-`, 201)),
  '200,000 times the same id': many(200_000, () => 'gpt-5.6-sol'),
}

function many(count: number, idOf: (n: number) => string): readonly { id: string }[] {
  return Array.from({ length: count }, (_, n) => ({ id: idOf(n) }))
}

async function aGatewayWith(data: readonly unknown[]) {
  return aServer((_request, response) => sendJson(response, 200, { object: 'list', data }))
}

describe('a hostile catalog', () => {
  test.each(Object.entries(lists))('%s are read and ranked quickly', async (name, data) => {
    const access = accessTo(await aGatewayWith(data))
    const started = process.cpuUsage()
    const catalog = await readCatalog(access).catch(() => undefined)
    if (catalog !== undefined) {
      defaultModels(catalog, 'responses')
      gptTiers(catalog)
      resolveModel(catalog, 'gpt-9')
      closestModels('gpt-5.6-sol', catalog)
    }
    // Quadratic rules took 12 s for the smallest list. Measured in processor time, because the machine may be busy.
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(5_000)

    if (name.includes('201 characters')) return expect(catalog).toBeUndefined()
    const isCut = !name.includes('the same id')
    expect(catalog?.models).toHaveLength(isCut ? 25_000 : 1)
    expect(catalog?.findings?.map(({ code }) => code) ?? []).toEqual(isCut ? ['catalog-cut'] : [])
  })
})

test('has endless pages, of which the first ones are read', async () => {
  const server = await aServer(({ url }, response) => {
    const id = `m-${Math.random()}-${url.length}`
    sendJson(response, 200, { data: [{ id }], has_more: true, last_id: id })
  })
  const catalog = await readCatalog(accessTo(server))
  expect(server.seen).toHaveLength(100)
  expect(catalog.models).toHaveLength(100)
  expect(catalog.findings?.[0]?.message).toBe(
    'The gateway lists more than 100 models. repoint read the first 100',
  )
})

describe('hostile catalog: the commands', () => {
  test.each([
    ['models', []],
    ['codex', ['--dry-run', '--model', 'gpt-5.6-soll']],
    ['claude-gpt', ['--dry-run']],
  ])('%s %j ends in time', { timeout: 60_000 }, async (command, args) => {
    const server = await aGatewayWith(lists['30,000 families, base and mini'])
    const { address } = accessTo(server)
    const { status, stderr } = await runInProcess(
      aHome({}),
      [command, ...args, '--base-url', address, '--timeout', '4', '--json'],
      { env: { REPOINT_API_KEY: key } },
    )
    expect(status).not.toBe(1)
    expect(stderr).not.toContain('RangeError')
  })

  const said = /^ *(?:warning:|!) +The gateway lists more than 1 model/m
  const saidBeforeError = /^warning: The gateway lists more than 1 model[\s\S]*^error: /m

  test.each<[string, number, RegExp]>([
    ['claude --base-url URL --yes', 5, saidBeforeError],
    ['editor --base-url URL --yes', 5, saidBeforeError],
    ['copilot --base-url URL --yes', 5, saidBeforeError],
    ['gateways add URL --name work', 5, saidBeforeError],
    ['run --base-url URL -- claude', 5, saidBeforeError],
    ['check URL', 5, said],
    ['models --base-url URL', 0, said],
    ['doctor claude', 5, said],
  ])('%s: a list that was read in part is said before an error', async (line, code, expected) => {
    const server = await aServer(({ url }, response) => {
      const page = { data: [{ id: 'gpt-5.6-sol' }], has_more: true, last_id: 'gpt-5.6-sol' }
      const isFirst = url === '/v1/models'
      sendJson(response, isFirst ? 200 : 400, isFirst ? page : { error: { message: 'no' } })
    })
    const { address } = accessTo(server)
    const env = { ANTHROPIC_BASE_URL: address, ANTHROPIC_AUTH_TOKEN: key }
    const home = aHome()
    home.put('.claude/settings.json', JSON.stringify({ env }), 0o600)
    const args = line.replace('URL', address).split(' ')
    const { status, stdout, stderr } = await runInProcess(home, args, {
      env: { REPOINT_API_KEY: key },
    })
    expect(status).toBe(code)
    expect(expected === said ? stdout + stderr : stderr).toMatch(expected)
  })

  test('Ctrl-C ends repoint while it reads the list', async () => {
    const server = await aServer((_request, response) => {
      response.write(`{"data":${JSON.stringify(lists['200,000 short ids']).slice(0, -1)}`)
    })
    const child = spawn(
      process.execPath,
      [resolve('bin/repoint.js'), 'models', '--base-url', accessTo(server).address],
      { env: { HOME: aHome({}).path, REPOINT_API_KEY: key }, stdio: 'ignore' },
    )
    const ended = new Promise((settle) => child.on('close', settle))
    await expect.poll(() => server.seen.length).toBe(1)
    child.kill('SIGINT')
    expect(await ended).toBe(130)
  })
})
