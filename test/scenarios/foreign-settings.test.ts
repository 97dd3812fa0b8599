import { cpSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { clientRows } from '../../src/clients/list.ts'
import { formatOf } from '../../src/edits/format.ts'
import type { SettingPath } from '../../src/edits/types.ts'
import { isValueTable } from '../../src/edits/values/values.ts'
import { decidesEndpoint, isChangedByRun, type RecordedFile } from '../../src/transaction/record.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { livedInHome } from '../support/fixtures.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { setUp } from '../support/setup.ts'
import { worldIn } from '../support/world.ts'

const target = { url: 'https://gateway-canary.example', key: 'sk-canary-5d2c81f0a94e4b67' }
const model = 'gpt-5.6-sol'
const slots = ['opus', 'sonnet', 'haiku', 'fable'].flatMap((slot) => [`--${slot}-model`, model])

/** A setting and a comment that repoint never writes. */
const [name, comment] = ['zzzMine', 'a remark of mine']

/** What someone adds to a file: a member at this path, or a comment before the first line. */
type Addition = SettingPath | 'comment'

async function aClientHome(client: string, files: Readonly<Record<string, string>>): Promise<Home> {
  const home = aHome(files)
  const models = client === 'claude' ? [] : ['--model', model]
  const line = [client, '--no-verify', ...(client === 'claude-gpt' ? slots : models)]
  await setUp(home, line, target)
  return home
}

/** The files that a setup wrote, by their names in the home. */
function writtenFiles(home: Home): readonly (RecordedFile & { readonly name: string })[] {
  const [run] = listRuns(worldIn(home)).runs
  return run!.files
    .filter((file) => isChangedByRun(file) && file.written !== null)
    .map((file) => ({ ...file, name: file.path.slice(home.path.length + 1) }))
}

/** The places where someone may add something: at the top, and next to each address and key of ours. */
function additionsTo(home: Home, file: ReturnType<typeof writtenFiles>[number]): Addition[] {
  const bytes = new TextEncoder().encode(home.text(file.name))
  const document = formatOf(file.format).read(bytes, file.name)
  const tables = file.settings
    .filter(decidesEndpoint)
    .map(({ path }) => path.slice(0, -1))
    .filter((table) => table.every((step) => typeof step === 'string'))
    .filter((table) => isValueTable(document.get(table)))
  const places = new Set([[], ...tables].map((table) => JSON.stringify([...table, name])))

  const allowsComment =
    file.format !== 'json' || /\.jsonc$|opencode\.json$|pi\/agent\/models\.json$/.test(file.name)
  const members = [...places].map((place) => JSON.parse(place) as SettingPath)
  return allowsComment ? [...members, 'comment'] : members
}

function add(
  home: Home,
  { name, format }: { name: string; format: RecordedFile['format'] },
  addition: Addition,
) {
  const text = home.text(name)
  const sign = format === 'toml' ? '#' : '//'
  if (addition === 'comment') return home.put(name, `${sign} ${comment}\n${text}`)
  const change = { path: addition, value: 'x' }
  home.put(name, formatOf(format).edit(new TextEncoder().encode(text), [change], name))
}

/** Whether a file still has what someone added. */
function isIn(
  text: string,
  { name, format }: { name: string; format: RecordedFile['format'] },
  addition: Addition,
): boolean {
  if (addition === 'comment') return text.includes(comment)
  const document = formatOf(format).read(new TextEncoder().encode(text), name)
  return document.get(addition) === 'x'
}

/** Each addition alone, each two of them, and all of them. */
function combinationsOf(additions: readonly Addition[]): readonly (readonly Addition[])[] {
  const pairs = additions.flatMap((one, index) =>
    additions.slice(index + 1).map((other) => [one, other]),
  )
  const all = additions.length > 2 ? [additions] : []
  return [...additions.map((one) => [one]), ...pairs, ...all]
}

function textsIn(home: Home): Readonly<Record<string, string>> {
  const files = Object.entries(home.snapshot()).filter(([, entry]) => entry.startsWith('file'))
  return Object.fromEntries(files.map(([file]) => [file, home.text(file)]))
}

function without(entries: Readonly<Record<string, string>>, name: string) {
  const { [name]: _, ...others } = entries
  return others
}

describe.each(clientRows.map(({ id }) => id))('%s', (client) => {
  test.each([
    ['an empty home', {}],
    ['a used home', livedInHome(client)],
  ])('in %s, a foreign setting never blocks the undo of ours', async (_, files) => {
    const original = aHome(files).snapshot()
    const home = await aClientHome(client, files)
    const cases = writtenFiles(home).flatMap((file) =>
      combinationsOf(additionsTo(home, file)).map((additions) => ({ file, additions })),
    )
    const copy = aHome()
    cpSync(home.path, copy.path, { recursive: true })

    for (const { file, additions } of cases) {
      const place = `${file.name} ${additions.join(' and ')}`
      rmSync(home.path, { recursive: true })
      cpSync(copy.path, home.path, { recursive: true })
      for (const addition of additions) add(home, file, addition)
      const changed = home.snapshot()

      const undo = await runHere(home, ['rollback', '--yes'])
      expect({ place, ...undo }).toMatchObject({ place, status: 0, json: { heldBack: [] } })
      const left = textsIn(home)
      expect({ place, left: JSON.stringify(left) }).toEqual({
        place,
        left: expect.not.stringMatching(/gateway-canary|sk-canary/),
      })
      expect(without(home.snapshot(), file.name)).toMatchObject(without(original, file.name))
      for (const addition of additions) {
        const isLost = !isIn(left[file.name] ?? '', file, addition)
        // The two read no provider without an address.
        if (isLost)
          expect([client, place, `${addition}`, undo.text]).toEqual([
            expect.stringMatching(/^(pi|openclaw)$/),
            place,
            expect.stringContaining('providers'),
            expect.stringContaining('changes-go-too'),
          ])
      }

      const again = await runHere(home, ['rollback', '--yes'])
      expect({ place, ...again }).toMatchObject({ place, status: 0, json: { undoes: null } })
      await runHere(home, ['rollback', '--redo', '--yes'])
      expect({ place, home: home.snapshot() }).toEqual({ place, home: changed })
    }
  })
})
