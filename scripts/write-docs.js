/**
 * Writes the generated parts of the documentation. Run it after a change of a help text, an error code, or
 * what is known about clients and providers. With --check it writes nothing, and exits with 1 if a part is
 * out of date.
 *
 *   npm run docs
 *
 * man/repoint.1             the help of all commands
 * docs/tested-versions.md   the results of `npm run check-releases`
 * docs/providers.md         what test/providers proves
 * other pages, by their marks: the tables of clients, of exit statuses and codes
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { main } from '../dist/cli.mjs'
import { nodePlatform } from '../dist/platform.mjs'
import { manPage } from './docs/man.js'
import { providersPage } from './docs/providers.js'
import { importSource } from './import-source.js'
import { packageSets } from './install.js'

const meanings = {
  0: 'done, or nothing to do',
  1: 'a bug in repoint',
  2: 'wrong usage, or something is missing that only a person can supply',
  3: 'the gateway rejects the key',
  4: 'the address is not the API',
  5: 'the model cannot be used',
  6: 'the gateway cannot be reached',
  7: 'the gateway answers but does not serve',
  8: 'a local file cannot be read, edited or written safely',
  9: 'another run is in progress',
  10: 'an undo kept something that others changed',
  11: '`status --exit-code`: a client no longer points where repoint put it',
  130: 'cancelled',
}

const protocols = { chat: 'chat completions', responses: 'responses', messages: 'messages' }

const { errorCodes, clientRows, loadClients, providers, programs } = await importSource(`
  export { errorCodes } from './src/error-codes.ts'
  export { loadClients, clientRows } from './src/clients/list.ts'
  export { table as providers } from './test/providers/table.ts'
  export { programs } from './test/providers/programs.ts'
`)
const clients = await loadClients(clientRows)

const blocks = {
  clients: clientsTable({
    head: ['Client', 'Command', '[Tested versions](docs/tested-versions.md)', 'Protocol'],
    versions: (count, oldest, newest) => `${count} from ${oldest} to ${newest}`,
    notRun: 'not run yet',
  }),
  'clients-zh': clientsTable({
    head: ['客户端', '命令', '[测试过的版本](docs/tested-versions.md)', '协议'],
    versions: (count, oldest, newest) => `${count} 个，${oldest} 至 ${newest}`,
    notRun: '尚未运行',
  }),
  codes: table(['Code', 'Status', 'Cause', 'Cure'], codeRows()),
  exit: exitTable(),
}
let isStale = false
const platform = nodePlatform()
const overview = await helpOf('--all')
const named = []
for (const name of namesIn(overview)) named.push({ name, help: await helpOf(name, '--all') })
const program = JSON.parse(readFileSync('package.json', 'utf8'))
write('man/repoint.1', () =>
  manPage({ command: 'repoint', version: program.version, overview, commands: named }),
)
write('docs/tested-versions.md', () => testedPage())
write('docs/providers.md', () =>
  providersPage({
    table: providers,
    programs,
    versions: packageSets.gateways,
    hosts: JSON.parse(readFileSync('src/gateway/hosts.json', 'utf8')),
    clients,
    asTable: table,
  }),
)
for (const page of ['README.md', 'README.zh.md', 'docs/errors.md'])
  write(page, (text) => Object.entries(blocks).reduce(withBlock, text))
for (const page of [
  'README.md',
  'README.zh.md',
  'docs/gateway.md',
  'examples/fleet/roles/repoint_install/defaults/main.yml',
])
  write(page, withPackageName)
if (isStale && process.argv.includes('--check')) process.exitCode = 1

/** What installs or imports the package, by the name and the version of package.json. */
function withPackageName(text) {
  const { name, version } = program
  return text
    .replace(/(?<=from ')(@[\w-]+\/)?repoint(?=\/gateway')/g, name)
    .replace(/(?<=npm link )(@[\w-]+\/)?repoint\b/g, name)
    .replace(/(?<=^repoint_version: ).*/m, version)
    .replace(/(?<=^repoint_package: ")[^"{]*@(?={)/m, `${name}@`)
}

function write(path, contentFrom) {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const after = contentFrom(before)
  if (after === before) return
  isStale = true
  if (process.argv.includes('--check')) console.error(`${path} is out of date: npm run docs`)
  else writeFileSync(path, after)
}

function withBlock(text, [name, content]) {
  const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
  const [head, rest] = text.split(start)
  const tail = rest?.split(end)[1]
  if (tail === undefined) return text
  return `${head}${start}\n${content}\n${end}${tail}`
}

/** Of the commands, in the order of the help. */
function namesIn(overview) {
  const names = [...overview.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name]) => name)
  return names.filter((name) => name !== 'help')
}

/** A line a version: what the setups of a client differ in is what they let it ask for. */
function testedPage() {
  const families = clients.filter(
    ({ family }, index) => clients.findIndex((one) => one.family === family) === index,
  )
  const sections = families.map(({ label, program }) => {
    const tested = JSON.parse(readFileSync(`src/clients/${program.command}/tested.json`, 'utf8'))
    const own = tested.rows
    if (own.length === 0) return `## ${label}\n\nNot run yet.`

    const setups = [...new Set(own.map(({ setup }) => setup))]
    const lines = [...new Set(own.map(({ version }) => version))].map((version) => {
      const rows = own.filter((row) => row.version === version)
      const notable = rows.flatMap(({ setup, isRefused, failed }) => [
        ...(isRefused ? [`\`repoint ${setup}\` refuses`] : []),
        ...(failed.length > 0 ? [`\`repoint ${setup}\` fails at: ${failed.join(', ')}`] : []),
      ])
      const asked = setups.map((setup) =>
        (rows.find((row) => row.setup === setup)?.models ?? []).map((id) => `\`${id}\``).join(', '),
      )
      return [
        version,
        notable.join('<br>') || 'all right',
        rows.map(({ tool }) => tool && `\`${tool}\``).find(Boolean) ?? '',
        ...asked,
      ]
    })
    const head = [
      'Version',
      'Result',
      'Shell tool',
      ...setups.map((one) => `repoint ${one} asks for`),
    ]
    const seen = `Last seen on ${tested.day}, on ${tested.system}, with Node ${tested.node}.`
    return `## ${label}\n\n${seen}\n\n${table(head, lines)}`
  })
  return `# Tested versions

What published versions of the clients do, as \`npm run check-releases -- --write\` recorded it last. Each version was installed from npm and ran in an empty home against the local gateway, without another network. "All right" means: the client fails before the setup, the gateway accepts the setup, the client answers \`ping\` and runs a command for the model, \`repoint doctor\` finds no problem, and \`repoint rollback\` restores every byte. opencode 1.14.48 and 1.15.13 receive the answer and end before they print it, so they fail at *answers*.

${sections.join('\n\n')}
`
}

/** The help of a command, as a pipe gets it. */
async function helpOf(...command) {
  let help = ''
  const terminal = {
    ...platform.terminal,
    canAsk: false,
    stdoutIsTerminal: false,
    stderrIsTerminal: false,
    columns: 80,
    out: (text) => {
      help += text
    },
  }
  const machine = { ...platform.machine, env: { PATH: process.env.PATH, LANG: 'C.UTF-8' } }
  await main({ ...platform, machine, terminal }, [...command, '--help'])
  return help
}

/** @param words of a language: the head, how many versions from which to which, and what replaces them */
function clientsTable({ head, versions, notRun }) {
  return table(
    head,
    clients.map(({ id, label, program, protocols: spoken }) => {
      const tested = program.testedVersions
      return [
        label,
        `\`repoint ${id}\``,
        tested.length === 0 ? notRun : versions(tested.length, tested[0], tested.at(-1)),
        spoken.map((one) => protocols[one]).join(', '),
      ]
    }),
  )
}

/** The codes with their meanings, those with the same exit status together. */
function codesByStatus() {
  return Object.entries(errorCodes).sort(([, a], [, b]) => a.exitStatus - b.exitStatus)
}

function codeRows() {
  return codesByStatus().map(([code, { exitStatus, likelyCause, cure }]) => [
    `\`${code}\``,
    String(exitStatus),
    likelyCause,
    cure,
  ])
}

function exitTable() {
  const nameless = codesByStatus()
    .map(([, { exitStatus }]) => exitStatus)
    .filter((status) => !(status in meanings))
  if (nameless.length > 0) throw new Error(`no meaning for exit status ${nameless.join(', ')}`)
  return table(
    ['Status', 'Meaning', 'Codes'],
    Object.entries(meanings).map(([status, meaning]) => {
      const codes = codesByStatus().filter(([, { exitStatus }]) => exitStatus === Number(status))
      return [status, meaning, codes.map(([code]) => `\`${code}\``).join(', ')]
    }),
  )
}

function table(head, lines) {
  return [head, head.map(() => '---'), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
