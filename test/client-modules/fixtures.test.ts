import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import {
  byId,
  catalogWithWindows,
  type Disk,
  planOn,
  type Setup,
  text,
  written,
} from './support.ts'

/**
 * `test/fixtures/clients/CLIENT/CASE/{before,after}` hold a home's files. To make the `after` of a
 * new case: UPDATE_FIXTURES=1 npx vitest run test/client-modules/fixtures.test.ts, then read it.
 */
const folder = fileURLToPath(new URL('../fixtures/clients', import.meta.url))

const cases: readonly (readonly [client: string, name: string, setup: Setup])[] = [
  ['codex', 'empty-home', {}],
  ['codex', 'hand-written', {}],
  ['codex', 'inline-provider', { options: { model: 'gpt-5.6-terra' } }],
  ['codex', 'chatgpt-login', { catalog: catalogWithWindows }],
  ['codex', 'windows-lines', {}],
  ['codex', 'everything-in-the-way', { options: { contextWindow: 200_000 } }],
  ['claude', 'empty-home', {}],
  ['claude', 'hand-written', { options: { slot: 'opus' } }],
  ['claude', 'after-gpt-mapping', {}],
  ['claude', 'discovery', { options: { enableDiscovery: true } }],
  ['claude', 'no-more-discovery', {}],
  [
    'claude',
    'pinned',
    { options: { model: 'claude-sonnet-5', slotModels: { haiku: 'claude-haiku-5-5' } } },
  ],
  ['claude', 'with-comments', {}],
  ['claude', 'everything-in-the-way', {}],
  ['claude-gpt', 'empty-home', {}],
  [
    'claude-gpt',
    'hand-written',
    { catalog: catalogWithWindows, options: { disableAttribution: true } },
  ],
  ['opencode', 'empty-home', {}],
  ['opencode', 'hand-written', { catalog: catalogWithWindows }],
  ['opencode', 'another-gateway', { options: { providerId: 'work' } }],
  ['opencode', 'everything-in-the-way', {}],
]

describe('a setup turns the files before into the files after', () => {
  test.each(cases)('%s: %s', (id, name, setup) => {
    const place = join(folder, id, name)
    const before = readHome(join(place, 'before'))
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

test('every fixture is used', () => {
  const found = readdirSync(folder).flatMap((id) =>
    readdirSync(join(folder, id)).map((name) => `${id}/${name}`),
  )
  expect(found.sort()).toEqual(cases.map(([id, name]) => `${id}/${name}`).sort())
})

function readHome(home: string): Disk {
  if (!existsSync(home)) return {}
  const paths = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return Object.fromEntries(
    paths.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(home.length + 1), readFileSync(path, 'utf8')]
    }),
  )
}
