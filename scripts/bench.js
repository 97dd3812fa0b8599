/**
 * Measures how long the commands take beside `node -e 0`, in the same loop, and what growth and an
 * installation cost. Ends with status 1 when a limit is missed by more than 15 %.
 *
 * A ratio is the median over the rounds, each of which runs every command once in a new, empty home. Ratios depend on
 * what Node itself takes to start: with NODE_EXTRA_CA_CERTS set, Node 20 reads all those certificates
 * first (60 instead of 22 ms), and the same work weighs less. So both cases have limits of their own.
 *
 *   npm run bench              all of it
 *   npm run bench -- --quick   fewer rounds, nothing installed
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const require = createRequire(import.meta.url)
const program = resolve('bin/repoint.js')
const isQuick = process.argv.includes('--quick')
const rounds = isQuick ? 7 : 21
const growthRounds = isQuick ? 3 : 7
const tolerance = 1.15

/** Highest ratio to `node -e 0`. `bare`: where Node starts without reading further certificates. */
const limits = {
  '--version': { certificates: 1.3, bare: 1.5 },
  '--help': { certificates: 1.4, bare: 1.7 },
  status: { certificates: 1.8, bare: 3.1 },
  codex: { certificates: 2.6, bare: 5.1 },
  rollback: { certificates: 1.8, bare: 3.1 },
}
/** Growth may raise no ratio by more than this factor. */
const growthLimit = 2
/** The largest configuration that is edited is 1 MB; the largest real one seen had 90 kB. */
const largeConfigBytes = 990_000

const commands = {
  '--version': [program, '--version'],
  '--help': [program, '--help'],
  codex: [program, 'codex', '--yes'],
  status: [program, 'status'],
  rollback: [program, 'rollback'],
}

let isMissed = false
let server
const key = 'sk-bench-0000000000000000'
const work = mkdtempSync(join(tmpdir(), 'repoint-bench-'))
async function startServer() {
  const child = spawn(process.execPath, [program, 'serve', '--json'], {
    env: { PATH: process.env.PATH, HOME: work, REPOINT_API_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise((settle, fail) => {
    child.stdout.once('data', (data) => settle(String(data)))
    child.once('exit', () => fail(new Error('repoint serve ended')))
  })
  return { child, url: JSON.parse(line).url }
}

function environment(home, setting) {
  return {
    PATH: process.env.PATH,
    HOME: home,
    USERPROFILE: home,
    LOCALAPPDATA: join(home, 'AppData'),
    REPOINT_BASE_URL: server.url,
    REPOINT_API_KEY: key,
    ...(setting === 'certificates' ? { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS } : {}),
  }
}

/** Wall-clock time in ms. */
function timed(args, env) {
  const start = process.hrtime.bigint()
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  const elapsedMs = Number(process.hrtime.bigint() - start) / 1e6
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}:\n${stderr}`)
  return elapsedMs
}

/** One round: every command once. Returns ms by name. */
function round(home, setting, names = Object.keys(commands)) {
  const env = environment(home, setting)
  const ms = { node: timed(['-e', '0'], env) }
  for (const name of names) ms[name] = timed(commands[name], env)
  return ms
}

function benchCommands(setting) {
  const all = []
  for (let n = 0; n < rounds; n++) {
    const home = join(work, `home-${setting}-${n}`)
    mkdirSync(home)
    all.push(round(home, setting))
    rmSync(home, { recursive: true })
  }
  const nodeMs = median(all.map(({ node }) => node))
  console.log(
    `\nCommands, ${rounds} rounds, Node ${process.version}, ${
      setting === 'certificates' ? 'NODE_EXTRA_CA_CERTS set' : 'bare environment'
    }: node -e 0 takes ${nodeMs.toFixed(1)} ms`,
  )
  for (const [name, limit] of Object.entries(limits)) {
    const ms = median(all.map((one) => one[name]))
    report(name, ms, median(all.map((one) => one[name] / one.node)), limit[setting])
  }
}

/** What status, codex and rollback take in a home that has grown, beside a fresh one. */
async function benchGrowth(setting) {
  const names = ['codex', 'status', 'rollback']
  const grown = [
    ['1,000 recorded runs', await homeWithRuns(1000)],
    ['a config of 1 MB', aHome('home-large', configOf(largeConfigBytes))],
  ]
  const fresh = aHome('home-fresh')
  const state = join('.local', 'state')
  for (const [what, home] of grown) {
    const all = []
    for (let n = 0; n < growthRounds; n++) {
      all.push([round(fresh, setting, names), round(home, setting, names)])
      rmSync(join(fresh, state), { recursive: true })
    }
    console.log(`\nGrowth: ${what}, ${growthRounds} rounds`)
    for (const name of names) {
      const ms = median(all.map(([, big]) => big[name]))
      const factor = median(
        all.map(([small, big]) => big[name] / big.node / (small[name] / small.node)),
      )
      report(name, ms, factor, growthLimit, '× the ratio of a small home')
    }
  }
}

/** A home in which repoint has really run `count` times, in this process. */
async function homeWithRuns(count) {
  const home = aHome('home-runs')
  const { main, nodePlatform } = require(resolve('dist/main.cjs'))
  const real = nodePlatform()
  const platform = {
    machine: { ...real.machine, home, cwd: home, env: environment(home, 'bare') },
    terminal: { ...real.terminal, canAsk: false, out() {}, err() {} },
    files: real.files,
    processes: real.processes,
    clock: real.clock,
    ask: real.ask,
    interrupt: new AbortController().signal,
  }
  for (let n = 0; n < count; n++) {
    const status = await main(platform, ['codex', '--yes', '--no-verify', '--model', `model-${n}`])
    if (status !== 0) throw new Error(`run ${n} ended with ${status}`)
  }
  return home
}

function aHome(name, config = configOf(1_000)) {
  const home = join(work, name)
  mkdirSync(join(home, '.codex'), { recursive: true })
  writeFileSync(join(home, '.codex/config.toml'), config)
  return home
}

/** A configuration as Codex leaves it: a few settings, then one table for each trusted project. */
function configOf(bytes) {
  const head = `# mine\nmodel = "o3" # the slow one\napproval_policy = "on-request"\n\n[mcp_servers.files]\ncommand = "mcp-files"\nargs = ["--root", "~/notes"]\n`
  const tables = []
  for (let n = 0, length = head.length; length < bytes; n++) {
    tables.push(`\n[projects."/home/me/work/project-${n}"]\ntrust_level = "trusted"\n`)
    length += tables.at(-1).length
  }
  return head + tables.join('')
}

/** Into an empty folder with an empty cache, in turns with add-mcp, the smallest comparable tool. */
function benchInstall() {
  const packed = spawnSync('npm', ['pack', '--silent', '--pack-destination', work], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  const tarball = join(work, packed.stdout.trim().split('\n').at(-1))
  console.log(`\nInstallation, cold: ${(statSync(tarball).size / 1000).toFixed(0)} kB packed`)
  const ours = []
  const theirs = []
  for (let n = 0; n < 3; n++) {
    ours.push(install(tarball, n))
    const ms = install('add-mcp', n)
    if (ms === undefined) {
      console.log('  skipped: the registry cannot be reached')
      return
    }
    theirs.push(ms)
  }
  const limit = median(theirs)
  report('npm install', median(ours), median(ours) / limit, 1, `× add-mcp (${limit.toFixed(0)} ms)`)
}

/** In ms; undefined where it fails. */
function install(what, n) {
  const folder = join(work, `install-${n}-${what === 'add-mcp' ? 'theirs' : 'ours'}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{}')
  const start = process.hrtime.bigint()
  const { status } = spawnSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--cache', join(folder, 'cache'), what],
    { cwd: folder, stdio: 'ignore', timeout: 60_000, shell: process.platform === 'win32' },
  )
  return status === 0 ? Number(process.hrtime.bigint() - start) / 1e6 : undefined
}

function report(name, ms, ratio, limit, unit = '×') {
  const isOver = ratio > limit * tolerance
  isMissed ||= isOver
  const verdict = isOver ? 'MISSED' : ratio > limit ? 'within 15 %' : 'ok'
  console.log(
    `  ${name.padEnd(12)} ${ms.toFixed(0).padStart(6)} ms  ${ratio.toFixed(2).padStart(6)} ${unit}  (limit ${limit}) ${verdict}`,
  )
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

try {
  server = await startServer()
  const settings = process.env.NODE_EXTRA_CA_CERTS ? ['certificates', 'bare'] : ['bare']
  for (const setting of settings) await benchCommands(setting)
  await benchGrowth(settings[0])
  if (!isQuick) benchInstall()
} finally {
  server?.child.kill()
  rmSync(work, { recursive: true, force: true })
}
process.exitCode = isMissed ? 1 : 0
