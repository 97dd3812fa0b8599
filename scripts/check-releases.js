/**
 * Checks published releases of the clients: installs each from npm, runs it against the local gateway, and
 * prints the results and every difference from the recorded results. CI does not run this: one release of
 * each client takes minutes, and the packages take gigabytes below .cache/releases.
 *
 *   npm run check-releases                                  the newest of each of the last six minor versions
 *   npm run check-releases -- --all                         the newest of every supported minor version
 *   npm run check-releases -- codex@0.142.5 claude@2.1.110  only these
 *   npm run check-releases -- --write                       also records the results, for docs/tested-versions.md
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { importSource } from './import-source.js'
import { installVersion } from './install.js'
import { offline } from './offline.js'
import { clients } from './real-clients.js'

const { sentFirst } = await importSource(
  "export { sentFirst } from './src/clients/claude/settings.ts'",
)

const recentMinors = 6

const args = process.argv.slice(2)
const flags = args.filter((arg) => arg.startsWith('--'))
const names = args.filter((arg) => !arg.startsWith('--'))
const versions = names.length > 0 ? names.map(nameAndVersion) : newestOfMinors(flags)

const releases = versions.map(([name, version]) => ({
  name,
  version,
  program: installVersion(name, version),
}))

const rows = []
for await (const line of resultsOf(releases)) {
  const row = JSON.parse(line)
  rows.push(row)
  console.log(describe(row))
}

const differences = rows.flatMap((row) =>
  differencesOf(row, recordedRows(row.client).find(isSameCase(row))),
)
console.log(
  differences.length === 0 ? '\nNo difference.' : `\nDifferences:\n${differences.join('\n')}`,
)
if (flags.includes('--write'))
  for (const name of new Set(rows.map(({ client }) => client))) record(name)
process.exitCode = rows.length === 0 || differences.length > 0 ? 1 : 0

function nameAndVersion(word) {
  const [name, version] = word.split('@')
  if (name in clients && /^\d+\.\d+\.\d+$/.test(version ?? '')) return [name, version]
  const names = Object.keys(clients).join('|')
  throw new Error(`usage: npm run check-releases -- [--all] [--write] [${names}@1.2.3 …]`)
}

function newestOfMinors(options) {
  // npm does not have a client without versions.
  const onNpm = Object.entries(clients).filter(([, { versions }]) => versions.length > 0)
  return onNpm.flatMap(([name, { oldest, groupOf = minorOf }]) => {
    const groups = new Map()
    for (const version of published(name)) groups.set(groupOf(partsOf(version)), version)
    const newest = [...groups.values()].filter((version) => isAtLeast(version, oldest))
    const chosen = options.includes('--all') ? newest : newest.slice(-recentMinors)
    return chosen.map((version) => [name, version])
  })
}

function minorOf([major, minor]) {
  return `${major}.${minor}`
}

function partsOf(version) {
  return version.split('.').map(Number)
}

/** The released versions, the oldest first. A client can have moved to another package. */
function published(name) {
  const packages = new Set(['0.0.0', '9999.9999.9999'].map(clients[name].packageOf))
  const all = [...packages].flatMap((pkg) => {
    const { stdout } = spawnSync('npm', ['view', pkg, 'versions', '--json'], { encoding: 'utf8' })
    return JSON.parse(stdout)
  })
  const released = [...new Set(all)].filter((version) => /^\d+\.\d+\.\d+$/.test(version))
  return released.sort((a, b) => (isAtLeast(a, b) ? 1 : -1))
}

function isAtLeast(version, other) {
  const [a, b] = [version, other].map(partsOf)
  const part = a.findIndex((number, index) => number !== b[index])
  return part === -1 || a[part] > b[part]
}

/** The output lines of matrix.js, in which the clients can reach only the local gateway. */
function resultsOf(list) {
  const [command, ...words] = [
    ...offline(),
    process.execPath,
    'scripts/check-releases/matrix.js',
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

/** Reports a changed result, a failure of a new release, and a model that `expectedModel` does not expect. */
function differencesOf(row, recorded) {
  const differences = []
  const now = describe(row)
  if (recorded !== undefined && describe(recorded) !== now)
    differences.push(`was: ${describe(recorded)}\nnow: ${now}`)
  if (recorded === undefined && row.failed.length > 0) differences.push(`new: ${now}`)

  const expected = expectedModel(row)
  if (expected !== undefined && !row.models.includes(expected))
    differences.push(`not ${expected}: ${now}`)
  return differences
}

/** The model that Claude Code sends according to src/clients/claude/settings.ts. */
function expectedModel({ setup, version }) {
  const slot = /^claude(?: --slot (\w+))?$/.exec(setup)
  return slot === null ? undefined : sentFirst(version, slot[1] ?? 'sonnet')
}

function isSameCase({ client, version, setup }) {
  return (row) => row.client === client && row.version === version && row.setup === setup
}

/** Writes the new results of a client. Recorded results of other releases stay. */
function record(name) {
  const newRows = rows.filter(({ client }) => client === name)
  const oldRows = recordedRows(name).filter((row) => !newRows.some(isSameCase(row)))
  const result = {
    day: new Date().toISOString().slice(0, 10),
    system: `${process.platform}-${process.arch}`,
    node: nodeVersionOf(name),
  }

  const lines = [...oldRows, ...newRows]
    .sort(byVersionAndSetup)
    .map((row) => `    ${JSON.stringify(row)}`)
  const head = JSON.stringify(result, null, 2).slice(0, -2)
  writeFileSync(resultPath(name), `${head},\n  "rows": [\n${lines.join(',\n')}\n  ]\n}\n`)
  console.log(`Recorded in ${resultPath(name)}. \`npm run docs\` writes the pages.`)
}

function byVersionAndSetup(a, b) {
  if (a.version !== b.version) return isAtLeast(a.version, b.version) ? 1 : -1
  return a.setup < b.setup ? -1 : 1
}

/** The version of Node that ran a client's newest release. A client without a script runs by itself. */
function nodeVersionOf(name) {
  const { program } = releases.findLast((release) => release.name === name)
  if (program.length === 1) return process.version
  return spawnSync(program[0], ['--version'], { encoding: 'utf8' }).stdout.trim()
}

function resultPath(name) {
  return `src/clients/${name}/tested.json`
}

/** The recorded results of a client. Empty for a new client. */
function recordedRows(name) {
  return existsSync(resultPath(name)) ? JSON.parse(readFileSync(resultPath(name), 'utf8')).rows : []
}
