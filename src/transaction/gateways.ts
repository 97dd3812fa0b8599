import * as v from 'valibot'
import { ifPossible } from '../errors.ts'
import { isThere, toldAt } from './files.ts'
import { withLock } from './lock.ts'
import type { World } from './record.ts'
import {
  changeList,
  findList,
  maxListBytes,
  readList,
  removeList,
  type SavedList,
  writeNewList,
} from './saved-list.ts'
import { openState, type StatePaths } from './state.ts'

/** A gateway under the name by which it can be used again. */
export type SavedGateway = v.InferOutput<typeof savedGateway>

/** What a name is made of: a word that no shell and no path takes for anything else. */
export const gatewayNames = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/

const text = v.string()
const named = v.object({ name: text, value: text })
const header = v.object({ ...named.entries, isSecret: v.exactOptional(v.literal(true)) })

const savedGateway = v.pipe(
  v.object({
    name: v.pipe(text, v.regex(gatewayNames)),
    /** As it was given, cleaned. */
    baseUrl: v.pipe(text, v.url()),
    /** Absent: the usual ones. */
    roots: v.exactOptional(v.object({ chat: text, messages: text })),
    key: text,
    /** Absent: the key goes as `authorization: Bearer`. */
    keyHeader: v.exactOptional(v.picklist(['x-api-key', 'api-key'])),
    /** Go with every request; what is secret is shown nowhere. */
    headers: v.exactOptional(v.pipe(v.array(header), v.readonly())),
    /** Goes with every request. */
    query: v.exactOptional(v.pipe(v.array(named), v.readonly())),
    /** Absolute path of a PEM file with further authorities. */
    caFile: v.exactOptional(text),
    /** Plain http to another machine was allowed. */
    allowHttp: v.exactOptional(v.literal(true)),
    /** When one word was had from it last, and how; absent: never. */
    proven: v.exactOptional(v.object({ at: text, protocol: text, model: text })),
  }),
  v.readonly(),
)

const list: SavedList<SavedGateway> = {
  member: 'gateways',
  newMember: 'newGateways',
  title: 'remembered gateways',
  entry: savedGateway,
}

/** What becomes of the list. */
export type GatewaysChange = (all: readonly SavedGateway[]) => readonly SavedGateway[]

/** The remembered gateways, the newest first. @throws as `findList` does */
export function readGateways(world: World): readonly SavedGateway[] {
  return findList(world, list)
}

/** @throws UserError `locked`, and as `changeList` does */
export function changeGateways(world: World, change: GatewaysChange): void {
  const paths = openState(world)
  withLock(world, paths, () => changeLocked(world, paths, change))
}

/** The same for who has the lock already. */
export function changeLocked(world: World, paths: StatePaths, change: GatewaysChange): void {
  settleGateways(world, paths)
  changeList(world, paths, list, change)
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
  toldAt(world.machine, paths.gateways, () => writeNewList(world, paths, list, all, run))
}

/** What became of a list that was staged: it counts if its run is recorded, else it goes. Needs the lock. */
export function settleGateways(world: World, paths: StatePaths): void {
  const { files, machine } = world
  toldAt(machine, paths.gateways, () => {
    if (!isThere(files, paths.newGateways)) return
    const run = runOf(files.read(paths.newGateways, maxListBytes))
    if (run !== undefined && isThere(files, paths.record(run)))
      files.rename(paths.newGateways, paths.gateways)
    else files.unlink(paths.newGateways)
    files.fsyncFolder(paths.folder)
  })
}

/** Undefined: half of a list, or one that is no run's. */
function runOf(bytes: Uint8Array): string | undefined {
  return ifPossible(() => JSON.parse(new TextDecoder().decode(bytes)).run)
}

/** Forgets all of them, also where the list cannot be read. */
export function removeGateways(world: World): void {
  removeList(world, list)
}
