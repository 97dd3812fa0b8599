import { renameSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { familyRows, loadClients } from '../../../src/clients/list.ts'
import { situationsFinder } from '../../../src/commands/rollback/find-situations.ts'
import { Session } from '../../../src/commands/screen/session.ts'
import { nodePlatform } from '../../../src/platform/node.ts'
import { listRuns } from '../../../src/transaction/records/records.ts'
import type { Situation } from '../../../src/transaction/undo/undo-safety.ts'
import {
  aPairPlan,
  bytesOf,
  configEdit,
  providerEdits,
  settingsEdit,
} from '../../support/a-plan.ts'
import { aHome, type Home } from '../../support/home.ts'
import { setUp } from '../../support/runs.ts'
import { sourceIn, worldIn } from '../../support/world.ts'

const claude = '.claude/settings.json'
const codex = '.codex/config.toml'
const auth = '.codex/auth.json'
const gateway = 'https://gateway.example'
const platform = nodePlatform()
const clients = await loadClients(familyRows)

/** What an undo that leaves these files means for a client. Null: the undo leaves no such file. */
function situationsAfter(
  home: Home,
  client: string,
  result: Readonly<Record<string, string | null>>,
): readonly Situation[] {
  const world = worldIn(home)
  const session = new Session({ ...platform, ...world }, { isJson: false })
  const asContents = (texts: typeof result) =>
    new Map(
      Object.entries(texts).map(([name, text]) => [
        home.at(name),
        text === null ? null : bytesOf(text),
      ]),
    )
  const now = Object.fromEntries(
    Object.keys(result).map((name) => [name, sourceIn(home).text(name)]),
  )

  const findSituations = situationsFinder({ session, runs: listRuns(world).runs, clients })
  return findSituations(client, { now: asContents(now), result: asContents(result) })
}

/** Claude Code's settings with a gateway and a key. */
function claudeAt(baseUrl: string, key?: string, model = 'opus'): string {
  const env = { ANTHROPIC_BASE_URL: baseUrl, ...(key && { ANTHROPIC_AUTH_TOKEN: key }) }
  return JSON.stringify({ model, env })
}

function aClaudeHome(before: string): Home {
  const home = aHome({ [claude]: before })
  setUp(home, [settingsEdit(sourceIn(home), gateway, 'sk-one')])
  setUp(home, [settingsEdit(sourceIn(home), gateway, 'sk-two')])
  return home
}

test.each<[string, string, readonly Situation[]]>([
  ['its own service', '{}', []],
  ['another gateway', claudeAt('https://other.example', 'sk-other'), []],
  ['our gateway with the key of now', claudeAt(gateway, 'sk-two'), ['same-credentials']],
  ['our gateway with the key of an earlier setup', claudeAt(gateway, 'sk-one'), ['our-key']],
  ['our gateway with the key from before', claudeAt(gateway, 'sk-own'), ['earlier-credentials']],
  ['our gateway with another key', claudeAt(gateway, 'sk-other'), ['wrong-key']],
  ['our gateway without a key', claudeAt(gateway), ['wrong-key']],
])('a client at %s', (_, after, expected) => {
  const home = aClaudeHome(claudeAt(gateway, 'sk-own'))
  expect(situationsAfter(home, 'claude', { [claude]: after })).toEqual(expected)
})

test.each<[string, string, readonly Situation[]]>([
  ['could read its files before', 'model = "gpt-5.5"\n', ['unreadable']],
  ['could not read them before the run', 'model_provider = "none"\n', ['unreadable-before']],
])('a client that cannot read its files, and that %s', (_, before, expected) => {
  const home = aHome({ [codex]: before })
  setUp(home, aPairPlan(sourceIn(home)).edits)
  const after = { [codex]: 'model_provider = "none"\n', [auth]: null }
  expect(situationsAfter(home, 'codex', after)).toEqual(expected)
})

test.each<[string, boolean, readonly Situation[]]>([
  ['a profile with our address', true, ['address-moved']],
  ['no other file with it', false, []],
])('the file with our address is gone, and there is %s', (_, isProfile, expected) => {
  const home = aHome()
  setUp(home, aPairPlan(sourceIn(home)).edits)
  renameSync(home.at(codex), home.at(isProfile ? '.codex/work.config.toml' : 'elsewhere.toml'))
  expect(situationsAfter(home, 'codex', { [codex]: null, [auth]: null })).toEqual(expected)
})

test('a file with our address that the undo deletes is not one that someone renamed', () => {
  const home = aHome()
  setUp(home, aPairPlan(sourceIn(home)).edits)
  home.put('.codex/work.config.toml', home.text(codex))
  expect(situationsAfter(home, 'codex', { [codex]: null, [auth]: null })).toEqual([])
})

test('a login that the user had only at our gateway is not one from before it', () => {
  const login = '{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"x"}}'
  const home = aHome()
  setUp(home, aPairPlan(sourceIn(home), 'sk-canary-one').edits)
  home.put(auth, login)
  setUp(home, aPairPlan(sourceIn(home), 'sk-canary-two').edits)
  const after = { [codex]: home.text(codex), [auth]: login }
  expect(situationsAfter(home, 'codex', after)).toEqual(['wrong-key'])
})

describe('the undo leaves our key in a file, without its address', () => {
  const aHomeOfCodex = () => {
    const home = aHome()
    setUp(home, aPairPlan(sourceIn(home)).edits)
    return home
  }
  const situationsWithout = (home: Home) =>
    situationsAfter(home, 'codex', { [codex]: null, [auth]: home.text(auth) })

  test('it had its address until now', () => {
    expect(situationsWithout(aHomeOfCodex())).toEqual(['our-key-elsewhere'])
  })

  test('it has none now either', () => {
    const home = aHomeOfCodex()
    rmSync(home.at(codex))
    expect(situationsWithout(home)).toEqual([])
  })

  test('it had none before the newest run either', () => {
    const home = aHomeOfCodex()
    rmSync(home.at(codex))
    setUp(home, [configEdit(sourceIn(home))])
    expect(situationsWithout(home)).toEqual([])
  })
})

test('a user had their key with the address in a file that no run wrote', () => {
  const keys = '.local/share/opencode/auth.json'
  const own = '{"gateway": {"type": "api", "key": "sk-own"}}'
  const provider = { gateway: { options: { baseURL: `${gateway}/v1` } } }
  const home = aHome({
    '.config/opencode/config.json': JSON.stringify({ model: 'gateway/mine', provider }),
    [keys]: own,
  })
  setUp(home, providerEdits(sourceIn(home)))
  const after = { '.config/opencode/opencode.json': null, [keys]: own }
  expect(situationsAfter(home, 'opencode', after)).toEqual(['earlier-credentials'])
})
