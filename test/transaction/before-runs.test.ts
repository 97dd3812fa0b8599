import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { SettingChange } from '../../src/edits/types.ts'
import { filesBeforeRuns, fileWithoutRuns } from '../../src/transaction/before-runs.ts'
import { aPairPlan, configEdit, keysEdit, settingsEdit } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { rollBack, setUp } from '../support/runs.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const settings = '.claude/settings.json'
const config = '.codex/config.toml'
const auth = '.codex/auth.json'
const oldLogin = '{"tokens": {"access_token": "old-login"}}\n'
const codexPair = { [auth]: oldLogin, [config]: 'model = "gpt-5.5"\n' }

function setSettings(home: Home, name: string, changes: readonly SettingChange[]) {
  return setUp(home, [keysEdit(sourceIn(home), name, changes)])
}

function setModel(home: Home, model: string, name = config) {
  return setSettings(home, name, [{ path: ['model'], value: model }])
}

function damageRecord(home: Home, { id }: { readonly id: string }): void {
  writeFileSync(home.at(`.local/state/repoint/run-${id}.json`), 'broken')
}

function append(home: Home, name: string, text: string): void {
  home.put(name, home.text(name) + text)
}

test('the earlier versions of all files of a client: a run that was undone does not count', () => {
  const home = aHome({ [config]: 'model = "0"\n' })
  setUp(home, [configEdit(sourceIn(home), 'https://first.example/v1')])
  const first = home.text(config)
  setUp(home, [configEdit(sourceIn(home), 'https://second.example/v1')])
  rollBack(home)

  const now = new Map([[home.at(config), Buffer.from(first)]])
  const versions = [...filesBeforeRuns(worldIn(home), ['codex'], now)].map(({ withoutRuns }) =>
    String(withoutRuns.get(home.at(config))),
  )
  expect(versions).toEqual([first, 'model = "0"\n'])
})

describe('the earlier versions of a file', () => {
  const textsOf = (home: Home, name: string, world = worldIn(home)) =>
    [...fileWithoutRuns(world, home.at(name))].map(
      (bytes) => bytes && Buffer.from(bytes).toString(),
    )

  test('are listed newest first, with what others wrote since', () => {
    const home = aHome({ [config]: 'model = "0"\n' })
    setUp(home, [configEdit(sourceIn(home), 'https://first.example/v1')])
    const first = home.text(config)
    setUp(home, [configEdit(sourceIn(home), 'https://second.example/v1')])
    setModel(home, 'third', 'other.toml')
    expect(textsOf(home, config)).toEqual([first, 'model = "0"\n'])
    append(home, config, '\n[tui]\nx = 1\n')
    expect(textsOf(home, config)).toEqual([
      `${first}\n[tui]\nx = 1\n`,
      'model = "0"\n\n[tui]\nx = 1\n',
    ])
  })

  test('contain what was changed between two runs, even if it was deleted since', () => {
    const home = aHome({ [config]: 'model = "0"\n' })
    setUp(home, [configEdit(sourceIn(home), 'https://first.example/v1')])
    home.put(config, home.text(config).replace('"gpt-5.6-sol"', '"theirs"'))
    setUp(home, [configEdit(sourceIn(home), 'https://second.example/v1')])
    expect(textsOf(home, config)).toEqual([
      expect.stringContaining('first.example'),
      'model = "theirs"\n',
    ])

    const deleted = aHome({ [config]: 'model = "0"\n' })
    setUp(deleted, [configEdit(sourceIn(deleted))])
    rmSync(deleted.at(config))
    setUp(deleted, [configEdit(sourceIn(deleted))])
    expect(textsOf(deleted, config)).toEqual([null, null])
  })

  test('do not exist for a file without an address that is next to one with an address', () => {
    const home = aHome(codexPair)
    setUp(home, [...aPairPlan(sourceIn(home)).edits])
    setModel(home, 'ours', 'other.toml')
    expect(textsOf(home, 'other.toml')).toEqual([])
  })

  test('end with no file if a run created the file', () => {
    const home = aHome()
    setUp(home, [configEdit(sourceIn(home))])
    expect(textsOf(home, config)).toEqual([null])
  })

  test('do not exist for a file that no run wrote, or that has no address', () => {
    const home = aHome({ [config]: 'model = "0"\n' })
    expect(textsOf(home, config)).toEqual([])
    setModel(home, 'ours')
    expect(textsOf(home, config)).toEqual([])
    expect(textsOf(home, auth)).toEqual([])
  })

  test.each<[string, (home: Home) => void]>([
    [
      'the address was changed since',
      (home) => home.put(settings, home.text(settings).replace('second', 'theirs')),
    ],
    [
      'the key was taken out since',
      (home) => home.put(settings, '{"env": {"ANTHROPIC_BASE_URL": "https://second.example"}}'),
    ],
    ['the file is gone', (home) => rmSync(home.at(settings))],
    [
      'a copy is gone',
      (home) => {
        const blobs = '.local/state/repoint/blobs'
        for (const name of readdirSync(home.at(blobs))) rmSync(home.at(`${blobs}/${name}`))
      },
    ],
  ])('are unknown if %s', (_, change) => {
    const home = aHome({ [settings]: '{"model": "opus"}\n' })
    for (const name of ['first', 'second'])
      setUp(home, [settingsEdit(sourceIn(home), `https://${name}.example`, `sk-${name}`)])
    change(home)
    expect(textsOf(home, settings)).toEqual([])
  })

  test('are unknown while a record is damaged; a bug of ours is thrown', () => {
    const home = aHome({ [settings]: '{"model": "opus"}\n' })
    const first = setUp(home, [settingsEdit(sourceIn(home), 'https://first.example', 'sk-first')])
    setUp(home, [settingsEdit(sourceIn(home), 'https://second.example', 'sk-second')])
    const faulty = withCalls(worldIn(home), {
      read: () => {
        throw new Error('ours')
      },
    })
    expect(() => textsOf(home, settings, faulty)).toThrow('ours')
    damageRecord(home, first)
    expect(textsOf(home, settings)).toEqual([])
  })
})
