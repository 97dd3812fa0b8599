/**
 * `repoint run` neutralises for its process whatever a setup repairs in files, or it does not start. The settings are
 * those of the fixtures: each is added alone to a home that is set up, and counts if a setup would then change it.
 */
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { LoadedFiles } from '../../src/clients/contract/files.ts'
import type { LaunchSettings } from '../../src/clients/contract/program.ts'
import { isTable, type Table } from '../../src/clients/files/tables.ts'
import { loadClients } from '../../src/clients/list.ts'
import { formatOf } from '../../src/edits/format.ts'
import type { ConfigValue, SettingPath } from '../../src/edits/types.ts'
import { UserError, valueOrError } from '../../src/errors.ts'
import { blocksSetup } from '../../src/finding.ts'
import { clientFixtures, readHome } from '../support/fixtures.ts'
import { aMachine, type Disk, filesOf, key, planOn, written } from './support.ts'

const clients = await loadClients()
const machine = aMachine()

/** Settings that no fixture has. */
const moreSettings: Readonly<Record<string, readonly (readonly [SettingPath, ConfigValue])[]>> = {
  claude: [
    'CLAUDE_CODE_USE_VERTEX',
    'CLAUDE_CODE_USE_FOUNDRY',
    'CLAUDE_CODE_USE_MANTLE',
    'CLAUDE_CODE_CLIENT_DATA_URL',
    'ANTHROPIC_DEFAULT_OPUS_MODEL',
    'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  ].map((name) => [['env', name], 'x'] as const),
  pi: [[['enabledModels'], ['other/x']]],
  droid: [
    [['modelPolicy', 'allowCustomModels'], false],
    [['modelPolicy', 'allowedBaseUrls'], ['https://other.example/v1']],
  ],
}

/** Settings that have no effect next to what `run` passes. */
const withoutEffect: Readonly<Record<string, readonly string[]>> = {
  // `env_key` overrides auth.json and the bearer token of the file: see launchSettings.
  codex: ['cli_auth_credentials_store', 'OPENAI_API_KEY', 'experimental_bearer_token'],
  // The entries of a run name another variable.
  qwen: ['QWEN_GATEWAY_API_KEY'],
}

/** What a process reads of a file, or that it does not read a setting at all. */
type Reader = (
  launch: LaunchSettings,
  root: Table,
) => { readonly root?: Table; isIgnored?: boolean }

const overlay = (text: string | undefined): Reader => {
  return (_, root) => ({ root: merged(root, JSON.parse(text ?? '{}')) })
}

const readers: Readonly<Record<string, Reader>> = {
  codex: ({ args }, root) => {
    const flags = args.flatMap((arg, index) => (args[index - 1] === '-c' ? [arg] : []))
    return { root: flags.reduce((all, flag) => merged(all, tableOf(flag)), root) }
  },
  claude: (launch, root) => overlay(launch.args[1])(launch, root),
  opencode: (launch, root) => overlay(launch.env['OPENCODE_CONFIG_CONTENT'])(launch, root),
  kilo: (launch, root) => overlay(launch.env['KILO_CONFIG_CONTENT'])(launch, root),
  openclaw: (launch, root) => overlay(launch.files?.['openclaw-run.json'])(launch, root),
  qwen: (launch, root) => overlay(launch.files?.['qwen-settings.json'])(launch, root),
  droid: (launch, root) => overlay(launch.files?.['droid.json'])(launch, root),
  // The extension replaces the provider, and arguments override the settings.
  pi: () => ({ isIgnored: true }),
  // Another file replaces its own.
  cline: () => ({ isIgnored: true }),
}

function merged(under: Table, over: Table): Table {
  const all: Record<string, ConfigValue> = { ...under }
  for (const [name, value] of Object.entries(over)) {
    const now = all[name]
    all[name] = isTable(now) && isTable(value) ? merged(now, value) : value
  }
  return all
}

/** A `-c` option of Codex as a table. */
function tableOf(flag: string): Table {
  const [path = '', ...value] = flag.split('=')
  const text = value.join('=')
  // Inline tables are not JSON. None is a repair.
  const parsed = text.startsWith('{') ? {} : JSON.parse(text)
  return path
    .split('.')
    .toReversed()
    .reduce<ConfigValue>((inner, name) => ({ [name]: inner }), parsed) as Table
}

interface Setting {
  readonly file: string
  readonly path: SettingPath
  readonly value: ConfigValue
}

function* settingsIn(file: string, value: ConfigValue, path: SettingPath = []): Generator<Setting> {
  if (isTable(value))
    for (const [name, inner] of Object.entries(value))
      yield* settingsIn(file, inner, [...path, name])
  else if (path.length > 0) yield { file, path, value }
}

const fixtureNames = ['everything-in-the-way', 'another-gateway', 'lived-in', 'hand-written']

describe.each(clients.filter(({ id }) => readers[id] !== undefined).map((one) => [one.id, one]))(
  '%s',
  (id, client) => {
    const setUp = written({}, machine, planOn(client, {}).edits)
    const parse = (files: LoadedFiles, path: string): Table => {
      const { bytes = null, format = 'json' } = files.find((one) => one.path === path) ?? {}
      const root = bytes && valueOrError(() => formatOf(format).read(bytes, path).root)
      return root === null || root instanceof UserError ? {} : root
    }
    const editable = filesOf(client, machine, setUp).filter(({ use }) => use === 'editable')
    const settings = fixtureNames.flatMap((name) => {
      const files = filesOf(client, machine, readHome(`${clientFixtures}/${id}/${name}/before`))
      return editable.flatMap(({ path }) => [...settingsIn(path, parse(files, path))])
    })
    const [main] = editable.filter(({ holdsSecret, kind }) => kind !== 'auth' || !holdsSecret)
    const more = (moreSettings[id] ?? []).map(([path, value]) => ({
      file: (id === 'pi' ? editable.find(({ kind }) => kind === 'settings') : main)!.path,
      path,
      value,
    }))

    /** A home that is set up, with one more setting. */
    const withSetting = ({ file, path, value }: Setting): Disk | undefined => {
      const { bytes, format } = filesOf(client, machine, setUp).find((one) => one.path === file)!
      const edited = valueOrError(() => formatOf(format).edit(bytes, [{ path, value }], file))
      return edited instanceof UserError ? undefined : { ...setUp, [file]: edited! }
    }

    const repaired = [...settings, ...more].filter((setting) => {
      const disk = withSetting(setting)
      if (disk === undefined) return false
      const planned = valueOrError(() => planOn(client, disk))
      if (planned instanceof UserError) return false
      const isChanged = planned.edits.some(
        ({ path, changes }) =>
          path === setting.file &&
          changes.some(
            (change) =>
              isDeepStrictEqual(change.path, setting.path) &&
              !isDeepStrictEqual(change.value, setting.value),
          ),
      )
      return isChanged || planned.findings.some(blocksSetup)
    })

    test('some settings are repaired', () => expect(repaired.length).toBeGreaterThan(0))

    test.each(repaired.map((setting) => [setting.path.join('.'), setting] as const))(
      'run neutralises %s',
      (_, setting) => {
        const disk = withSetting(setting)!
        const { files, target } = planOn(client, disk)
        const args = id === 'cline' ? ['say two words'] : []
        const env = { REPOINT_RUN_KEY: key }
        const launch = valueOrError(() =>
          client.launchSettings(files, target, { args, env, tempFolder: '/tmp/x' }),
        )
        // It does not start.
        if (launch instanceof UserError) return

        const isOtherProvider = JSON.stringify(launch).includes('repoint-run')
        if (isOtherProvider && setting.path.includes('gateway')) return
        if (withoutEffect[id]?.includes(String(setting.path.at(-1)))) return
        const { root = {}, isIgnored } = readers[id]!(launch, parse(files, setting.file))
        if (isIgnored) return
        const effective = setting.path.reduce<ConfigValue | undefined>(
          (value, name) => (isTable(value) ? value[String(name)] : undefined),
          root,
        )
        expect(effective).not.toEqual(setting.value)
      },
    )
  },
)
