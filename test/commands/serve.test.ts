import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Session } from '../../src/commands/screen/session.ts'
import { logLine, type ServeFlags, serve } from '../../src/commands/serve.ts'
import { UserError } from '../../src/errors.ts'
import { nodePlatform } from '../../src/platform/node.ts'
import type { Platform } from '../../src/platform/platform.ts'
import { captured } from '../support/captured.ts'

interface Asked extends Partial<ServeFlags> {
  /** The exit status of the command. Absent: there is no command. */
  readonly words?: readonly string[]
  readonly isJson?: boolean
  readonly terminal?: Partial<Platform['terminal']>
}

const real = nodePlatform()

/** Starts the command, and collects what it prints. */
function start(asked: Asked = {}, env: Record<string, string> = {}) {
  const { words = [], isJson = true, terminal: changes, ...flags } = asked
  const controller = new AbortController()
  const { output, terminal } = captured({ ...real.terminal, ...changes })
  const platform: Platform = {
    ...real,
    machine: { ...real.machine, home: tmpdir(), env: { PATH: process.env['PATH'], ...env } },
    terminal,
    interrupt: controller.signal,
  }
  const session = new Session(platform, { isJson })
  const usual = { port: 0, host: '127.0.0.1', fault: [] }
  const status = serve(session, words, { ...usual, ...flags })
  return { output, status, interrupt: () => controller.abort() }
}

/** Starts the command, which ends with the test, and waits until it listens. */
async function listening(asked: Asked = {}, env: Record<string, string> = {}) {
  const running = start(asked, env)
  onTestFinished(async () => {
    running.interrupt()
    await running.status
  })
  await Promise.race([
    expect.poll(() => running.output.out).toContain('\n'),
    running.status.then((status) => expect(status).toBe('still running')),
  ])
  return running
}

function aFile(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'repoint-serve-')), 'file')
  writeFileSync(path, text)
  return path
}

test('serve: prints one line as soon as it listens, answers, and ends with 0', async () => {
  const { output, status, interrupt } = await listening()
  const { url, key, ...otherMembers } = JSON.parse(output.out)
  expect(otherMembers).toEqual({})
  expect(key).toMatch(/^sk-[A-Za-z0-9]{48}$/)
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const headers = { authorization: `Bearer ${key}` }
  expect((await fetch(`${url}/v1/models`, { headers })).status).toBe(200)
  interrupt()
  expect(await status).toBe(0)
  await expect(fetch(url)).rejects.toThrow()
  expect(output.out.split('\n')).toHaveLength(2)
})

test.each([
  ['the variable REPOINT_API_KEY', {}, { REPOINT_API_KEY: 'sk-mine-0123456789' }],
  ['a named variable', { keyEnv: 'MINE' }, { MINE: ' sk-mine-0123456789\n', REPOINT_API_KEY: 'x' }],
  ['a file', { keyFile: aFile('sk-mine-0123456789\n') }, {}],
])('serve: takes its key from %s', async (_, options, env) => {
  const { output } = await listening(options, env as Record<string, string>)
  expect(JSON.parse(output.out).key).toBe('sk-mine-0123456789')
})

test('serve: tells a person its address, and its key only if the key is new', async () => {
  const fresh = await listening({ isJson: false })
  expect(fresh.output.out).toMatch(/^The local gateway listens at http:\/\/127\.0\.0\.1:\d+ /)
  expect(fresh.output.out).toMatch(/printed this once: sk-\w{48}\n/)
  const given = await listening({ isJson: false }, { REPOINT_API_KEY: 'sk-mine-0123456789' })
  expect(given.output.out).not.toContain('sk-mine')
})

test('serve: breaks its opening lines between words on a narrow terminal', async () => {
  const narrow = { columns: 60, stdoutIsTerminal: true }
  const { output } = await listening({ isJson: false, terminal: narrow })
  for (const line of output.out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(60)
  expect(output.out).toMatch(/^sk-\w{48}$/m)
})

test('serve --log: prints one line for each request on standard error, with the key masked', async () => {
  const { output } = await listening({ log: true, fault: ['quota,every=2'] })
  const { url, key } = JSON.parse(output.out)
  for (const authorization of [`Bearer ${key}`, `Bearer ${key}`, 'Bearer sk-wrong-0123456789'])
    await fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'user-agent': 'it/1 (x)' },
      body: '{"model":"gpt-5.6","input":"ping"}',
    })
  await expect.poll(() => output.err.trim().split('\n').length).toBe(3)
  const lines = output.err.trim().split('\n')
  expect(lines[0]).toMatch(
    /^\S+Z {2}200 {2}responses {2}gpt-5\.6 -> gpt-5\.6-sol {2}it\/1 {2}sk-….{4} {2}[\d.]+ ms {2}2\+1$/,
  )
  expect(lines[1]).toContain('  403  ')
  expect(lines[1]).toContain('fault: quota')
  expect(lines[2]).toContain('  401  ')
  expect(lines[2]).toContain('sk-…6789 (wrong)')
  expect(lines[2]).toMatch(/The key sk-…6789 is not that of this gateway, sk-….{4}\.$/)
  expect(output.err).not.toContain(key)
})

test('the log line: nothing from a client can move the cursor or add a line', () => {
  const line = logLine({
    id: 'x',
    number: 1,
    at: new Date(0),
    method: 'POST',
    path: '/v1/responses\u001b[2J',
    protocol: undefined,
    client: 'a\u001b[31m\r\nb',
    auth: 'none',
    key: '',
    keyMatches: false,
    modelAsked: 'm\n\u0007',
    modelServed: undefined,
    stream: false,
    state: 'cut',
    status: undefined,
    firstByteMs: undefined,
    totalMs: 1,
    inputTokens: undefined,
    outputTokens: undefined,
    fault: undefined,
    reason: 'b\u001b[31m\nc',
    headers: {},
    responseHeaders: {},
    requestBody: '',
    requestBytes: 0,
    responseBody: '',
    responseBytes: 0,
  })
  expect(line).not.toMatch(/\p{Cc}/u)
  expect(line).toBe(
    '1970-01-01T00:00:00.000Z  -  POST /v1/responses  m   a b  no key  -  -  cut  b c',
  )
})

describe('serve -- COMMAND', () => {
  const print = `
    const names = ['OPENAI_BASE_URL', 'OPENAI_API_KEY', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_AUTH_TOKEN',
      'ANTHROPIC_API_KEY', 'REPOINT_UPSTREAM_KEY', 'REPOINT_BASE_URL', 'REPOINT_API_KEY', 'NO_PROXY', 'KEPT']
    require('node:fs').writeFileSync(process.argv[1], JSON.stringify(names.map((name) => process.env[name] ?? null)))
    fetch(process.env.OPENAI_BASE_URL + '/models', { headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY } })
      .then((answer) => process.exit(answer.status === 200 ? 7 : 1))`

  test('serve -- COMMAND: runs it pointed at the gateway and exits with its status', async () => {
    const path = aFile('')
    const key = 'sk-mine-0123456789'
    const env = {
      REPOINT_API_KEY: key,
      REPOINT_UPSTREAM_KEY: 'sk-real-0123456789',
      ANTHROPIC_API_KEY: 'stale',
      NO_PROXY: 'a',
      KEPT: 'b',
    }
    const command = [process.execPath, '-e', print, path]
    const { output, status } = start({ words: command, isJson: false }, env)
    expect(await status).toBe(7)
    const seen = JSON.parse(await (await import('node:fs/promises')).readFile(path, 'utf8'))
    const url = seen[2]
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const pointed = [`${url}/v1`, key, url, key, null, null, url, key, 'a,127.0.0.1,localhost']
    expect(seen).toEqual([...pointed, 'b'])
    expect(output.out).toBe('')
    await expect(fetch(url)).rejects.toThrow()
  })

  test.skipIf(process.platform === 'win32')(
    'serve -- CLIENT: a client that reads its files gets the gateway in arguments, also with faults',
    async () => {
      const output = aFile('')
      const codex = join(dirname(output), 'codex')
      const script = `#!/bin/sh\nprintf '%s\\n' "$REPOINT_RUN_KEY" "$REPOINT_UPSTREAM_KEY" "$@" > '${output}'\nexit 9\n`
      writeFileSync(codex, script, { mode: 0o755 })
      const key = 'sk-mine-0123456789'
      const env = { REPOINT_API_KEY: key, REPOINT_UPSTREAM_KEY: 'sk-real-0123456789' }
      const { status } = start({ words: [codex, 'exec', 'ping'], fault: ['quota'] }, env)
      expect(await status).toBe(9)
      const [keyThere, upstream, ...args] = readFileSync(output, 'utf8').split('\n')
      expect([keyThere, upstream]).toEqual([key, ''])
      expect(args).toContainEqual(
        expect.stringMatching(
          /^model_providers\.gateway\.base_url="http:\/\/127\.0\.0\.1:\d+\/v1"$/,
        ),
      )
      expect(args).toContain('model="gpt-6.2-sol"')
      expect(args.slice(-3, -1)).toEqual(['exec', 'ping'])
      expect(args.join()).not.toContain(key)
    },
  )

  test('serve -- COMMAND: the exit status of a command that a signal ended is the same as in a shell', async () => {
    const command = [process.execPath, '-e', 'process.kill(process.pid, "SIGKILL")']
    expect(await start({ words: command }).status).toBe(128 + 9)
  })

  test('serve -- COMMAND: an interrupt reaches the command', async () => {
    const started = aFile('')
    const script = `process.on('SIGTERM', () => process.exit(5))
      require('node:fs').writeFileSync(${JSON.stringify(started)}, 'started')
      setInterval(() => {}, 1000)`
    const running = start({ words: [process.execPath, '-e', script] })
    const isStarted = () => readFileSync(started, 'utf8') === 'started'
    await expect.poll(isStarted, { timeout: 20_000 }).toBe(true)
    running.interrupt()
    expect(await running.status).toBe(5)
  })

  test('serve -- COMMAND: a missing command is a usage error', async () => {
    const problem = start({ words: ['no-such-command-at-all'] }).status
    await expect(problem).rejects.toMatchObject({ code: 'usage' })
  })
})

/** A few lines of YAML that expand to a billion texts. */
const aliasBomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
  .concat(
    [...'bcdefghi'].map((name, index) => {
      const before = 'abcdefgh'[index]
      return `${name}: &${name} [${Array(10).fill(`*${before}`).join(', ')}]`
    }),
  )
  .join('\n')

describe('serve refuses', () => {
  test('serve refuses: a port that is taken', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    await expect(start({ port }).status).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`port ${port}`),
      hint: expect.stringContaining('--port'),
    })
    server.close()
  })

  test.each<[string, Asked, Record<string, string>, string, string]>([
    ['two keys', { keyFile: 'x', keyEnv: 'Y' }, {}, 'usage', 'more than one key'],
    ['a variable that is not set', { keyEnv: 'NOT_SET' }, {}, 'key-missing', 'NOT_SET'],
    ['a key with a blank', {}, { REPOINT_API_KEY: 'a b' }, 'key-missing', 'REPOINT_API_KEY'],
    ['a short key', {}, { REPOINT_API_KEY: 'sk-1234567' }, 'key-missing', 'REPOINT_API_KEY'],
    ['an empty key', { keyEnv: 'MINE' }, { MINE: ' ' }, 'key-missing', 'MINE'],
    ['a missing key file', { keyFile: '/nope' }, {}, 'config-invalid', '/nope'],
    ['an unknown fault', { fault: ['nope'] }, {}, 'usage', '--fault nope: nope must be one of'],
    ['a missing catalog', { models: '/nope' }, {}, 'config-invalid', '/nope'],
    [
      'a catalog that is wrong',
      { models: aFile('[5]') },
      {},
      'config-invalid',
      '[0] must be a mapping',
    ],
    [
      'a scenario whose aliases make too much of it',
      { scenario: aFile(aliasBomb) },
      {},
      'config-invalid',
      'Cannot use file: Excessive alias count',
    ],
    ['an invalid scenario', { scenario: aFile('[') }, {}, 'config-invalid', 'line 1'],
  ])('serve refuses: %s', async (_, options, env, code, message) => {
    const error = await start(options, env).status.catch((thrown) => thrown)
    expect(error).toBeInstanceOf(UserError)
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
  })

  const noAddress = '--upstream …@gw.example is not an http address'
  test.each<[string, string, string | undefined, string, string]>([
    [
      'an upstream with a key that the log could not hide',
      'https://gw.example',
      'sk-k',
      'key-missing',
      'in REPOINT_UPSTREAM_KEY',
    ],
    [
      'an upstream without its key',
      'https://gw.example',
      undefined,
      'key-missing',
      'REPOINT_UPSTREAM_KEY',
    ],
    ['an upstream that is no address', 'gw', 'k', 'usage', 'not an http address'],
    [
      'an upstream with a password and no scheme',
      'me:canary-pw@gw.example',
      'k',
      'usage',
      noAddress,
    ],
    [
      'an upstream with an @ in its password',
      'https://me:canary@pw@gw.example',
      'k',
      'usage',
      noAddress,
    ],
    ['an upstream with a password alone', 'https://:canary-pw@gw.example', 'k', 'usage', noAddress],
    ['an upstream over plain http', 'http://gw.example', 'k', 'usage', 'unencrypted'],
  ])('serve refuses: %s', async (_, upstream, key, code, message) => {
    const env: Record<string, string> = key === undefined ? {} : { REPOINT_UPSTREAM_KEY: key }
    const error = await start({ upstream }, env).status.catch((thrown) => thrown)
    expect(error).toBeInstanceOf(UserError)
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
    expect(JSON.stringify([error, error.message, error.hint])).not.toContain('canary')
  })
})
