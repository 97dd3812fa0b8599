import { once } from 'node:events'
import { request, type ServerResponse } from 'node:http'
import { describe, expect, type onTestFinished, test } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { type Culprit, outcomeCodes } from '../../src/outcome-codes.ts'
import { builtInCatalog } from '../../src/serve/index.ts'
import { aServer, type Seen } from '../gateway/forged.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { oneInTurn, triesAll } from '../support/sample.ts'

/**
 * Every command at a gateway with one fault. The commands that need a fact about the gateway agree on it: on the exit
 * status, and on what they blame. Each cell is one run of the whole program.
 */

const key = 'sk-canary-matrix-6a5b4c3d2e1f0a9b'
const model = 'gpt-5.6-sol'

const healthy = await withGateway({ key })
const claudeModels = builtInCatalog.filter(({ id }) => id.startsWith('claude'))
const onlyClaude = await withGateway({ key, models: claudeModels })

type Route = 'list' | 'chat' | 'responses' | 'messages'

const usualRoutes: Readonly<Record<string, Route>> = {
  '/v1/models': 'list',
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
}

interface Asked extends Seen {
  /** Undefined: the gateway has no such route. */
  readonly route: Route | undefined
  /** How many requests to this route came before, since the fault began. */
  readonly earlier: number
  /** How many inferences came before, since the fault began. */
  readonly earlierInferences: number
}

type Answer =
  | { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> }
  | 'never ends'
  | 'reset'

interface Expected {
  readonly status: number
  /** Absent: nothing. */
  readonly blames?: Culprit | string
}

interface Fault {
  /** Undefined: the healthy gateway answers. */
  readonly answer: (asked: Asked) => Answer | undefined
  readonly expected: Expected
  /** Where a command or its client differs, and why that is no contradiction. */
  readonly except?: Readonly<Partial<Record<Command, Expected>>>
  /** A gateway of its own behind the fault. */
  readonly behind?: typeof healthy
  /** By path. Absent: the usual ones, below /v1. */
  readonly routes?: Readonly<Record<string, Route>>
  /** The most requests of one command that the gateway may reject. */
  readonly rejections?: number
  /** Nothing lists the models, so the user names one. */
  readonly isListless?: true
}

const works: Expected = { status: 0 }
const json = (status: number, message: string, code?: string): Answer => ({
  status,
  body: { error: { message, type: 'invalid_request_error', code: code ?? null } },
})
const isInference = ({ route }: Asked): boolean => route !== undefined && route !== 'list'
const loginPage: Answer = {
  status: 200,
  body: '<!doctype html><html><title>Sign in</title><body><form>Sign in</form></body></html>',
  headers: { 'content-type': 'text/html' },
}
const noRoute = json(404, 'Not Found')
const wrongKey = json(401, 'Incorrect API key provided.', 'invalid_api_key')

/** A transient answer to the first list, to the first inference, or to all inferences. */
function transient(name: string, answer: Answer, blames: Culprit, status = 7) {
  return {
    [`${name} once, at the list`]: {
      answer: ({ route, earlier }) => (route === 'list' && earlier === 0 ? answer : undefined),
      expected: works,
    },
    [`${name} once, at the first inference`]: {
      answer: (asked) => (isInference(asked) && asked.earlierInferences === 0 ? answer : undefined),
      expected: works,
    },
    [`${name} always, at inferences`]: {
      answer: (asked) => (isInference(asked) ? answer : undefined),
      expected: { status, blames },
    },
  } satisfies Record<string, Fault>
}

/** Serves these protocols and has no route for the others. */
function only(...protocols: readonly Route[]): Fault['answer'] {
  return ({ route }) => (route === 'list' || protocols.includes(route!) ? undefined : noRoute)
}

/** The clients have none of the protocols of this gateway, or cannot send the key as it wants it. */
const cannot = (...names: readonly Command[]): Fault['except'] =>
  Object.fromEntries(names.map((name) => [name, { status: 5, blames: 'model' }]))
const runAndSetup = (client: 'codex' | 'claude') => [client, `run ${client}`] as const

const faults: Readonly<Record<string, Fault>> = {
  none: { answer: () => undefined, expected: works },
  'rejects the key': {
    answer: () => wrongKey,
    expected: { status: 3, blames: 'key' },
    rejections: 2,
  },
  'rejects the key, has no list': {
    answer: ({ route }) => (route === 'list' ? noRoute : wrongKey),
    isListless: true,
    expected: { status: 3, blames: 'key' },
  },
  '402 at inferences': {
    answer: (asked) => (isInference(asked) ? json(402, 'Insufficient credits.') : undefined),
    expected: { status: 7, blames: 'quota' },
  },
  'a login page everywhere': {
    answer: () => loginPage,
    expected: { status: 4, blames: 'address' },
  },
  'knows no model': {
    answer: (asked) =>
      isInference(asked)
        ? json(404, `The model does not exist or you do not have access to it.`, 'model_not_found')
        : undefined,
    expected: { status: 5, blames: 'model' },
  },
  'no list': {
    answer: ({ route }) => (route === 'list' ? noRoute : undefined),
    isListless: true,
    expected: works,
  },
  'a list that never ends': {
    answer: ({ route }) => (route === 'list' ? 'never ends' : undefined),
    isListless: true,
    expected: works,
  },
  ...transient('503', json(503, 'Service Unavailable'), 'gateway'),
  ...transient('529', json(529, 'Overloaded', 'overloaded_error'), 'gateway'),
  ...transient('429', json(429, 'Rate limit reached, try again.', 'rate_limit_exceeded'), 'quota'),
  ...transient('a broken connection', 'reset', 'connection', 6),
  'only Claude models, over messages': {
    behind: onlyClaude,
    answer: only('messages'),
    expected: works,
    // Codex speaks responses only, Cursor chat only, and Copilot both.
    except: cannot(...runAndSetup('codex'), 'copilot', 'editor'),
  },
  'only chat': {
    answer: only('chat'),
    expected: works,
    // doctor asks over the protocol in the files: that of a setup before the fault.
    except: cannot(...runAndSetup('codex'), ...runAndSetup('claude'), 'doctor'),
  },
  'only responses': {
    answer: only('responses'),
    expected: works,
    except: cannot(...runAndSetup('claude'), 'editor'),
  },
  'only messages': {
    answer: only('messages'),
    expected: works,
    except: cannot(...runAndSetup('codex'), 'copilot', 'editor', 'doctor'),
  },
  'a root without /v1, and no list': {
    routes: { '/chat/completions': 'chat', '/responses': 'responses' },
    isListless: true,
    answer: () => undefined,
    expected: works,
    // Claude Code always appends /v1/messages.
    except: {
      claude: { status: 4, blames: 'address' },
      'run claude': { status: 4, blames: 'address' },
    },
  },
  'a key that belongs into api-key': {
    answer: ({ headers }) =>
      headers['api-key'] === key ? undefined : json(401, 'Missing API key: send it as api-key.'),
    expected: works,
    // They send the key as Authorization or x-api-key only. doctor asks as the files say, from before the fault.
    except: {
      ...cannot(...runAndSetup('claude'), 'copilot', 'editor'),
      doctor: { status: 3, blames: 'key' },
    },
  },
}

/** A gateway with a fault that can be switched on. The key of a healthy request reaches the gateway behind it. */
async function aFaulty(
  { answer, behind = healthy, routes = usualRoutes }: Fault,
  isFaulty: boolean,
  whenFinished: typeof onTestFinished,
) {
  let faulty = isFaulty
  const asked: Asked[] = []
  const rejected: Asked[] = []

  const server = await aServer(
    (seen, response) => {
      const { pathname } = new URL(seen.url, 'http://gateway')
      const route = routes[pathname]
      const one: Asked = {
        ...seen,
        route,
        earlier: asked.filter((other) => other.route === route).length,
        earlierInferences: asked.filter(isInference).length,
      }
      if (faulty) asked.push(one)
      const reply = route === undefined ? noRoute : faulty ? answer(one) : undefined
      if (reply === undefined) {
        void forward(behind, one, response)
        return
      }
      rejected.push(one)
      send(reply, response)
    },
    { onTestFinished: whenFinished },
  )

  return {
    url: `http://127.0.0.1:${server.port}`,
    asked,
    rejected,
    break: () => {
      faulty = true
    },
  }
}

function send(reply: Answer, response: ServerResponse): void {
  if (reply === 'reset') {
    response.socket?.destroy()
  } else if (reply === 'never ends') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"object":"list","data":[')
  } else {
    const { status, body, headers } = reply
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

async function forward(to: typeof healthy, asked: Seen, response: ServerResponse): Promise<void> {
  const { host: _, 'x-api-key': __, 'api-key': ___, ...headers } = asked.headers
  const onward = request(`${to.url}${asked.url.replace(/^(?!\/v1\/)/, '/v1')}`, {
    method: asked.method,
    headers: { ...headers, authorization: `Bearer ${key}` },
  })
  onward.end(asked.body)
  const [answer] = await once(onward, 'response')
  response.writeHead(answer.statusCode, answer.headers)
  answer.pipe(response)
}

/** Absent from `before`: the client is not set up before the fault. */
interface Run {
  readonly before?: string
  /** `model`: the flag with it, for a gateway without a list. */
  readonly words: (url: string, model: readonly string[]) => readonly string[]
}

const named = ['--model', model]
const keyOfRun = ['--key-env', 'REPOINT_API_KEY']
const gateway = (url: string) => ['--base-url', url, '--timeout', '20']

const commands = {
  codex: { words: (url) => ['codex', ...gateway(url), ...named, '--yes'] },
  claude: { words: (url) => ['claude', ...gateway(url), '--yes'] },
  opencode: { words: (url, model) => ['opencode', ...gateway(url), ...model, '--yes'] },
  check: { words: (url, model) => ['check', url, ...model, '--timeout', '20'] },
  'gateways add': {
    words: (url, model) => ['gateways', 'add', url, '--name', 'work', ...model, '--timeout', '20'],
  },
  use: {
    before: 'opencode',
    words: () => ['use', 'work', 'opencode', '--timeout', '20', '--yes'],
  },
  key: { before: 'opencode', words: () => ['key', 'work', '--timeout', '20', '--yes'] },
  'run codex': {
    words: (url, model) => ['run', ...gateway(url), ...model, ...keyOfRun, '--', 'codex'],
  },
  'run claude': {
    words: (url) => ['run', ...gateway(url), ...keyOfRun, '--', 'claude'],
  },
  doctor: { before: 'opencode', words: () => ['doctor', 'opencode', '--timeout', '20'] },
  copilot: { words: (url, model) => ['copilot', ...gateway(url), ...model] },
  editor: { words: (url, model) => ['editor', ...gateway(url), ...model] },
} satisfies Readonly<Record<string, Run>>
type Command = keyof typeof commands

/** The exit status, and what the command blames. `run` has no document, so only its status counts. */
async function ran(home: Home, words: readonly string[]): Promise<Expected> {
  const isRun = words[0] === 'run'
  const { status, stdout, stderr } = await runInProcess(
    home,
    isRun ? words : [...words, '--json'],
    {
      env: { REPOINT_API_KEY: key, PATH: home.at('bin') },
      runInForeground: async () => ({ reason: 'exited', exitStatus: 0 }),
    },
  )
  expect(stdout + stderr).not.toContain(key)
  if (status === 0 || isRun) return { status: status! }
  return { status: status!, blames: culpritIn(JSON.parse(stdout)) }
}

/** What the error of a document blames, or the first failing client of check, or the first problem of doctor. */
function culpritIn(document: {
  readonly error?: { readonly code: string }
  readonly clients?: readonly { readonly code?: string }[]
  readonly checks?: readonly { readonly id: string; readonly result: string }[]
}): string {
  const { error, clients = [], checks = [] } = document
  const ofClient = clients.find(({ code }) => code !== undefined)?.code
  const ofCheck = checks.find(({ result }) => result === 'problem')?.id
  const code = error?.code ?? ofClient ?? ofCheck ?? 'no code'
  return outcomeCodes[code as keyof typeof outcomeCodes]?.blames ?? code
}

function aHomeWithPrograms(whenFinished: (work: () => void) => unknown): Home {
  const home = aHome({}, whenFinished)
  // A client that fails by itself decides nothing.
  for (const program of ['codex', 'claude', 'opencode'])
    home.put(
      `bin/${program}`,
      '#!/bin/sh\ncase "$*" in *ping*) exit 1 ;; esac\necho 9.9.9\n',
      0o755,
    )
  return home
}

const commandNames = Object.keys(commands) as Command[]

/** By default a setup and one other command for each fault. */
const cells = Object.entries(faults).flatMap(([fault, { expected, except }], turn) => {
  const [setup, ...others] = commandNames
  const tried = triesAll ? commandNames : [setup!, ...oneInTurn(others, turn)]
  return tried.map((command) => ({ fault, command, expected: except?.[command] ?? expected }))
})

describe.concurrent('a gateway with a fault', () => {
  test.for(cells)('$fault × $command', async ({ fault, command, expected }, context) => {
    const { before, words }: Run = commands[command]
    const faulty = await aFaulty(faults[fault]!, before === undefined, context.onTestFinished)
    const home = aHomeWithPrograms(context.onTestFinished)
    const { isListless } = faults[fault]!
    const more = isListless ? named : []
    if (before !== undefined)
      expect(
        await ran(home, [before, ...gateway(faulty.url), ...more, '--name', 'work', '--yes']),
      ).toEqual(works)
    faulty.break()

    expect(await ran(home, words(faulty.url, more))).toEqual(
      command.startsWith('run') ? { status: expected.status } : expected,
    )
    const { rejections = Number.POSITIVE_INFINITY } = faults[fault]!
    expect(faulty.rejected.length).toBeLessThanOrEqual(rejections)
  })
})

/** Guided setup of opencode. A question that comes a second time ends it. */
function guidedSetup(home: Home, url: string) {
  const asked = new Set<string>()
  const once = <Reply>(question: string, reply: Reply): Reply => {
    if (asked.has(question)) throw new UserError({ code: 'cancelled', message: 'Asked again' })
    asked.add(question)
    return reply
  }
  const addressOrModel = ({ message }: { message: string }) =>
    once(message, message.startsWith('Gateway address') ? url : model)
  return runInProcess(home, [], {
    env: { PATH: home.at('bin') },
    ask: {
      discardTyping: () => {},
      acceptTyping: () => {},
      input: async (question) => addressOrModel(question),
      search: async (question) => addressOrModel(question),
      secret: async ({ message }) => once(message, key),
      checkbox: async ({ message, updates = [] }) => {
        await Promise.all(updates)
        return once(message, ['opencode'])
      },
      confirm: async ({ message }) => once(message, true),
    },
  })
}

/** Without a named model, guided setup and `repoint opencode` need the list, or an answer that there is none. */
const { 'a list that never ends': _endless, ...faultsWithoutModel } = faults

describe.concurrent('guided setup', () => {
  test.for(Object.entries(faultsWithoutModel))(
    '%s: ends as `repoint opencode` does',
    async ([, fault], { onTestFinished: whenFinished }) => {
      const { url } = await aFaulty(fault, true, whenFinished)
      const home = aHomeWithPrograms(whenFinished)
      const { status, stderr } = await guidedSetup(home, url)
      expect(stderr).not.toContain(key)
      if (fault.expected.status === 0) {
        expect([status, stderr]).toEqual([0, expect.anything()])
        return
      }

      // It can ask for another address, key or model, after it has said what is wrong.
      const { stdout } = await runInProcess(home, [...commands.opencode.words(url, []), '--json'], {
        env: { REPOINT_API_KEY: key, PATH: home.at('bin') },
      })
      const [reason] = (JSON.parse(stdout) as { error: UserError }).error.message.split(' (')
      expect([status, stderr]).toEqual([
        expect.toBeOneOf([130, fault.expected.status]),
        expect.stringContaining(reason!),
      ])
    },
  )
})
