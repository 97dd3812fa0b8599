/**
 * Writes the example client of docs/adding-a-client.md under another name, with its names, its row and its line in
 * modules.ts. Then the tests of clients run, and test/client-modules/missing-places.test.ts says what is missing. Each
 * fact of the example becomes "not run yet".
 *
 *   node scripts/new-client.js NAME
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'

const listPath = 'src/clients/list.ts'
const namesPath = 'src/clients/names.ts'
const modulesPath = 'src/clients/modules.ts'

// What `npm run check-releases` and scripts/record-first-requests.js replace.
const notTested = '{ "day": "", "system": "", "node": "", "rows": [] }\n'
const notRecorded = '{ "date": "", "newest": "", "tools": {}, "requests": [] }\n'

if (import.meta.url === pathToFileURL(process.argv[1]).href) writeClient(process.argv[2] ?? '')

function writeClient(name) {
  if (!/^[a-z][a-z\d]*$/.test(name)) throw new Error('usage: node scripts/new-client.js NAME')
  if (existsSync(`src/clients/${name}`)) throw new Error(`src/clients/${name} exists already`)

  const { files, names, row } = exampleFor(name)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  appendFileSync(namesPath, `\n${names}`)
  appendFileSync(modulesPath, `export { ${name} } from './${name}/${name}.ts'\n`)
  writeFileSync(listPath, withRow(readFileSync(listPath, 'utf8'), name, row))
  const biome = 'node_modules/@biomejs/biome/bin/biome'
  spawnSync(process.execPath, [
    biome,
    'check',
    '--write',
    `src/clients/${name}`,
    listPath,
    namesPath,
    modulesPath,
  ])
  console.log(`src/clients/${name} has the example client. Go on with docs/adding-a-client.md.`)
}

/** The files of the example by path, its names and its row, with another name for the client. */
export function exampleFor(name) {
  const page = readFileSync('docs/adding-a-client.md', 'utf8')
  const asNamed = (text) => withoutFacts(renamed(text, name))

  const modules = [...page.matchAll(/`(src\/clients\/sprout\/.+?)`:\n\n```ts\n([\s\S]+?)```/g)]
  const files = Object.fromEntries(
    modules.map(([, path, text]) => [renamed(path, name), asNamed(text)]),
  )
  const [, names] = /^```ts\n(export const sproutName.+\n)```/m.exec(page)
  const [, row] = /^```ts\n(\{\n {2}\.\.\.sproutName,[\s\S]+?)```/m.exec(page)
  return {
    files: {
      ...files,
      [`src/clients/${name}/tested.json`]: notTested,
      [`src/clients/${name}/first-requests.json`]: notRecorded,
    },
    names: asNamed(names),
    row: asNamed(row),
  }
}

/** The list of clients with another row at its end. */
export function withRow(list, name, row) {
  const rowsEnd = list.indexOf('\n]\n')
  const indented = row.trimEnd().replace(/^/gm, '  ')
  return [list.slice(0, rowsEnd), indented, list.slice(rowsEnd + 1)]
    .join('\n')
    .replace(/,?\s*\} from '\.\/names\.ts'/, `, ${name}Name } from './names.ts'`)
}

function renamed(text, name) {
  return text
    .replaceAll('sprout', name)
    .replaceAll('Sprout', name[0].toUpperCase() + name.slice(1))
    .replaceAll('SPROUT', name.toUpperCase())
}

/** Nobody has run the new client: the versions and dates of the example are not its own. */
function withoutFacts(text) {
  const today = new Date().toISOString().slice(0, 10)
  const versions =
    /(?:run (?:with|against) |system calls of )?\d+\.\d+\.\d+(?: and \d+\.\d+\.\d+)?, \d{4}-\d\d-\d\d/g
  return text.replace(versions, `not run yet, ${today}`)
}
