import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { main } from '../../src/cli.ts'
import { errorCodes, isErrorCode } from '../../src/error-codes.ts'
import { UserError } from '../../src/errors.ts'
import type { AskChoice, Platform } from '../../src/platform/platform.ts'
import { aServer, key as checkedKey, goodGateway, sendJson } from '../gateway/forged.ts'
import { clientStates, type Effect, type StateOfClient } from '../support/client-states.ts'
import { fixtureCatalog, withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { platformIn } from '../support/in-process.ts'
import { asOrdinaryUser } from '../support/ordinary-user.ts'
import { oneInTurn, triesAll } from '../support/sample.ts'
import { notAsRoot } from '../support/world.ts'

/**
 * Every command in each state of a client. They judge a client with one function, so they agree on the code, on the
 * severity and on the exit status; a dry run ends like the setup.
 */

const key = 'sk-canary-states-6a5b4c3d2e1f0a9b'
const gateway = await withGateway({ key })
const list = { data: fixtureCatalog.map(({ id }) => ({ id })) }
/** `check` asks it for every client. It only answers, which takes less time than to judge each request. */
const checked = await aServer(
  (request, response) =>
    request.method === 'GET' ? sendJson(response, 200, list) : goodGateway(request, response),
  { onTestFinished: afterAll },
)

/** The home of all tests: the records of repoint have its path. */
const home = aHome({}, afterAll)
/** What the home has after the setup of a client. */
const setUpHomes = new Map<string, Home>()

const keepsWorking: readonly Effect[] = ['works', 'works-differently', 'cannot-be-set-up']

interface Document {
  readonly error?: { readonly code: string; readonly message: string }
  readonly clients?: readonly {
    readonly obstacles?: readonly { readonly code: string; readonly weight: string }[]
  }[]
  readonly warnings?: readonly { readonly code: string }[]
  readonly checks?: readonly {
    readonly id: string
    readonly about: string
    readonly result: string
  }[]
}

/** The versions that repoint is tested with, as the programs print them. */
const versions: Readonly<Record<string, string>> = {
  codex: 'codex-cli 0.169.0',
  claude: '2.1.330 (Claude Code)',
  opencode: '1.18.34',
  kilo: '7.7.9',
  pi: '0.87.1',
  openclaw: '2026.9.6',
  qwen: '0.24.4',
  droid: '0.225.2',
  cline: '3.0.65',
  kimi: '2.1.0',
  grok: '1.0.41',
}

/** Runs a command as an ordinary user, in this process. */
function repoint(place: Place, ...args: readonly string[]) {
  return runAs(place, args)
}

async function runAs(
  { env = {}, cwd = '', fileCalls }: Place,
  args: readonly string[],
  terminal: { canAsk: boolean; columns?: number; ask?: Partial<Platform['ask']> } = {
    canAsk: false,
  },
) {
  const platform = platformIn(home, { env: { PATH: home.at('bin'), ...env }, cwd: home.at(cwd) })
  const user = { ...platform, ...notAsRoot(platform) }
  const run: Platform['processes']['run'] = async (program) => {
    const stdout = `${versions[basename(program)]}\n`
    return { reason: 'exited', exitStatus: 0, stdout, stderr: '' }
  }
  let stdout = ''
  let stderr = ''
  const status = await main(
    {
      ...user,
      files: { ...asOrdinaryUser(user.files, home.path), ...fileCalls },
      processes: { ...user.processes, run },
      runInForeground: async () => ({ reason: 'exited', exitStatus: 0 }),
      ask: { ...user.ask, ...terminal.ask },
      terminal: {
        ...user.terminal,
        ...terminal,
        out: (text) => {
          stdout += text
        },
        err: (text) => {
          stderr += text
        },
        readStdin: async () => new Uint8Array(),
      },
    },
    args,
  )
  expect(stdout + stderr).not.toContain(key)
  return { status, stdout, stderr }
}

type Place = Pick<StateOfClient, 'env' | 'cwd' | 'fileCalls'>

/** Every hint in a document. */
function hintsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    (name === 'hint' || name === 'cure') && typeof member === 'string' ? [member] : hintsIn(member),
  )
}

/** The commands in a hint, as words. A hint with a word to replace is none. */
function commandsIn(hint: string): readonly (readonly string[])[] {
  const starts = hint.matchAll(/(?<![\w/~.-])(?:repoint (?=[a-z])|chmod (?=[-+=\w]+ ))/g)
  const commands = [...starts].map(({ index }) => {
    const words: string[] = []
    for (const [, quoted, bare] of hint.slice(index).matchAll(/"([^"]*)"|(\S+)/g)) {
      if (words.length > 1 && /^(?:\(|or|and|to|again|with)/i.test(bare ?? '')) break
      const word = quoted ?? bare!.replace(/[.,;:`)]+$/, '')
      words.push(word)
      if (bare !== undefined && word !== bare) break
    }
    return words
  })
  return commands.filter((words) => !words.some((word) => /^[A-Z]{2,}$/.test(word)))
}

/** Types the cures of a state, each in that state. Returns those that neither succeed nor change what status says. */
async function uselessCures(
  state: StateOfClient,
  place: Place,
  { hints, status }: { hints: readonly string[]; status: string },
): Promise<readonly string[]> {
  const useless: string[] = []
  const commands = new Map(hints.flatMap(commandsIn).map((words) => [words.join(' '), words]))
  for (const [cure, typed] of commands) {
    await enter(state)
    const [program, ...args] = typed.map((word) => word.replace(/^~\//, `${home.path}/`))
    let output = ''
    if (program === 'chmod') spawnSync('/bin/chmod', args)
    else {
      const { status: code, stderr } = await repoint(place, ...args, ...answers(args, state))
      if (code === 0) continue
      output = stderr
    }
    const isSame = (await reported(place, 'status', state.client)) === status
    if (isSame) useless.push(`${cure}: ${output}`)
  }
  return useless
}

/** What a user would answer to the questions of a command. */
function answers(
  [command = '', ...args]: readonly string[],
  { files }: StateOfClient,
): readonly string[] {
  const asks = ['off', 'rollback', 'use', 'setup', 'key', 'forget', ...Object.keys(versions)]
  if (!asks.includes(command)) return []
  const needsAddress = files !== undefined && command in versions && !args.includes('--base-url')
  const needsKey = command === 'key' || needsAddress || args.includes('--base-url')
  return [
    ...(needsAddress ? ['--base-url', gateway.url] : []),
    ...(args.includes('--yes') ? [] : ['--yes']),
    ...(needsKey ? ['--key-env', 'GATEWAY_KEY'] : []),
  ]
}

/**
 * The exit status of a command, then what it reports about the client and about this machine: its errors, and its
 * warnings with a `~`.
 */
async function reported(place: Place, ...args: readonly string[]): Promise<string> {
  return (await report(place, args)).text
}

async function report(place: Place, args: readonly string[]) {
  const { status, stdout } = await repoint(place, ...args, '--json')
  const document = JSON.parse(stdout) as Document
  const { error, clients = [], warnings = [], checks = [] } = document
  const ofMachine = args[0] === 'status' ? warnings : []
  const codes = [
    ...(error === undefined ? [] : [error.code]),
    ...clients
      .flatMap(({ obstacles = [] }) => obstacles)
      .map(({ code, weight }) => (weight === 'blocks' ? code : `~${code}`)),
    // `status` shows them all as warnings. Its exit status tells an error.
    ...ofMachine.map(({ code }) => (code === 'locked' ? code : `~${code}`)),
    ...checks
      .filter(({ id, result }) => result !== 'ok' && id !== 'installed')
      .map(({ id, result }) => (result === 'problem' ? id : `~${id}`)),
  ]
  return { text: [status, ...codes.sort()].join(' '), hints: hintsIn(document) }
}

/** How guided setup lists the client: what its line or the error says if it cannot be selected. */
async function listed(place: Place, client: string): Promise<string> {
  let choices: readonly AskChoice[] = []
  const env = { ...place.env, REPOINT_BASE_URL: gateway.url, REPOINT_API_KEY: key }
  const { stderr } = await runAs({ ...place, env }, [], {
    canAsk: true,
    columns: 1000,
    ask: {
      discardTyping: () => {},
      acceptTyping: () => {},
      search: async () => gateway.url,
      secret: async () => key,
      checkbox: async (question) => {
        await Promise.all(question.updates ?? [])
        choices = question.choices()
        throw new UserError({ code: 'cancelled', message: 'The test has seen the list' })
      },
    },
  })
  const choice = choices.find(({ value }) => value === client)
  if (choice === undefined) return stderr
  return choice.disabled === undefined ? 'offered' : choice.name
}

/** Gives the home this state, whatever it was before. */
async function enter({ client, files, change }: StateOfClient): Promise<void> {
  empty()
  home.put('work/.keep', '')
  home.put(`bin/${client}`, '', 0o755)
  const scene = { home, url: gateway.url, key }
  if (files === undefined) await setUpOnce(client)
  else for (const [name, content] of Object.entries(files(scene))) home.put(name, content, 0o600)
  change?.(scene)
}

/** Removes everything in the home, although it may have folders that nobody can list. */
function empty(): void {
  for (const name of home.everything()) if (!name.endsWith('loop')) tryChmod(home.at(name))
  for (const name of readdirSync(home.path)) rmSync(home.at(name), { recursive: true })
}

function tryChmod(path: string): void {
  try {
    chmodSync(path, 0o700)
  } catch {
    // A link that leads nowhere.
  }
}

async function setUpOnce(client: string): Promise<void> {
  const done = setUpHomes.get(client)
  if (done !== undefined) {
    cpSync(done.path, home.path, { recursive: true, preserveTimestamps: true })
    return
  }

  const model = client === 'claude' ? [] : ['--model', 'gpt-5.6-sol']
  const words = [client, '--no-verify', '--name', 'work', '--base-url', gateway.url, '--yes']
  const { status, stdout } = await repoint(
    { env: { REPOINT_API_KEY: key } },
    ...[...words, ...model, '--json'],
  )
  expect([status, JSON.parse(stdout)['error']]).toEqual([0, undefined])
  const copy = aHome({}, afterAll)
  cpSync(home.path, copy.path, { recursive: true, preserveTimestamps: true })
  setUpHomes.set(client, copy)
}

/** What a command says that stops with this code, or that works. */
function ending(code: string | undefined): string {
  if (code === undefined) return '0'
  return `${errorCodes[isErrorCode(code) ? code : 'config-conflict'].exitStatus} ${code}`
}

/** The first state of each client with its code: `check` asks for every client, which takes long. */
function isTelling({ client, state, code }: StateOfClient): boolean {
  const [first] = clientStates.filter((other) => other.client === client && other.code === code)
  return first?.state === state
}

/** By default each state of one client. */
const names = [...new Set(clientStates.map(({ state }) => state))]
const sample = names.flatMap((name, turn) =>
  oneInTurn(
    clientStates.filter(({ state }) => state === name),
    turn,
  ),
)

describe('a client', () => {
  test.for(triesAll ? clientStates : sample)('$client: $state', async (state) => {
    const {
      client,
      effect,
      code,
      also = [],
      cwd,
      fileCalls,
      machine,
      run,
      setup,
      off,
      guided,
    } = state
    const env = Object.fromEntries(
      Object.entries(state.env ?? {}).map(([name, value]) => [name, value === 'KEY' ? key : value]),
    )
    const place: Place = {
      env: { ...env, GATEWAY_KEY: key, CHECKED_KEY: checkedKey },
      ...(cwd === undefined ? {} : { cwd }),
      ...(fileCalls === undefined ? {} : { fileCalls }),
    }
    await enter(state)
    const hints = new Set<string>()
    const tell = async (...args: readonly string[]) => {
      const { text, hints: more } = await report(place, args)
      for (const hint of more) hints.add(hint)
      return text
    }

    const status = await tell('status', client)
    const doctor = await tell('doctor', client, '--no-verify')
    const gatewayFlags = ['--base-url', gateway.url, '--key-env', 'GATEWAY_KEY']
    const setUp = [
      ...[client, '--yes', '--no-verify', ...(state.files ? gatewayFlags : [])],
      ...(client === 'claude' ? [] : ['--model', 'gpt-5.6-sol']),
    ]
    const dryRun = await tell(...setUp, '--dry-run')
    const offDry = await tell('off', client, '--dry-run')
    const launch = await repoint(
      place,
      ...['run', ...(state.files ? gatewayFlags : [])],
      ...(client.startsWith('claude') ? [] : ['--model', 'gpt-5.6-sol']),
      ...['--no-verify', '--', client, ...(client === 'cline' ? ['say hi there'] : [])],
    )
    const checkArgs = ['check', `http://127.0.0.1:${checked.port}`, '--key-env', 'CHECKED_KEY']
    const check = isTelling(state) ? await tell(...checkArgs) : undefined
    const line = await listed(place, client)
    const written = await tell(...setUp)
    const useless = await uselessCures(state, place, { hints: [...hints], status })

    const isError = !keepsWorking.includes(effect)
    const own = code === undefined ? [] : [isError ? code : `~${code}`]
    const warnings = also.map((other) => `~${other}`)
    const ofMachine = machine === undefined ? [] : [machine]
    const worst = [...own, ...ofMachine].find((one) => !one.startsWith('~'))
    const all = [...own, ...warnings, ...ofMachine].sort()
    const judgement = [ending(worst).split(' ')[0], ...all]
    const stops = (reason: string | undefined) => ending(reason === 'stops' ? code : reason)
    const isOffered = guided === undefined ? stops(setup) === '0' : guided === 'offers'
    const seen = { status, doctor, check, useless, guided: line === 'offered' ? line : 'refused' }
    expect({ ...seen, dryRun, setup: written, off: offDry, run: launch.status }, line).toEqual({
      status: judgement.join(' '),
      doctor: judgement.join(' '),
      // Whether the gateway serves the client decides its exit status.
      check: check && ['0', ...[...own, ...warnings].sort()].join(' '),
      guided: isOffered ? 'offered' : 'refused',
      useless: [],
      dryRun: stops(setup),
      setup: stops(setup),
      off: stops(off),
      run: Number(stops(run).split(' ')[0]),
    })
  })
})
