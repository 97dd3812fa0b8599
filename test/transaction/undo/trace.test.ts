/** The example in docs/transaction.md, "One undo, step by step". */
import { expect, test } from 'vitest'
import { formatOf } from '../../../src/edits/format.ts'
import type { FileContents } from '../../../src/transaction/contents.ts'
import { contentsOf } from '../../../src/transaction/records/blobs.ts'
import { listRuns } from '../../../src/transaction/records/records.ts'
import { aPlan, authEdit, bytesOf, keysEdit } from '../../support/a-plan.ts'
import { aHome, type Home } from '../../support/home.ts'
import { rollBack, setUp } from '../../support/runs.ts'
import { sourceIn, worldIn } from '../../support/world.ts'

const config = '.codex/config.toml'
const auth = '.codex/auth.json'
const windowPath = ['model_context_window']
const keyPath = ['OPENAI_API_KEY']

function setUpGateway(home: Home, name: string, window: number): void {
  const source = sourceIn(home)
  const settings = keysEdit(source, config, [
    { path: ['base_url'], value: `https://${name}.example`, role: 'address' },
    { path: windowPath, value: window },
  ])
  setUp(home, aPlan([authEdit(source, `sk-${name}`), settings]).edits)
}

/** The window and the key in these contents of the two files. */
function valuesIn(home: Home, contents: FileContents) {
  const valueAt = (name: string, format: 'json' | 'toml', path: readonly string[]) => {
    const bytes = contents.get(home.at(name)) ?? null
    return bytes === null ? undefined : formatOf(format).read(bytes, name).get(path)
  }
  return [valueAt(config, 'toml', windowPath), valueAt(auth, 'json', keyPath)]
}

/** The values in the versions of the newest run. */
function newestRun(home: Home) {
  const world = worldIn(home)
  const { files } = listRuns(world).runs[0]!
  const valuesOf = (version: 'before' | 'written') =>
    valuesIn(home, new Map(files.map((file) => [file.path, contentsOf(world, file[version])])))
  return { before: valuesOf('before'), written: valuesOf('written') }
}

function now(home: Home) {
  const text = (name: string) => [home.at(name), bytesOf(home.text(name))] as const
  return valuesIn(home, new Map([text(config), text(auth)]))
}

test('the two rollbacks and the redo in docs/transaction.md', () => {
  const login = '{"tokens": {"access_token": "login"}}\n'
  const home = aHome({ [config]: 'model = "gpt-5.5"\n', [auth]: login })
  setUpGateway(home, 'a', 128_000)
  expect(newestRun(home)).toEqual({ before: [undefined, undefined], written: [128_000, 'sk-a'] })
  setUpGateway(home, 'b', 200_000)
  expect(newestRun(home)).toEqual({ before: [128_000, 'sk-a'], written: [200_000, 'sk-b'] })
  home.replace(config, '200_000', '100000')

  const first = rollBack(home)
  expect(now(home)).toEqual([100_000, 'sk-a'])
  expect(first.kept).toMatchObject([{ path: windowPath, why: 'changed' }])
  expect(first.files.map(({ path }) => path)).toEqual([home.at(config), home.at(auth)])

  const second = rollBack(home)
  expect(now(home)).toEqual([100_000, undefined])
  expect(home.text(auth)).toBe(login)
  expect(second.kept).toMatchObject([{ path: windowPath, why: 'changed' }])

  const redone = rollBack(home, { which: { kind: 'newest-undo' } })
  expect(now(home)).toEqual([100_000, 'sk-a'])
  expect(redone.kept).toEqual([])
  expect(redone.files.map(({ path }) => path)).toEqual([home.at(auth), home.at(config)])
  expect(home.text(config)).toContain('https://a.example')
})
