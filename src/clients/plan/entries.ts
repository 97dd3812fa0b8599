/**
 * How a setup changes an entry of a client's file: a model in the client's list, or the settings of its only
 * model.
 *
 * 1. The client lists the members of an entry as the setup wants them (`EntryMember`).
 * 2. `newEntry` makes an entry of them, for a launch or for a model that the list lacks.
 * 3. `entryChanges` compares them with the entry that the file has: some of the user's values stay.
 * 4. `removedEntries` removes entries that the setup does not write.
 *
 * `listChanges` does all of this for a list whose entries hold no secret.
 */
import type { ConfigValue, SettingChange, SettingPath } from '../../edits/types.ts'
import { samePath, startsWith } from '../../edits/values/paths.ts'
import type { CatalogModel, ModelFacts } from '../../gateway/types.ts'
import type { LoadedFile } from '../contract/files.ts'
import type { OfferedModel, SetupTarget } from '../contract/setup.ts'
import { parseFile } from '../files/parse-file.ts'
import { isTable, overlaid, type Table, valueIn } from '../files/tables.ts'
import { offeredIn } from '../models/picker.ts'

/** A member of an entry as a setup wants it. Its path begins below the entry. */
export interface EntryMember extends SettingChange {
  /**
   * What the member says about the model: its protocol, or the facts that decide its value. A limit that is never
   * above the context window has `['outputLimit', 'contextWindow']`. The user's value for such a member may
   * stay: see `entryChanges`. Absent: the setup always replaces it.
   */
  readonly about?: 'protocol' | readonly (keyof ModelFacts)[]
}

/** The entry for a model that the file has now. */
interface PresentEntry {
  readonly path: SettingPath
  /** Empty: the entry is new. */
  readonly now: Table
  readonly isOtherGateway: boolean
  /** It is for another model. */
  readonly isOtherModel?: boolean
}

export function newEntry(members: readonly EntryMember[]): Table {
  return overlaid({}, members)
}

/**
 * The changes to an entry. A member that the entry lacks is added. A value that the entry has is replaced if:
 *
 *     about         the value is replaced
 *     absent        always
 *     'protocol'    for the model that the client starts with, or if the entry was for another gateway
 *     facts         if the user requests one of them now or `--defaults`, for the model that the client starts with;
 *                   if the entry was for another model;
 *                   or if it was for another gateway and one of the facts is known
 *
 * Otherwise the user's value stays.
 */
export function entryChanges(
  entry: PresentEntry,
  members: readonly EntryMember[],
  model: CatalogModel,
  target: Pick<SetupTarget, 'resolved' | 'input'>,
): readonly SettingChange[] {
  return members
    .filter((member) => isChanged(member, entry, model, target))
    .map(({ about: _, path, ...change }) => ({ path: [...entry.path, ...path], ...change }))
}

function isChanged(
  { path, value, about }: EntryMember,
  { now, isOtherGateway, isOtherModel = false }: PresentEntry,
  model: CatalogModel,
  { resolved, input }: Pick<SetupTarget, 'resolved' | 'input'>,
): boolean {
  if (about === undefined) return true
  if (valueIn(now, path) === undefined) return value !== undefined

  const isChosen = model.id === resolved.model
  if (about === 'protocol') return isChosen || isOtherGateway

  const requested: Readonly<Partial<Record<keyof ModelFacts, unknown>>> = input.requested
  const isRequested =
    input.resetToDefaults === true || about.some((fact) => requested[fact] !== undefined)
  const isKnown = about.some((fact) => model[fact] !== undefined)
  return (isChosen && isRequested) || isOtherModel || (isOtherGateway && isKnown)
}

/**
 * What the entry of a model says about an ability. Undefined: nothing, as for a model that lacks it. But if the
 * user denies it, the entry says so: else the next setup would add what the gateway reports.
 */
export function writtenAbility(
  ability: 'images' | 'reasoning',
  model: CatalogModel,
  { resolved, input }: Pick<SetupTarget, 'resolved' | 'input'>,
): boolean | undefined {
  if (model[ability]) return true
  const isDenied = model.id === resolved.model && input.requested[ability] === false
  return isDenied ? false : undefined
}

/** An entry of the file that the setup does not write. */
interface OtherEntry {
  readonly path: SettingPath
  /** Its address is not the target's. */
  readonly isOtherGateway: boolean
  /** Its ID or its members show that repoint wrote it. */
  readonly isByRepoint?: true
}

/**
 * Removes entries that the setup does not write:
 *
 *     the entry is for       repoint wrote it    the gateway has reported    the entry
 *     another gateway        any                 any                         is removed
 *     this gateway           yes                 all its models              is removed
 *     this gateway           yes                 not all its models          stays
 *     this gateway           no                  any                         stays
 *
 * repoint wrote an entry if it is marked, or if a setup added it.
 */
export function removedEntries(
  file: LoadedFile,
  entries: readonly OtherEntry[],
  target: SetupTarget,
): readonly SettingChange[] {
  const hasAllModels = target.resolved.offersWholeCatalog
  const unmarked = entries.filter(
    ({ isOtherGateway, isByRepoint }) => !isOtherGateway && !isByRepoint,
  )
  const paths = hasAllModels ? unmarked.map(({ path }) => path) : []
  const added = addedSince(file, paths, target)

  const isRemoved = ({ path, isOtherGateway, isByRepoint }: OtherEntry) =>
    isOtherGateway || (hasAllModels && (isByRepoint === true || added.includes(path)))
  return entries.filter(isRemoved).map(({ path }) => ({ path, value: undefined }))
}

/** The settings that a setup added: an earlier version of the file, from before a run, does not have them. */
function addedSince(
  file: LoadedFile,
  paths: readonly SettingPath[],
  { history }: SetupTarget,
): readonly SettingPath[] {
  const added: SettingPath[] = []
  let remaining = paths
  if (remaining.length === 0) return added

  for (const bytes of history?.earlierVersionsOf(file.kind) ?? []) {
    const { document, error } = parseFile({ ...file, bytes })
    if (error !== undefined) continue
    const existed = (path: SettingPath) => document?.get(path) !== undefined
    added.push(...remaining.filter((path) => !existed(path)))
    remaining = remaining.filter(existed)
    if (remaining.length === 0) break
  }

  return added
}

/**
 * The changes, but if they remove every member of a table that a setup added, they remove the table.
 *
 * @param table its path, and its members before the changes
 */
export function withoutEmptyTable(
  file: LoadedFile,
  changes: readonly SettingChange[],
  { path, now }: { readonly path: SettingPath; readonly now: Table },
  target: SetupTarget,
): readonly SettingChange[] {
  const inside = changes.filter((change) => startsWith(change.path, path))
  const isRemoved = (name: string) =>
    inside.some((change) => samePath(change.path, [...path, name]))
  const names = Object.keys(now)
  const isEmptied =
    names.length > 0 && names.every(isRemoved) && inside.every(({ value }) => value === undefined)
  if (!isEmptied || addedSince(file, [path], target).length === 0) return changes

  return [...changes.filter((change) => !inside.includes(change)), { path, value: undefined }]
}

/** A provider's list of models. */
export interface ModelList {
  /** The path of a model's entry. */
  readonly pathOf: (id: string) => SettingPath
  /** The entries in the file, by model ID. */
  readonly now: ReadonlyMap<string, ConfigValue>
  /** The provider is for another gateway so far. */
  readonly isOtherGateway: boolean
  /** Whether an entry has the address of another gateway. */
  readonly hasOtherAddress: (entry: Table) => boolean
  /** @param now the entry in the file, unless it is new */
  readonly membersOf: (model: OfferedModel, now?: Table) => readonly EntryMember[]
}

/** The changes to a list whose entries hold no secret: each new entry is one change. */
export function listChanges(
  file: LoadedFile,
  list: ModelList,
  target: SetupTarget,
): readonly SettingChange[] {
  const { pathOf, now, isOtherGateway, hasOtherAddress, membersOf } = list
  const offered = offeredIn(target.resolved)
  const offeredIds = new Set(offered.map(({ id }) => id))
  const others = [...now.keys()].filter((id) => !offeredIds.has(id))

  return [
    ...removedEntries(
      file,
      others.map((id) => ({ path: pathOf(id), isOtherGateway })),
      target,
    ),
    ...offered.flatMap((model): readonly SettingChange[] => {
      const path = pathOf(model.id)
      const entry = now.get(model.id)
      if (!isTable(entry)) return [{ path, value: newEntry(membersOf(model)) }]

      const isOther = isOtherGateway || hasOtherAddress(entry)
      const present = { path, now: entry, isOtherGateway: isOther }
      return entryChanges(present, membersOf(model, entry), model, target)
    }),
  ]
}
