import { expect, onTestFinished, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

/** opencode 2 reads auth.json only once, so its key is in a file that its configuration names. */

const key = 'sk-canary-opencode2-5e1f8a3c7b2d4960'
const newKey = 'sk-canary-opencode2-0c9b8a7f6e5d4c3b'

const auth = '.local/share/opencode/auth.json'
const keyFile = '.local/share/opencode/repoint-key'
const config = '.config/opencode/opencode.json'

function install(home: Home, version: string): void {
  home.put('bin/opencode', `#!/bin/sh\necho "opencode v${version}"\n`, 0o755)
}

async function aRun(home: Home, version: string) {
  const gateway = await withGateway({ key }, onTestFinished)
  install(home, version)
  const run = async (words: readonly string[], env: Record<string, string> = {}) => {
    const path = `${home.at('bin')}:${process.env['PATH']}`
    const all = { PATH: path, REPOINT_API_KEY: key, ...env }
    const { status, stdout, stderr } = await runInProcess(home, words, { env: all })
    expect(stdout + stderr).not.toMatch(new RegExp(`${key}|${newKey}`))
    return { status, stdout, stderr }
  }
  const setUp = (...more: string[]) =>
    run(['opencode', '--yes', '--base-url', gateway.url, ...more])
  return { run, setUp }
}

function settingsIn(home: Home) {
  return JSON.parse(home.text(config)).provider.gateway.options
}

test('the key is only in its private file, which the configuration names', async () => {
  const home = aHome()
  const { run, setUp } = await aRun(home, '2.0.17')
  expect(await setUp()).toMatchObject({ status: 0 })
  expect(settingsIn(home).apiKey).toBe(`{file:${home.at(keyFile)}}`)
  expect(home.text(keyFile)).toBe(`${key}\n`)
  expect(home.snapshot()[keyFile]).toMatch(/^file 600 /)
  expect(home.everything()).not.toContain(auth)

  const status = await run(['status', '--json'])
  const { clients } = JSON.parse(status.stdout) as { clients: { id: string }[] }
  const shown = clients.find(({ id }) => id === 'opencode')
  expect(shown).toMatchObject({ keyPath: home.at(keyFile), drift: [], obstacles: [] })
  expect(await run(['doctor', 'opencode'])).toMatchObject({ status: 0 })

  const changed = await run(['key', 'opencode', '--yes', '--no-verify'], {
    REPOINT_API_KEY: newKey,
  })
  expect(changed).toMatchObject({ status: 0 })
  expect(home.text(keyFile)).toBe(`${newKey}\n`)

  expect(await run(['off', 'opencode', '--yes'], { REPOINT_API_KEY: '' })).toMatchObject({
    status: 0,
  })
  expect(home.everything()).not.toContain(keyFile)
  expect(home.everything()).not.toContain(config)
})

test('the key moves with the version, there and back, and a rollback undoes each step', async () => {
  const home = aHome()
  const { run, setUp } = await aRun(home, '1.18.34')
  await setUp()
  expect(JSON.parse(home.text(auth))).toMatchObject({ gateway: { key } })
  const ofOne = home.snapshot()

  install(home, '2.0.17')
  expect(await setUp()).toMatchObject({ status: 0 })
  expect(home.everything()).toContain(keyFile)
  expect(home.everything().includes(auth) ? home.text(auth) : '').not.toContain(key)

  install(home, '1.18.34')
  expect(await setUp()).toMatchObject({ status: 0 })
  expect(home.everything()).not.toContain(keyFile)
  expect(settingsIn(home)).not.toHaveProperty('apiKey')
  expect(JSON.parse(home.text(auth))).toMatchObject({ gateway: { key } })

  await run(['rollback', '--yes'], { REPOINT_API_KEY: '' })
  await run(['rollback', '--yes'], { REPOINT_API_KEY: '' })
  expect(home.snapshot()).toMatchObject({ [auth]: ofOne[auth], [config]: ofOne[config] })
})

test('an entry of the same name in its new table is reported: it would win', async () => {
  const home = aHome({ [config]: '{ "providers": { "gateway": { "name": "mine" } } }\n' })
  const two = await aRun(home, '2.0.17')
  const refused = await two.setUp()
  expect(refused.status).not.toBe(0)
  expect(refused.stderr).toContain('opencode 2 uses providers.gateway')

  const one = await aRun(home, '1.18.34')
  expect(await one.setUp()).toMatchObject({ status: 0 })
})
