import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isTable } from '../../src/clients/files/tables.ts'
import { familyRows, loadClients } from '../../src/clients/list.ts'
import { documentOf, formatOf } from '../../src/edits/format.ts'
import type { ConfigValue, SettingPath } from '../../src/edits/types.ts'
import { ifPossible, UserError } from '../../src/errors.ts'
import { clientFixtures, readHome } from '../support/fixtures.ts'
import { aMachine, byId, type Disk, filesOf, findingsOn, planOn } from './support.ts'

/** A parsed table has no prototype, so that JavaScript cannot make text of it. */

const clients = await loadClients(familyRows)

/** Every setting and every table inside `value`. */
function pathsIn(value: ConfigValue, path: SettingPath = []): readonly SettingPath[] {
  const inner = !isTable(value)
    ? []
    : Object.entries(value).flatMap(([name, member]) => pathsIn(member, [...path, name]))
  return path.length === 0 ? inner : [path, ...inner]
}

/** The list with `{}` for each member of each of its tables, and for each of its items. */
function brokenLists(list: readonly ConfigValue[]): readonly ConfigValue[] {
  return list.flatMap((item, index) => {
    const table = isTable(item) ? item : {}
    const items = [{}, ...Object.keys(table).map((name) => ({ ...table, [name]: {} }))]
    return items.map((other) => list.with(index, other))
  })
}

/** The home with one setting after the other as a table, or, in a list, as a list with a table. */
function* brokenHomes(home: Disk, client: (typeof clients)[number]) {
  for (const file of filesOf(client, aMachine(), home)) {
    const document = documentOf(file, file.bytes)
    if (document === undefined) continue
    for (const path of pathsIn(document.root)) {
      const now = document.get(path)
      for (const value of [{}, [{}], ...(Array.isArray(now) ? brokenLists(now) : [])]) {
        const edit = () => formatOf(file.format).edit(file.bytes, [{ path, value }], file.path)
        const bytes = ifPossible(edit)
        if (bytes === undefined) continue
        yield {
          what: `${path.join('.')} = ${JSON.stringify(value)}`,
          disk: { ...home, [file.path]: bytes },
        }
      }
    }
  }
}

test.each(clients)('$id: a table where text belongs is no crash', (client) => {
  const home = readHome(join(clientFixtures, client.family, 'lived-in/after'))
  const crashes: string[] = []
  let count = 0
  for (const { what, disk } of brokenHomes(home, client)) {
    count++
    for (const work of [() => findingsOn(client, disk), () => planOn(client, disk)])
      try {
        work()
      } catch (error) {
        if (!(error instanceof UserError)) crashes.push(`${what}: ${(error as Error).stack}`)
      }
  }
  expect(count).toBeGreaterThan(5)
  expect(crashes).toEqual([])
})

test('Codex: a table for a number is no crash', () => {
  const config = 'model = "other"\n[model_context_window]\n'
  expect(() => planOn(byId('codex'), { '.codex/config.toml': config })).not.toThrow()
})
