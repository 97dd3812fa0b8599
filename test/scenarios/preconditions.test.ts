import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { main } from '../../src/cli.ts'
import type { Files } from '../../src/platform/platform.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { platformIn, runInProcess } from '../support/in-process.ts'
import { asOrdinaryUser } from '../support/ordinary-user.ts'
import { setUp } from '../support/setup.ts'
import { notAsRoot } from '../support/world.ts'

/** A dry run, and a setup before its first request, find everything that would stop the setup at its end. */

const key = 'sk-canary-preconditions-8c7b6a5d4e3f'
const gateway = await withGateway({ key })
const state = '.local/state/repoint'
const words = ['codex', '--base-url', gateway.url, '--model', 'gpt-5.6-sol', '--yes']

/** Runs a command as an ordinary user, in this process. */
async function repoint(home: Home, args: readonly string[], calls: Partial<Files> = {}) {
  const platform = platformIn(home, { env: { REPOINT_API_KEY: key } })
  const user = { ...platform, ...notAsRoot(platform) }
  let stdout = ''
  const terminal = {
    ...user.terminal,
    out: (text: string) => {
      stdout += text
    },
    err: () => {},
    readStdin: async () => new Uint8Array(),
  }
  const files = { ...asOrdinaryUser(user.files, home.path), ...calls }
  const status = await main({ ...user, files, terminal }, [...args, '--json'])
  return { status, json: JSON.parse(stdout) as { error?: { code: string; hint: string } } }
}

interface Precondition {
  readonly prepare?: (home: Home) => void
  readonly calls?: Partial<Files>
  readonly status: number
  readonly code: string
  /** The folder that the hint names, and what it says. */
  readonly hint: (home: Home) => readonly string[]
}

const preconditions: readonly (readonly [string, Precondition])[] = [
  [
    'a folder of the client that is read-only',
    {
      prepare: (home) => chmodSync(home.at('.codex'), 0o500),
      ...{ status: 8, code: 'not-permitted' },
      hint: (home) => [`ls -ld ${home.at('.codex')}.`],
    },
  ],
  [
    'a state folder that is read-only',
    {
      prepare: (home) => {
        mkdirSync(home.at(state), { recursive: true })
        chmodSync(home.at(state), 0o500)
      },
      ...{ status: 8, code: 'not-permitted' },
      hint: (home) => [home.at(state), 'REPOINT_STATE_DIR'],
    },
  ],
  [
    'a state folder that cannot be created',
    {
      prepare: (home) => mkdirSync(home.at('.local'), { mode: 0o500 }),
      ...{ status: 8, code: 'not-permitted' },
      hint: (home) => [home.at('.local'), 'REPOINT_STATE_DIR'],
    },
  ],
  [
    'a full disk',
    {
      calls: { freeBytes: () => 4096 },
      ...{ status: 8, code: 'disk-full' },
      hint: () => ['Make room on the disk', 'REPOINT_STATE_DIR'],
    },
  ],
  [
    'a full disk of the client',
    {
      calls: { freeBytes: (folder) => (folder.endsWith('.codex') ? 0 : undefined) },
      ...{ status: 8, code: 'disk-full' },
      hint: () => ['Make room on the disk'],
    },
  ],
  [
    'another run that holds the lock',
    {
      prepare: (home) => {
        home.put(`${state}/lock/held`, '')
        chmodSync(home.at(state), 0o700)
      },
      ...{ status: 9, code: 'locked' },
      hint: () => ['Wait for it'],
    },
  ],
]

describe('a setup', () => {
  test.each(preconditions)('with %s ends like its dry run, before a request', async (_, given) => {
    const { prepare, calls, status, code, hint } = given
    const home = aHome({ '.codex/config.toml': '# mine\n' }, (remove) =>
      onTestFinished(() => {
        for (const name of ['.codex', '.local', state])
          try {
            chmodSync(home.at(name), 0o700)
          } catch {
            // The test did not create it.
          }
        remove()
      }),
    )
    prepare?.(home)

    const before = gateway.requests().length
    const dryRun = await repoint(home, [...words, '--dry-run'], calls)
    const setup = await repoint(home, words, calls)
    expect([dryRun, setup]).toMatchObject([1, 2].map(() => ({ status, json: { error: { code } } })))
    expect(dryRun.json.error).toEqual(setup.json.error)
    for (const words of hint(home)) expect(setup.json.error?.hint).toContain(words)
    expect(gateway.requests().length).toBe(before)
    expect(home.text('.codex/config.toml')).toBe('# mine\n')
  })

  test('in a folder that nobody can write works if nothing is to be changed', async () => {
    const home = aHome()
    const claude = ['claude', '--base-url', gateway.url, '--yes']
    expect(await repoint(home, claude)).toMatchObject({ status: 0 })
    chmodSync(home.at('.claude'), 0o500)
    for (const args of [[...claude, '--dry-run'], claude])
      expect(await repoint(home, args)).toMatchObject({ status: 0, json: { changed: false } })
    chmodSync(home.at('.claude'), 0o700)
  })
})

const canMount = process.platform === 'linux' && process.getuid?.() === 0

/** Mounts a file system of 64 kB. Returns whether that worked: a container may not allow it. */
function mount(folder: string): boolean {
  const args = ['-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', folder]
  return spawnSync('mount', args).status === 0
}

test.runIf(canMount)(
  'a disk that is really full is found by the dry run and by doctor',
  async () => {
    const home = aHome({ '.codex/config.toml': '# mine\n' })
    mkdirSync(home.at(state), { recursive: true })
    if (!mount(home.at(state))) return
    onTestFinished(() => void spawnSync('umount', [home.at(state)]))
    const fill = () => {
      for (;;) appendFileSync(home.at(`${state}/models.txt`), Buffer.alloc(4096))
    }
    expect(fill).toThrow('ENOSPC')

    const env = { REPOINT_API_KEY: key }
    for (const args of [[...words, '--dry-run'], words]) {
      const { status, json } = await runInProcess(home, [...args, '--json'], { env })
      expect([status, json]).toMatchObject([8, { error: { code: 'disk-full' } }])
    }
    const doctor = await runInProcess(home, ['doctor', 'codex', '--no-verify', '--json'], { env })
    expect(doctor.json).toMatchObject({
      checks: expect.arrayContaining([
        expect.objectContaining({ about: 'machine', id: 'disk-full', result: 'warning' }),
      ]),
    })
  },
)

test.each([
  ['the folder of the client is a file', '.codex', (home: Home) => home.put('.codex', '')],
  [
    'the file is a link into a folder that does not exist',
    '.codex/config.toml',
    (home: Home) => symlinkSync('/nowhere/config.toml', home.at('.codex/config.toml')),
  ],
])('%s: status and doctor name it, and no cure that fails', async (_name, path, make) => {
  const home = aHome()
  await setUp(home, 'codex', gateway)
  rmSync(home.at(path), { recursive: true })
  make(home)
  for (const args of [
    ['status', 'codex'],
    ['doctor', '--no-verify'],
  ]) {
    const { stdout } = await runInProcess(home, args)
    expect(stdout).toMatch(/not a regular file in a folder|a folder that does not exist/)
    expect(stdout).not.toContain('--fix')
  }
})
