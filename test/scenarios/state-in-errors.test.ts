import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { main } from '../../src/cli.ts'
import { nodePlatform } from '../../src/platform/node.ts'
import type { Files } from '../../src/platform/platform.ts'
import { captured } from '../support/captured.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { worldIn } from '../support/world.ts'

const canary = 'sk-canary-5f4e3d2c1b0a99887766'
const changed = 'The files were changed. Undo: repoint rollback'
const platform = nodePlatform()

const gateway = await withGateway({ key: canary })

function environment(home: Home): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home.path,
    REPOINT_BASE_URL: gateway.url,
    REPOINT_API_KEY: canary,
  }
}

/** Runs a command in this process. `replaced` replaces file calls once the files have switched. */
async function runWith(
  home: Home,
  args: string[],
  replaced: (files: Files) => Partial<Files>,
  hasSwitched: () => boolean,
) {
  const world = worldIn(home, environment(home))
  const { output, terminal } = captured(platform.terminal)
  const afterSwitch = replaced(world.files)
  const files = new Proxy(world.files, {
    get: (target, name: keyof Files) => (hasSwitched() && afterSwitch[name]) || target[name],
  })
  const status = await main(
    { ...platform, ...world, files, terminal, interrupt: new AbortController().signal },
    args,
  )
  return { status, ...output }
}

/** Runs a setup of Codex. */
function setupWith(home: Home, replaced: (files: Files) => Partial<Files>, args: string[]) {
  const hasSwitched = () => existsSync(home.at('.codex/config.toml'))
  return runWith(home, ['codex', '--yes', ...args], replaced, hasSwitched)
}

const inputOutputError = Object.assign(new Error('i/o error'), { code: 'EIO' })

/** Codex's settings cannot be read. */
const failing =
  (home: Home, error: Error) =>
  (files: Files): Partial<Files> => ({
    read: (path, maxBytes) => {
      if (path === home.at('.codex/config.toml')) throw error
      return files.read(path, maxBytes)
    },
  })

describe('an error after the files have switched says that they were changed', () => {
  test.each([
    ['which cannot be read', inputOutputError],
    ['at which our own code fails', new TypeError('boom')],
  ])('for a file %s when it is read back', async (_, error) => {
    for (const isJson of [false, true]) {
      const home = aHome()
      const args = isJson ? ['--json'] : []
      const { out, err, status } = await setupWith(home, failing(home, error), args)
      expect(status).toBeGreaterThan(0)
      if (isJson) expect(JSON.parse(out)).toMatchObject({ error: { filesChanged: true } })
      else expect(err).toContain(changed)
      expect(err).not.toContain('Nothing changed')
    }
  })

  test('for a file which cannot be read after `off`', async () => {
    const home = aHome({ '.codex/config.toml': 'personality = "friendly"\n' })
    expect((await setupWith(home, () => ({}), [])).status).toBe(0)
    const isOff = () => !home.text('.codex/config.toml').includes(gateway.url)
    const { err, status } = await runWith(
      home,
      ['off', '--yes'],
      failing(home, inputOutputError),
      isOff,
    )
    expect(status).toBeGreaterThan(0)
    expect(err).toContain(changed)
    expect(err).not.toContain('Nothing changed')
  })
})

/** Runs the program in a shell. @param redirections as a person types them */
function byShell(home: Home, args: string, redirections: string) {
  return new Promise<{ status: number | null; stderr: string }>((settle) => {
    const command = `"${process.execPath}" "${resolve('bin/repoint.js')}" ${args} ${redirections}`
    const child = spawn('bash', ['-c', `set -o pipefail; ${command}`], {
      env: environment(home),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.on('close', (status) => settle({ status, stderr }))
  })
}

describe('standard output that cannot be written', () => {
  const lost = 'error: Cannot write to standard output (ENOSPC).'

  test.runIf(existsSync('/dev/full'))(
    'codex --yes > /dev/full: status 1, and the files were changed',
    async () => {
      const { status, stderr } = await byShell(aHome(), 'codex --yes', '> /dev/full')
      expect(stderr).toContain(`${lost} ${changed}`)
      expect(status).toBe(1)
    },
  )

  /** Runs a command whose standard output is full. */
  async function intoFullDisk(line: string, home = aHome()) {
    const { output, terminal } = captured(platform.terminal)
    const full = { ...terminal, outFailure: 'ENOSPC' }
    const world = worldIn(home, environment(home))
    const status = await main({ ...platform, ...world, terminal: full }, line.split(' '))
    return { status, stderr: output.err }
  }

  test('a setup with --json and a rollback say that the files were changed', async () => {
    const home = aHome()
    for (const line of ['codex --yes --json', 'rollback --yes']) {
      const { status, stderr } = await intoFullDisk(line, home)
      expect(stderr).toContain(`${lost} The files were changed.`)
      expect(status).toBe(1)
    }
    expect(home.snapshot()).toEqual({})
  })

  test('a command that changes nothing says so', async () => {
    const { status, stderr } = await intoFullDisk('status')
    expect(stderr).toBe(`${lost} Nothing changed.\n`)
    expect(status).toBe(1)
  })

  test('another exit status is kept', async () => {
    expect((await intoFullDisk('codex --json --model nope')).status).toBe(5)
  })

  test('a closed pipe is no error, and the setup is made', async () => {
    const home = aHome()
    const { status, stderr } = await byShell(home, 'codex --yes', '| true')
    expect(stderr).not.toContain('error')
    expect(status).toBe(0)
    expect(home.text('.codex/config.toml')).toContain(gateway.url)
  })
})

test('a file that the client may be able to read, but repoint cannot, is reported as such, and not changed', async () => {
  const home = aHome()
  home.put('.codex/config.toml', Buffer.from('# caf\xe9\n', 'latin1'))
  const before = home.snapshot()
  const run = (...args: string[]) => runHere(home, args, environment(home))
  const expected = 'Cannot read ~/.codex/config.toml, which Codex may read: '

  expect(await run('codex', '--yes')).toMatchObject({
    status: 8,
    json: { error: { code: 'config-invalid', message: expect.stringContaining(expected) } },
  })
  expect(home.snapshot()).toEqual(before)
  expect((await run('doctor', 'codex')).text).toContain(expected)
})
