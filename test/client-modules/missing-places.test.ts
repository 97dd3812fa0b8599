import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { situations } from '../../scripts/first-requests/situations.js'
// @ts-expect-error plain JavaScript, shared with the script
import { clients as realClients } from '../../scripts/real-clients.js'
import { demoFiles } from '../../src/clients/demo-files.ts'
import {
  type ClientRow,
  clientRows,
  environmentRows,
  familyIds,
  familyRows,
} from '../../src/clients/list.ts'
import { readers } from '../providers/as-client.ts'
import { livedInHome } from '../support/fixtures.ts'
import { foreignHome } from '../support/foreign-homes.ts'

/** The places of a client that no type demands: see docs/adding-a-client.md. A failure lists all that are missing. */
function placesOf({ id, family, label }: ClientRow): Readonly<Record<string, boolean>> {
  const tests = [`${id}.test.ts`, id, `findings/${id}.test.ts`]
  const changes = readFileSync('CHANGELOG.md', 'utf8').split(/\W*[,.:]\W*| and /)
  const isLabel = (name: string) => name === label || name.startsWith(`${label} `)
  return {
    [`test/fixtures/clients/${id}/lived-in/before`]: Object.keys(livedInHome(id)).length > 0,
    [`test/client-modules/${id}.test.ts, or a folder`]: tests.some((name) =>
      existsSync(`test/client-modules/${name}`),
    ),
    [`test/clients/real/${id}.js`]: id in realClients,
    'scripts/first-requests/situations.js': id in situations,
    'a reader in test/providers/as-client.ts': family in readers,
    'src/clients/demo-files.ts': familyIds(id).some((member) => member in demoFiles),
    'test/support/foreign-homes.ts': Object.keys(foreignHome(family)).length > 0,
    'docs/what-it-changes.md': readFileSync('docs/what-it-changes.md', 'utf8').includes(
      `| \`repoint ${id}\` |`,
    ),
    'docs/clients.md, the table below "Protocols"': namesInTable('Protocols').some(isLabel),
    'docs/clients.md, the table below "Facts about models"':
      namesInTable('Facts about models').some(isLabel),
    'CHANGELOG.md': changes.includes(label),
  }
}

/** The clients in the first column of a table in docs/clients.md. */
function namesInTable(heading: string): readonly string[] {
  const [, section = ''] = readFileSync('docs/clients.md', 'utf8').split(`## ${heading}\n`)
  const [table = ''] = section.split('\n## ')
  return [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell]) => cell!.split(', '))
}

test.each(familyRows)('$id is in every place of a client', (row) => {
  const missing = Object.entries(placesOf(row)).flatMap(([place, isThere]) =>
    isThere ? [] : [place],
  )
  expect(missing, `${row.id} is missing in`).toEqual([])
})

test('a client without files has situations too', () => {
  for (const { id } of environmentRows) expect(Object.keys(situations)).toContain(id)
})

test('each folder of src/clients that a row loads has the name of its family', () => {
  for (const { family } of clientRows)
    expect([family, existsSync(`src/clients/${family}/tested.json`)]).toEqual([family, true])
})
