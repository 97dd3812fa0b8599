import { describe, expect, test } from 'vitest'
import type { ClientWorld } from '../../src/clients/contract/client.ts'
import { emptyState } from '../../src/clients/contract/state.ts'
import { expectUsableOptions } from '../../src/clients/list.ts'
import { optionsToKeep } from '../../src/clients/options/chosen-options.ts'
import type { RunResult } from '../../src/platform/platform.ts'
import {
  aMachine,
  byId,
  codesOf,
  type Disk,
  filesOf,
  findingsOn,
  key,
  launchOn,
  planOn,
  text,
} from './support.ts'

/** The differences between Kilo and opencode. */

const kilo = byId('kilo')
const config = '.config/kilo/kilo.jsonc'
const auth = '.local/share/kilo/auth.json'

describe('a setup writes the file with the highest precedence', () => {
  const targetOn = (disk: Disk, env = {}) =>
    filesOf(kilo, aMachine({ env }), disk).find(({ kind }) => kind === 'config')?.path

  test.each([
    [[], 'kilo.jsonc'],
    [['config.json'], 'kilo.jsonc'],
    [['config.json', 'kilo.json'], 'kilo.json'],
    [['kilo.json', 'kilo.jsonc'], 'kilo.jsonc'],
    [['kilo.jsonc', 'opencode.json'], 'opencode.json'],
    [['opencode.json', 'opencode.jsonc'], 'opencode.jsonc'],
  ])('of %j it writes %s', (names, target) => {
    const disk = Object.fromEntries(names.map((name) => [`.config/kilo/${name}`, '{}']))
    expect(targetOn(disk)).toBe(`/home/ada/.config/kilo/${target}`)
  })

  test("Kilo's variables move the file, opencode's variables do not", () => {
    expect(targetOn({}, { OPENCODE_CONFIG: '/x.json' })).toBe(`/home/ada/${config}`)
    expect(targetOn({}, { KILO_CONFIG: '/x.json', OPENCODE_CONFIG: '/y.json' })).toBe('/x.json')
    expect(targetOn({}, { XDG_CONFIG_HOME: '/c' })).toBe('/c/kilo/kilo.jsonc')
  })
})

test('a setup reports the files that override it, in the order of their precedence', () => {
  const text = '{"model":"other/m"}'
  const names = ['opencode.json', 'kilo.json', '.kilo/kilo.json', '.kilocode/opencode.jsonc']
  const disk: Disk = {
    ...Object.fromEntries(names.map((name) => [`work/${name}`, text])),
    '.kilo/kilo.jsonc': text,
    'work/.opencode/opencode.json': text,
    '/etc/kilo/kilo.json': text,
  }
  const found = planOn(kilo, disk).findings.filter(({ code }) => /-config$/.test(code))
  expect(found.map(({ code, location }) => [code, location?.replace('/home/ada/', '~/')])).toEqual([
    ['kilo-upper-config', '~/.kilo/kilo.jsonc:1'],
    ['kilo-project-config', '~/work/kilo.json:1'],
    ['kilo-project-config', '~/work/opencode.json:1'],
    ['kilo-project-config', '~/work/.kilocode/opencode.jsonc:1'],
    ['kilo-project-config', '~/work/.kilo/kilo.json:1'],
    ['kilo-managed-config', '/etc/kilo/kilo.json:1'],
  ])
})

describe('before the first start of Kilo', () => {
  const permissionAfter = (disk: Disk) =>
    JSON.parse(text(planOn(kilo, disk).edits[1]!.after)).permission

  test.each([
    ['an empty home', {}],
    ['a file with only the schema', { [config]: '{"$schema":"https://app.kilo.ai/config.json"}' }],
  ])('with %s, the setup does not allow every command', (_, disk) => {
    expect(codesOf(planOn(kilo, disk).findings)).toEqual(['kilo-first-start'])
    expect(permissionAfter(disk)).toEqual({ bash: {} })
  })

  test.each([
    ['Kilo was started before', { '.config/kilo/.bash-permission-migrated': '' }],
    ['a configuration exists', { [config]: '{"share":"disabled"}' }],
  ])('if %s, the setup adds nothing', (_, disk) => {
    expect(planOn(kilo, disk).findings).toEqual([])
    expect(permissionAfter(disk)).toBeUndefined()
  })
})

test("a setup cannot overwrite Kilo's built-in provider", () => {
  expect(() => expectUsableOptions(kilo, { providerId: 'kilo' })).toThrow(
    'Kilo has a built-in provider',
  )
  expect(
    optionsToKeep(kilo, { ...emptyState, options: { providerId: 'kilo', model: 'm' } }, 'kilo')
      .providerId,
  ).toBeUndefined()
})

test('findings name Kilo, not opencode', () => {
  const disk = {
    [config]:
      '{"model":"gateway/m","provider":{"gateway":{"options":{"baseURL":"https://gw.example/v1","apiKey":""}}}}',
    [auth]: '{ "gateway": { "type": "api", "key": "sk-a" }, }',
  }
  const machine = aMachine({ env: { KILO_AUTH_CONTENT: '{}', OPENCODE_CONFIG_CONTENT: '{}' } })
  const found = findingsOn(kilo, disk, machine)
  expect(codesOf(found)).toEqual([
    'kilo-auth-unreadable',
    'kilo-model-unlisted',
    'kilo-environment-auth',
  ])
  expect(JSON.stringify(found)).not.toContain('opencode')
})

test('a run passes its settings in KILO_CONFIG_CONTENT, and the key in another variable', () => {
  const { env, args } = launchOn(kilo, {}, {}, { args: ['run', 'hi'], env: {} })
  expect(args).toEqual(['run', 'hi'])
  expect(JSON.stringify(env)).not.toContain(key)
  expect(JSON.parse(env['KILO_CONFIG_CONTENT']!)).toMatchObject({
    model: 'gateway/gpt-5.6-sol',
    provider: { gateway: { options: { apiKey: '{env:REPOINT_RUN_KEY}' } } },
  })
})

describe("Kilo's server", () => {
  const state = '/home/ada/.local/state/kilo/daemon.json'

  function world(modifiedMs: Readonly<Record<string, number>>, result: Partial<RunResult> = {}) {
    const ran: (readonly string[])[] = []
    const outside = {
      machine: aMachine(),
      files: {
        read: (path: string) => new TextEncoder().encode(path === state ? '{"pid":42}' : ''),
        stat: (path: string) => ({ modifiedMs: modifiedMs[path] ?? 0 }),
      },
      processes: {
        startTime: (pid: number) => (pid === 42 ? 'then' : undefined),
        which: (command: string) => `/bin/${command}`,
        run: async (command: string, args: readonly string[]) => {
          ran.push([command, ...args])
          return { exitStatus: 0, reason: 'exited', stdout: '', stderr: '', ...result }
        },
      },
    } as unknown as ClientWorld
    return { outside, ran }
  }

  const serverIn = (world: ClientWorld) =>
    findingsOn(kilo, {}, world.machine, { world }).find(({ code }) => code === 'kilo-server')

  test('still has the key from its start, and repoint can stop it', async () => {
    const { outside, ran } = world({ [`/home/ada/${auth}`]: 2, [state]: 1 })
    const server = serverIn(outside)
    expect(server?.message).toContain('pid 42')
    expect(server?.process?.stopCommand).toBe('kilo daemon stop')
    expect(await server?.process?.stop()).toBeUndefined()
    expect(ran).toEqual([['/bin/kilo', 'daemon', 'stop']])
  })

  test('has the current key if it started later', () => {
    const { outside } = world({ [`/home/ada/${auth}`]: 1, [state]: 2 })
    expect(serverIn(outside)).toBeUndefined()
  })

  test('may keep running, and repoint reports the reason', async () => {
    const { outside } = world({}, { exitStatus: 1 })
    expect(await serverIn(outside)?.process?.stop()).toBe('kilo ended with status 1')
  })
})
