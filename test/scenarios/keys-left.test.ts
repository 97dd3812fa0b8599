/** Keys of a gateway that are in a client's files without their gateway. */
import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { familyRows } from '../../src/clients/list.ts'
import { formatOf } from '../../src/edits/format.ts'
import { startsWith } from '../../src/edits/values/paths.ts'
import type { RecordedSetting } from '../../src/transaction/record.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { livedInHome } from '../support/fixtures.ts'
import { aHome, type Home } from '../support/home.ts'
import { platformIn, runHere, runInProcess } from '../support/in-process.ts'
import { oneInTurn, triesAll } from '../support/sample.ts'
import { setUp, setUpOffline } from '../support/setup.ts'
import { textsIn } from '../support/texts.ts'

const key = 'sk-canary-left-behind-0123456789abcdef'
/** No test sends a request to it. */
const gateway = { url: 'https://gw.example', key }
const gatewayList = '.local/state/repoint/gateways.json'
const families = familyRows.map(({ id }) => id)

function filesWithKey(home: Home): readonly string[] {
  return Object.entries(textsIn(home)).flatMap(([name, text]) => (text.includes(key) ? [name] : []))
}

/** Runs a command, which must not print the key. */
async function run(home: Home, ...args: readonly string[]) {
  const result = await runHere(home, args)
  expect(result.text).not.toContain(key)
  return result
}

/** `status` and `doctor` report the key with the command that removes it, and that command does. */
async function expectFoundAndRemoved(home: Home, id: string): Promise<void> {
  const before = home.snapshot()
  for (const command of [
    ['status', id],
    ['doctor', id, '--no-verify'],
  ]) {
    const { status, text } = await run(home, ...command)
    expect({ command, status }).toEqual({ command, status: 8 })
    expect(text).toMatch(/"(?:id|code)":\s*"client-key-left"/)
    expect(text).toContain(`repoint off ${id}`)
  }
  await expectRemoved(home, id)

  expect((await runHere(home, ['rollback', '--yes'])).status).toBe(0)
  expect(home.snapshot()).toEqual(before)
}

/** One `off` removes the key. */
async function expectRemoved(home: Home, id: string): Promise<void> {
  const dryRun = await runInProcess(home, ['off', id, '--dry-run'])
  expect(dryRun.status).toBe(0)
  expect(dryRun.stdout + dryRun.stderr).not.toContain(key)

  expect(await run(home, 'off', id, '--yes')).toMatchObject({ status: 0, json: { changed: true } })
  expect(filesWithKey(home)).toEqual([])
  expect((await run(home, 'status', id)).text).not.toContain('client-key-left')
  expect(await run(home, 'off', id, '--yes')).toMatchObject({ status: 0, json: { changed: false } })
}

/** Removes what a setup wrote, as far as `matches`. An entry of a list is removed as a whole if it has no key. */
function removeWritten(home: Home, matches: (setting: RecordedSetting) => boolean): void {
  const [setup] = listRuns(platformIn(home)).runs
  for (const { path, format, settings } of setup!.files) {
    const keys = settings.filter(isKey)
    const changes = settings.filter(matches).map((setting) => {
      const entry = setting.path.slice(
        0,
        setting.path.findIndex((step) => typeof step === 'object') + 1,
      )
      const isWithKey = keys.some((other) => startsWith(other.path, entry))
      return { path: entry.length === 0 || isWithKey ? setting.path : entry, value: undefined }
    })
    home.put(relative(home.path, path), formatOf(format).edit(readFileSync(path), changes, path))
  }
}

/** Replaces a text in every file of the clients. */
function replaceAll(home: Home, from: string, to: string): void {
  for (const [name, text] of Object.entries(textsIn(home)))
    if (text.includes(from)) home.put(name, text.replaceAll(from, to))
}

const isKey = ({ role }: RecordedSetting) => role === 'key'
const choosesModel = ({ role, path }: RecordedSetting) =>
  role === 'model' || (role === 'provider' && path.length === 1)

/** How a key is left behind, after which `status` and `doctor` find it and `off` removes it. */
const ways: readonly (readonly [string, (home: Home, id: string) => Promise<void>])[] = [
  [
    'a key without its address',
    async (home, id) => {
      await setUpOffline(home, id, gateway)
      removeWritten(home, (setting) => !isKey(setting))
      expect(filesWithKey(home)).not.toEqual([])
    },
  ],
  [
    'a key at another address',
    async (home, id) => {
      await setUpOffline(home, id, gateway)
      replaceAll(home, 'gw.example', 'elsewhere.example')
    },
  ],
  [
    'a key that only the saved gateway knows',
    async (home, id) => {
      await setUp(home, [id, '--no-verify', '--name', 'work', ...modelFlags(id)], gateway)
      removeWritten(home, (setting) => !isKey(setting))
      const gateways = home.text(gatewayList)
      rmSync(home.at('.local/state/repoint'), { recursive: true })
      home.put(gatewayList, gateways, 0o600)
      chmodSync(home.at('.local/state/repoint'), 0o700)
    },
  ],
]

describe.each(families.map((id, turn) => [id, turn] as const))('%s', (id, turn) => {
  const all = [
    { home: 'new files', files: {} },
    { home: 'files of a used home', files: livedInHome(id) },
  ]
  const homes = triesAll ? all : oneInTurn(all, turn)
  const [usual, ...others] = ways
  const tried = triesAll ? ways : [usual!, ...oneInTurn(others, Math.floor(turn / 2))]

  test.each(tried.flatMap(([what, make]) => homes.map((one) => ({ ...one, what, make }))))(
    '$home: status and doctor find $what, and off removes it',
    async ({ files, make }) => {
      const home = aHome(files)
      await make(home, id)
      await expectFoundAndRemoved(home, id)
    },
  )

  test.each(homes)(
    '$home: off removes address and key of a gateway that is not in use',
    async ({ files }) => {
      const home = aHome(files)
      await setUpOffline(home, id, gateway)
      removeWritten(home, choosesModel)
      await expectRemoved(home, id)
      expect(JSON.stringify(textsIn(home))).not.toContain('gw.example')
    },
  )

  test('a client that uses its gateway, and one that is back at its own service, have no finding', async () => {
    const home = aHome(livedInHome(id))
    await setUpOffline(home, id, gateway)
    expect((await run(home, 'status', id)).text).not.toContain('client-key-left')
    expect((await run(home, 'rollback', id, '--yes')).status).toBe(0)
    expect((await run(home, 'status', id)).text).not.toContain('client-key-left')
  })
})

test.each(['codex', 'opencode'])(
  '%s: forget reports a key that is left, and deletes nothing of the client',
  async (id) => {
    const home = aHome()
    await setUp(home, [id, '--no-verify', '--name', 'work', ...modelFlags(id)], gateway)
    removeWritten(home, (setting) => !isKey(setting))
    const before = home.snapshot()
    for (const words of [['work'], ['--all']]) {
      const { status, text } = await run(home, 'forget', ...words, '--yes')
      expect({ words, status }).toEqual({ words, status: 0 })
      expect(text).toContain('client-key-left')
      expect(text).toContain(`repoint off ${id}`)
    }
    expect(home.snapshot()).toEqual(before)
  },
)

describe('codex', () => {
  const [auth, config] = ['.codex/auth.json', '.codex/config.toml']
  const keyInTable = `model_provider = "x"
[model_providers.x]
name = "X"
base_url = "https://gw.example/v1"
experimental_bearer_token = "${key}"
`

  test('a login that someone added to auth.json stays, and off names what Codex uses then', async () => {
    const home = aHome()
    await setUpOffline(home, 'codex', gateway)
    home.put(auth, `{"OPENAI_API_KEY":"${key}","tokens":{"access_token":"t"}}`, 0o600)
    rmSync(home.at(config))
    expect((await run(home, 'status', 'codex')).status).toBe(8)

    const { stdout } = await runInProcess(home, ['off', 'codex', '--yes'])
    expect(stdout).toContain('back to its own service, with a ChatGPT login')
    expect(JSON.parse(home.text(auth))).toEqual({ tokens: { access_token: 't' } })
  })

  test('off does not promise a login if a key of the user is next to it', async () => {
    const own = JSON.stringify({
      OPENAI_API_KEY: 'sk-users-own-0123456789',
      tokens: { id_token: 'e30.e30.x', access_token: 't', refresh_token: 'r' },
    })
    const home = aHome({
      [auth]: own,
      [config]: keyInTable,
    })
    const { stdout } = await runInProcess(home, ['off', 'codex', '--yes'])
    expect(stdout).toContain('back to its own service, with your own key')
    expect(home.text(auth)).toBe(own)
  })

  test('a copy in auth.json leaves with the gateway whose table has the key', async () => {
    const home = aHome({
      [auth]: `{"OPENAI_API_KEY":"${key}","tokens":{"access_token":"t"}}`,
      [config]: keyInTable,
    })
    const { stdout } = await runInProcess(home, ['off', 'codex', '--yes'])
    expect(stdout).toContain('back to its own service, with a ChatGPT login')
    expect(filesWithKey(home)).toEqual([])
  })

  test('a setup with a key that the user had at the own service leaves no finding behind', async () => {
    const home = aHome({ [auth]: `{"OPENAI_API_KEY":"${key}"}` })
    await setUpOffline(home, 'codex', gateway)
    expect((await run(home, 'off', 'codex', '--yes')).status).toBe(0)
    expect(home.text(auth)).toBe(`{"OPENAI_API_KEY":"${key}"}`)
    expect((await run(home, 'status', 'codex')).status).toBe(0)
  })
})

function modelFlags(id: string): readonly string[] {
  return id.startsWith('claude') ? [] : ['--model', 'gpt-5.6-sol']
}
