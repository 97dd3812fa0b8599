import { describe, expect, test } from 'vitest'
import { acceptDrift } from '../../src/transaction/apply-plan.ts'
import { contentsOf } from '../../src/transaction/records/blobs.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { statePaths } from '../../src/transaction/records/state-folder.ts'
import type { FindSituations } from '../../src/transaction/undo/undo-client.ts'
import { aPlan, configEdit } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { rollBack, setUp } from '../support/runs.ts'
import { sourceIn, worldIn } from '../support/world.ts'

const path = '.codex/config.toml'
const config = 'model = "gpt-5.5"\n'

/** A client that cannot read a part of the gateway's table. */
const findSituations: FindSituations = (client, { result }) => {
  const text = new TextDecoder().decode([...result.values()][0] ?? undefined)
  const isPartOfTable = text.includes('[model_providers.gateway]') && !text.includes('base_url')
  return client === 'codex' && isPartOfTable ? ['unreadable'] : []
}

/** A home after a setup, with the later changes of others. */
function aHomeWhere(change: (text: string) => string, before = config): Home {
  const home = aHome({ [path]: before })
  setUp(home, [configEdit(sourceIn(home))])
  home.put(path, change(home.text(path)))
  return home
}

/** A line of others in the table of the setup. */
const withTheirs = (text: string) =>
  text.replace('[model_providers.gateway]\n', '$&wire_api = "chat"\n')

describe('a client that cannot read what others wrote into our table', () => {
  test('loses these additions together with the table', () => {
    const home = aHomeWhere(withTheirs)
    expect(home.text(path)).toContain('wire_api')
    const { clientsLosingTables } = rollBack(home, { findSituations })
    expect(clientsLosingTables).toEqual(['codex'])
    expect(home.text(path)).toBe(config)
  })

  test('keeps what others wrote next to the table', () => {
    const home = aHomeWhere((text) => `${withTheirs(text)}\n[tui]\nbell = true\n`)
    rollBack(home, { findSituations })
    expect(home.text(path)).toMatch(/^model = "gpt-5\.5"\n+\[tui\]\nbell = true\n$/)
  })

  test('keeps an empty table around it if the client cannot read the rest without', () => {
    const home = aHome()
    setUp(home, [configEdit(sourceIn(home))])
    home.put(path, `${withTheirs(home.text(path))}\n[tui]\nbell = true\n`)
    const needsProviders: FindSituations = (client, contents) => {
      const text = new TextDecoder().decode([...contents.result.values()][0] ?? undefined)
      return text.includes('model_providers') ? findSituations(client, contents) : ['unreadable']
    }
    const { kept, clientsLosingTables } = rollBack(home, { findSituations: needsProviders })
    expect(clientsLosingTables).toEqual(['codex'])
    expect(kept).toEqual([
      { client: 'codex', file: home.at(path), path: ['model_providers'], why: 'needed' },
    ])
    expect(home.text(path)).toMatch(/^\n*model_providers = \{\}\n+\[tui\]\nbell = true\n$/)
  })

  test('keeps a table whose address others changed', () => {
    const home = aHomeWhere((text) => withTheirs(text.replace('gateway.example', 'theirs.example')))
    const before = home.text(path)
    const { kept } = rollBack(home, { findSituations })
    expect(home.text(path)).toBe(before)
    const address = ['model_providers', 'gateway', 'base_url']
    expect(kept).toContainEqual(expect.objectContaining({ path: address, why: 'changed' }))
  })

  test('keeps a table that existed before the setup, with our settings in it', () => {
    const userConfig = `${config}\n[model_providers.gateway]\nname = "Theirs"\n`
    const home = aHomeWhere(withTheirs, userConfig)
    const before = home.text(path)
    const { kept, clientsLosingTables } = rollBack(home, { findSituations })
    expect(clientsLosingTables).toEqual([])
    expect(kept.every(({ why }) => why === 'unreadable')).toBe(true)
    expect(home.text(path)).toBe(before)
  })

  test('does not affect another client', () => {
    const home = aHomeWhere(withTheirs)
    const { clientsLosingTables } = rollBack(home, {
      findSituations: (client) => (client === 'claude' ? ['unreadable'] : []),
    })
    expect(clientsLosingTables).toEqual([])
    expect(home.text(path)).toContain('wire_api = "chat"')
    expect(home.text(path)).not.toContain('gateway.example')
  })
})

describe('drift that the user accepts', () => {
  test('is recorded in private as a run that writes nothing, with its copy, and is part of a rollback', () => {
    const home = aHomeWhere((text) => text.replace('gpt-5.6-sol', 'gpt-5.4'))
    const meant = home.text(path)
    const edit = configEdit(sourceIn(home))
    acceptDrift(worldIn(home), aPlan([{ ...edit, after: edit.before! }]))

    expect(home.text(path)).toBe(meant)
    const { runs, damaged } = listRuns(worldIn(home))
    expect(damaged).toEqual([])
    expect(runs).toHaveLength(2)
    const [file] = runs[0]!.files
    expect(file?.before).toEqual(file?.written)
    expect(file?.written?.sha256).not.toBe(runs[1]!.files[0]?.written?.sha256)
    const world = worldIn(home)
    expect(String(contentsOf(world, file!.written))).toBe(home.text(path))
    const record = statePaths(world.machine).record(runs[0]!.id)
    expect(world.files.lstat(record).mode & 0o777).toBe(0o600)

    rollBack(home, { which: { kind: 'all' } })
    expect(home.text(path)).toContain('model = "gpt-5.4"')
    expect(home.text(path)).not.toContain('gateway')
  })
})
