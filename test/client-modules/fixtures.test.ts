import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ClientOptions } from '../../src/clients/contract/options.ts'
import type { EarlierOptions } from '../../src/clients/contract/setup.ts'
import { clientRows } from '../../src/clients/list.ts'
import { clientFixtures, readHome } from '../support/fixtures.ts'
import { byId, catalog, catalogWithWindows, planOn, text, written } from './support.ts'

/**
 * To create the `after` folder of a new case, run: UPDATE_FIXTURES=1 npx vitest run
 * test/client-modules/fixtures.test.ts. Then review it.
 */
const cases = clientRows.flatMap(({ id }) =>
  namesIn(join(clientFixtures, id)).map((name) => ({ id, name })),
)

/** The contents of `setup.json` in a case. */
interface CaseSetup {
  readonly options?: ClientOptions
  /** The values of an earlier setup, if the new one depends on them. */
  readonly earlier?: EarlierOptions
  /** Whether the gateway reports the context windows of its models. */
  readonly saysWindows?: boolean
}

describe('a setup turns the files before into the files after', () => {
  test.each(cases)('$id: $name', ({ id, name }) => {
    const place = join(clientFixtures, id, name)
    const before = readHome(join(place, 'before'))
    const { saysWindows = false, ...caseSetup } = caseSetupIn(place)
    const setup = { ...caseSetup, catalog: saysWindows ? catalogWithWindows : catalog }
    const { machine, edits } = planOn(byId(id), before, setup)
    const after = written(before, machine, edits)
    const relative = Object.fromEntries(
      Object.entries(after).map(([path, content]) => [
        path.replace(`${machine.home}/`, ''),
        typeof content === 'string' ? content : text(content),
      ]),
    )
    if (process.env['UPDATE_FIXTURES'] && !existsSync(join(place, 'after'))) {
      for (const [path, content] of Object.entries(relative)) {
        mkdirSync(dirname(join(place, 'after', path)), { recursive: true })
        writeFileSync(join(place, 'after', path), content)
      }
    }
    expect(relative).toEqual(readHome(join(place, 'after')))
  })
})

test('only clients have fixtures', () => {
  const ids = clientRows.map(({ id }) => id)
  expect(namesIn(clientFixtures).filter((name) => !ids.includes(name))).toEqual([])
})

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : []
}

function caseSetupIn(place: string): CaseSetup {
  const path = join(place, 'setup.json')
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
}
