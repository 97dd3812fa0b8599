/**
 * Finds out which unusual responses a real client accepts. Run it when a client is added or its responses.json
 * is out of date. The client answers one prompt at a forged gateway on loopback, once for each case of
 * scripts/responses/cases.js. Prints one row of JSON for each case. `table` turns such rows into the text of
 * src/clients/NAME/responses.json.
 *
 *   node scripts/try-responses.js CLIENT PROTOCOL [CASE …] > ROWS      the default is every case
 *   node scripts/try-responses.js table < ROWS
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { homeFor } from './check-releases/try-version.js'
import { copilot } from './copilot.js'
import { importSource } from './import-source.js'
import { installVersion } from './install.js'
import { offline } from './offline.js'
import { clients } from './real-clients.js'
import { casesOf } from './responses/cases.js'
import { hasServer, startServer } from './responses/client-server.js'
import { run } from './responses/process.js'
import { startForgedGateway } from './responses/server.js'
import { acceptedFrom } from './responses/table.js'

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

const key = 'sk-responses-4f7a1c9e2b8d6035'

/** Clients wait more than they work. */
const atOnce = Number(process.env['AT_ONCE'] ?? 3)

/** A client that does not end after this many ms waits for something. */
const timeoutMs = 60_000

/** How many requests a client may send for a case. More prove that it repeats them. */
const mostRequests = 12

const [client, protocol, ...only] = process.argv.slice(2)
const names = only.length > 0 ? only : Object.keys(casesOf(protocol))
const waiting = [...names]
// A server takes longer to start than a few processes.
const asServer = hasServer(client) && names.length > 5
const setups = asServer
  ? Array.from({ length: atOnce }).fill(await setUp())
  : await Promise.all(Array.from({ length: atOnce }, setUp))
await Promise.all(
  setups.map(async (setup) => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      console.log(JSON.stringify(await tryCase(setup, next)))
  }),
)
for (const setup of new Set(setups)) setup.close()

async function printTable() {
  const { flawWords } = await importSource(
    "export { flawWords } from './src/gateway/judge/flaws.ts'",
  )
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
  const version = { ...clients, copilot }[name].versions.at(-1)
  const date = new Date().toISOString().slice(0, 10)
  console.log(JSON.stringify({ version, date, protocols: Object.fromEntries(table) }, null, 2))
}

/**
 * A home in which the client is set up at a forged gateway.
 *
 * @returns the gateway, and `ask`, which sends a prompt and returns the result of the client's process
 */
async function setUp() {
  const model = models[client] ?? 'glm-5'
  const ids =
    client === 'claude' ? ['claude-sonnet-5-5', 'claude-opus-5', 'claude-haiku-4-5'] : [model]
  const gateway = await startForgedGateway(ids)
  const home = mkdtempSync(join(tmpdir(), 'repoint-responses-'))
  const isCopilot = client === 'copilot'
  const program = isCopilot
    ? copilot.program()
    : installVersion(client, clients[client].versions.at(-1))
  const env = homeFor(home, client, program)
  const cwd = join(home, 'work')
  if (!isCopilot) await setUpFiles({ model, url: gateway.url, cwd, env })

  const server = asServer
    ? await startServer(client, program, { home, cwd, env: { ...env, ...clients[client].env } })
    : undefined
  // The first answer of a server takes longer than the others.
  await server?.ask('ping', { isEnough: () => false, timeoutMs: 180_000 })
  const start = (prompt, isAboutRetries) =>
    isCopilot
      ? copilot.start(prompt, { protocol, model, url: gateway.url, key })
      : startOf(prompt, isAboutRetries)
  return {
    gateway,
    ask(prompt, { isAboutRetries, ...limits }) {
      if (server !== undefined) return server.ask(prompt, limits)
      const { args, env: more } = start(prompt, isAboutRetries)
      return run([...program, ...args], { cwd, env: { ...env, ...more }, ...limits })
    },
    close() {
      server?.close()
      gateway.close()
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function setUpFiles({ model, url, cwd, env }) {
  const hasOneProtocol = ['codex', 'claude', 'cline'].includes(client)
  const protocols = hasOneProtocol ? [] : ['--protocol', protocol]
  const words = [client, '--model', model, ...protocols, '--yes', '--json', '--no-verify']
  const { status, stdout } = await run([process.execPath, resolve('bin/repoint.js'), ...words], {
    cwd,
    env: { ...env, REPOINT_API_KEY: key, REPOINT_BASE_URL: url },
    timeoutMs,
  })
  if (status !== 0) throw new Error(stdout)
}

/** The arguments and the environment of a process that answers one prompt. */
function startOf(prompt, isAboutRetries) {
  const { CLAUDE_CODE_MAX_RETRIES, ...others } = clients[client].env ?? {}
  const isWithout = isAboutRetries || CLAUDE_CODE_MAX_RETRIES === undefined
  const usual = clients[client].run(prompt)
  const additions = {
    claude: ['--output-format', 'json', ...usual],
    codex: [usual[0], '--disable', 'unbounded_connection_retries', ...usual.slice(1)],
  }
  return { args: additions[client] ?? usual, env: isWithout ? others : clients[client].env }
}

async function tryCase({ gateway, ask }, name) {
  const isAboutRetries = /^(?:once|always)-/.test(name)
  const startedAt = Date.now()
  const limit = isAboutRetries ? mostRequests : 5
  const result = await ask(`Answer with one word. case(${name})`, {
    isAboutRetries,
    isEnough: () => gateway.log(name).length >= limit,
    timeoutMs,
  })
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
