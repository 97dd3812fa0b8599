import { chmodSync, existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { keychainOf } from '../../src/commands/inventory/keychain.ts'
import { runCli } from '../support/cli.ts'
import { aHome, type Home } from '../support/home.ts'
import { worldIn } from '../support/world.ts'

const key = 'sk-canary-one-5e6f708192a3b47f'
const entry = { name: 'work', baseUrl: "https://gw.example/o'clock" }
const setup = ['codex', '--no-verify', '--model', 'gpt-5.5', '--base-url', 'http://127.0.0.1:9']

function setUp(home: Home, env: Record<string, string>, ...args: string[]) {
  return runCli(home, [...setup, '--keychain', '--yes', '--json', ...args], {
    env: { REPOINT_API_KEY: key, ...env },
  })
}

const refused = (message: string, hint: string) => ({
  status: 8,
  json: {
    changed: false,
    error: {
      code: 'keychain-failed',
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    },
  },
})

// Its arguments alone: no macOS has run it.
test('macOS: the key goes to `security` on standard input, in hexadecimal digits', () => {
  const keychain = keychainOf('darwin')!
  expect(keychain.program).toBe('security')
  expect(keychain.store(entry, key)).toEqual({
    args: ['-i'],
    input: `add-generic-password -U -a "work" -s "repoint ${entry.baseUrl}" -X ${Buffer.from(key).toString('hex')}\n`,
  })
  const under = ['-a', 'work', '-s', `repoint ${entry.baseUrl}`]
  expect(keychain.lookUp(entry)).toEqual({ args: ['find-generic-password', ...under, '-w'] })
  expect(keychain.remove(entry)).toEqual({ args: ['delete-generic-password', ...under] })
  const found = { stdout: '', stderr: 'not found', reason: 'exited' as const }
  expect(keychain.isAbsent({ ...found, exitStatus: 44 })).toBe(true)
  // Locked, and nobody can be asked.
  expect(keychain.isAbsent({ ...found, exitStatus: 36 })).toBe(false)
  expect(() => keychain.store(entry, 'k'.repeat(4000))).toThrow('too long')
})

test('no program is known for Windows', () => {
  expect(keychainOf('win32')).toBeUndefined()
})

describe.runIf(process.platform === 'linux')('--keychain', () => {
  function aProgram(home: Home, text: string): Record<string, string> {
    home.put('bin/secret-tool', `#!/bin/sh\n${text}\n`)
    chmodSync(home.at('bin/secret-tool'), 0o755)
    return { PATH: `${home.at('bin')}:/usr/bin:/bin` }
  }

  test('a run that is killed leaves no key there that the list does not name', async () => {
    const home = aHome()
    // It stores the key, and kills the program that asked before that can switch anything.
    const program = 'if [ "$1" = store ]; then cat > "$HOME/stored"; kill -9 $PPID; fi'
    await setUp(home, aProgram(home, program))
    expect(home.text('stored')).toBe(key)
    expect(existsSync(home.at('.codex/auth.json'))).toBe(false)
    expect(JSON.parse(home.text('.local/state/repoint/gateways.json'))).toMatchObject({
      gateways: [
        { name: '127.0.0.1', baseUrl: 'http://127.0.0.1:9', maskedKey: expect.anything() },
      ],
    })
  })

  test('without the program: refused before anything is asked', async () => {
    const home = aHome()
    const PATH = home.at('bin')
    expect(await setUp(home, { PATH })).toMatchObject(
      refused('secret-tool, is not in PATH', 'libsecret-tools'),
    )
    expect(existsSync(home.at('.codex'))).toBe(false)
  })

  test.each([
    ['that never answers', 'exec sleep 30', 'has not answered within 1 s'],
    ['that keeps nothing', 'exit 0', 'does not give back the key'],
    ['that fails', 'echo "no bus" >&2; exit 1', 'cannot be used: no bus'],
    ['that repeats the key', 'cat >&2; exit 1', 'The keychain'],
  ])('a program %s: a clear error, nothing is changed', async (_, text, message) => {
    const home = aHome()
    const result = await setUp(home, aProgram(home, text), '--timeout', '1')
    expect(result).toMatchObject(refused(message, 'unlock it'))
    expect(result.stdout + result.stderr).not.toContain(key)
    expect(existsSync(home.at('.codex'))).toBe(false)
    expect(existsSync(home.at('.local/state/repoint/gateways.json'))).toBe(false)
  })

  test.each([
    ['none before', undefined, undefined],
    ['another before', 'sk-earlier-0123456789', 'sk-earlier-0123456789'],
  ])('a run that fails leaves the keychain as it was: %s', async (_, before, after) => {
    const home = aHome(before === undefined ? {} : { kept: before })
    // While the key is stored another run of repoint takes the lock.
    const { bootId, host, startTime } = worldIn(home).processes
    const holder = [1, startTime(1), bootId(), host, Date.now()].join(',')
    const lock = home.at('.local/state/repoint/lock')
    const program = `kept='${home.at('kept')}'
case $1 in
  store) cat > "$kept"; mkdir -p -m 700 '${lock}'; : > '${lock}/${holder}' ;;
  clear) rm "$kept" ;;
  *) ! test -e "$kept" || cat "$kept" ;;
esac`
    const result = await setUp(home, aProgram(home, program))
    expect(result).toMatchObject({ status: 9, json: { changed: false } })
    expect(existsSync(home.at('kept')) ? home.text('kept') : undefined).toBe(after)
  })
})
