import { chmodSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { setUp, trySetUp } from '../support/setup.ts'

const keys = { one: 'sk-canary-one-5e6f708192a3b47f', two: 'sk-canary-two-d1c0b9a8f7e6d5c4' }
const list = '.local/state/repoint/gateways.json'

const gatewayOne = await withGateway({ key: keys.one })
const gatewayTwo = await withGateway({ key: keys.two })

async function gateways(home: Home, ...args: string[]) {
  const { status, stdout, json } = await runInProcess(home, ['gateways', '--json', ...args])
  for (const key of Object.values(keys)) expect(stdout).not.toContain(key)
  return { status, list: (json as { gateways: Record<string, unknown>[] }).gateways }
}

describe('a setup saves its gateway', () => {
  test('under the given name, with the protocol that worked, in a private file', async () => {
    const home = aHome()
    expect(await setUp(home, 'codex --name work', gatewayOne)).toMatchObject({ status: 0 })
    expect(await gateways(home)).toMatchObject({
      status: 0,
      list: [
        {
          name: 'work',
          baseUrl: gatewayOne.url,
          key: '....b47f',
          clients: ['codex'],
          proven: { protocol: 'responses', model: 'gpt-5.6-sol' },
        },
      ],
    })
    expect(statSync(home.at(list)).mode & 0o777).toBe(0o600)
    expect(statSync(home.at('.local/state/repoint')).mode & 0o777).toBe(0o700)
  })

  test('without a name, under its host, with a suffix if another gateway has that name', async () => {
    const home = aHome()
    await setUp(home, 'codex', gatewayOne)
    await setUp(home, 'claude', gatewayTwo)
    const { list } = await gateways(home)
    expect(list).toMatchObject([
      {
        name: `127.0.0.1-${new URL(gatewayTwo.url).port}`,
        baseUrl: gatewayTwo.url,
        clients: ['claude'],
      },
      { name: '127.0.0.1', baseUrl: gatewayOne.url, clients: ['codex'] },
    ])
    const { stdout } = await runInProcess(home, ['gateways'])
    expect(stdout).toMatch(
      /^\* 127\.0\.0\.1 +http:\S+ +\.{4}b47f +codex +just now: \S+ over responses/m,
    )
  })

  test('under the same name in a second run and with a new key', async () => {
    const home = aHome()
    await setUp(home, 'codex --name work', gatewayOne)
    expect((await setUp(home, 'codex', gatewayOne)).json).toMatchObject({ changed: false })
    const target = { url: gatewayOne.url, key: keys.two }
    await setUp(home, 'codex --no-verify --model gpt-5.5', target)
    const { list } = await gateways(home)
    expect(list).toMatchObject([{ name: 'work', key: '....d5c4', proven: null }])
    expect(list).toHaveLength(1)
  })

  test('but not in a dry run', async () => {
    const home = aHome()
    await setUp(home, 'codex --dry-run', gatewayOne)
    expect(await gateways(home)).toMatchObject({ list: [] })
  })

  test('and a second run that saves it reports no change', async () => {
    const home = aHome()
    await setUp(home, 'codex', gatewayOne)
    const runs = () => home.everything().filter((name) => /run-.*\.json$/.test(name))
    const before = runs()
    rmSync(home.at(list))
    const { json } = await setUp(home, 'codex', gatewayOne)
    expect(json).toMatchObject({ changed: false, run: null })
    expect(runs()).toEqual(before)
    expect(JSON.parse(home.text(list))).toMatchObject({ gateways: [{ address: gatewayOne.url }] })
  })

  test('a name of another address is refused before any request or change', async () => {
    const home = aHome()
    await setUp(home, 'codex --name work', gatewayOne)
    const before = home.snapshot()
    const asked = gatewayTwo.requests().length
    const { status, json } = await trySetUp(home, 'codex --name work', gatewayTwo)
    expect({ status, json }).toMatchObject({
      status: 2,
      json: { error: { code: 'usage', message: `The name work belongs to ${gatewayOne.url}` } },
    })
    expect(gatewayTwo.requests()).toHaveLength(asked)
    expect(home.snapshot()).toEqual(before)
  })

  test.each(['-x', 'a b', 'a/../b', '', 'sk-1234567890abcdef', 'x'.repeat(64)])(
    'an invalid name is refused: %j',
    async (name) => {
      const home = aHome()
      const { status, text } = await trySetUp(home, ['codex', `--name=${name}`], gatewayOne)
      expect(status).toBe(2)
      expect(text).not.toContain('sk-1234567890abcdef')
      expect(existsSync(home.at('.codex'))).toBe(false)
    },
  )

  test.each([[[]], [['--name', 'work']]])(
    'a damaged list of gateways stops no setup: %j',
    async (flags) => {
      const home = aHome({ [list]: 'broken' })
      chmodSync(home.at('.local/state/repoint'), 0o700)
      for (const changed of [true, false]) {
        const { status, json } = await trySetUp(home, ['codex', ...flags], gatewayOne)
        expect({ status, json }).toMatchObject({ status: 0, json: { changed } })
        const codes = (json['warnings'] as { code: string }[]).map(({ code }) => code)
        expect(codes.filter((code) => /gateway|record/.test(code))).toEqual(['gateway-not-saved'])
        expect(home.text(list)).toBe('broken')
      }
      const listed = await runInProcess(home, ['gateways', '--json'])
      expect(listed).toMatchObject({ status: 8, json: { error: { code: 'record-damaged' } } })
    },
  )
})

describe('forget', () => {
  test('asks, removes a gateway with its key, and keeps every undo', async () => {
    const home = aHome()
    await setUp(home, 'codex --name work', gatewayOne)
    await setUp(home, 'claude --name mine', gatewayTwo)
    const before = home.snapshot()
    expect(await runInProcess(home, ['forget', 'work', '--json'])).toMatchObject({
      status: 2,
      json: { error: { code: 'confirmation-needed' } },
    })
    expect((await runInProcess(home, ['forget', 'work', '--yes', '--json'])).json).toMatchObject({
      changed: true,
      runs: [],
      gateways: ['work'],
    })
    expect(readFileSync(home.at(list), 'utf8')).not.toContain(keys.one)
    expect((await gateways(home)).list).toMatchObject([{ name: 'mine' }])
    expect(home.snapshot()).toEqual(before)
    expect((await runInProcess(home, ['rollback', '--list', '--json'])).json).toMatchObject({
      runs: [{}, {}],
    })
  })

  test('--all removes the gateways with the runs, also from a damaged list', async () => {
    const home = aHome()
    await setUp(home, 'codex --name work', gatewayOne)
    const { stdout } = await runInProcess(home, ['forget', '--all', '--yes'])
    expect(stdout).toContain(
      `Deletes gateway work and its key: ${gatewayOne.url} (codex still uses it)\n`,
    )
    expect(existsSync(home.at(list))).toBe(false)
    home.put(list, '{"version":2}')
    expect(await runInProcess(home, ['forget', '--all', '--yes'])).toMatchObject({ status: 0 })
    expect(existsSync(home.at(list))).toBe(false)
  })

  test('suggests the nearest name for an unknown one', async () => {
    const home = aHome()
    await setUp(home, 'codex --name work', gatewayOne)
    expect((await runInProcess(home, ['forget', 'wrok', '--yes', '--json'])).json).toMatchObject({
      error: { code: 'usage', hint: expect.stringContaining('Did you mean: repoint ') },
    })
  })

  test('refuses a gateway and runs in one command', async () => {
    expect((await runInProcess(aHome(), ['forget', 'work', '--all', '--json'])).status).toBe(2)
  })
})

describe('gateways rename and remove', () => {
  test('rename keeps the gateway, its clients and the folders that use it', async () => {
    const home = aHome()
    await setUp(home, 'codex --name one', gatewayOne)
    await setUp(home, 'claude --name two', gatewayTwo)
    await runInProcess(home, ['folder', 'one'])

    const renamed = await runHere(home, ['gateways', 'rename', 'one', 'office'])
    expect(renamed).toMatchObject({
      status: 0,
      json: { action: 'rename', changed: true, saved: 'office', baseUrl: gatewayOne.url },
    })
    expect((await gateways(home)).list).toMatchObject([
      { name: 'two', clients: ['claude'] },
      { name: 'office', clients: ['codex'] },
    ])
    const { json } = await runHere(home, ['folder'])
    expect(json).toMatchObject({ here: { gateway: 'office' } })
  })

  test.each([
    ['the name of another gateway', 'two'],
    ['a name that could be a flag', '-x'],
    ['a key', 'sk-canary-name-0123456789abcdef'],
  ])('rename refuses %s, and changes nothing', async (_, name) => {
    const home = aHome()
    await setUp(home, 'codex --name one', gatewayOne)
    await setUp(home, 'claude --name two', gatewayTwo)
    const before = home.text(list)
    const { status, stderr } = await runInProcess(home, ['gateways', 'rename', 'one', name])
    expect({ status, stderr }).toMatchObject({
      status: 2,
      stderr: expect.not.stringContaining('sk-'),
    })
    expect(home.text(list)).toBe(before)
  })

  test('remove asks first, and deletes the gateway with its key', async () => {
    const home = aHome()
    await setUp(home, 'codex --name one', gatewayOne)
    expect(await runInProcess(home, ['gateways', 'remove', 'one'])).toMatchObject({ status: 2 })
    expect(home.text(list)).toContain(keys.one)
    const { status } = await runInProcess(home, ['gateways', 'remove', 'one', '--yes'])
    expect(status).toBe(0)
    expect(existsSync(home.at(list))).toBe(false)
  })

  test.each([
    [['add'], 'needs the address of a gateway'],
    [['remove'], 'needs the name of a gateway'],
    [['rename', 'one'], 'needs the name of a gateway and its new name'],
    [['export', 'one', 'two'], 'takes only the name of a gateway'],
    [['add', 'one', 'https://gw.example'], 'repoint gateways add https://gw.example --name work'],
  ])('gateways %j: the error names what it needs', async (words, needs) => {
    const { status, stderr } = await runInProcess(aHome(), ['gateways', ...words])
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining(needs) })
  })
})
