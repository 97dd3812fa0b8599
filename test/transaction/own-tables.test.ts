import { describe, expect, test } from 'vitest'
import { recordAsMeant } from '../../src/transaction/apply.ts'
import { listRuns } from '../../src/transaction/state.ts'
import { aPlan, configEdit } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { rollBack, setUp } from '../support/runs.ts'
import { sourceIn, worldIn } from '../support/world.ts'

const path = '.codex/config.toml'
const config = 'model = "gpt-5.5"\n'
const dropped = { dropsTablesOf: ['codex'] }

/** After a setup, with what others wrote since. */
function aHomeWhere(change: (text: string) => string, before = config): Home {
  const home = aHome({ [path]: before })
  setUp(home, [configEdit(sourceIn(home))])
  home.put(path, change(home.text(path)))
  return home
}

/** Something of others in the table of the setup. */
const withTheirs = (text: string) =>
  text.replace('[model_providers.gateway]\n', '$&wire_api = "chat"\n')

describe('a rollback that drops the tables of a client', () => {
  test('takes what others wrote into them with it', () => {
    const home = aHomeWhere(withTheirs)
    expect(home.text(path)).toContain('wire_api')
    rollBack(home, dropped)
    expect(home.text(path)).toBe(config)
  })

  test('leaves what others wrote beside them', () => {
    const home = aHomeWhere((text) => `${withTheirs(text)}\n[tui]\nbell = true\n`)
    rollBack(home, dropped)
    expect(home.text(path)).toMatch(/^model = "gpt-5\.5"\n+\[tui\]\nbell = true\n$/)
  })

  test('leaves one whose address others have changed', () => {
    const home = aHomeWhere((text) => withTheirs(text.replace('gateway.example', 'theirs.example')))
    const { files } = rollBack(home, dropped)
    expect(home.text(path)).toContain('theirs.example')
    expect(home.text(path)).toContain('wire_api = "chat"')
    expect(files[0]?.kept).toContainEqual(['model_providers', 'gateway', 'base_url'])
  })

  test('leaves one that stood there before the setup', () => {
    const theirs = `${config}\n[model_providers.gateway]\nname = "Theirs"\n`
    const home = aHomeWhere(withTheirs, theirs)
    rollBack(home, dropped)
    expect(home.text(path)).toContain('name = "Theirs"')
    expect(home.text(path)).toContain('wire_api = "chat"')
  })

  test('leaves those of another client', () => {
    const home = aHomeWhere(withTheirs)
    rollBack(home, { dropsTablesOf: ['claude'] })
    expect(home.text(path)).toContain('wire_api = "chat"')
  })
})

describe('what a person has changed and means', () => {
  test('is recorded as a run that writes nothing, and a rollback leads back to before the first', () => {
    const home = aHomeWhere((text) => text.replace('gpt-5.6-sol', 'gpt-5.4'))
    const meant = home.text(path)
    const edit = configEdit(sourceIn(home))
    recordAsMeant(worldIn(home), aPlan([{ ...edit, after: edit.before! }]))

    expect(home.text(path)).toBe(meant)
    const { runs, damaged } = listRuns(worldIn(home))
    expect(damaged).toEqual([])
    expect(runs).toHaveLength(2)
    const [file] = runs[0]!.files
    expect(file?.before).toEqual(file?.after)
    expect(file?.after?.sha256).not.toBe(runs[1]!.files[0]?.after?.sha256)

    rollBack(home, { original: true })
    expect(home.text(path)).toContain('model = "gpt-5.4"')
    expect(home.text(path)).not.toContain('gateway')
  })
})
