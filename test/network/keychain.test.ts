import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { aHome, type Home } from '../support/home.ts'
import { Keyring, missingPrograms } from './keyring.ts'

const keys = { one: 'sk-canary-kept-5e6f708192a3b47f', two: 'sk-canary-seen-d1c0b9a8f7e6d5c4' }
const state = '.local/state/repoint'

const why = `(not here: ${missingPrograms.join(', ')})`
const isHere = missingPrograms.length === 0
describe.runIf(isHere)(`a real Secret Service on a bus of its own ${isHere ? '' : why}`, () => {
  const keyring = new Keyring()
  let one: Gateway
  let two: Gateway
  beforeAll(async () => {
    await keyring.start()
    one = await startGateway({ port: 0, key: keys.one })
    two = await startGateway({ port: 0, key: keys.two })
  })
  afterAll(async () => {
    await keyring.stop()
    await one?.close()
    await two?.close()
  })

  const under = () => ['service', 'repoint', 'gateway', 'work', 'address', one.url]
  const inKeychain = () => keyring.ask(['lookup', ...under()]).stdout

  /** No argument, and nothing that is printed, holds a key. */
  async function repoint(home: Home, args: readonly string[], env: Record<string, string> = {}) {
    const result = await runCli(home, args, { env: { ...keyring.env, ...env } })
    for (const key of Object.values(keys)) {
      expect(result.stdout + result.stderr).not.toContain(key)
      expect(keyring.arguments()).not.toContain(key)
    }
    return result
  }

  function setUp(home: Home, { url, key }: Gateway, ...args: string[]) {
    const flags = ['--base-url', url, '--yes', '--json']
    return repoint(home, [...args, ...flags], { REPOINT_API_KEY: key })
  }

  /** TWO is remembered in the list, ONE as `work` in the keychain, and Codex points at ONE. */
  async function aHomeBetween(): Promise<Home> {
    const home = aHome()
    await setUp(home, two, 'codex', '--name', 'two')
    const set = await setUp(home, one, 'codex', '--name', 'work', '--keychain')
    expect(set).toMatchObject({ status: 0, json: { changed: true } })
    return home
  }

  /** All but the copies of the clients' files: the clients need the key in them. */
  function filesOfState(home: Home): string[] {
    const names = readdirSync(home.at(state), { recursive: true, encoding: 'utf8' })
    const isOwn = (name: string) => !name.startsWith('blobs/')
    return names.filter((name) => isOwn(name) && statSync(home.at(join(state, name))).isFile())
  }

  async function listed(home: Home) {
    const { json } = await repoint(home, ['gateways', '--json'])
    return (json as { gateways: unknown[] }).gateways
  }

  test('a key lies there, and in no file of the state folder but copies; a second setup leaves it there', async () => {
    const home = await aHomeBetween()
    expect(inKeychain()).toBe(keys.one)
    const work = { name: 'work', key: '....b47f', keychain: true, clients: ['codex'] }
    expect(await listed(home)).toMatchObject([work, { name: 'two', keychain: false }])
    expect(filesOfState(home)).toContain('gateways.json')
    for (const name of filesOfState(home))
      expect(readFileSync(home.at(join(state, name)), 'utf8')).not.toContain(keys.one)

    expect(await setUp(home, one, 'codex')).toMatchObject({ json: { changed: false } })
    expect(home.text(`${state}/gateways.json`)).not.toContain(keys.one)
    expect(await listed(home)).toMatchObject([work, {}])
    expect((await repoint(home, ['gateways'])).stdout).toContain('....b47f (keychain)')
  })

  test('--keychain moves a key that lay in the list', async () => {
    const home = aHome()
    await setUp(home, one, 'codex', '--name', 'work')
    expect(home.text(`${state}/gateways.json`)).toContain(keys.one)
    await setUp(home, one, 'codex', '--keychain')
    expect(home.text(`${state}/gateways.json`)).not.toContain(keys.one)
    expect(inKeychain()).toBe(keys.one)
  })

  test('use, run and gateways --check read it', async () => {
    const home = await aHomeBetween()
    await repoint(home, ['use', 'two', '--yes'])
    expect(home.text('.codex/auth.json')).toContain(keys.two)
    expect(await repoint(home, ['use', 'work', '--yes', '--json'])).toMatchObject({ status: 0 })
    expect(home.text('.codex/auth.json')).toContain(keys.one)

    const told = ['sh', '-c', 'printf %s "$OPENAI_API_KEY"']
    const run = await runCli(home, ['run', 'work', '--', ...told], { env: keyring.env })
    expect(run).toMatchObject({ status: 0, stdout: keys.one })
    expect(await repoint(home, ['gateways', '--check', '--json'])).toMatchObject({
      status: 0,
      json: { gateways: [{ check: { works: true } }, { check: { works: true } }] },
    })
    expect(home.text(`${state}/gateways.json`)).not.toContain(keys.one)
  })

  test('a new key takes its place', async () => {
    const home = await aHomeBetween()
    const args = ['key', '--no-verify', '--yes', '--json']
    const env = { REPOINT_API_KEY: keys.two }
    expect(await repoint(home, args, env)).toMatchObject({ json: { changed: true } })
    expect(inKeychain()).toBe(keys.two)
    expect(await listed(home)).toMatchObject([{ name: 'work', key: '....d5c4' }, {}])
  })

  test('forget takes it out there too', async () => {
    const home = await aHomeBetween()
    expect(await repoint(home, ['forget', 'work', '--yes'])).toMatchObject({ status: 0 })
    expect(keyring.ask(['lookup', ...under()])).toEqual({ status: 1, stdout: '' })
    expect(await listed(home)).toMatchObject([{ name: 'two' }])

    await setUp(home, one, 'codex', '--name', 'work', '--keychain')
    expect(inKeychain()).toBe(keys.one)
    expect(await repoint(home, ['forget', '--all', '--yes'])).toMatchObject({ status: 0 })
    expect(inKeychain()).toBe('')
  })

  test('a key that is gone: said with its cure, nothing is changed, and forget still works', async () => {
    const home = await aHomeBetween()
    keyring.ask(['clear', ...under()])
    const before = home.snapshot()
    const error = {
      code: 'key-missing',
      message: 'The keychain no longer has the key of the gateway work',
      hint: expect.stringContaining(`repoint key --base-url ${one.url}`),
    }
    const used = await repoint(home, ['use', 'work', '--yes', '--json'])
    expect(used).toMatchObject({ status: 2, json: { changed: false, error } })
    expect(await repoint(home, ['run', 'work', '--', 'true'])).toMatchObject({ status: 2 })
    expect(await repoint(home, ['gateways', '--check', '--json'])).toMatchObject({
      status: 2,
      json: { gateways: [{ check: { works: false, code: 'key-missing' } }, {}] },
    })
    expect(home.snapshot()).toEqual(before)

    const env = { REPOINT_API_KEY: keys.one }
    await repoint(home, ['key', '--base-url', one.url, '--yes'], env)
    expect(inKeychain()).toBe(keys.one)
    keyring.ask(['clear', ...under()])
    expect(await repoint(home, ['forget', 'work', '--yes'])).toMatchObject({ status: 0 })
  })

  test.each([
    ['that is locked', 'The keychain is locked', {}],
    ['without a bus', 'The keychain cannot be used', { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/no' }],
  ])('one %s: a clear error, and nothing is changed', async (what, message, env) => {
    const home = await aHomeBetween()
    const before = home.snapshot()
    // The list of a setup names the run that brought it, until it is written anew.
    const listed = () => home.text(`${state}/gateways.json`).replace(/^ "run": .*\n/m, '')
    const list = listed()
    const isLocked = what === 'that is locked'
    if (isLocked) await keyring.lock()
    try {
      const refused = {
        status: 8,
        json: {
          changed: false,
          error: { code: 'keychain-failed', message: expect.stringContaining(message) },
        },
      }
      const added = ['claude', '--name', 'mine', '--keychain', '--base-url', two.url]
      for (const args of [['use', 'work'], added, ['forget', 'work']]) {
        const all = { REPOINT_API_KEY: keys.two, ...env }
        expect(await repoint(home, [...args, '--yes', '--json'], all)).toMatchObject(refused)
      }
      expect(await repoint(home, ['run', 'work', '--', 'true'], env)).toMatchObject({ status: 8 })
      expect(home.snapshot()).toEqual(before)
      expect(listed()).toBe(list)
    } finally {
      if (isLocked) await keyring.unlock()
    }
    expect(inKeychain()).toBe(keys.one)
  })
})
