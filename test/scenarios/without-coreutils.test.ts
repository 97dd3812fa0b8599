import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'

/** Alpine without coreutils: repoint cannot find out whether a file has an access list. */

const key = 'sk-canary-alpine-3b8d1f6a902c'
const gateway = await withGateway({ key })
const auth = '.codex/auth.json'
const config = '.codex/config.toml'

function repoint(home: Home, args: readonly string[], keyInUse = key) {
  return runCli(home, [...args, '--json'], {
    env: { PATH: '', REPOINT_API_KEY: keyInUse, REPOINT_BASE_URL: gateway.url },
  })
}

const setUp = ['codex', '--yes']
const undo = ['rollback', '--yes']

function aHomeWithMode(name: string, mode: number): Home {
  const home = aHome()
  home.put(auth, '{"OPENAI_API_KEY": null}\n', 0o600)
  home.put(config, '# mine\n', 0o644)
  chmodSync(home.at(name), mode)
  return home
}

describe.runIf(process.platform === 'linux')('without coreutils', () => {
  test.each([
    [auth, 0o644],
    [config, 0o666],
  ])('%s of mode %o: what is set up can be undone', async (name, mode) => {
    const home = aHomeWithMode(name, mode)
    const before = home.snapshot()
    expect(await repoint(home, setUp)).toMatchObject({ status: 0 })
    expect(await repoint(home, undo)).toMatchObject({ status: 0 })
    expect(home.snapshot()).toEqual(before)
  })

  test.each([[auth, 0o664]])(
    '%s of mode %o: refused before the question, and the hint helps',
    async (name, mode) => {
      const home = aHomeWithMode(name, mode)
      const before = home.snapshot()
      for (const args of [[...setUp, '--dry-run'], setUp]) {
        const { status, json } = await repoint(home, args)
        expect({ status, json }).toMatchObject({
          status: 8,
          json: { error: { code: 'not-permitted', filesChanged: false } },
        })
        expect(home.snapshot()).toEqual(before)
      }

      chmodSync(home.at(name), (mode & ~0o070) | ((mode & 0o007) << 3))
      const allowed = home.snapshot()
      expect(await repoint(home, setUp)).toMatchObject({ status: 0 })
      expect(await repoint(home, undo)).toMatchObject({ status: 0 })
      expect(home.snapshot()).toEqual(allowed)
    },
  )

  const hasAccessLists = spawnSync('setfacl', ['--version']).error === undefined
  test.runIf(hasAccessLists)('a file with an access list is refused, and keeps it', async () => {
    const home = aHomeWithMode(auth, 0o600)
    spawnSync('setfacl', ['-m', 'u:65534:rw', home.at(auth)])
    const listed = () => spawnSync('getfacl', ['-n', home.at(auth)], { encoding: 'utf8' }).stdout
    const before = listed()
    expect(before).toContain('user:65534:rw')
    expect(await repoint(home, setUp)).toMatchObject({ status: 8 })
    expect(listed()).toBe(before)
  })

  test('off, doctor --fix and a new key change nothing if the file gives its group more rights since', async () => {
    const home = aHomeWithMode(auth, 0o600)
    expect(await repoint(home, [...setUp, '--name', 'work'])).toMatchObject({ status: 0 })
    chmodSync(home.at(auth), 0o660)
    const before = home.snapshot()

    for (const line of [
      'off codex --yes',
      'off codex --dry-run',
      'doctor codex --fix --yes --no-verify',
      'doctor codex --fix --dry-run --no-verify',
      'key work --yes --no-verify',
    ]) {
      const { status, json } = await repoint(home, line.split(' '), 'sk-canary-alpine-2')
      expect({ line, status, json }).toMatchObject({
        status: 8,
        json: { error: { code: 'not-permitted', filesChanged: false } },
      })
      expect(home.snapshot()).toEqual(before)
    }
  })
})
