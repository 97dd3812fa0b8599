import { compact } from '../../compact.ts'
import type { FileEdit, SettingChange, SettingPath } from '../../edits/types.ts'
import { baseUrlFor } from '../../gateway/base-urls.ts'
import type { CatalogModel, Protocol } from '../../gateway/types.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { OfferedModel, SetupTarget } from '../contract/setup.ts'
import { isUrlOf } from '../files/addresses.ts'
import { fileOf, readFile } from '../files/read-file.ts'
import { type Table, tableIn, valueIn } from '../files/tables.ts'
import { protocolFor, usualProtocol } from '../models/protocols.ts'
import { editReadably } from '../plan/edit-file.ts'
import { headerChanges } from '../plan/headers.ts'
import { type FactSetting, factChanges, factValues, removedEntries } from '../plan/model-list.ts'
import {
  isAdaptive,
  knowsToSee,
  outputTokensFor,
  thinkingBudget,
  usualOutputTokens,
  usualWindow,
} from './models.ts'
import { qwenName } from './name.ts'
import { sensitiveSettings } from './sensitive-settings.ts'
import {
  elementOf,
  entryPath,
  firstOwnPath,
  isBehindAnother,
  isCurrentLayout,
  layoutVersion,
  listPath,
  literalIn,
  loginTypes,
  paths,
  type RepointEntry,
  readSettings,
  repointEntries,
} from './settings.ts'

export function plan(files: LoadedFiles, target: SetupTarget): readonly FileEdit[] {
  const file = fileOf(files, 'settings')
  const edit = editReadably({
    client: qwenName,
    sensitiveSettings,
    file,
    changes: ourChanges(file, target),
    fixes: target.fixes,
    read: readSettings,
  })
  return [edit]
}

/** The changes of a setup to settings.json. */
export function ourChanges(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const now = readFile(file)
  const { resolved } = target
  const { model, protocol = usualProtocol } = resolved
  const ours = repointEntries(now.document?.root)
  const entries = entriesToWrite(ours, target)

  return [
    ...leavingEntries(file, ours, entries, target),
    // Only Qwen Code itself can migrate a file of an older layout.
    ...(isCurrentLayout(now) ? [{ path: ['$version'], value: layoutVersion }] : []),
    { path: paths.key, value: target.key, isSecret: true },
    ...entries.flatMap((entry) => entryChanges(entry, target)),
    { path: paths.type, value: loginTypes[protocol] },
    { path: paths.model, value: model },
    ...(now.text(paths.modelUrl) === undefined && !isBehindAnother(now, { model, protocol })
      ? []
      : [{ path: paths.modelUrl, value: target.baseUrl }]),
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
  const { model: id, protocol = usualProtocol, contextWindow } = resolved
  const [chosen = { id }, ...others] = resolved.offered ?? []
  const presentOf = (model: OfferedModel) => {
    const all = ours.filter((entry) => entry.id === model.id)
    return all.find((entry) => entry.protocol === protocolFor(resolved, model)) ?? all[0]
  }

  // An entry for a model that the gateway no longer has becomes the entry of the chosen one.
  const first = ours.find((entry) => entry.protocol === protocol) ?? ours[0]
  const isFirstLost = first !== undefined && !others.some(({ id }) => id === first.id)
  const present = presentOf(chosen) ?? (isFirstLost ? first : undefined)

  const started: EntryToWrite = {
    model: { ...chosen, ...compact({ contextWindow }) },
    path: startPath(id, protocol, present),
    name: 'Gateway',
    present,
  }
  const offered = others.map((model): EntryToWrite => {
    const path = entryPath(protocolFor(resolved, model), model.id)
    return { model, path, name: model.displayName ?? model.id, present: presentOf(model) }
  })
  return [started, ...offered]
}

/** Where the entry of the model that Qwen Code starts with is, or will be. */
function startPath(id: string, protocol: Protocol, present: RepointEntry | undefined): SettingPath {
  if (present?.protocol !== protocol) {
    // There may be other entries of ours, so the model identifies a new one too.
    return [...listPath(protocol), { ...elementOf(id), isFirst: true }]
  }

  return present.id === id ? entryPath(protocol, id) : firstOwnPath(protocol)
}

/** Removes our entries that no entry of the setup replaces. */
function leavingEntries(
  file: LoadedFile,
  ours: readonly RepointEntry[],
  entries: readonly EntryToWrite[],
  target: SetupTarget,
): readonly SettingChange[] {
  const replaced = new Set(entries.map(({ present }) => present))
  const listed = ours
    .filter((entry) => !replaced.has(entry))
    .map(({ id, protocol, entry }) => ({
      id,
      path: entryPath(protocol, id),
      isOtherGateway: isOtherGateway(entry, baseUrlFor(target, protocol)),
      isMarked: true as const,
    }))
  return removedEntries(file, listed, [], target)
}

function isOtherGateway(entry: Table, baseUrl: string): boolean {
  return !isUrlOf(literalIn(entry, ['baseUrl']) ?? '', baseUrl)
}

/** The changes to an entry. One of another protocol moves to the list of this one, with all its members. */
function entryChanges(
  { model, path, name, present }: EntryToWrite,
  target: SetupTarget,
): readonly SettingChange[] {
  const { resolved } = target
  const protocol = protocolFor(resolved, model)
  const baseUrl = baseUrlFor(target, protocol)
  const now = present?.entry
  const isMoved = present !== undefined && present.protocol !== protocol
  const config = {
    path: [...path, 'generationConfig'],
    now: tableIn(now, ['generationConfig']),
    isOtherGateway: now !== undefined && isOtherGateway(now, baseUrl),
    isOtherModel: present?.id !== model.id,
  }
  const sampling = {
    ...config,
    path: [...config.path, 'samplingParams'],
    now: tableIn(config.now, ['samplingParams']),
  }
  const headers = valueIn(now, paths.headers)

  return [
    ...(isMoved
      ? [
          { path: entryPath(present.protocol, present.id), value: undefined },
          { path, value: { ...present.entry, id: model.id } },
        ]
      : []),
    ...(model.id === resolved.model ? [{ path: [...path, 'id'], value: model.id }] : []),
    ...(literalIn(now, ['name']) ? [] : [{ path: [...path, 'name'], value: name }]),
    { path: [...path, 'baseUrl'], value: baseUrl },
    ...factChanges(config, model, factsOf(model, protocol), target),
    // Keeps other members, such as a temperature that the user set.
    ...factChanges(sampling, model, { max_tokens: limitOf(model, target) }, target),
    ...headerChanges([...path, ...paths.headers], headers, target, config.isOtherGateway),
  ]
}

/** What a new entry of the model says in `generationConfig`, besides the headers. */
export function generationConfigOf(
  model: CatalogModel,
  protocol: Protocol,
  target: SetupTarget,
): Table {
  const samplingParams = factValues({ max_tokens: limitOf(model, target) })
  return {
    ...factValues(factsOf(model, protocol)),
    ...(Object.keys(samplingParams).length > 0 && { samplingParams }),
  }
}

/**
 * The facts that Qwen Code does not know from the model's ID. `capabilities` has no effect (0.15.10,
 * 2026-11-23).
 */
function factsOf(
  { id, images, contextWindow, maxOutputTokens }: CatalogModel,
  protocol: Protocol,
): Readonly<Record<string, FactSetting>> {
  const differsFromGuess = images !== undefined && images !== knowsToSee(id)
  // Otherwise Qwen Code requests as many tokens for thinking as for the whole answer, and the API rejects that.
  const limit =
    maxOutputTokens !== undefined && maxOutputTokens < usualOutputTokens
      ? maxOutputTokens
      : outputTokensFor(id, undefined, contextWindow ?? usualWindow)
  const isTooShort = protocol === 'messages' && !isAdaptive(id) && limit <= thinkingBudget
  return {
    reasoning: { value: isTooShort ? false : undefined, by: ['maxOutputTokens'] },
    contextWindowSize: { value: contextWindow, by: ['contextWindow'] },
    modalities: { value: differsFromGuess ? { image: images } : undefined, by: ['images'] },
  }
}

/** The limit, if the model gives less than Qwen Code requests or if the user sets it. */
function limitOf({ maxOutputTokens: limit }: CatalogModel, { input }: SetupTarget): FactSetting {
  const isBelowUsual = limit !== undefined && limit < usualOutputTokens
  const isRequested = limit === input.requested.maxOutputTokens
  return { value: isBelowUsual || isRequested ? limit : undefined, by: ['maxOutputTokens'] }
}
