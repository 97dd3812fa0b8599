import { existsSync, readdirSync } from 'node:fs'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { installedClient } from './support/install.ts'

/** Kilo's conversion of a configuration at its first start. */

const key = 'sk-real-clients-9d21c4e7b80f3a56'
const file = '.config/kilo/kilo.jsonc'

const gateway = await withGateway({ key })

async function start(home: Home): Promise<void> {
  const [program, ...first] = installedClient('kilo')
  await execa(program, [...first, 'debug', 'config'], {
    env: { PATH: process.env['PATH'], HOME: home.path, KILO_DISABLE_MODELS_FETCH: '1' },
    extendEnv: false,
    cwd: home.path,
    stdin: 'ignore',
    timeout: 150_000,
  })
}

async function repoint(home: Home, ...args: string[]): Promise<void> {
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
  expect((await runCli(home, [...args, '--yes', '--json'], { env })).status).toBe(0)
}

test('a handwritten configuration allows every command', async () => {
  const home = aHome({ [file]: '{\n  "share": "disabled"\n}\n' })
  await start(home)
  expect(JSON.parse(home.text(file)).permission).toEqual({ bash: 'allow' })
})

test('a configuration of repoint does not allow every command, and the hint removes the key from the database of Kilo', async () => {
  const home = aHome()
  await repoint(home, 'kilo')
  const written = home.text(file)
  await start(home)
  expect(home.text(file)).toBe(written)
  expect(JSON.parse(written).permission).toEqual({ bash: {} })
  const held = () => readdirSync(home.at('.local/share/kilo')).filter(holdsKey)
  const holdsKey = (name: string) =>
    name.startsWith('kilo.db') && home.text(`.local/share/kilo/${name}`).includes(key)
  expect(held()).not.toEqual([])

  const { stdout } = await runCli(home, ['rollback', '--yes', '--json'])
  expect(existsSync(home.at(file))).toBe(false)
  expect(held()).not.toEqual([])
  const [warning] = JSON.parse(stdout).warnings.filter(
    ({ code }: { code: string }) => code === 'key-copied',
  )
  const [, database, sql] = /^To remove it: sqlite3 (\S+) "(.*)"$/.exec(warning.hint)!
  await execa('sqlite3', [database!, sql!])
  expect(held()).toEqual([])
})
