import { resolve } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { answer } from '../support/dialogue.ts'
import { fixtureCatalog, withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { setUp } from '../support/setup.ts'
import { askInProcess, keys as keyboard } from '../support/terminal.ts'

const keys = { one: 'sk-canary-one-5e6f708192a3b47f', two: 'sk-canary-two-d1c0b9a8f7e6d5c4' }
const files = {
  codex: ['.codex/config.toml', '.codex/auth.json'],
  claude: ['.claude/settings.json'],
  opencode: ['.config/opencode/opencode.json', '.local/share/opencode/auth.json'],
}

const gatewayOne = await withGateway({ key: keys.one })
const models = fixtureCatalog.filter(({ id }) => id !== 'gpt-5.6-terra')
const gatewayTwo = await withGateway({ key: keys.two, models })
beforeEach(() => {
  gatewayOne.clearRequests()
  gatewayTwo.clearRequests()
})

const choices: Readonly<Record<string, readonly string[]>> = {
  codex: ['--name', 'one', '--model', 'gpt-5.4', '--provider-id', 'work'],
  claude: ['--slot', 'opus', '--opus-model', 'claude-opus-5-5'],
  opencode: ['--model', 'gpt-5.6-terra'],
}

/** These clients, or all, are set up for `one` with different choices, and `two` is saved. */
async function aHomeBetween(clients = Object.keys(choices)): Promise<Home> {
  const home = aHome()
  await setUp(home, 'codex --name two', gatewayTwo)
  for (const client of clients) await setUp(home, [client, ...choices[client]!], gatewayOne)
  gatewayOne.clearRequests()
  gatewayTwo.clearRequests()
  return home
}

async function use(home: Home, ...args: string[]) {
  const { status, json, text } = await runHere(home, ['use', ...args])
  for (const key of Object.values(keys)) expect(text).not.toContain(key)
  return { status, json }
}

describe('repoint use', () => {
  test('asks which clients if none is set up, and a script is told a command', async () => {
    const home = aHome({}, onTestFinished)
    const env = { REPOINT_API_KEY: keys.one, PATH: home.at('bin') }
    home.put('bin/opencode', '#!/bin/sh\necho 1.18.34\n', 0o755)
    const added = await runInProcess(home, ['gateways', 'add', gatewayOne.url, '--name', 'one'], {
      env,
    })
    expect(added.stdout).toMatch(/: repoint use one$/m)

    const script = await runInProcess(home, ['use', 'one', '--yes'], { env })
    expect(script.status).toBe(2)
    expect(script.stderr).toContain('Name a client: repoint use one opencode')

    const run = askInProcess(home, ['use', 'one', '--no-try-client'], { env: { PATH: env.PATH } })
    await run.shows('Which clients should use it?')
    await answer(run, 'opencode 1.18.34')
    await answer(run, 'Apply?', 'y')
    expect(await run.ended).toBe(0)
    expect(run.screen()).toContain('Now run: opencode')
    expect(home.text('.config/opencode/opencode.json')).toContain(gatewayOne.url)
  })

  test.each([
    ['use', 'two', '--yes'],
    ['run', 'two', '--', 'true'],
    ['check', 'two'],
  ])(
    '%s %s: the error for a key or address that no longer works names the command that changes it',
    async (...args) => {
      const home = await aHomeBetween(['codex'])
      const before = home.snapshot()
      const file = '.local/state/repoint/gateways.json'
      home.replace(file, keys.two, 'sk-old-0123456789abcdef')
      const rejected = await runInProcess(home, args)
      expect(rejected.status).toBe(3)
      expect(rejected.stdout + rejected.stderr).toContain(
        `repoint gateways add ${gatewayTwo.url} --name two`,
      )

      home.replace(file, gatewayTwo.url, 'http://127.0.0.1:1')
      const refused = await runInProcess(home, args)
      expect(refused.status).toBe(6)
      expect(refused.stdout + refused.stderr).toContain('repoint gateways add URL')
      expect(home.snapshot()).toEqual(before)
    },
  )

  test('uses the named model if no rule chooses one, or else the first that answers', async () => {
    const models = ['up/one', 'up/two'].map((id) => ({ ...fixtureCatalog[0]!, id }))
    const three = await withGateway({ key: keys.one, models }, onTestFinished)
    const home = aHome()
    await setUp(home, 'opencode --name three --model up/one', three)

    const first = await use(home, 'three', 'codex', 'claude', '--dry-run')
    expect(first).toMatchObject({ status: 0, json: { model: 'up/one' } })
    const named = await use(home, 'three', 'codex', 'claude', '--model', 'up/two', '--yes')
    expect(named).toMatchObject({ status: 0, json: { changed: true, model: 'up/two' } })
    expect(home.text('.claude/settings.json')).toContain(
      '"ANTHROPIC_DEFAULT_HAIKU_MODEL": "up/two"',
    )
  })

  test('reports a damaged record once', async () => {
    const home = await aHomeBetween()
    home.put('.local/state/repoint/run-20200101T000000Z-0000.json', 'broken')
    const { json } = await use(home, 'two', '--dry-run')
    const { warnings } = json as { warnings: readonly { code: string }[] }
    expect(warnings.filter(({ code }) => code === 'record-damaged')).toHaveLength(1)
  })

  test('leaves out a client whose file cannot be read, and says so', async () => {
    const home = await aHomeBetween()
    home.put('.claude/settings.json', '{ broken')

    const { status, json } = await use(home, 'two', '--yes')
    const leftOut = { code: 'client-left-out', message: expect.stringContaining('Claude Code') }
    expect({ status, json }).toMatchObject({
      status: 0,
      json: { changed: true, warnings: expect.arrayContaining([expect.objectContaining(leftOut)]) },
    })
  })

  test('reports the file of the only client that is set up if it cannot be read', async () => {
    const home = await aHomeBetween()
    for (const name of ['.claude/settings.json', '.codex/config.toml', files.opencode.at(-1)!])
      home.put(name, '{ broken')
    const { status, json } = await use(home, 'two', '--yes')
    expect({ status, json }).toMatchObject({
      status: 8,
      json: { error: { code: 'opencode-auth-unreadable' } },
    })
  })

  test('points all clients at the gateway in one run, with their choices, and rollback restores every byte', async () => {
    const home = await aHomeBetween()
    const before = home.snapshot()
    const { status, json } = await use(home, 'two', '--yes')
    expect(status).toBe(0)
    expect(json).toMatchObject({ command: 'use', changed: true, baseUrl: gatewayTwo.url })
    for (const name of Object.values(files).flat()) {
      expect(home.text(name)).not.toContain(keys.one)
      expect(home.text(name)).not.toContain(gatewayOne.url)
    }
    const config = home.text('.codex/config.toml')
    expect(config).toMatch(/^model = "gpt-5.4"/m)
    expect(config).toMatch(/^model_provider = "work"/m)
    expect(JSON.parse(home.text('.claude/settings.json'))).toMatchObject({
      model: 'opus',
      env: { ANTHROPIC_DEFAULT_OPUS_MODEL: 'claude-opus-5-5', ANTHROPIC_BASE_URL: gatewayTwo.url },
    })
    // Only `one` has that model.
    expect(JSON.parse(home.text('.config/opencode/opencode.json')).model).toBe(
      'gateway/gpt-5.6-sol',
    )
    expect(json.warnings).toEqual(
      expect.arrayContaining([expect.objectContaining({ code: 'choice-not-kept' })]),
    )
    expect(gatewayOne.requests()).toEqual([])
    expect(gatewayTwo.requests().every(({ keyMatches }) => keyMatches)).toBe(true)

    expect((await use(home, 'two', '--yes')).json).toMatchObject({ changed: false })
    expect((await runInProcess(home, ['rollback', '--yes'])).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
    const { stdout } = await runInProcess(home, ['gateways'])
    expect(stdout).toMatch(/^\* one .* codex, claude, opencode /m)
  })

  test('status and doctor call the gateway by its name', async () => {
    const home = await aHomeBetween()
    const status = await runInProcess(home, ['status'])
    expect(status.stdout).toContain(`✔ Codex        ${gatewayOne.url} (one) `)
    const { json } = await runInProcess(home, ['status', '--json'])
    expect(json).toMatchObject({
      clients: expect.arrayContaining([expect.objectContaining({ id: 'codex', gateway: 'one' })]),
    })
    const doctor = await runInProcess(home, ['doctor', 'codex'])
    expect(doctor.stdout).toContain(`one (${gatewayOne.url}) lists `)
  })

  test('without arguments on a terminal, asks which gateway and which clients', async () => {
    const home = await aHomeBetween()
    const run = askInProcess(home, ['use'])
    await answer(run, 'Which gateway?', keyboard.down)
    await answer(run, 'Which clients?')
    // Codex's table of the earlier setup at that gateway is removed, which needs consent.
    await answer(run, 'marked "!"?', 'y')
    expect(await run.ended).toBe(0)
    expect(home.text('.codex/config.toml')).toContain(gatewayTwo.url)
    expect(home.text('.claude/settings.json')).toContain(gatewayTwo.url)
  })

  test('--model without an ID offers the models that all the clients can use', async () => {
    const home = await aHomeBetween(['codex', 'opencode'])
    const run = askInProcess(home, ['use', 'two', 'codex', 'opencode', '--model'])
    await run.shows('Which model should Codex and opencode use?')
    run.type('5.4-m')
    await answer(run, '❯ gpt-5.4-mini')
    await answer(run, 'Apply', 'y')
    expect(await run.ended).toBe(0)
    expect(home.text('.codex/config.toml')).toContain('model = "gpt-5.4-mini"')
    expect(home.text('.config/opencode/opencode.json')).toContain('"gateway/gpt-5.4-mini"')
  })

  test('repoint alone offers the saved gateways before it asks for an address', async () => {
    const home = await aHomeBetween()
    const run = askInProcess(home, [])
    await run.shows('Gateway address')
    await answer(run, 'tested just now', keyboard.down)
    await answer(run, 'Which clients should', keyboard.space)
    // Codex's table of the earlier setup at that gateway is removed, which needs consent.
    await answer(run, 'marked "!"?', 'y')
    expect(await run.ended).toBe(0)
    expect(home.text('.codex/auth.json')).toContain(keys.two)
  })

  test('changes only the named clients, also one that was not set up', async () => {
    const home = aHome()
    await setUp(home, 'codex --name two', gatewayTwo)
    await setUp(home, 'codex --name one', gatewayOne)
    expect((await use(home, 'two', 'claude', '--yes')).json).toMatchObject({ changed: true })
    expect(home.text('.claude/settings.json')).toContain(gatewayTwo.url)
    expect(home.text('.codex/config.toml')).toContain(gatewayOne.url)
  })

  test('--dry-run says what would change, and changes nothing', async () => {
    const home = await aHomeBetween()
    const before = home.snapshot()
    const { status, json } = await use(home, 'two', '--dry-run')
    expect({ status, json }).toMatchObject({ status: 0, json: { dryRun: true, changed: true } })
    expect(home.snapshot()).toEqual(before)
    expect((await use(home, 'one', '--dry-run')).json).toMatchObject({ changed: false })
  })

  test('ignores address and key of the environment, which are for another gateway', async () => {
    const home = await aHomeBetween(['codex'])
    const env = { REPOINT_API_KEY: keys.one, REPOINT_BASE_URL: gatewayOne.url }
    expect((await runInProcess(home, ['use', 'two', '--yes'], { env })).status).toBe(0)
    expect(gatewayOne.requests()).toEqual([])
    expect(home.text('.codex/auth.json')).toContain(keys.two)
  })

  test.each<[string, string[], number, string]>([
    ['an unknown name', ['tow', '--yes'], 2, 'usage'],
    ['no name without a terminal', [], 2, 'usage'],
    ['no --yes without a terminal', ['two'], 2, 'confirmation-needed'],
    ['two setups of one file', ['two', 'claude', 'claude-gpt', '--yes'], 2, 'usage'],
    ['an unknown client', ['two', 'nobody', '--yes'], 2, 'usage'],
  ])('reports an error for %s, and changes nothing', async (_, args, status, code) => {
    const home = await aHomeBetween(['codex'])
    const before = home.snapshot()
    const result = await use(home, ...args)
    expect(result).toMatchObject({ status, json: { error: { code } } })
    expect(home.snapshot()).toEqual(before)
  })

  test('reports a gateway that now serves a page, and changes nothing', async () => {
    const home = await aHomeBetween(['codex'])
    const list = '.local/state/repoint/gateways.json'
    home.replace(list, gatewayTwo.url, `${gatewayTwo.url}/_repoint`)
    const before = home.snapshot()
    expect((await use(home, 'two', '--yes')).status).toBe(4)
    expect(home.snapshot()).toEqual(before)
  })

  test('needs the name of a client if none is set up', async () => {
    const home = aHome()
    await setUp(home, 'codex --name one', gatewayOne)
    await runInProcess(home, ['rollback', '--yes'])
    expect(await use(home, 'one', '--yes')).toMatchObject({
      status: 2,
      json: { error: { hint: 'Name a client: repoint use one codex' } },
    })
  })

  test('two runs at once: neither reports the changes of the other as an error', async () => {
    const home = await aHomeBetween(['codex'])
    const args = ['codex', '--yes', '--no-verify', '--json']
    const program = [process.execPath, resolve('bin/repoint.js'), 'use']
    const { status, stdout, stderr } = await runCli(home, ['use', 'two', ...args], {
      env: {
        NODE_OPTIONS: `--import ${resolve('test/support/after-unlock.mjs')}`,
        THEN: JSON.stringify([...program, 'one', ...args]),
      },
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).not.toContain('internal')
    expect(stdout.match(/"changed": ?true/g)).toHaveLength(2)
    expect(home.text('.codex/config.toml')).toContain(gatewayOne.url)
    expect(home.text('.codex/auth.json')).toContain(keys.one)
  })
})
