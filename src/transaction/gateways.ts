import * as v from 'valibot'
import type { Plan } from '../edits/plan.ts'
import { ifPossible } from '../errors.ts'
import { fileFailure, isThere } from './files.ts'
import { withLock } from './lock.ts'
import type { World } from './record.ts'
import { maxListBytes, readList, replaceList, type SavedList, writeNewList } from './saved-list.ts'
import { findState, openState, type StatePaths } from './state.ts'

/** A gateway under the name by which it can be used again. */
export interface SavedGateway {
  readonly name: string
  /** As it was given, cleaned. */
  readonly baseUrl: string
  /** Absent: the usual ones. */
  readonly roots?: Plan['roots']
  /** Absent: it lies in the system's keychain. */
  readonly key?: string
  /** What is shown of a key that lies in the keychain. */
  readonly maskedKey?: string
  /** Absent: the key goes as `authorization: Bearer`. */
  readonly keyHeader?: 'x-api-key' | 'api-key'
  readonly headers?: readonly SavedHeader[]
  /** Goes with every request. */
  readonly query?: readonly Pick<SavedHeader, 'name' | 'value'>[]
  /** Absolute path of a PEM file with further authorities. */
  readonly caFile?: string
  /** Plain http to another machine was allowed. */
  readonly allowHttp?: true
  /** When one word was had from it last, and how; absent: never. */
  readonly proven?: { readonly at: string; readonly protocol: string; readonly model: string }
}

/** Goes with every request to the gateway. */
export interface SavedHeader {
  readonly name: string
  readonly value: string
  /** Shown nowhere. */
  readonly isSecret?: true
}

/** What becomes of the list. */
export type GatewaysChange = (all: readonly SavedGateway[]) => readonly SavedGateway[]

/** What a name is made of: a word that no shell and no path takes for anything else. */
export const gatewayNames = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/

/**
 * The remembered gateways, the newest first. Reads only.
 *
 * @throws UserError `record-damaged`
 */
export function readGateways(world: World): readonly SavedGateway[] {
  const paths = findState(world)
  return paths === undefined ? [] : readList(world, paths, list)
}

/**
 * Puts what `change` makes of the list in the place of the list: all of it or nothing, for whoever
 * looks and through a crash.
 *
 * @throws UserError `locked`, `record-damaged`, `disk-full`, `not-permitted`
 */
export function changeGateways(world: World, change: GatewaysChange): void {
  const paths = openState(world)
  withLock(world, paths, () => changeLocked(world, paths, change))
}

/** The same for who has the lock already. */
export function changeLocked(world: World, paths: StatePaths, change: GatewaysChange): void {
  settleGateways(world, paths)
  const before = readList(world, paths, list)
  const after = change(before)
  if (after !== before) replaceList(world, paths, list, after)
}

/**
 * Lays the list beside the old one, for a run that is not committed yet: it counts from the commit on,
 * whatever happens between the two. Needs the lock.
 *
 * @throws UserError `record-damaged`, `disk-full`, `not-permitted`
 */
export function stageGateways(
  world: World,
  paths: StatePaths,
  { run, change }: { readonly run: string; readonly change: GatewaysChange },
): void {
  const all = change(readList(world, paths, list))
  try {
    writeNewList(world, paths, list, all, run)
  } catch (error) {
    throw fileFailure(world.machine, paths.gateways, error)
  }
}

/** What became of a list that was staged: it counts if its run is recorded, else it goes. Needs the lock. */
export function settleGateways(world: World, paths: StatePaths): void {
  const { files, machine } = world
  try {
    if (!isThere(files, paths.newGateways)) return
    const run = runOf(files.read(paths.newGateways, maxListBytes))
    if (run !== undefined && isThere(files, paths.record(run)))
      files.rename(paths.newGateways, paths.gateways)
    else files.unlink(paths.newGateways)
    files.fsyncFolder(paths.folder)
  } catch (error) {
    throw fileFailure(machine, paths.gateways, error)
  }
}

/** Undefined: half of a list, or one that is no run's. */
function runOf(bytes: Uint8Array): string | undefined {
  return ifPossible(() => JSON.parse(new TextDecoder().decode(bytes)).run)
}

/** Forgets all of them, also where the list cannot be read. */
export function removeGateways(world: World): void {
  const paths = findState(world)
  if (paths !== undefined) withLock(world, paths, () => replaceList(world, paths, list, []))
}

const text = v.string()
const named = v.array(v.looseObject({ name: text, value: text }))

const savedGateway = v.pipe(
  v.looseObject({
    name: v.pipe(text, v.regex(gatewayNames)),
    baseUrl: v.pipe(text, v.url()),
    roots: v.optional(v.looseObject({ chat: text, messages: text })),
    key: v.optional(text),
    maskedKey: v.optional(text),
    headers: v.optional(named),
    query: v.optional(named),
    caFile: v.optional(text),
    proven: v.optional(v.looseObject({ at: text, protocol: text, model: text })),
  }),
  v.check(({ key, maskedKey }) => (key ?? maskedKey) !== undefined),
)

const list: SavedList<SavedGateway> = {
  member: 'gateways',
  newMember: 'newGateways',
  title: 'remembered gateways',
  entry: savedGateway as v.GenericSchema<unknown, SavedGateway>,
}
