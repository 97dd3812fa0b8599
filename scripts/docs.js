/**
 * Writes the generated parts of the documentation: docs/commands.md (the help of all commands), and in
 * README.md the clients, what a setup changes, and the exit statuses. With --check it changes nothing
 * and ends with status 1 where something is out of date.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const meanings = {
  0: 'done, or nothing to do',
  1: 'a fault of repoint itself',
  2: 'wrong usage, or something is missing that only a person could be asked for',
  3: 'the gateway refuses the key',
  4: 'the address is not the API',
  5: 'the model cannot be used',
  6: 'the gateway cannot be reached',
  7: 'the gateway answers but does not serve',
  8: 'a local file cannot be read, edited or written safely',
  9: 'another run is at work',
  10: 'an undo held something back, since it was changed by others',
  130: 'cancelled',
}

const protocols = { chat: 'chat completions', responses: 'responses', messages: 'messages' }

const { exitStatus, rows, loadClients } = await source(
  "export { exitStatus } from './src/errors.ts'; export { loadClients, rows } from './src/clients/list.ts'",
)
const clients = await loadClients(rows)

const blocks = { changes: changesTable(), clients: clientsTable(), exit: exitTable() }
let isStale = false
write('docs/commands.md', () => commandsPage())
write('README.md', (readme) => Object.entries(blocks).reduce(withBlock, readme))
if (isStale && process.argv.includes('--check')) process.exitCode = 1

function write(path, contentFrom) {
  const before = readFileSync(path, 'utf8')
  const after = contentFrom(before)
  if (after === before) return
  isStale = true
  if (process.argv.includes('--check')) console.error(`${path} is out of date: npm run docs`)
  else writeFileSync(path, after)
}

/** What these lines of TypeScript export. */
async function source(lines) {
  const folder = mkdtempSync(join(tmpdir(), 'repoint-docs-'))
  const outfile = join(folder, 'source.mjs')
  try {
    await build({
      stdin: { contents: lines, resolveDir: '.', loader: 'ts' },
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      mainFields: ['module', 'main'],
      logLevel: 'warning',
      banner: {
        js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)",
      },
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function withBlock(text, [name, content]) {
  const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
  const [head, rest] = text.split(start)
  const tail = rest?.split(end)[1]
  if (tail === undefined) throw new Error(`README.md has no ${start} … ${end}`)
  return `${head}${start}\n${content}\n${end}${tail}`
}

function commandsPage() {
  const overview = helpOf()
  const list = overview.split('\nCommands:\n')[1].split('\n\n')[0]
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => name)
  const pages = names
    .filter((name) => name !== 'help')
    .map((name) => `## repoint ${name}\n\n${code(helpOf(name))}`)
  return `# Commands\n\nThe help of every command, written by \`npm run docs\`.\n\n${[code(overview), ...pages].join('\n\n')}\n`
}

function helpOf(...command) {
  const env = { PATH: process.env.PATH, LANG: 'C.UTF-8' }
  return execFileSync(process.execPath, ['bin/repoint.js', ...command, '--help'], {
    encoding: 'utf8',
    env,
  })
}

function code(text) {
  return `\`\`\`text\n${text.trim()}\n\`\`\``
}

function changesTable() {
  return table(
    ['Command', 'Files', 'What in them'],
    rows.map(({ id, changes }) => [`\`repoint ${id}\``, changes.files, changes.keys]),
  )
}

function clientsTable() {
  return table(
    ['Client', 'Command', 'Tested versions', 'Protocol'],
    clients.map(({ id, label, binary, protocol }) => [
      label,
      `\`repoint ${id}\``,
      binary.testedVersions.join(', '),
      protocols[protocol],
    ]),
  )
}

function exitTable() {
  const nameless = Object.values(exitStatus).filter((status) => !(status in meanings))
  if (nameless.length > 0) throw new Error(`no meaning for exit status ${nameless.join(', ')}`)
  return table(
    ['Status', 'Meaning', 'Codes'],
    Object.entries(meanings).map(([status, meaning]) => {
      const codes = Object.keys(exitStatus).filter((one) => exitStatus[one] === Number(status))
      return [status, meaning, codes.map((one) => `\`${one}\``).join(', ')]
    }),
  )
}

function table(head, lines) {
  return [head, head.map(() => '---'), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
