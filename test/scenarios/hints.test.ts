import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ErrorCode, errorCodes } from '../../src/error-codes.ts'
import { outcomeCodes } from '../../src/outcome-codes.ts'
import type { Gateway, GatewayOptions } from '../../src/serve/index.ts'
import { aServer, tlsFile } from '../gateway/forged.ts'
import type { CliResult } from '../support/cli.ts'
import { replaceGateway, withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { setUp } from '../support/setup.ts'

/**
 * Each row makes a command fail, reads the hint in the JSON document, and types it. The sentences of all
 * errors are in messages.txt, by code, so that no other test repeats them.
 */

const key = 'sk-canary-9d1f27c3b58e4a60b7d2c4e6'
const otherKey = 'sk-canary-0c7e5d3b1a29f8e6d4c2b0a9'
const model = 'gpt-5.6-sol'

const working = await withGateway({ key })

/** The arguments that the user typed, and their environment. */
interface Typed {
  readonly args: readonly string[]
  /** Absent: the right key. */
  readonly env?: Record<string, string>
  /** Values for the words in capitals of a hint: URL, ID, NAME. Absent: those of `usualWords`. */
  readonly words?: Readonly<Record<string, string>>
  /** What the user does first, because the hint tells them to. */
  readonly first?: () => unknown
}

interface State {
  readonly code: ErrorCode
  /** The finding that stops the command. Its code is in the document. */
  readonly finding?: string
  readonly when: string
  readonly make: (home: Home) => Typed | Promise<Typed>
  /** The words that the hint must contain. */
  readonly hint: string | RegExp
  /** The code of the next error, if the hint leads on to a decision of the user. Absent: it helps. */
  readonly leadsTo?: string
}

async function aGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = await withGateway({ key, ...options }, onTestFinished)
  return gateway
}

const faulty = (error: string, more: object = {}) =>
  aGateway({ faults: [{ error, route: 'responses', ...more }] as never })

/** A server that answers every request with `answer`, or like the working gateway if `isRight` says so. */
async function answering(
  status: number,
  body: string,
  headers: Record<string, string> = {},
  isRight: (headers: http.IncomingHttpHeaders, body: string) => boolean = () => false,
): Promise<string> {
  const server = await aServer((request, response) => {
    if (!isRight(request.headers, request.body)) {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
      return
    }
    const { host, port } = new URL(working.url)
    const { method, url: path, headers: sent } = request
    const onward = http.request({ port, method, path, headers: { ...sent, host } }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    onward.end(request.body)
  })
  return `http://127.0.0.1:${server.port}`
}

const page = '<!doctype html><title>Welcome</title><p>Hello</p>'
const refusal = (message: string, more: object = {}) =>
  JSON.stringify({ error: { message, ...more } })

/** A gateway that rejects such a request for the model. Another model is right. */
const rejecting =
  (status: number, message: string, isRight: (body: string) => boolean) =>
  async (): Promise<Typed> => {
    const url = await answering(status, refusal(message), {}, (_, body) => isRight(body))
    return { args: codex(url, '--model', model), words: { ID: 'gpt-5.6-terra' } }
  }

const codex = (url: string, ...more: string[]) => ['codex', '--base-url', url, '--yes', ...more]
const withKey = { REPOINT_API_KEY: key }
const urlOf = () => working.url
/** The right values. `MINE` is a variable with the key. */
const usualWords: Typed['words'] & object = { URL: working.url, ID: model, NAME: 'MINE' }

/** A `codex` in PATH that is a shell script. */
function aCodex(home: Home, script: string): Record<string, string> {
  home.put('bin/codex', `#!/bin/sh\n${script}\n`, 0o755)
  return { ...withKey, PATH: `${home.at('bin')}:${process.env['PATH']}` }
}

const state = '.local/state/repoint'
const filesIn = (home: Home, folder: string) =>
  readdirSync(home.at(folder)).map((name) => join(home.at(folder), name))

const states: readonly State[] = [
  {
    code: 'usage',
    when: 'a key in the environment and no address',
    make: () => ({ args: ['codex', '--yes'] }),
    hint: '--base-url URL',
  },
  {
    code: 'usage',
    when: 'setup without clients',
    make: () => ({ args: ['setup', '--yes'], env: { ...withKey, REPOINT_BASE_URL: urlOf() } }),
    hint: 'repoint setup codex',
  },
  {
    code: 'usage',
    when: 'a gateway that nobody saved',
    make: async (home) => {
      await setUp(home, 'codex', working)
      return { args: ['use', 'wrok', '--yes'] }
    },
    hint: 'repoint gateways',
  },
  {
    code: 'usage',
    when: 'forget without a name',
    make: () => ({ args: ['forget', '--yes'], words: { NAME: 'work' } }),
    hint: 'repoint forget NAME',
    leadsTo: 'usage',
  },
  {
    code: 'usage',
    when: 'a key on the command line',
    make: () => ({ args: [...codex(urlOf()), `--key=${key}`], env: { MINE: key } }),
    hint: '--key-env NAME',
  },
  {
    code: 'usage',
    when: 'a model that the rules cannot choose, without asking the gateway',
    make: () => ({ args: codex(urlOf(), '--no-verify') }),
    hint: '--model ID',
  },
  {
    code: 'usage',
    when: 'plain http to another machine',
    make: () => ({ args: codex('http://gw.invalid') }),
    hint: '--base-url https://gw.invalid',
    leadsTo: 'dns',
  },
  {
    code: 'key-missing',
    when: 'no key',
    make: () => ({ args: codex(urlOf()), env: { MINE: key } }),
    hint: '--key-env NAME',
  },
  {
    code: 'key-placeholder',
    when: 'the key of an example',
    make: () => ({ args: codex(urlOf()), env: { REPOINT_API_KEY: 'YOUR_API_KEY', MINE: key } }),
    hint: '--key-env NAME',
  },
  {
    code: 'confirmation-needed',
    when: 'a setup without --yes',
    make: () => ({ args: ['codex', '--base-url', urlOf()] }),
    hint: '--yes',
  },
  {
    code: 'confirmation-needed',
    when: 'forget without --yes',
    make: async (home) => {
      await setUp(home, 'codex', working)
      return { args: ['forget', '--all'] }
    },
    hint: '--yes',
  },
  {
    code: 'header-missing',
    when: 'a gateway that routes by a header',
    make: async () => ({
      args: codex(
        await answering(400, refusal('Missing required header: x-team-id'), {}, (headers) =>
          Boolean(headers['x-team-id']),
        ),
      ),
      words: { VALUE: 'red' },
    }),
    hint: '--header',
  },
  {
    code: 'key-rejected',
    when: 'a wrong key',
    make: () => {
      const env = { REPOINT_API_KEY: otherKey }
      return { args: codex(urlOf()), env, first: () => Object.assign(env, withKey) }
    },
    hint: 'run the command again',
  },
  {
    code: 'key-rejected',
    when: 'a saved gateway whose key was withdrawn',
    make: async (home) => {
      const gateway = await aGateway()
      const add = ['gateways', 'add', gateway.url, '--name', 'mine', '--json']
      await runInProcess(home, add, { env: withKey })
      await replaceGateway(gateway, { key: otherKey })
      const env: Record<string, string> = {}
      return {
        args: ['use', 'mine', 'codex', '--yes'],
        env,
        first: () => Object.assign(env, { REPOINT_API_KEY: otherKey }),
      }
    },
    hint: /repoint gateways add http:\S+ --name mine/,
  },
  {
    code: 'not-an-api',
    when: 'a web page',
    make: async () => ({
      args: codex(await answering(200, page, { 'content-type': 'text/html' })),
    }),
    hint: '--base-url URL',
  },
  {
    code: 'wrong-route',
    when: 'another path of the host',
    make: async () => ({ args: codex(await answering(404, refusal('Not Found'))) }),
    hint: '--base-url URL',
  },
  {
    code: 'docs-host',
    when: 'the documentation',
    make: () => ({ args: codex('https://docs.gw.invalid') }),
    hint: '--base-url URL',
  },
  {
    code: 'model-unknown',
    when: 'a mistyped model',
    make: () => ({ args: codex(urlOf(), '--model', 'gpt-5.6-slo') }),
    hint: /--model gpt-5\.6-/,
  },
  {
    code: 'model-not-allowed',
    when: 'a model that the key may not use',
    make: async () => ({
      args: codex((await faulty('model-forbidden', { model })).url, '--model', model),
      words: { ID: 'gpt-5.6-terra' },
    }),
    hint: '--model ID',
  },
  {
    code: 'route-not-allowed',
    when: 'a key that may not request the list of models',
    make: async () => ({
      args: codex(
        await answering(
          403,
          refusal(
            'You have insufficient permissions for this operation. Missing scopes: model.read',
          ),
          {},
          (_, body) => body !== '',
        ),
      ),
    }),
    hint: '--model ID',
  },
  {
    code: 'protocol-unsupported',
    when: 'a gateway without the protocol of the client',
    make: rejecting(404, 'Not Found', (body) => !/"input"/.test(body)),
    hint: /repoint opencode --base-url http/,
  },
  {
    code: 'tools-unsupported',
    when: 'a model without tools',
    make: rejecting(
      400,
      'This model does not support tools',
      (body) => !(/"tools":\s*\[/.test(body) && body.includes(`"${model}"`)),
    ),
    hint: '--model ID',
  },
  {
    code: 'parameter-unsupported',
    when: 'a parameter that the model rejects',
    make: rejecting(
      400,
      'Unsupported parameter: prompt_cache_key',
      (body) => !(body.includes('prompt_cache_key') && body.includes(`"${model}"`)),
    ),
    hint: '--model ID',
  },
  {
    code: 'request-rejected',
    when: 'words that name no cause',
    make: rejecting(400, 'Bad luck', (body) => !body.includes(`"${model}"`)),
    hint: '--model ID',
  },
  {
    code: 'refused',
    when: 'nothing listens',
    make: async () => {
      const gateway = await aGateway()
      await gateway.close()
      const first = () => aGateway({ port: Number(new URL(gateway.url).port) })
      return { args: codex(gateway.url), first, words: { URL: gateway.url } }
    },
    hint: /repoint serve --port \d+/,
  },
  {
    code: 'dns',
    when: 'a mistyped host',
    make: () => {
      const args = codex('https://gw.invalid')
      return { args }
    },
    hint: '--base-url',
  },
  {
    code: 'tls',
    when: 'a self-signed certificate',
    make: async () => {
      const server = await aServer(
        (_, response) => {
          response.writeHead(401, { 'content-type': 'application/json' }).end(refusal('no key'))
        },
        { certificate: 'self-signed.pem' },
      )
      return {
        args: codex(`https://localhost:${server.port}`),
        words: { PATH: tlsFile('self-signed.pem') },
      }
    },
    hint: '--ca-file PATH',
    leadsTo: 'key-rejected',
  },
  {
    code: 'tls',
    when: 'https to a port without TLS',
    make: () => ({ args: codex(urlOf().replace('http:', 'https:')) }),
    hint: '--base-url http://127.0.0.1:',
  },
  {
    code: 'proxy',
    when: 'a proxy that is not there',
    make: () => ({
      args: codex('https://gw.invalid'),
      env: { ...withKey, HTTPS_PROXY: 'http://127.0.0.1:1' },
    }),
    hint: 'NO_PROXY=gw.invalid',
    leadsTo: 'dns',
  },
  {
    code: 'timeout',
    when: 'a model that loads for a long time',
    make: async () => {
      const { url } = await aGateway({ faults: [{ delayMs: 1_500, times: 2 }] as never })
      return { args: codex(url, '--timeout', '1') }
    },
    hint: '--timeout 120',
  },
  {
    code: 'redirected',
    when: 'an address that moved',
    make: async () => {
      const server = await aServer((request, response) => {
        response.writeHead(308, { location: working.url + request.url }).end()
      })
      return { args: codex(`http://127.0.0.1:${server.port}`) }
    },
    hint: '--base-url http://127.0.0.1:',
  },
  {
    code: 'quota',
    when: 'no credit',
    make: async () => ({ args: codex((await faulty('quota', { times: 1 })).url) }),
    hint: 'run the command again',
  },
  {
    code: 'rate-limited',
    when: 'too many requests',
    make: async () => {
      let isOver = false
      const first = () => {
        isOver = true
      }
      const url = await answering(429, refusal('slow down'), { 'retry-after': '60' }, () => isOver)
      return { args: codex(url), first }
    },
    hint: 'in 60 s',
  },
  {
    code: 'gateway-fault',
    when: 'a 502',
    make: async () => ({ args: codex((await faulty('upstream', { times: 3 })).url) }),
    hint: 'Run the command again',
  },
  {
    code: 'client-refused',
    when: 'a gateway for certain clients',
    make: async (home) => ({
      args: codex(
        await answering(403, refusal('unauthorized client'), {}, (_, body) => body === ''),
      ),
      env: { ...withKey, PATH: `${home.at('bin')}:${process.env['PATH']}` },
      first: () => aCodex(home, 'echo pong'),
    }),
    hint: 'Install Codex',
  },
  {
    code: 'forbidden',
    when: 'a firewall',
    make: async (home) => ({
      args: codex(
        await answering(
          403,
          '<html><title>403 Forbidden</title><center>nginx</center></html>',
          { 'content-type': 'text/html', server: 'nginx' },
          (_, body) => body === '',
        ),
      ),
      env: { ...withKey, PATH: `${home.at('bin')}:${process.env['PATH']}` },
      first: () => aCodex(home, 'echo pong'),
    }),
    hint: "ask the gateway's operator",
  },
  {
    code: 'config-invalid',
    when: 'a syntax error',
    finding: 'codex-config-invalid',
    make: (home) => {
      home.put('.codex/config.toml', 'model = "a"\nmodel = "b"\n')
      const first = () => home.put('.codex/config.toml', 'model = "a"\n')
      return { args: codex(urlOf()), first }
    },
    hint: 'run the command again',
  },
  {
    code: 'config-invalid',
    when: 'a team file that is none',
    make: (home) => {
      home.put('team.json', '{}')
      const args = ['setup', '--from', home.at('team.json'), '--yes']
      const team = { version: 1, baseUrl: urlOf(), clients: { codex: {} } }
      const first = () => home.put('team.json', JSON.stringify(team))
      return { args, first, words: { NAME: 'work' } }
    },
    hint: 'repoint gateways export NAME',
    leadsTo: 'usage',
  },
  {
    code: 'config-conflict',
    when: 'a setting in a place that cannot be edited',
    make: (home) => {
      home.put('.codex/config.toml', 'model_providers = "none"\n')
      const first = () => home.put('.codex/config.toml', '')
      return { args: codex(urlOf()), first }
    },
    hint: 'yourself',
  },
  {
    code: 'not-permitted',
    when: 'a state folder that others can write',
    make: (home) => {
      home.put(`${state}/blobs/.keep`, '')
      rmSync(home.at(`${state}/blobs`), { recursive: true })
      chmodSync(home.at(state), 0o777)
      return { args: codex(urlOf()), first: () => chmodSync(home.at(state), 0o700) }
    },
    hint: /chmod 700 \S+/,
  },
  {
    code: 'backup-missing',
    when: 'an undo without its copy',
    make: async (home) => {
      home.put('.codex/config.toml', '# mine\nmodel = "a"\n')
      await setUp(home, 'codex', working)
      for (const path of filesIn(home, `${state}/blobs`)) rmSync(path)
      return { args: ['rollback', '--yes'] }
    },
    hint: 'repoint rollback --list',
  },
  {
    code: 'record-damaged',
    when: 'an undo without its record',
    make: async (home) => {
      await setUp(home, 'codex', working)
      for (const path of filesIn(home, state))
        if (/run-.*json$/.test(path)) writeFileSync(path, '{')
      return { args: ['rollback', '--yes'] }
    },
    hint: 'repoint forget --all',
    leadsTo: 'confirmation-needed',
  },
  {
    code: 'client-failed',
    when: 'a client that is not installed',
    make: (home) => {
      const env = { ...withKey, PATH: process.env['PATH']! }
      const first = () => aCodex(home, 'echo pong')
      Object.assign(env, { PATH: `${home.at('bin')}:${process.env['PATH']}` })
      return { args: codex(urlOf(), '--try-client'), env, first }
    },
    hint: '--try-client',
  },
  {
    code: 'client-too-old',
    when: 'an old client',
    make: (home) => {
      const claude = (version: string) =>
        home.put('bin/claude', `#!/bin/sh\necho "${version} (Claude Code)"\n`, 0o755)
      claude('2.1.19')
      const env = { ...withKey, PATH: `${home.at('bin')}:${process.env['PATH']}` }
      const args = ['claude', '--base-url', urlOf(), '--yes']
      return { args, env, first: () => claude('2.1.330') }
    },
    hint: 'Update Claude Code',
  },
  {
    code: 'held-back',
    when: 'an undo of a setting that changed since',
    make: async (home) => {
      home.put('.codex/config.toml', '# mine\nmodel = "a"\n')
      await setUp(home, 'codex', working)
      home.replace('.codex/config.toml', /base_url = .*/, 'base_url = "https://x.invalid/v1"')
      return { args: ['rollback', 'codex', '--yes'] }
    },
    hint: 'repoint rollback codex --force',
  },
]

interface Problem {
  readonly code: string
  readonly message: string
  readonly hint: string
}

/** The first command, flag or variable in a hint. */
function commandIn(
  hint: string,
): { kind: 'command' | 'flag' | 'variable'; words: string[] } | undefined {
  const variable = /\bNO_PROXY=\S+/.exec(hint)?.[0]
  if (variable !== undefined) return { kind: 'variable', words: variable.split('=') }
  const [start] = /(?<!\S)(?:repoint (?=[a-z]+)|--[a-z])/.exec(hint) ?? []
  if (start === undefined) return undefined

  const text = hint.slice(hint.indexOf(start))
  const words: string[] = []
  for (const [, quoted, bare] of text.matchAll(/'([^']*)'|(\S+)/g)) {
    const word = quoted ?? bare!.replace(/[.,;:`)]+$/, '')
    if (/^(?:\(|Or$|or$|to$|and$|without$)/.test(word)) break
    words.push(word)
    if (bare !== undefined && word !== bare) break
    if (start.startsWith('--') && (words.length === 2 || isSwitch(word))) break
  }
  return start.startsWith('--')
    ? { kind: 'flag', words }
    : { kind: 'command', words: words.slice(1) }
}

const isSwitch = (word: string) =>
  ['--yes', '--try-client', '--allow-http', '--dry-run'].includes(word)

/** Types the hint of an error after `typed`. */
function typeHint(
  home: Home,
  hint: string,
  { args, env = withKey, words = {} }: Typed,
): Promise<CliResult> {
  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    runInProcess(home, args.includes('run') ? args : [...args, '--json'], {
      env: { ...env, ...more },
    })

  const named = commandIn(hint)
  if (named === undefined || named.words[0] === 'serve') return run(args)

  const filled = named.words.map((word) =>
    word.replace(/\b[A-Z]{2,}\b/g, (name) => words[name] ?? usualWords[name] ?? name),
  )
  const [first = '', second = ''] = filled
  if (named.kind === 'variable') return run(args, { [first]: second })
  if (named.kind === 'flag') return run([...without(args, first), ...filled])

  const needsConsent = isSetup(filled) && !filled.includes('--yes') && !filled.includes('--list')
  return run(needsConsent ? [...filled, '--yes'] : filled)
}

const isSetup = ([name = '']: readonly string[]) =>
  ['setup', 'codex', 'claude', 'opencode', 'rollback', 'key', 'use'].includes(name)

function without(args: readonly string[], flag: string): readonly string[] {
  const words = args.filter((word) => !/^--key=/.test(word))
  const index = words.indexOf(flag)
  if (index === -1) return words
  const length = isSwitch(flag) ? 1 : 2
  return words.toSpliced(index, length)
}

const sentences = new Map<string, string>()

test('every outcome has a row of `states`', () => {
  const tested: readonly string[] = states.map(({ code }) => code)
  expect(Object.keys(outcomeCodes).filter((code) => !tested.includes(code))).toEqual([])
})

describe('a hint helps when typed', () => {
  test.each(states.map((state) => [`${state.code}: ${state.when}`, state] as const))(
    '%s',
    { timeout: 60_000 },
    async (name, { code, finding, make, hint: expectedHint, leadsTo }) => {
      const home = aHome()
      const typed = await make(home)
      const env = { ...(typed.env ?? withKey) }
      const failed = await runInProcess(home, withJson(typed.args), { env })
      const document = failed.json as { error?: Problem; warnings: readonly Problem[] }
      // An undo that keeps something did its work, and reports that as a warning.
      const error = document.error ?? { ...document.warnings.at(-1)!, code }
      expect([error.code, failed.status]).toEqual([finding ?? code, errorCodes[code].exitStatus])
      expect(error.hint).toMatch(expectedHint)
      sentences.set(name, shown(home, error))

      await typed.first?.()
      const next = await typeHint(home, error.hint, typed)
      const after = next.status === 0 ? undefined : (next.json as { error: { code: string } })
      expect([next.status, after?.error.code, next.stderr]).toEqual([
        leadsTo === undefined ? 0 : expect.any(Number),
        leadsTo,
        next.stderr,
      ])
      expect(next.stdout + next.stderr + failed.stdout).not.toContain('canary')
    },
  )

  test('the sentences of all errors are those of messages.txt', async () => {
    const all = [...sentences].map(([name, text]) => `${name}\n${text}\n`).join('\n')
    await expect(all).toMatchFileSnapshot('messages.txt')
  })
})

/** Adds `--json` to repoint's own arguments, which end before `--`. */
function withJson(args: readonly string[]): readonly string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  return [...args.slice(0, end), '--json', ...args.slice(end)]
}

function shown(home: Home, { message, hint }: { message: string; hint: string }): string {
  return `  ${message}\n  ${hint}`
    .replaceAll(home.path, '~')
    .replace(/\b(127\.0\.0\.1|localhost):\d{4,5}/g, '$1:PORT')
    .replace(/--port \d+/g, '--port PORT')
    .replace(/\bwithin \d[\d.]* s\b/g, 'within N s')
    .replace(/\(request id: [^)]*\)/g, '(request id: …)')
    .replace(/\d{8}T\d{6}Z-[0-9a-f]+/g, 'RUN')
}
