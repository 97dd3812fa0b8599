import { compact } from '../../compact.ts'
import type { SettingChange, SettingPath } from '../../edits/types.ts'
import { isSameButVersion, ofProtocol } from '../../gateway/base-urls.ts'
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
  firstOwnPath,
  isBehindAnother,
  isCurrentLayout,
  layoutVersion,
  loginTypes,
  newFirstPath,
  paths,
  type RepointEntry,
  readSettings,
  repointEntries,
  textWithoutVariables,
} from './settings.ts'

export const plan = planOneFile({
  client: qwenName,
  sensitiveSettings,
  kind: 'settings',
  read: readSettings,
  changes: ourChanges,
})

/** The changes of a setup to settings.json. */
export function ourChanges(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const now = parseFile(file)
  const { resolved } = target
  const { model, protocol } = resolved
  const ours = repointEntries(now.document?.root)
  const entries = entriesToWrite(ours, target)

  // The address next to the model tells entries with the same ID apart.
  const needsUrl =
    now.text(paths.modelUrl) !== undefined || isBehindAnother(now, { model, protocol })

  return [
    ...leavingEntries(file, ours, entries, target),
    // Only Qwen Code itself can migrate a file of an older layout.
    ...(isCurrentLayout(now) ? [{ path: ['$version'], value: layoutVersion }] : []),
    { path: paths.key, value: target.key, isSecret: true },
    ...entries.flatMap((entry) => modelChanges(file, entry, target)),
    { path: paths.type, value: loginTypes[protocol] },
    { path: paths.model, value: model },
    ...(needsUrl ? [{ path: paths.modelUrl, value: target.baseUrl }] : []),
  ]
}

/** An entry of the setup: the model, where it will be, and our present entry for it. */
interface EntryToWrite {
  readonly model: OfferedModel
  readonly path: SettingPath
  readonly name: string
  /** Absent: the entry is new. */
  readonly present?: RepointEntry | undefined
}

/**
 * The entry of the model that Qwen Code starts with, then those that `/model` offers next to it. For example,
 * the file has our entries A and B:
 *
 *     chosen A, offered B    A and B stay
 *     chosen B, offered A    B becomes the first of our entries
 *     chosen C, offered B    the gateway has lost A: its entry becomes the entry of C
 */
function entriesToWrite(
  ours: readonly RepointEntry[],
  { resolved }: SetupTarget,
): readonly EntryToWrite[] {
  const { model: id, protocol, contextWindow } = resolved
  const [first, ...others] = offeredIn(resolved)
  const present = presentEntry(ours, id, protocol) ?? lostEntry(ours, others, protocol)

  const started: EntryToWrite = {
    model: { ...first, ...compact({ contextWindow }) },
    path: startPath(id, protocol, present),
    name: 'Gateway',
    present,
  }
  const offered = others.map(
    (model): EntryToWrite => ({
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
  ours: readonly RepointEntry[],
  model: string,
  protocol: Protocol,
): RepointEntry | undefined {
  const ofModel = ours.filter(({ id }) => id === model)
  return ofModel.find((entry) => entry.protocol === protocol) ?? ofModel[0]
}

/** The first of our entries, if the gateway no longer has its model. */
function lostEntry(
  ours: readonly RepointEntry[],
  others: readonly OfferedModel[],
  protocol: Protocol,
): RepointEntry | undefined {
  const first = ours.find((entry) => entry.protocol === protocol) ?? ours[0]
  return others.some(({ id }) => id === first?.id) ? undefined : first
}

/** Where the entry of the model that Qwen Code starts with is, or will be. */
function startPath(id: string, protocol: Protocol, present: RepointEntry | undefined): SettingPath {
  if (present?.protocol !== protocol) return newFirstPath(protocol, id)
  if (present.id === id) return entryPath(protocol, id)
  // The entry gets another ID, so its ID cannot identify it.
  return firstOwnPath(protocol)
}

/** Removes our entries that no entry of the setup replaces. */
function leavingEntries(
  file: LoadedFile,
  ours: readonly RepointEntry[],
  entries: readonly EntryToWrite[],
  target: SetupTarget,
): readonly SettingChange[] {
  const replaced = new Set(entries.map(({ present }) => present))
  const leaving = ours
    .filter((entry) => !replaced.has(entry))
    .map(({ id, protocol, entry }) => ({
      path: entryPath(protocol, id),
      isOtherGateway: isOtherGateway(entry, ofProtocol(target.baseUrls, protocol)),
      isMarked: true as const,
    }))
  return removedEntries(file, leaving, target)
}

function isOtherGateway(entry: Table, baseUrl: string): boolean {
  return !isSameButVersion(textWithoutVariables(entry, ['baseUrl']) ?? '', baseUrl)
}

function modelChanges(
  file: LoadedFile,
  entry: EntryToWrite,
  target: SetupTarget,
): readonly SettingChange[] {
  const { model, path, present } = entry
  const now = present?.entry ?? {}
  const { protocol } = model
  const baseUrl = ofProtocol(target.baseUrls, protocol)
  const isOther = {
    isOtherGateway: present !== undefined && isOtherGateway(now, baseUrl),
    isOtherModel: present?.id !== model.id,
  }
  const members = membersOf(entry, target, isOther.isOtherGateway)
  const changes = entryChanges({ path, now, ...isOther }, members, model, target)

  const tableAt = (below: SettingPath) => ({ path: [...path, ...below], now: tableIn(now, below) })
  const config = ['generationConfig']
  const withoutSampling = withoutEmptyTable(file, changes, tableAt(paths.sampling), target)
  return [
    ...moveChanges(entry, protocol),
    ...withoutEmptyTable(file, withoutSampling, tableAt(config), target),
  ]
}

/** Moves an entry of another protocol to the list of this one, with all its members. */
function moveChanges(
  { model, path, present }: EntryToWrite,
  protocol: Protocol,
): readonly SettingChange[] {
  if (present === undefined || present.protocol === protocol) return []
  return [
    { path: entryPath(present.protocol, present.id), value: undefined },
    { path, value: { ...present.entry, id: model.id } },
  ]
}

/**
 * The members of a model's entry: facts only as far as Qwen Code does not know them from the model's ID.
 * `capabilities` has no effect (0.15.10, 2026-11-23).
 *
 * @param isOtherGateway the present entry is for another gateway
 */
export function membersOf(
  { model, name, present }: Omit<EntryToWrite, 'path'>,
  target: SetupTarget,
  isOtherGateway = false,
): readonly EntryMember[] {
  const { id, protocol, images, contextWindow } = model
  const now = present?.entry
  const isNamed = textWithoutVariables(now, ['name']) !== undefined
  const differsFromGuess = images !== undefined && images !== knowsToSee(id)
  const limit = limitToWrite(model, target)

  return [
    ...(id === target.resolved.model ? [{ path: ['id'], value: id }] : []),
    ...(isNamed ? [] : [{ path: ['name'], value: name }]),
    { path: ['baseUrl'], value: ofProtocol(target.baseUrls, protocol) },
    {
      path: paths.reasoning,
      value: hasRoomToThink(model, limit) ? undefined : false,
      about: ['maxOutputTokens'],
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
      about: ['maxOutputTokens'],
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
  const { maxOutputTokens } = model
  if (maxOutputTokens === undefined || maxOutputTokens === input.requested.maxOutputTokens)
    return maxOutputTokens
  const isLow = maxOutputTokens < Math.max(usualOutputTokens, requestedTokens(model))
  return isLow ? maxOutputTokens : undefined
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
