import { expect, test } from 'vitest'
import type { Client } from '../../src/clients/contract/client.ts'
import type {
  ClientFlag,
  ClientOptions,
  EnumOptions,
  OptionName,
  ValueKind,
} from '../../src/clients/contract/options.ts'
import { launchKeyVariable } from '../../src/clients/contract/program.ts'
import { clientRows, loadClient, loadClients } from '../../src/clients/list.ts'
import { compact } from '../../src/compact.ts'
import { documentOf } from '../../src/edits/format.ts'
import type { Catalog, Protocol } from '../../src/gateway/types.ts'
import {
  aHistory,
  aMachine,
  catalogWithWindows,
  type Disk,
  earlierIn,
  filesOf,
  planOn,
  type Setup,
  text,
  written,
} from './support.ts'

/** A value of each kind, as the command line parses it. */
const samples: Readonly<Record<ValueKind, FlagValue>> = {
  tokens: 21_234,
  model: 'gpt-5.6-luna',
}

type FlagValue = string | number | boolean

/** The values to try: all that the flag lists, or one. */
function valuesFor({ flag, choices, takes }: ClientFlag): readonly FlagValue[] {
  if (choices !== undefined) return choices
  if (flag.startsWith('--no-')) return [false]
  const hasValue = /[<[]/.test(flag)
  if (!hasValue) return [true]
  return [takes === undefined ? 'chosen' : samples[takes]]
}

/**
 * Options that must differ in their effect: each value of a list; otherwise one value, and no value. One value of a
 * list may be the default.
 */
function alternativesFor(flag: ClientFlag): readonly ClientOptions[] {
  const options = valuesFor(flag).map(flag.toOptions)
  return flag.choices === undefined ? [{}, ...options] : options
}

/** With a model for every slot of Claude Code. */
const catalog: Catalog = {
  models: [...catalogWithWindows.models, { id: 'claude-fable-5-2', endpointTypes: ['anthropic'] }],
}

const unknownModel: Catalog = { models: [{ id: 'house-1' }] }

/** The setups of a client to which a test adds a flag. */
interface Setups {
  readonly catalogs: readonly [Catalog, ...Catalog[]]
  readonly protocol?: Protocol
}

/** The setups over the protocol that the client usually has, or over another one if only there it writes the option. */
function setupsFor(
  client: Client,
  flag: ClientFlag,
): { readonly setups: Setups; readonly isWritten: boolean } {
  // A flag may repeat what is known of a GPT model, or what is the default for an unknown one.
  const usual: Setups = { catalogs: flag.takes === 'model' ? [catalog] : [catalog, unknownModel] }
  const others = client.protocols.map(
    (protocol): Setups => ({ catalogs: [unknownModel], protocol }),
  )
  const all = client.protocols.length > 1 ? [usual, ...others] : [usual]
  const found = all.find((setups) => hasEffect(client, flag, setups))
  return { setups: found ?? usual, isWritten: found !== undefined }
}

/** Whether each value of the flag changes what one of the setups writes. */
function hasEffect(client: Client, flag: ClientFlag, setups: Setups): boolean {
  const written = resultsOf(flag, setups, (options, catalog) => {
    const { edits } = planOn(client, {}, { options, catalog })
    return edits.map(({ path, after }) => [path, text(after)])
  })
  return written.some((results) => countDifferent(results) === results.length)
}

/** The result of each alternative of a flag, for each catalog. */
function resultsOf<Result>(
  flag: ClientFlag,
  { catalogs, protocol }: Setups,
  resultWith: (options: ClientOptions, catalog: Catalog) => Result,
): readonly (readonly Result[])[] {
  return catalogs.map((catalog) =>
    alternativesFor(flag).map((options) => resultWith(compact({ protocol, ...options }), catalog)),
  )
}

/** `--catalog` needs the installed Codex. */
const notKept = ['--catalog']

const clients = await loadClients(clientRows)

const cases = clientRows.flatMap((row, index) => {
  const client = clients[index]!
  return row.flags
    .filter(({ flag }) => !notKept.includes(flag))
    .map((flag) => ({
      id: row.id,
      name: flag.flag,
      client,
      flag,
      ...setupsFor(client, flag),
    }))
})

const casesByValue = cases.flatMap((each) =>
  valuesFor(each.flag).map((value) => ({ ...each, value })),
)

/** The entry of a model keeps these facts by itself, so that `read` need not return them. Codex's: see `needsEarlierSetup`. */
const notRead = [
  '--output-limit <tokens>',
  '--images',
  '--no-images',
  '--reasoning',
  '--no-reasoning',
  '--no-catalog',
  '--no-keep-login',
  '--keep-old-gateway',
]

test.each(casesByValue)(
  '$id $name, $value: the next setup keeps what it chose',
  ({ id, name, client, flag, setups, value }) => {
    const machine = aMachine()
    const [catalog] = setups.catalogs
    const options = compact({ protocol: setups.protocol, ...flag.toOptions(value) })
    const first = planOn(client, {}, { options, catalog })
    const disk = written({}, machine, first.edits)
    const state = client.read(filesOf(client, machine, disk))
    // Reports show a model in their own form: with its provider.
    if (flag.takes !== 'model' && !notRead.includes(name))
      expect(
        state.options,
        `read() of ${id} does not return the option of ${name}, or plan() does not write it`,
      ).toMatchObject(options)

    const earlier = earlierIn(client, state)
    const target = { providerId: earlier.options.providerId ?? 'gateway' }
    const second = planOn(client, disk, { earlier, target, catalog })
    const lost = second.edits.filter(({ before, after }) => text(before) !== text(after))
    expect(
      lost.map(({ path }) => path),
      `read() of ${id} does not return the option of ${name}`,
    ).toEqual([])
  },
)

test.each(clientRows)('$id offers the protocols that it supports', async (row) => {
  const { protocols } = await loadClient(row)
  const flag = row.flags.find((candidate) => candidate.flag.startsWith('--protocol'))
  const message = 'list.ts: { ...protocolFlag, choices: […] } for a client that lacks one'
  if (flag !== undefined) expect([...flag.choices!].sort(), message).toEqual([...protocols].sort())
})

/** They decide about a list or a gateway that an earlier setup wrote. */
const needsEarlierSetup = ['--no-catalog', '--no-keep-login', '--keep-old-gateway']

test.each(cases.filter(({ name }) => !needsEarlierSetup.includes(name)))(
  '$id $name: each value changes what a setup writes',
  ({ id, name, isWritten }) => {
    expect(isWritten, `plan() of ${id} does not write ${name} over any protocol`).toBe(true)
  },
)

/** Where a client's own documentation has the setting of an option with a fixed list. */
interface Place {
  readonly option: keyof EnumOptions
  readonly ids: readonly string[]
  /** From the top of the file. `MODEL` is the ID of the chosen model. */
  readonly path: readonly string[]
}

const places: readonly Place[] = [
  { option: 'reasoningEffort', ids: ['codex'], path: ['model_reasoning_effort'] },
  { option: 'webSearch', ids: ['codex'], path: ['web_search'] },
  {
    option: 'reasoningEffort',
    ids: ['claude', 'claude-gpt'],
    path: ['env', 'CLAUDE_CODE_EFFORT_LEVEL'],
  },
  {
    option: 'reasoningEffort',
    ids: ['opencode', 'kilo'],
    path: ['provider', 'gateway', 'models', 'MODEL', 'options', 'reasoningEffort'],
  },
]

test.each(casesByValue.filter(({ flag }) => 'option' in flag))(
  '$id $name, $value: is written where the documentation of the client has it',
  ({ id, name, client, flag, setups, value }) => {
    const options = flag.toOptions(value)
    const place = places.find(({ option, ids }) => option in options && ids.includes(id))
    expect(place, `\`places\` does not say where ${id} has the setting of ${name}`).toBeDefined()

    const [catalog] = setups.catalogs
    const setup = { options: compact({ protocol: setups.protocol, ...options }), catalog }
    const { machine, target, edits } = planOn(client, {}, setup)
    const path = place!.path.map((key) => (key === 'MODEL' ? target.resolved.model : key))
    const files = filesOf(client, machine, written({}, machine, edits))
    const values = files.map((file) => documentOf(file, file.bytes)?.get(path))
    expect(values, `plan() of ${id} does not write it at ${path.join('.')}`).toContain(value)
  },
)

/** Files have them, and no flag of a client sets them. */
const withoutFlag: readonly OptionName[] = [
  // A rule chooses it.
  'smallModel',
  // Only the user writes it.
  'startModel',
]

test.each(clientRows)('$id: read returns no option for which its row has no flag', (row) => {
  const client = clients[clientRows.indexOf(row)]!
  const ofFlags = row.flags.flatMap((flag) => valuesFor(flag).map(flag.toOptions))
  const known = [...ofFlags.flatMap(Object.keys), ...withoutFlag]

  const { options } = client.read(filesOf(client, aMachine(), {}))
  const message = `--defaults of ${row.id} removes an option that it does not have`
  expect(
    Object.keys(options).filter((option) => !known.includes(option)),
    message,
  ).toEqual([])
})

/** They choose an entry, its place or its protocol. A later setup leaves other entries as they are. */
const choosesEntry = ['--model [id]', '--provider-id <id>', '--protocol <name>']

test.each(casesByValue.filter(({ name }) => !choosesEntry.includes(name)))(
  '$id $name, $value: after --defaults, the files say what a setup without it writes',
  ({ client, flag, setups, value }) => {
    const machine = aMachine()
    const [catalog] = setups.catalogs
    const { protocol } = setups
    const valuesAfter = (disk: Disk, setup: Setup) => {
      const { edits } = planOn(client, disk, { catalog, ...setup })
      const after = written(disk, machine, edits)
      const values = filesOf(client, machine, after).map((file) => [
        file.path,
        documentOf(file, file.bytes)?.root,
      ])
      return { after, values: Object.fromEntries(values) }
    }

    const usual = compact({ protocol })
    const first = valuesAfter({}, { options: { ...usual, ...flag.toOptions(value) } })
    const input = { requested: usual, resetToDefaults: true }
    const reset = valuesAfter(first.after, {
      options: usual,
      target: { input, history: aHistory({ earlierVersionsOf: () => [null] }) },
    })
    expect(reset.values).toEqual(valuesAfter({}, { options: usual }).values)
  },
)

/** An option that does not reach everything. */
interface Exception {
  readonly flag: string
  /** Absent: every client that has the flag. */
  readonly ids?: readonly string[]
  /** The values that have the effect of another value. Absent: no value has an effect. */
  readonly values?: readonly FlagValue[]
  /** The functions whose result does not depend on the option. */
  readonly doesNotReach: readonly ('launchSettings' | 'firstRequest')[]
  readonly why: string
  /** `by design`: repoint decides it. Otherwise the versions of the client that were run, and the date. */
  readonly source: 'by design' | 'not run' | `${string}, 2026-${string}`
}

const exceptions: readonly Exception[] = [
  {
    flag: '--no-catalog',
    doesNotReach: ['launchSettings', 'firstRequest'],
    why: 'it removes a list that an earlier setup wrote; a launch keeps it',
    source: 'by design',
  },
  ...['--keep-login', '--no-keep-login'].map((flag) => ({
    flag,
    doesNotReach: ['launchSettings', 'firstRequest'] as const,
    why: 'a launch has its key in a variable and keeps the login; the request has the same body',
    source: '0.171.0, 2026-11-29' as const,
  })),
  {
    flag: '--keep-old-gateway',
    doesNotReach: ['launchSettings', 'firstRequest'],
    why: 'a launch keeps the key of the earlier gateway, and the request goes to the new one',
    source: 'by design',
  },
  {
    flag: '--provider-id <id>',
    ids: ['openclaw', 'droid', 'kimi'],
    doesNotReach: ['launchSettings'],
    why: 'a launch has its own provider, next to those of the user',
    source: 'by design',
  },
  {
    flag: '--provider-id <id>',
    doesNotReach: ['firstRequest'],
    why: 'it only names the provider in the files',
    source: 'by design',
  },
  {
    flag: '--context-window <tokens>',
    ids: ['codex', 'claude', 'claude-gpt', 'openclaw', 'droid'],
    doesNotReach: ['firstRequest'],
    why: 'the client needs it only later, to compact a conversation',
    source: 'not run',
  },
  ...['--images', '--no-images'].map((flag) => ({
    flag,
    ids: ['opencode', 'kilo', 'pi', 'qwen', 'droid'],
    doesNotReach: ['firstRequest'] as const,
    why: 'the first request has no image, and the same tools',
    source: 'not run' as const,
  })),
  {
    flag: '--reasoning',
    ids: ['opencode', 'kilo', 'openclaw'],
    doesNotReach: ['firstRequest'],
    why: 'the client decides by the ID of the model, or reasons only if the user asks for an effort',
    source: 'not run',
  },
  {
    flag: '--no-reasoning',
    ids: ['opencode', 'kilo'],
    doesNotReach: ['firstRequest'],
    why: 'the client decides by the ID of the model',
    source: 'opencode 1.2.27 to 1.18.34, not Kilo, 2026-11-26',
  },
  ...['opus', 'haiku', 'fable'].map((slot) => ({
    flag: `--${slot}-model <id>`,
    doesNotReach: ['firstRequest'] as const,
    why: 'the first request is for the slot that Claude Code starts with',
    source: 'by design' as const,
  })),
  {
    flag: '--subagent-model <id>',
    doesNotReach: ['firstRequest'],
    why: 'the first request is not of a subagent',
    source: 'by design',
  },
  {
    flag: '--enable-discovery',
    doesNotReach: ['firstRequest'],
    why: 'discovery is another request',
    source: 'by design',
  },
  {
    flag: '--slot <slot>',
    ids: ['claude-gpt'],
    values: ['fable'],
    doesNotReach: ['firstRequest'],
    why: 'the rules give this slot the GPT model of another one',
    source: 'by design',
  },
]

const launchable = cases.map((each) => {
  const ofFlag = exceptions.filter(
    ({ flag, ids }) => flag === each.name && (ids?.includes(each.id) ?? true),
  )
  /** How many different results the alternatives of the flag have: `--effort low|high`, which both reach, has two. */
  const effectsOn = (result: Exception['doesNotReach'][number]) => {
    const ofResult = ofFlag.filter(({ doesNotReach }) => doesNotReach.includes(result))
    if (ofResult.some(({ values }) => values === undefined)) return 1
    const without = ofResult.flatMap(({ values = [] }) => values)
    return alternativesFor(each.flag).length - without.length
  }
  return { ...each, launches: effectsOn('launchSettings'), requests: effectsOn('firstRequest') }
})

/** What a launch and the first request say with these options. */
async function sentWith(client: Client, options: ClientOptions, catalog: Catalog) {
  const args = client.id === 'cline' ? ['two words'] : []
  const launchInput = { args, tempFolder: '/run', env: { [launchKeyVariable]: 'key' } }

  const { files, machine, edits, target } = planOn(client, {}, { options, catalog })
  const { probeModel: model, protocol } = target.resolved
  const after = filesOf(client, machine, written({}, machine, edits))
  const request = await client.firstRequest(after, { model, protocol, env: {} })
  return {
    launch: client.launchSettings(files, target, launchInput),
    route: [model, protocol],
    request,
  }
}

type Sent = Awaited<ReturnType<typeof sentWith>>

/** Every gateway accepts them. */
const usualMembers = ['messages', 'input', 'system', 'tools']

/** The members that only `sent` has, of the same model and protocol, without a hint for a gateway that rejects them. */
function membersWithoutHint(sent: Sent, usual: Sent): readonly string[] {
  if (countDifferent([sent.route, usual.route]) > 1) return []
  const { body, hints = {} } = sent.request
  return Object.keys(body).filter(
    (member) =>
      !usualMembers.includes(member) &&
      body[member] !== undefined &&
      countDifferent([body[member], usual.request.body[member]]) > 1 &&
      hints[member] === undefined,
  )
}

test.each(launchable)(
  '$id $name: has $launches different launches and $requests different first requests',
  async ({ id, name, client, flag, setups, launches, requests }) => {
    const results = await allOf(
      resultsOf(flag, setups, (options, catalog) => sentWith(client, options, catalog)),
    )

    const launched = results.map((alternatives) => alternatives.map(({ launch }) => launch))
    const sent = results.map((alternatives) =>
      alternatives.map(({ route, request: { headers, body } }) => [route, headers, body]),
    )
    const counts = { launchSettings: mostDifferent(launched), firstRequest: mostDifferent(sent) }
    const expected = {
      launchSettings: launches,
      firstRequest: requests,
    }
    const different = (['launchSettings', 'firstRequest'] as const).filter(
      (member) => counts[member] !== expected[member],
    )
    const row = `{ flag: '${name}', ids: ['${id}'], doesNotReach: [${different.map((member) => `'${member}'`).join(', ')}], why: …, source: 'not run' }`
    const advice = `${id}: ${name} does not change ${different.join(' and ')}. If that is right, add a row to \`exceptions\` in this file: ${row}`
    expect(counts, advice).toEqual(expected)
    if (requests === 1) return

    const withoutHint = setups.catalogs.map(async (catalog, index) => {
      const usual = await sentWith(client, compact({ protocol: setups.protocol }), catalog)
      return results[index]!.flatMap((alternative) => membersWithoutHint(alternative, usual))
    })
    const all = (await Promise.all(withoutHint)).flat()
    expect(all, `hints of firstRequest() of ${id} and ${name}`).toEqual([])
  },
)

function allOf<Result>(rows: readonly (readonly Promise<Result>[])[]) {
  return Promise.all(rows.map((results) => Promise.all(results)))
}

/** How many results differ, with the catalog where most do. */
function mostDifferent(results: readonly (readonly unknown[])[]): number {
  return Math.max(...results.map(countDifferent))
}

function countDifferent(values: readonly unknown[]): number {
  return new Set(values.map((value) => JSON.stringify(value))).size
}
