/**
 * What each published version of a client really does: installs it from npm, runs it against the local
 * gateway as the suite does, and prints the matrix and every difference from what is known of it. Not
 * part of CI: minutes for a version of each client, and gigabytes below .cache/drift.
 *
 *   npm run drift                                  the newest of each of the last six minor versions
 *   npm run drift -- --all                         of every minor version that we support
 *   npm run drift -- codex@0.142.5 claude@2.1.110  these
 *   npm run drift -- --write                       and keeps what it saw, for docs/tested-versions.md
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { clientPackages, clients, programOf } from './drift/clients.js'
import { clientArgs, installPackages, modulesOf } from './install.js'
import { offline } from './offline.js'
import { source } from './source.js'

const { sentFirst } = await source("export { sentFirst } from './src/clients/claude/sent.ts'")

const recentMinors = 6

const args = process.argv.slice(2)
const flags = args.filter((one) => one.startsWith('--'))
const named = args.filter((one) => !one.startsWith('--'))
const versions = named.length > 0 ? named.map(nameAndVersion) : newestOfMinors(flags)

const todo = versions.map(([name, version]) => {
  const set = `drift/${name}-${version}`
  installPackages(set, clientPackages(name, [version]), clientArgs)
  return { name, version, program: programOf(modulesOf(set), name, version) }
})

const rows = []
for await (const line of matrixOf(todo)) {
  const row = JSON.parse(line)
  rows.push(row)
  console.log(describe(row))
}

const differences = rows.flatMap((row) => differenceOf(row, knownOf(row.client).find(isAbout(row))))
console.log(
  differences.length === 0 ? '\nNo difference.' : `\nDifferences:\n${differences.join('\n')}`,
)
if (flags.includes('--write'))
  for (const name of new Set(rows.map(({ client }) => client))) keep(name)
process.exitCode = rows.length === 0 || differences.length > 0 ? 1 : 0

function nameAndVersion(word) {
  const [name, version] = word.split('@')
  if (name in clients && /^\d+\.\d+\.\d+$/.test(version ?? '')) return [name, version]
  const names = Object.keys(clients).join('|')
  throw new Error(`usage: npm run drift -- [--all] [--write] [${names}@1.2.3 …]`)
}

function newestOfMinors(options) {
  return Object.entries(clients).flatMap(([name, { oldest, groupOf = minorOf }]) => {
    const groups = new Map()
    for (const version of published(name)) groups.set(groupOf(partsOf(version)), version)
    const newest = [...groups.values()].filter((one) => isAtLeast(one, oldest))
    return newest.slice(options.includes('--all') ? 0 : -recentMinors).map((one) => [name, one])
  })
}

function minorOf([major, minor]) {
  return `${major}.${minor}`
}

function partsOf(version) {
  return version.split('.').map(Number)
}

/** The released versions, the oldest first. Of a client that was a script once, those too. */
function published(name) {
  const packages = new Set(['0.0.0', '9999.9999.9999'].map(clients[name].packageOf))
  const all = [...packages].flatMap((one) => {
    const { stdout } = spawnSync('npm', ['view', one, 'versions', '--json'], { encoding: 'utf8' })
    return JSON.parse(stdout)
  })
  const released = [...new Set(all)].filter((one) => /^\d+\.\d+\.\d+$/.test(one))
  return released.sort((a, b) => (isAtLeast(a, b) ? 1 : -1))
}

function isAtLeast(version, other) {
  const [a, b] = [version, other].map(partsOf)
  const part = a.findIndex((number, index) => number !== b[index])
  return part === -1 || a[part] > b[part]
}

/** The lines of matrix.js, run where the clients reach nothing but the local gateway. */
function matrixOf(list) {
  const [command, ...words] = [
    ...offline(),
    process.execPath,
    'scripts/drift/matrix.js',
    JSON.stringify(list),
  ]
  const { stdout } = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  return createInterface({ input: stdout })
}

function describe({ client, version, setup, models, tool, isRefused, failed }) {
  const right = isRefused ? 'refused' : 'ok'
  const result = failed.length === 0 ? right : `FAILED: ${failed.join(', ')}`
  return [`${client} ${version}`, setup, models.join(', '), tool, result].join(' | ')
}

/** What is not as it was, or fails, or is not what src/clients/claude/sent.ts says. */
function differenceOf(row, before) {
  const [now, then] = [row, before ?? row].map(describe)
  const expected = sentIdOf(row)
  return [
    ...(now === then ? [] : [`was: ${then}\nnow: ${now}`]),
    ...(before === undefined && row.failed.length > 0 ? [`new: ${now}`] : []),
    ...(expected === undefined || row.models.includes(expected) ? [] : [`not ${expected}: ${now}`]),
  ]
}

/** The id that the table of Claude Code's slots has for it. */
function sentIdOf({ setup, version }) {
  const slot = /^claude(?: --slot (\w+))?$/.exec(setup)
  return slot === null ? undefined : sentFirst(version, slot[1] ?? 'sonnet')
}

function isAbout({ client, version, setup }) {
  return (row) => row.client === client && row.version === version && row.setup === setup
}

/** What was tried takes the place of what was known of the same; the rest stays. */
function keep(name) {
  const tried = rows.filter(({ client }) => client === name)
  const all = [...knownOf(name).filter((one) => !tried.some(isAbout(one))), ...tried].sort(
    (a, b) =>
      (a.version === b.version ? 0 : isAtLeast(a.version, b.version) ? 1 : -1) ||
      (a.setup < b.setup ? -1 : 1),
  )
  const result = {
    day: new Date().toISOString().slice(0, 10),
    system: `${process.platform}-${process.arch}`,
    node: nodeVersionOf(name),
  }
  const lines = all.map((row) => `    ${JSON.stringify(row)}`)
  const head = JSON.stringify(result, null, 2).slice(0, -2)
  writeFileSync(resultOf(name), `${head},\n  "rows": [\n${lines.join(',\n')}\n  ]\n}\n`)
  console.log(`Kept in ${resultOf(name)}; \`npm run docs\` writes the pages.`)
}

/** Of the Node that its newest version was run with; of ours where the client is a program of its own. */
function nodeVersionOf(name) {
  const { program } = todo.findLast((one) => one.name === name)
  if (program.length === 1) return process.version
  return spawnSync(program[0], ['--version'], { encoding: 'utf8' }).stdout.trim()
}

function resultOf(name) {
  return `src/clients/${name}/tested.json`
}

/** What was seen of a client; nothing of one that was never run. */
function knownOf(name) {
  return existsSync(resultOf(name)) ? JSON.parse(readFileSync(resultOf(name), 'utf8')).rows : []
}
