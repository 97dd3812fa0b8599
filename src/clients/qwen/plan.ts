import { compact } from '../../compact.ts'
import type { SettingChange, SettingPath } from '../../edits/types.ts'
import { isSameButVersion, sideOf } from '../../gateway/base-urls.ts'
import type { Protocol } from '../../gateway/types.ts'
import type { LoadedFile } from '../contract/files.ts'
import type { OfferedModel, SetupTarget } from '../contract/setup.ts'
import { parseFile } from '../files/parse-file.ts'
import { type Table, tableIn, valueIn } from '../files/tables.ts'
import { offeredIn } from '../models/picker.ts'
import { qwenName } from '../names.ts'
import { planOneFile } from '../plan/edit-file.ts'
import {
  type EntryMember,
  entryChanges,
  removedEntries,
  withoutEmptyTable,
} from '../plan/entries.ts'
import { withoutForeignSettings } from '../plan/foreign-settings.ts'
import { headerChanges } from '../plan/headers.ts'
import {
  isAdaptive,
  knowsToSee,
  outputTokensFor,
  thinkingBudget,
  usualOutputTokens,
  usualWindow,
} from './models.ts'
import { sensitiveSettings } from './sensitive-settings.ts'
import {
  entryPath,
  isBehindAnother,
  lacksOnlyVersion,
  layoutVersion,
  loginTypes,
  newFirstPath,
  type OurEntry,
  ourEntries,
  ourFirstPath,
  paths,
  readSettings,
  textWithoutVariables,
} from './settings.ts'

export const plan = planOneFile({
  client: qwenName,
  sensitiveSettings,
  kind: 'settings',
  read: readSettings,
  changes: ourChanges,
})

/**
 * The changes of a setup to settings.json, in the order in which a plan shows them: none depends on another. A setup
 * writes, for example:
 *
 *     {
 *       "$version": 4,
 *       "env": { "QWEN_GATEWAY_API_KEY": "sk-…" },
 *       "modelProviders": {
 *         "openai": [
 *           { "envKey": "QWEN_GATEWAY_API_KEY", "id": "glm-5", "name": "Gateway", "baseUrl": "https://…/v1" },
 *           { "envKey": "QWEN_GATEWAY_API_KEY", "id": "glm-4.7", "name": "GLM 4.7", "baseUrl": "https://…/v1" }
 *         ]
 *       },
 *       "security": { "auth": { "selectedType": "openai" } },
 *       "model": { "name": "glm-5" }
 *     }
 */
export function ourChanges(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const now = parseFile(file)
  const { resolved } = target
  const ours = ourEntries(now.root)
  const planned = plannedEntries(ours, target)

  // The address next to the model tells entries with the same ID apart.
  const needsUrl = now.text(paths.modelUrl) !== undefined || isBehindAnother(now, resolved)

  return [
    ...unplannedRemovals(file, ours, planned, target),
    // Only Qwen Code itself can migrate a file of an older layout.
    ...(lacksOnlyVersion(now) ? [{ path: ['$version'], value: layoutVersion }] : []),
    { path: paths.key, value: target.key, isSecret: true },
    ...planned.flatMap((entry) => plannedChanges(file, entry, target)),
    { path: paths.type, value: loginTypes[resolved.protocol] },
    { path: paths.model, value: resolved.model },
    ...(needsUrl ? [{ path: paths.modelUrl, value: target.baseUrl }] : []),
  ]
}

/** An entry as it will be: its model, its path, and our present entry that becomes it. */
interface PlannedEntry {
  readonly model: OfferedModel
  readonly path: SettingPath
  readonly name: string
  /** Absent: the entry is new. */
  readonly present?: OurEntry | undefined
}

/**
 * The entry of the model that Qwen Code starts with, then those that `/model` offers next to it. For example,
 * the file has our entries A and B:
 *
 *     chosen A, offered B    A and B stay
 *     chosen B, offered A    A and B stay, and `model.name` becomes B
 *     chosen C, offered B    the gateway has lost A: its entry becomes the entry of C
 */
function plannedEntries(
  ours: readonly OurEntry[],
  { resolved }: SetupTarget,
): readonly PlannedEntry[] {
  const { protocol, contextWindow } = resolved
  const [first, ...others] = offeredIn(resolved)
  const present = presentEntry(ours, first.id, protocol) ?? reusableEntry(ours, others, protocol)

  const started: PlannedEntry = {
    model: { ...first, ...compact({ contextWindow }) },
    path: startPath(first.id, protocol, present),
    name: 'Gateway',
    present,
  }
  const offered = others.map(
    (model): PlannedEntry => ({
      model,
      path: entryPath(model.protocol, model.id),
      name: model.displayName ?? model.id,
      present: presentEntry(ours, model.id, model.protocol),
    }),
  )
  return [started, ...offered]
}

/** Our entry for a model: the one over this protocol, or else one over another. */
function presentEntry(
  ours: readonly OurEntry[],
  id: string,
  protocol: Protocol,
): OurEntry | undefined {
  const ofModel = ours.filter((entry) => entry.id === id)
  return ofModel.find((entry) => entry.protocol === protocol) ?? ofModel[0]
}

/** The first of our entries, if it can become another one: the gateway no longer offers its model. */
function reusableEntry(
  ours: readonly OurEntry[],
  others: readonly OfferedModel[],
  protocol: Protocol,
): OurEntry | undefined {
  const first = ours.find((entry) => entry.protocol === protocol) ?? ours[0]
  return others.some(({ id }) => id === first?.id) ? undefined : first
}

/** Where the entry of the model that Qwen Code starts with is, or will be. */
function startPath(id: string, protocol: Protocol, present: OurEntry | undefined): SettingPath {
  if (present?.protocol !== protocol) return newFirstPath(protocol, id)
  if (present.id === id) return entryPath(protocol, id)
  // The entry gets another ID, so its ID cannot identify it.
  return ourFirstPath(protocol)
}

/** Removes our entries that the plan does not reuse. If two have the same path, both stay: Qwen Code uses the first. */
function unplannedRemovals(
  file: LoadedFile,
  ours: readonly OurEntry[],
  planned: readonly PlannedEntry[],
  target: SetupTarget,
): readonly SettingChange[] {
  const isPlanned = ({ id, protocol }: OurEntry) =>
    planned.some(({ present }) => present?.id === id && present.protocol === protocol)
  const unplanned = ours
    .filter((entry) => !isPlanned(entry))
    .map(({ id, protocol, table }) => ({
      path: entryPath(protocol, id),
      isOtherGateway: hasOtherAddress(table, target.baseUrls[sideOf(protocol)]),
      isByRepoint: true as const,
    }))
  return removedEntries(file, unplanned, target)
}

/** An entry without an address is for the service that Qwen Code uses by itself. */
function hasOtherAddress(table: Table, baseUrl: string): boolean {
  return !isSameButVersion(textWithoutVariables(table, ['baseUrl']) ?? '', baseUrl)
}

function plannedChanges(
  file: LoadedFile,
  planned: PlannedEntry,
  target: SetupTarget,
): readonly SettingChange[] {
  const { model, path, present } = planned
  const now = present?.table ?? {}
  const baseUrl = target.baseUrls[sideOf(model.protocol)]
  const isOtherGateway = present !== undefined && hasOtherAddress(now, baseUrl)
  const isOtherModel = present?.id !== model.id
  const members = membersOf(planned, target, isOtherGateway)
  const changes = entryChanges({ path, now, isOtherGateway, isOtherModel }, members, model, target)

  const tableAt = (below: SettingPath) => ({ path: [...path, ...below], now: tableIn(now, below) })
  const withoutSampling = withoutEmptyTable(file, changes, tableAt(paths.sampling), target)
  const ours = withoutEmptyTable(file, withoutSampling, tableAt(['generationConfig']), target)
  return [
    ...moveChanges(planned),
    ...withoutForeignSettings(ours, { path, now, isOtherGateway, harmless }, target),
  ]
}

/**
 * The settings of an entry that Qwen Code only uses itself, and the limits that `firstRequest` adds to the probe.
 * Read in 0.24.4, 2026-11-28. It sends all of `samplingParams` and `extra_body` to the gateway.
 */
const harmless = [
  ...['id', 'envKey', 'name', 'description', 'capabilities'],
  ...['timeout', 'streamIdleTimeoutMs', 'maxRetries', 'retryInitialDelayMs', 'retryMaxDelayMs']
    .concat(['contextWindowSize', 'modalities', 'reasoning: false', 'samplingParams.max_tokens'])
    .map((member) => `generationConfig.${member}`),
]

/** Moves a present entry of another protocol to the list of this one, with all its members. */
function moveChanges({ model, path, present }: PlannedEntry): readonly SettingChange[] {
  if (present === undefined || present.protocol === model.protocol) return []
  return [
    { path: entryPath(present.protocol, present.id), value: undefined },
    { path, value: { ...present.table, id: model.id } },
  ]
}

/**
 * The members of a model's entry: facts only as far as Qwen Code does not know them from the model's ID.
 * `capabilities` has no effect (0.15.10, 2026-11-23).
 *
 * @param isOtherGateway the present entry is for another gateway
 */
export function membersOf(
  { model, name, present }: Omit<PlannedEntry, 'path'>,
  target: SetupTarget,
  isOtherGateway = false,
): readonly EntryMember[] {
  const { id, protocol, images, contextWindow } = model
  const now = present?.table
  const isNamed = textWithoutVariables(now, ['name']) !== undefined
  const differsFromGuess = images !== undefined && images !== knowsToSee(id)
  const limit = limitToWrite(model, target)

  return [
    // The first entry may get another ID. The others have theirs in their paths.
    ...(id === target.resolved.model ? [{ path: ['id'], value: id }] : []),
    ...(isNamed ? [] : [{ path: ['name'], value: name }]),
    { path: ['baseUrl'], value: target.baseUrls[sideOf(protocol)] },
    {
      path: paths.reasoning,
      value: hasRoomToThink(model, limit) ? undefined : false,
      about: ['outputLimit'],
    },
    { path: paths.window, value: contextWindow, about: ['contextWindow'] },
    {
      path: ['generationConfig', 'modalities'],
      value: differsFromGuess ? { image: images } : undefined,
      about: ['images'],
    },
    {
      path: [...paths.sampling, 'max_tokens'],
      value: limit,
      about: ['outputLimit'],
    },
    ...headerChanges(paths.headers, valueIn(now, paths.headers), target, isOtherGateway),
  ]
}

/**
 * The output limit for a model's entry: a low one, or one that the user names. With a limit that is not low, Qwen
 * Code requests less by itself.
 *
 *     the gateway's limit for gpt-5.6    Qwen Code requests    written
 *     16,000                             64,000                16,000
 *     128,000                            64,000                -
 */
function limitToWrite(model: OfferedModel, { input }: SetupTarget): number | undefined {
  const { outputLimit } = model
  if (outputLimit === undefined || outputLimit === input.requested.outputLimit) return outputLimit
  const isLow = outputLimit < Math.max(usualOutputTokens, requestedTokens(model))
  return isLow ? outputLimit : undefined
}

/** What Qwen Code requests without a limit in the entry, in tokens. */
function requestedTokens({ id, contextWindow = usualWindow }: OfferedModel): number {
  return outputTokensFor(id, undefined, contextWindow)
}

/**
 * Whether an answer can be longer than the thinking before it. If not, the API rejects the request.
 *
 * @param limit the output limit in the entry, in tokens
 */
function hasRoomToThink(model: OfferedModel, limit = requestedTokens(model)): boolean {
  return model.protocol !== 'messages' || isAdaptive(model.id) || limit > thinkingBudget
}
