import { compact } from '../../compact.ts'
import type { ConfigValue, SettingChange, SettingPath } from '../../edits/types.ts'
import type { CatalogModel, ModelFacts } from '../../gateway/types.ts'
import type { LoadedFile } from '../contract/files.ts'
import type { OfferedModel, ResolvedOptions, SetupTarget } from '../contract/setup.ts'
import { readFile } from '../files/read-file.ts'
import { isTable, overlaid, type Table, valueIn } from '../files/tables.ts'
import { offeredIn } from '../models/picker.ts'

/** An existing entry in a client's list of models. */
export interface ListedEntry {
  /** The ID of the model. */
  readonly id: string
  readonly path: SettingPath
  /** Its address is not the target's. */
  readonly isOtherGateway: boolean
  /** Its members show that repoint wrote it. */
  readonly isMarked?: true
}

/**
 * Removes entries from a client's list in `file`: those with another address, and those that repoint wrote,
 * if the gateway has reported all its models. Entries that others wrote for this gateway stay.
 *
 * @param keptModels the models whose entries stay, or are written again
 */
export function removedEntries(
  file: LoadedFile,
  entries: readonly ListedEntry[],
  keptModels: readonly Pick<CatalogModel, 'id'>[],
  target: SetupTarget,
): readonly SettingChange[] {
  const keptIds = new Set(keptModels.map(({ id }) => id))
  const candidates = entries.filter(({ id }) => !keptIds.has(id))
  const ofThisGateway = target.resolved.offersWholeCatalog
    ? candidates.filter(({ isOtherGateway }) => !isOtherGateway)
    : []
  const ours = [
    ...ofThisGateway.filter(({ isMarked }) => isMarked),
    ...entriesAddedSince(file, ofThisGateway, target),
  ]

  return candidates
    .filter((entry) => entry.isOtherGateway || ours.includes(entry))
    .map(({ path }) => ({ path, value: undefined }))
}

/** The entries that repoint added: an earlier version of the file, from before a run, does not have them. */
function entriesAddedSince(
  file: LoadedFile,
  entries: readonly ListedEntry[],
  { earlier }: SetupTarget,
): readonly ListedEntry[] {
  const added: ListedEntry[] = []
  let remaining = entries.filter(({ isMarked }) => !isMarked)
  if (remaining.length === 0) return added

  for (const bytes of earlier?.(file.kind) ?? []) {
    const { document, problem } = readFile({ ...file, bytes })
    if (problem !== undefined) continue
    const existed = ({ path }: ListedEntry) => document?.get(path) !== undefined
    added.push(...remaining.filter((entry) => !existed(entry)))
    remaining = remaining.filter(existed)
    if (remaining.length === 0) break
  }

  return added
}

/** A member of an entry in a client's list that states a fact about the model. */
export interface FactSetting {
  /** Absent: it is the client's default, or unknown. */
  readonly value: ConfigValue | undefined
  /** The facts that decide the value. */
  readonly by: readonly (keyof ModelFacts)[]
}

/** The members of a new entry. */
export function factValues(facts: Readonly<Record<string, FactSetting>>): Table {
  const values = Object.entries(facts).map(([name, { value }]) => [name, value] as const)
  return compact(Object.fromEntries(values)) as Table
}

/** An existing entry, and whether it is for another gateway or another model. */
export interface ListedFacts {
  readonly path: SettingPath
  readonly now: Table
  readonly isOtherGateway: boolean
  readonly isOtherModel?: boolean
}

/**
 * The changes to the facts of an existing entry. The user's values stay, except in three cases: the user
 * requests another value now; the entry was for another model; or it was for another gateway and the fact is
 * known.
 */
export function factChanges(
  { path, now, isOtherGateway, isOtherModel = false }: ListedFacts,
  model: CatalogModel,
  facts: Readonly<Record<string, FactSetting>>,
  { resolved, input }: Pick<SetupTarget, 'resolved' | 'input'>,
): readonly SettingChange[] {
  const isChosen = model.id === resolved.model
  const isDecidedNow = (fact: keyof ModelFacts) =>
    isChosen && (input.resetToDefaults || (input.requested as ModelFacts)[fact] !== undefined)

  return Object.entries(facts).flatMap(([name, { value, by }]): SettingChange[] => {
    const isAbsent = now[name] === undefined
    const isKnown = by.some((fact) => model[fact] !== undefined)
    const isReplaced = isOtherModel || by.some(isDecidedNow) || (isOtherGateway && isKnown)
    const isSet = isAbsent ? value !== undefined : isReplaced
    return isSet ? [{ path: [...path, name], value }] : []
  })
}

/**
 * The facts in an entry, for a client that otherwise assumes a model without images and reasoning, and with
 * usual limits.
 */
export function limitsAndAbilities(
  model: CatalogModel,
  { model: chosen, contextWindow }: ResolvedOptions,
) {
  const { images, reasoning, maxOutputTokens } = model
  const window = (model.id === chosen ? contextWindow : undefined) ?? model.contextWindow
  return {
    input: { value: images ? ['text', 'image'] : undefined, by: ['images'] },
    reasoning: { value: reasoning || undefined, by: ['reasoning'] },
    contextWindow: { value: window, by: ['contextWindow'] },
    maxTokens: { value: maxOutputTokens, by: ['maxOutputTokens'] },
  } satisfies Readonly<Record<string, FactSetting>>
}

/** A provider's list of models. */
export interface ModelList {
  /** The path of a model's entry. */
  readonly at: (id: string) => SettingPath
  /** The existing entries, by model ID. */
  readonly now: ReadonlyMap<string, ConfigValue>
  readonly isOtherGateway: boolean
  /** Whether an entry has the address of another gateway. Absent: no entry can have an address. */
  readonly hasOtherAddress?: (entry: Table) => boolean
  /** The members of a new entry in addition to the facts. */
  readonly newEntry: (model: CatalogModel) => Table
  /**
   * The members of an entry that choose the protocol for the model, with the path below the entry. Undefined
   * as a value: the entry uses the provider's.
   */
  readonly protocolChanges: (model: OfferedModel) => readonly SettingChange[]
  readonly facts: (model: CatalogModel) => Readonly<Record<string, FactSetting>>
}

/** The changes to the list. An existing entry keeps what the user wrote into it. */
export function listChanges(
  file: LoadedFile,
  list: ModelList,
  target: SetupTarget,
): readonly SettingChange[] {
  const { at, now, isOtherGateway, hasOtherAddress, newEntry, facts, protocolChanges } = list
  const offered = offeredIn(target.resolved)
  const entries = [...now.keys()].map((id) => ({ id, path: at(id), isOtherGateway }))

  const changes = [...removedEntries(file, entries, offered, target)]
  for (const model of offered) {
    const path = at(model.id)
    const entry = now.get(model.id)
    if (!isTable(entry)) {
      const value = { ...newEntry(model), ...factValues(facts(model)) }
      changes.push({ path, value: overlaid(value, protocolChanges(model)) })
      continue
    }

    const existing = {
      path,
      now: entry,
      isOtherGateway: isOtherGateway || hasOtherAddress?.(entry) === true,
    }
    changes.push(...factChanges(existing, model, facts(model), target))
    changes.push(...replaceable(existing, protocolChanges(model), model, target))
  }
  return changes
}

/** The user's settings for the protocol of a model stay, except for the chosen model or another gateway. */
function replaceable(
  { path, now, isOtherGateway }: ListedFacts,
  changes: readonly SettingChange[],
  { id }: OfferedModel,
  { resolved }: SetupTarget,
): readonly SettingChange[] {
  const mayReplace = isOtherGateway || id === resolved.model
  return changes
    .filter((change) => {
      const exists = valueIn(now, change.path) !== undefined
      return exists ? mayReplace : change.value !== undefined
    })
    .map((change) => ({ ...change, path: [...path, ...change.path] }))
}
