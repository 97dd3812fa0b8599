import { describe, expect, test } from 'vitest'
import { clientRows, environmentRows, familyRows, loadClient } from '../../src/clients/list.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

/** Where the version of each client comes from, and what happens if it stays unknown. */

const key = 'sk-canary-versions-3b8e5d1f7a2c4069'

const clients = await Promise.all([...clientRows, ...environmentRows].map(loadClient))
const fileClients = await Promise.all(familyRows.map(loadClient))

const gateway = await withGateway({ key })

type Client = (typeof clients)[number]

const startsFile = 'starts'

/** A home with a program for `client` that notes each start. */
function aHomeWith(
  { program }: Pick<Client, 'program'>,
  body: string,
  file = `bin/${program.command}`,
) {
  const home = aHome()
  home.put(file, `#!/bin/sh\necho "$*" >> '${home.at(startsFile)}'\n${body}\n`, 0o755)
  return home
}

function starts(home: Home): readonly string[] {
  if (!home.everything().includes(startsFile)) return []
  return home.text(startsFile).trim().split('\n')
}

/** The program's `--version` prints nothing. */
function withSilentProgram(client: Pick<Client, 'program'>): Home {
  return aHomeWith(client, 'exit 0')
}

/** The program's `--version` never ends, so repoint gives up at its time limit. */
function withSlowProgram(client: Pick<Client, 'program'>): Home {
  return aHomeWith(client, 'case "$1" in --version) exec sleep 60 ;; esac')
}

function repoint(home: Home, ...args: string[]) {
  return repointWithin(Number.POSITIVE_INFINITY, home, ...args)
}

/** The time limit for a slow program, in ms: enough for it to note its start on a busy machine. */
const slowProgramLimitMs = 2_000

/** Runs repoint, which ends a program after `programLimitMs`. */
async function repointWithin(programLimitMs: number, home: Home, ...args: string[]) {
  const { status, stdout, stderr } = await runInProcess(home, args, {
    env: {
      REPOINT_API_KEY: key,
      REPOINT_BASE_URL: gateway.url,
      PATH: `${home.at('bin')}:${process.env['PATH']}`,
    },
    programLimitMs,
  })
  expect(stdout + stderr).not.toContain(key)
  return { status, stdout, stderr }
}

const unknown = 'client-version-unknown'

function setupArgs({ id }: Client): readonly string[] {
  return id === 'copilot' ? [id] : [id, '--yes']
}

describe.each(clients)('a $id that does not report its version', (client) => {
  const { program } = client
  const { needsVersion } = program
  const needed = {
    setup: program.minVersion !== undefined,
    run: (program.minVersionForLaunch ?? program.minVersion) !== undefined,
  }

  test('is refused by a setup if it has an oldest version, and else reported: it may be a new major version', async () => {
    const home = withSilentProgram(client)
    const before = home.snapshot()
    const { status, stdout } = await repoint(home, ...setupArgs(client), '--json')
    const { error, warnings } = JSON.parse(stdout)
    if (needed.setup) {
      expect({ status, code: error.code }).toEqual({ status: 8, code: unknown })
      expect(error.message).toContain(program.minVersion)
      expect(error.hint).toContain(`${program.command} --version`)
      expect({ ...home.snapshot(), starts: '' }).toEqual({ ...before, starts: '' })
    } else {
      expect(status).toBe(0)
      const codes = warnings.map(({ code }: { code: string }) => code)
      expect(codes).toContain(unknown)
    }
  })

  test('is refused by `run` if it has an oldest version, and reported if its version matters', async () => {
    const home = withSilentProgram(client)
    const at = ['--base-url', gateway.url, '--key-env', 'REPOINT_API_KEY']
    const line = ['run', ...at, '--', program.command, 'hello']
    const { status, stderr } = await repoint(home, ...line)
    expect(status).toBe(needed.run ? 8 : 0)
    expect(starts(home).some((line) => line.includes('hello'))).toBe(!needed.run)
    expect(stderr.includes('version')).toBe(needed.run || needsVersion === true)
    expect(stderr.includes(`\`${program.command} --version\``)).toBe(
      needed.run || needsVersion === true,
    )
  })
})

describe.each(fileClients)('a $id that does not report its version', (client) => {
  const { program, family } = client

  test('is not started by `status`', async () => {
    const home = withSilentProgram(client)
    expect((await repoint(home, 'status', family)).status).toBe(0)
    expect(starts(home)).toEqual([])
  })

  test('is reported by `doctor`, as a problem if it has an oldest version', async () => {
    const home = withSilentProgram(client)
    const { stdout } = await repoint(home, 'doctor', family, '--no-verify', '--json')
    const found = JSON.parse(stdout).checks.filter(({ id }: { id: string }) => id === unknown)
    const result = program.minVersion === undefined ? 'warning' : 'problem'
    expect(found).toMatchObject([{ about: family, result }])
    expect(found[0].cure).toContain(`${program.command} --version`)
  })
})

test('a program that never answers does not report its version either', async () => {
  const client = clients.find(({ program }) => program.minVersion !== undefined)!
  const home = withSlowProgram(client)
  const words = [...setupArgs(client), '--json']
  const { status, stdout } = await repointWithin(slowProgramLimitMs, home, ...words)
  expect(starts(home)).toContain('--version')
  expect({ status, code: JSON.parse(stdout).error?.code }).toEqual({ status: 8, code: unknown })
})

test('`demo` reports that its home cannot be made, and ends', { timeout: 30_000 }, async () => {
  const home = aHome()
  const env = { TMPDIR: home.at('missing') }
  const { stdout } = await runInProcess(home, ['demo', '--json'], { env })
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'io-failed' } })
})

test('`demo --json` starts no client', { timeout: 30_000 }, async () => {
  const home = aHome()
  const script = `#!/bin/sh\ntouch '${home.at(startsFile)}'\nexec sleep 60\n`
  for (const { program } of clients) home.put(`bin/${program.command}`, script, 0o755)
  const { status, stdout } = await repoint(home, 'demo', '--json')
  expect({ status, ...JSON.parse(stdout) }).toMatchObject({ status: 0, isByteIdentical: true })
  expect(starts(home)).toEqual([])
})

describe.each(fileClients)('a $id from npm', (client) => {
  const { program, family, label } = client
  const version = program.testedVersions.at(-1) ?? '1.0.0'

  function installed(name: string, manifestVersion = version): Home {
    const file = `lib/node_modules/${name}/bin/${program.command}`
    const home = aHomeWith(client, 'echo 99.0.0', file)
    const manifest = JSON.stringify({ name, version: manifestVersion })
    home.put(`lib/node_modules/${name}/package.json`, manifest)
    home.put(`bin/${program.command}`, { link: `../${file}` })
    return home
  }

  async function shownVersion(home: Home): Promise<string> {
    const { stdout } = await repoint(home, 'doctor', family, '--no-verify', '--json')
    return JSON.parse(stdout).checks[0].message
  }

  test.each(program.packages.map((name) => name.replace('*', 'linux-x64')))(
    'has the version of its package %s, and is not started for it',
    async (name) => {
      const home = installed(name)
      const reported = await shownVersion(home)
      // The package of a program that updates itself may be older than the program.
      const expected = program.updatesItself ? '99.0.0' : version
      expect(reported).toContain(`${label} ${expected}`)
      expect(starts(home).filter((args) => args === '--version')).toHaveLength(
        program.updatesItself ? 1 : 0,
      )
    },
  )

  test('is started if the package.json is of another package', async () => {
    const home = installed('another-package')
    expect(await shownVersion(home)).toContain(`${label} 99.0.0`)
    expect(starts(home)).toContain('--version')
  })
})

test('a program that updates itself has at least the version of its package', async () => {
  const client = clients.find(({ id }) => id === 'droid')!
  const home = withSlowProgram(client)
  home.put('package.json', JSON.stringify({ name: 'droid', version: '0.225.2' }))
  const words = ['droid', '--yes', '--json']
  expect((await repointWithin(slowProgramLimitMs, home, ...words)).status).toBe(0)
  expect(starts(home)).toContain('--version')
})
