import { expect, test } from 'vitest'
import type { ClientFlag, ClientOptions, ValueKind } from '../../src/clients/contract/options.ts'
import { launchKeyVariable } from '../../src/clients/contract/program.ts'
import { clientRows, loadClient } from '../../src/clients/list.ts'
import { documentOf } from '../../src/edits/format.ts'
import type { Catalog } from '../../src/gateway/types.ts'
import {
  aMachine,
  catalogWithWindows,
  type Disk,
  filesOf,
  planOn,
  previousIn,
  type Setup,
  text,
  written,
} from './support.ts'

/** A value of each kind, as the command line parses it. */
const samples: Readonly<Record<ValueKind, string | number>> = {
  tokens: 21_234,
  model: 'gpt-5.6-luna',
}

function sampleFor({ flag, choices, takes }: ClientFlag): string | number | boolean {
  if (flag.startsWith('--no-')) return false
  const hasValue = /[<[]/.test(flag)
  if (!hasValue) return true
  return takes === undefined ? (choices?.[0] ?? 'chosen') : samples[takes]
}

/**
 * `--catalog` needs the installed Codex. Without images or reasoning, an entry lacks a member, which the next setup
 * adds again if the model is known to have the ability.
 */
const notKept = ['--catalog', '--no-images', '--no-reasoning']

const cases = clientRows.flatMap((row) => {
  const kept = row.flags.filter(({ flag }) => !notKept.includes(flag))
  return kept.map((flag) => ({ id: row.id, name: flag.flag, row, flag }))
})

test.each(cases)(
  '$id $name: the next setup keeps what it chose',
  async ({ id, name, row, flag }) => {
    const client = await loadClient(row)
    const machine = aMachine()
    const catalog = catalogWithWindows
    const options = flag.toOptions(sampleFor(flag))
    const first = planOn(client, {}, { options, catalog })
    const disk = written({}, machine, first.edits)
    const state = client.read(filesOf(client, machine, disk))

    const previous = previousIn(client, state)
    const target = { providerId: previous.options.providerId ?? 'gateway' }
    const second = planOn(client, disk, { previous, target, catalog })
    const lost = second.edits.filter(({ before, after }) => text(before) !== text(after))
    expect(
      lost.map(({ path }) => path),
      `read() of ${id} does not return the option of ${name}`,
    ).toEqual([])
  },
)

/** A flag may repeat what is known of a GPT model, or what is the default for an unknown one. */
function catalogsFor({ takes }: ClientFlag): readonly Catalog[] {
  return takes === 'model'
    ? [catalogWithWindows]
    : [catalogWithWindows, { models: [{ id: 'house-1' }] }]
}

/** They decide about a list or a gateway that an earlier setup wrote. */
const needsEarlierSetup = ['--no-catalog', '--keep-old-gateway']

test.each(cases.filter(({ name }) => !needsEarlierSetup.includes(name)))(
  '$id $name: changes what a setup writes',
  async ({ name, row, flag }) => {
    const client = await loadClient(row)
    const afterSetup = (options: ClientOptions, catalog: Catalog) => {
      const { edits } = planOn(client, {}, { options, catalog })
      return edits.map(({ path, after }) => [path, text(after)])
    }

    const options = flag.toOptions(sampleFor(flag))
    const isChanged = catalogsFor(flag).map(
      (catalog) =>
        JSON.stringify(afterSetup(options, catalog)) !== JSON.stringify(afterSetup({}, catalog)),
    )
    expect(isChanged, `plan() of ${row.id} does not write ${name}`).toContain(true)
  },
)

/** They choose an entry, its place or its protocol. A later setup leaves other entries as they are. */
const choosesEntry = ['--model [id]', '--provider-id <id>', '--protocol <name>']

test.each(cases.filter(({ name }) => !choosesEntry.includes(name)))(
  '$id $name: after --defaults, the files say what a setup without it writes',
  async ({ row, flag }) => {
    const client = await loadClient(row)
    const machine = aMachine()
    const catalog = catalogWithWindows
    const valuesAfter = (disk: Disk, setup: Setup) => {
      const { edits } = planOn(client, disk, { catalog, ...setup })
      const after = written(disk, machine, edits)
      const values = filesOf(client, machine, after).map((file) => [
        file.path,
        documentOf(file, file.bytes)?.root,
      ])
      return { after, values: Object.fromEntries(values) }
    }

    const first = valuesAfter({}, { options: flag.toOptions(sampleFor(flag)) })
    const input = { requested: {}, resetToDefaults: true }
    const reset = valuesAfter(first.after, { target: { input, earlier: () => [null] } })
    expect(reset.values).toEqual(valuesAfter({}, {}).values)
  },
)

interface Exception {
  readonly flag: string
  /** Absent: every client that has the flag. */
  readonly ids?: readonly string[]
  readonly why: string
}

/** The options that do not reach `launchSettings`. */
const notLaunched: readonly Exception[] = [
  { flag: '--no-catalog', why: 'a launch keeps the file with the models' },
  { flag: '--keep-old-gateway', why: 'a launch keeps the key of the earlier gateway' },
  {
    flag: '--provider-id <id>',
    ids: ['openclaw', 'droid'],
    why: 'a launch has its own provider, next to those of the user',
  },
]

/** The options that do not reach `firstRequest`. */
const notSent: readonly Exception[] = [
  ...notLaunched,
  { flag: '--provider-id <id>', why: 'it only names the provider in the files' },
  {
    flag: '--context-window <tokens>',
    ids: ['codex', 'claude', 'claude-gpt', 'openclaw', 'droid'],
    why: 'the client needs it only later, to compact a conversation',
  },
  {
    flag: '--images',
    ids: ['opencode', 'kilo', 'pi', 'qwen', 'droid'],
    why: 'the first request has no image, and the same tools',
  },
  {
    flag: '--reasoning',
    ids: ['opencode', 'kilo', 'openclaw'],
    why: 'the client decides by the ID of the model, or reasons only if the user asks for an effort',
  },
  ...['opus', 'haiku', 'fable'].map((slot) => ({
    flag: `--${slot}-model <id>`,
    why: 'the first request is for the slot that Claude Code starts with',
  })),
  { flag: '--subagent-model <id>', why: 'the first request is not of a subagent' },
  { flag: '--enable-discovery', why: 'discovery is another request' },
]

const launchable = cases.map((each) => ({
  ...each,
  isLaunched: !isException(notLaunched, each),
  isSent: !isException(notSent, each),
}))

function isException(
  exceptions: readonly Exception[],
  { id, name }: { readonly id: string; readonly name: string },
): boolean {
  return exceptions.some(({ flag, ids }) => flag === name && (ids?.includes(id) ?? true))
}

test.each(launchable)(
  '$id $name: reaches a launch ($isLaunched) and the first request ($isSent)',
  async ({ id, name, row, flag, isLaunched, isSent }) => {
    const client = await loadClient(row)
    const recordings = await client.loadRecordings()
    const args = id === 'cline' ? ['two words'] : []
    const launchInput = { args, tempFolder: '/run', env: { [launchKeyVariable]: 'key' } }

    const resultOf = (options: ClientOptions, catalog: Catalog) => {
      const { files, machine, edits, target } = planOn(client, {}, { options, catalog })
      const { probeModel: model, protocol = client.protocols[0] } = target.resolved
      const after = filesOf(client, machine, written({}, machine, edits))
      const sent = client.firstRequest(recordings, after, { model, protocol, env: {} })
      return {
        launch: JSON.stringify(client.launchSettings!(files, target, launchInput)),
        request: JSON.stringify([model, protocol, sent.headers, sent.body]),
      }
    }

    const options = flag.toOptions(sampleFor(flag))
    const results = catalogsFor(flag).map(
      (catalog) => [resultOf(options, catalog), resultOf({}, catalog)] as const,
    )
    const reaches = (part: 'launch' | 'request') =>
      results.some(([chosen, usual]) => chosen[part] !== usual[part])
    expect(reaches('launch'), `launchSettings() of ${id} and ${name}`).toBe(isLaunched)
    expect(reaches('request'), `firstRequest() of ${id} and ${name}`).toBe(isSent)
  },
)
