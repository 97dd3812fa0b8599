import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { situations } from '../../scripts/first-requests/situations.js'
// @ts-expect-error plain JavaScript, shared with the script
import { clients as realClients } from '../../scripts/real-clients.js'
import { demoFiles } from '../../src/clients/demo-files.ts'
import { clientRows, environmentRows, familyRows } from '../../src/clients/list.ts'
import { livedInHome } from '../support/fixtures.ts'
import { foreignHome } from '../support/foreign-homes.ts'

/** The places of a client that no type demands: see docs/adding-a-client.md. Each failure names the file. */

describe.each(familyRows)('$id', ({ id, family, label }) => {
  test('has a home to test, a real program, and situations to record', () => {
    const home = `test/fixtures/clients/${id}/lived-in/before`
    expect(Object.keys(livedInHome(id)), `${home} has no files`).not.toEqual([])
    expect(Object.keys(realClients), `test/clients/real/${id}.js does not exist`).toContain(id)
    const recorded = 'scripts/first-requests/situations.js'
    expect(Object.keys(situations), `${recorded} has no member for ${id}`).toContain(id)
  })

  test('has files of another tool for `off`, and example files for the demo', () => {
    expect(
      Object.keys(foreignHome(family)),
      `test/support/foreign-homes.ts lacks ${family}`,
    ).not.toEqual([])
    const ids = clientRows.filter((row) => row.family === family).map((row) => row.id)
    const hasDemo = ids.some((rowId) => rowId in demoFiles)
    expect(hasDemo, `src/clients/demo-files.ts lacks ${family}`).toBe(true)
  })

  test('is in the table of protocols and in the changes', () => {
    const [, section = ''] = readFileSync('docs/clients.md', 'utf8').split('## Protocols\n')
    const [table = ''] = section.split('\n## ')
    const names = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell]) => cell!.split(', '))
    const named = names.filter((name) => name === label || name.startsWith(`${label} `))
    expect(named, `docs/clients.md has no row for ${label} below "Protocols"`).not.toEqual([])

    const changes = readFileSync('CHANGELOG.md', 'utf8').split(/\W*[,.:]\W*| and /)
    expect(changes, `CHANGELOG.md does not name ${label}`).toContain(label)
  })
})

test('a client without files has situations too', () => {
  for (const { id } of environmentRows) expect(Object.keys(situations)).toContain(id)
})

test('each folder of src/clients that a row loads has the name of its family', () => {
  for (const { family } of clientRows)
    expect([family, existsSync(`src/clients/${family}/tested.json`)]).toEqual([family, true])
})
