/**
 * Finds out which unusual responses the real clients accept: each client answers one prompt at a forged
 * gateway on loopback, once for each case of scripts/responses/cases.js. Prints a row a line, as JSON.
 * `table`: reads rows from the standard input and prints what src/clients/NAME/responses.json says.
 *
 *   node scripts/responses.js CLIENT PROTOCOL [CASE …]      absent: every case
 *   node scripts/responses.js table < ROWS
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { clients, programOf } from './drift/clients.js'
import { homeFor } from './drift/try-version.js'
import { modulesOf } from './install.js'
import { offline } from './offline.js'
import { casesOf } from './responses/cases.js'
import { startForgedGateway } from './responses/server.js'
import { acceptedFrom } from './responses/table.js'
import { source } from './source.js'

if (process.argv[2] === 'table') {
  await printTable()
  process.exit()
}

const isInside = 'REPOINT_RESPONSES'
if (process.env[isInside] === undefined) {
  const [command, ...words] = [...offline(), process.execPath, ...process.argv.slice(1)]
  const env = { ...process.env, [isInside]: '1' }
  process.exit(spawnSync(command, words, { stdio: 'inherit', env }).status ?? 1)
}

/** A model that a client treats as an ordinary one. */
const models = {
  codex: 'gpt-5.5',
  claude: 'claude-sonnet-5-5',
}

/** Clients wait more than they work. */
const atOnce = Number(process.env['AT_ONCE'] ?? 3)

/** A client that does not end after this many ms waits for something. */
const timeoutMs = 60_000

/** How many requests a client may send for a case. More prove that it repeats them. */
const mostRequests = 12

const [client, protocol, ...only] = process.argv.slice(2)
const names = only.length > 0 ? only : Object.keys(casesOf(protocol))
const waiting = [...names]
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    const setup = await setUp()
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        console.log(JSON.stringify(await tryCase(setup, next)))
    } finally {
      setup.gateway.close()
      rmSync(setup.home, { recursive: true, force: true, maxRetries: 5 })
    }
  }),
)

async function printTable() {
  const { flawWords } = await source("export { flawWords } from './src/gateway/judge/flaws.ts'")
  const rows = readFileSync(0, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const protocols = [...new Set(rows.map((row) => row.protocol))]
  const table = protocols.map((one) => [
    one,
    acceptedFrom(
      rows.filter((row) => row.protocol === one),
      Object.keys(flawWords),
    ),
  ])
  const [{ client: name }] = rows
  const version = clients[name].versions.at(-1)
  const date = new Date().toISOString().slice(0, 10)
  console.log(JSON.stringify({ version, date, protocols: Object.fromEntries(table) }, null, 2))
}

async function setUp() {
  const model = models[client] ?? 'glm-5'
  const ids =
    client === 'claude' ? ['claude-sonnet-5-5', 'claude-opus-5', 'claude-haiku-4-5'] : [model]
  const gateway = await startForgedGateway(ids)
  const home = mkdtempSync(join(tmpdir(), 'repoint-responses-'))
  const program = programOf(modulesOf('clients'), client, clients[client].versions.at(-1))
  const env = homeFor(home, client, program)
  const protocols = ['codex', 'claude'].includes(client) ? [] : ['--protocol', protocol]
  const words = [client, '--model', model, ...protocols, '--yes', '--json', '--no-verify']
  const set = await run([process.execPath, resolve('bin/repoint.js'), ...words], home, {
    ...env,
    REPOINT_API_KEY: 'sk-responses-4f7a1c9e2b8d6035',
    REPOINT_BASE_URL: gateway.url,
  })
  if (set.status !== 0) throw new Error(set.stdout)
  return { gateway, home, env, program }
}

async function tryCase({ gateway, home, env, program }, name) {
  const isAboutRetries = /^(?:once|always)-/.test(name)
  const { CLAUDE_CODE_MAX_RETRIES, ...others } = clients[client].env ?? {}
  const extra =
    isAboutRetries || CLAUDE_CODE_MAX_RETRIES === undefined ? others : clients[client].env
  const format = client === 'claude' ? ['--output-format', 'json'] : []
  const unbounded = client === 'codex' ? ['--disable', 'unbounded_connection_retries'] : []
  const usual = clients[client].run(`Answer with one word. case(${name})`)
  const args =
    client === 'codex' ? [usual[0], ...unbounded, ...usual.slice(1)] : [...format, ...usual]

  const startedAt = Date.now()
  const limit = isAboutRetries ? mostRequests : 5
  const result = await run(
    [...program, ...args],
    home,
    { ...env, ...extra },
    () => gateway.log(name).length >= limit,
  )
  const log = gateway.log(name)
  const gaps = log.slice(1).map(({ at }, n) => Math.round((at - log[n].at) / 100) / 10)
  gateway.forget(name)
  const isError = client === 'claude' && !/"is_error":false/.test(result.stdout)
  return {
    client,
    protocol,
    case: name,
    answered: result.status === 0 && /pong/.test(result.stdout) && !isError,
    status: result.status,
    ended: result.ended,
    requests: log.length,
    gaps,
    unstreamed: log.filter(({ stream }) => !stream).length || undefined,
    redirected: log.find((one) => one.redirected),
    seconds: Math.round((Date.now() - startedAt) / 100) / 10,
    stdout: result.stdout.trim().slice(-250),
    stderr: result.stderr.trim().slice(-300),
  }
}

function run([program, ...args], home, env, isEnough = () => false) {
  return new Promise((done) => {
    const cwd = join(home, 'work')
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const texts = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'])
      child[name].on('data', (piece) => (texts[name] += piece))
    let ended = 'itself'
    const stop = (why) => {
      ended = why
      endGroup(child.pid)
    }
    const timer = setTimeout(() => stop('time'), timeoutMs)
    const watch = setInterval(() => isEnough() && stop('requests'), 200)
    child.on('close', (status) => {
      clearTimeout(timer)
      clearInterval(watch)
      endGroup(child.pid)
      done({ status, ended, ...texts })
    })
  })
}

function endGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nothing of it is left.
  }
}
