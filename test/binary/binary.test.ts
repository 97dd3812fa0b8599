import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHome, Home } from '../support/home.ts'

/** The program of `npm run binary`, on a machine without Node: PATH names an empty folder. */

const key = 'sk-canary-binary-7c4e1f0a9b8d6352'
const program = resolve('dist/binary/repoint')

let server: { url: string; end(): Promise<void> }
beforeAll(async () => {
  execFileSync(process.execPath, ['scripts/build-binary.js'], { stdio: 'ignore' })
  server = await serveAlone()
})
afterAll(() => server?.end())

function environment(home: Home) {
  mkdirSync(home.at('empty'), { recursive: true })
  return { HOME: home.path, PATH: home.at('empty'), LANG: 'C.UTF-8' }
}

function repoint(home: Home, ...args: string[]) {
  const result = spawnSync(program, args, {
    cwd: home.path,
    encoding: 'utf8',
    input: key,
    env: environment(home),
    timeout: 30_000,
  })
  const { status, stdout, stderr } = result
  expect(stdout + stderr).not.toContain(key)
  return { status, stdout, stderr }
}

async function serveAlone() {
  const home = new Home()
  const child = spawn(program, ['serve', '--json'], {
    env: { ...environment(home), REPOINT_API_KEY: key },
  })
  const exited = once(child, 'exit').then(([status]) => {
    throw new Error(`serve ended with ${status}: ${child.stderr.read()}`)
  })
  const [line] = await Promise.race([once(child.stdout, 'data'), exited])
  const end = async () => {
    const ended = once(child, 'exit')
    child.kill()
    expect(await ended).toEqual([0, null])
    home.remove()
  }
  return { url: JSON.parse(`${line}`).url as string, end }
}

test('sets up a client, reports it, and restores every byte', () => {
  const home = aHome({ '.codex/config.toml': '# mine\nmodel = "o3"\n' })
  environment(home)
  const before = home.snapshot()

  const setup = repoint(home, 'codex', '--base-url', server.url, '--key-stdin', '--yes', '--json')
  expect(setup, setup.stderr).toMatchObject({ status: 0 })
  expect(JSON.parse(setup.stdout)).toMatchObject({
    changed: true,
    verified: { before: true, after: true },
  })
  expect(home.text('.codex/config.toml')).toContain('# mine\n')

  expect(repoint(home, 'status', '--exit-code').status).toBe(0)
  expect(repoint(home, 'rollback', '--yes').status).toBe(0)
  expect(home.snapshot()).toEqual(before)
})

test('examples/fleet/detect.sh reports whether a client uses the expected gateway', () => {
  const home = aHome()
  const detect = (...args: string[]) => {
    const env = { ...environment(home), PATH: '/usr/bin:/bin', REPOINT: program }
    const { status, stdout } = spawnSync('examples/fleet/detect.sh', args, {
      encoding: 'utf8',
      env,
    })
    return [status, stdout.trim()]
  }
  const [missing] = detect(server.url, 'codex')
  expect(missing).toBe(1)

  const setup = ['codex', '--base-url', server.url, '--key-stdin', '--yes']
  expect(repoint(home, ...setup).status).toBe(0)
  expect(detect(server.url, 'codex')).toEqual([0, `codex at ${server.url}`])
  const [elsewhere, why] = detect('https://gw.example', 'codex')
  expect([elsewhere, why]).toEqual([1, expect.stringContaining('expected https://gw.example')])
})

test('runs a command at a saved gateway', () => {
  const home = aHome()
  const setup = [
    'codex',
    ...['--base-url', server.url],
    '--key-stdin',
    '--yes',
    ...['--name', 'work'],
  ]
  expect(repoint(home, ...setup).status).toBe(0)

  const ran = repoint(home, 'run', 'work', '--', '/bin/sh', '-c', 'echo $OPENAI_BASE_URL')
  expect(ran.stdout).toContain(server.url)
  expect(ran.status).toBe(0)
})

test('runs the demo', () => {
  const { status, stdout } = repoint(aHome(), 'demo')
  expect(stdout).toContain('byte for byte')
  expect(status).toBe(0)
})

test('is one file with a checksum', () => {
  const digest = createHash('sha256').update(readFileSync(program)).digest('hex')
  expect(readFileSync(`${program}.sha256`, 'utf8')).toBe(`${digest}  repoint\n`)
  expect(readdirSync(resolve('dist/binary')).filter((name) => /json$|mjs$/.test(name))).toEqual([])
  // 150 MB of this is Node.
  expect(statSync(program).size).toBeLessThan(200_000_000)
})

test('starts about as fast as with an installed Node', () => {
  const seconds = (command: string, args: readonly string[]) => {
    const start = process.hrtime.bigint()
    spawnSync(command, args, { env: { HOME: '/', PATH: '/nonexistent' } })
    return Number(process.hrtime.bigint() - start) / 1e9
  }
  const rounds = Array.from({ length: 7 }, () => [
    seconds(program, ['--version']),
    seconds(process.execPath, [resolve('bin/repoint.js'), '--version']),
  ])
  const [own, beside] = [0, 1].map((one) => rounds.map((row) => row[one]!).sort()[3]!)
  console.log(`binary: start ${(own! / beside!).toFixed(2)} of node bin/repoint.js`)
  expect(own! / beside!).toBeLessThan(4)
})
