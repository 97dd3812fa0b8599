import { isDeepStrictEqual } from 'node:util'
import type { ConfigDocument } from '../edits/edit.ts'
import { formatOf } from '../edits/format.ts'
import { type Bytes, type FileEdit, type KeyPath, sameBytes } from '../edits/plan.ts'
import { samePath, startsWith } from '../edits/values.ts'
import { UserError } from '../errors.ts'
import { readBlob } from './blobs.ts'
import { sha256Of } from './durable.ts'
import { fileFailure, placeOf } from './failure.ts'
import { findTarget, readIfThere } from './target.ts'
import type { RecordedFile, World } from './types.ts'

/** One file led back, before it is known what becomes of its client's others. */
export interface UndoneFile {
  readonly edit: FileEdit
  readonly kept: readonly KeyPath[]
  readonly note?: string
  /** The file was deleted since. */
  readonly isGone: boolean
  /** An address was changed since, or a key was replaced by another one. */
  readonly isBoundChanged: boolean
  /**
   * An address went with the file. `with-older`: with it went one from before the run, which the old
   * key was meant for.
   */
  readonly addressGone: 'no' | 'yes' | 'with-older'
  /** Our key was taken out since, by a login or by hand. */
  readonly isKeyGone: boolean
  /** The file names an address of someone's once it is led back. */
  readonly hasAddress: boolean
}

/**
 * Whether a client's files have to stay as they are, because a key would come to an address that it
 * was not meant for.
 *
 * An address that someone has changed keeps its key. So does one whose file is gone, unless it is known
 * to stand nowhere else and the old key was meant for no other. A key that someone has put in the place
 * of ours keeps the address. Where our key is merely gone, the address goes too, as long as none comes in its place: else the
 * user's own login, made since, would be sent to the gateway.
 *
 * @param isAbandoned whether the address of a file that is gone stands nowhere else
 */
export function isHeldTogether(
  files: readonly UndoneFile[],
  isAbandoned: (path: string) => boolean = () => false,
): boolean {
  return (
    files.some(({ isBoundChanged }) => isBoundChanged) ||
    files.some(({ addressGone }) => addressGone === 'with-older') ||
    files.some(({ addressGone, edit }) => addressGone === 'yes' && !isAbandoned(edit.path)) ||
    (files.some(({ isKeyGone }) => isKeyGone) && files.some(({ hasAddress }) => hasAddress))
  )
}

export function leftAsItIs(undone: UndoneFile): UndoneFile {
  const { edit, isGone, note } = undone
  const { mode: _, ...rest } = edit
  return {
    ...undone,
    edit: { ...rest, after: edit.before, changes: [] },
    kept: isGone ? [] : edit.changes.map(({ path }) => path),
    note:
      note ??
      'Address and key belong together, and one of them was changed since: all of them stay. `--force` puts the old contents back.',
  }
}

/**
 * Leads one file back through the runs that wrote it, so that what others wrote between two runs is
 * kept.
 *
 * @param steps what was recorded of the file, newest first; it goes back to before the last of them
 */
export function undoFile(
  world: World,
  steps: readonly [RecordedFile, ...RecordedFile[]],
  force: boolean,
): UndoneFile {
  const target = steps[steps.length - 1] as RecordedFile
  const { client, path, format, scope, holdsSecret } = target
  const { bytes: current, mode } = readCurrent(world, target)
  const all = (pick: (file: RecordedFile) => readonly KeyPath[]) => uniquePaths(steps.flatMap(pick))
  const boundKeys = all((file) => file.boundKeys)
  const secretKeys = all((file) => file.secretKeys)

  const { after, kept, note } = force
    ? { after: target.before && readBlob(world, target.before.sha256), kept: [] }
    : foldBack(world, steps, current)
  const isGone = current === null && steps[0].after !== null
  const oldMode = modeAlone({ bytes: current, mode }, steps[0], target, after)
  const documentAfter = after && readIfSound(target, after)
  const changed = boundKeys.filter((bound) => kept.some((key) => startsWith(key, bound)))
  const gone = isGone && !force ? boundKeys : []
  const isTakenOut = (key: KeyPath) =>
    isIn(secretKeys, key) && !(current && readIfSound(target, current)?.get(key))
  return {
    edit: {
      client,
      path,
      format,
      scope,
      holdsSecret,
      changes: all((file) => file.keys).map((key) => ({
        path: key,
        value: documentAfter?.get(key),
        isSecret: isIn(secretKeys, key),
        isBound: isIn(boundKeys, key),
      })),
      before: current,
      after,
      ...(oldMode === undefined ? {} : { mode: oldMode }),
    },
    kept,
    ...(note === undefined ? {} : { note }),
    isGone,
    isBoundChanged: !force && changed.some((key) => !isTakenOut(key)),
    addressGone: addressGone(
      world,
      target,
      gone.filter((key) => !isTakenOut(key)),
    ),
    isKeyGone: !force && [...changed, ...gone].some(isTakenOut),
    hasAddress: boundKeys.some(
      (key) => !isIn(secretKeys, key) && documentAfter?.get(key) !== undefined,
    ),
  }
}

/** The mode to give back where nothing else is: contents and mode are as the newest run left them. */
function modeAlone(
  current: Current,
  { after: left }: RecordedFile,
  { before }: RecordedFile,
  after: Bytes | null,
): number | undefined {
  if (current.bytes === null || !before || !left || !sameBytes(current.bytes, after))
    return undefined
  const isAsLeft = current.mode === left.mode && sha256Of(current.bytes) === left.sha256
  return isAsLeft && before.mode !== left.mode ? before.mode : undefined
}

function foldBack(world: World, steps: readonly RecordedFile[], current: Bytes | null): Undone {
  let after = current
  let kept: readonly KeyPath[] = []
  let note: string | undefined
  for (const step of steps) {
    const undone = undoStep(world, step, after)
    after = undone.after
    kept = uniquePaths([...kept, ...undone.kept])
    note = undone.note ?? note
  }
  // What one step had to leave, an earlier one may have led back all the same.
  const target = steps[steps.length - 1] as RecordedFile
  const stays = kept.length > 0 ? keysThatStay(world, target, after, kept) : kept
  return {
    after,
    kept: stays,
    ...(note === undefined || (kept.length > 0 && stays.length === 0) ? {} : { note }),
  }
}

function keysThatStay(
  world: World,
  target: RecordedFile,
  after: Bytes | null,
  kept: readonly KeyPath[],
): readonly KeyPath[] {
  const before = target.before && readBlob(world, target.before.sha256)
  if (target.scope === 'whole')
    return before && after && Buffer.compare(before, after) === 0 ? [] : kept
  const documentAfter = after && readIfSound(target, after)
  const documentBefore = before && readIfSound(target, before)
  return kept.filter((key) => !isDeepStrictEqual(documentAfter?.get(key), documentBefore?.get(key)))
}

function isIn(keys: readonly KeyPath[], key: KeyPath): boolean {
  return keys.some((one) => samePath(one, key))
}

function uniquePaths(paths: readonly KeyPath[]): KeyPath[] {
  return paths.filter((path, index) => paths.findIndex((one) => samePath(one, path)) === index)
}

function addressGone(
  world: World,
  target: RecordedFile,
  keys: readonly KeyPath[],
): UndoneFile['addressGone'] {
  if (keys.length === 0) return 'no'
  const before = target.before && readIfSound(target, readBlob(world, target.before.sha256))
  return keys.some((key) => before?.get(key) !== undefined) ? 'with-older' : 'yes'
}

interface Current {
  readonly bytes: Bytes | null
  /** Permission bits. */
  readonly mode: number
}

function readCurrent({ files, machine }: World, { path }: RecordedFile): Current {
  try {
    const { realPath, status } = findTarget(files, machine, path)
    return { bytes: readIfThere(files, machine, realPath), mode: (status?.mode ?? 0) & 0o777 }
  } catch (error) {
    throw fileFailure(machine, path, error)
  }
}

interface Undone {
  readonly after: Bytes | null
  readonly kept: readonly KeyPath[]
  readonly note?: string
}

function undoStep(world: World, file: RecordedFile, current: Bytes | null): Undone {
  const isAsWritten = (current && sha256Of(current)) === (file.after?.sha256 ?? null)
  const before = file.before && readBlob(world, file.before.sha256)
  if (isAsWritten) return { after: before, kept: [] }
  if (current === null) return deletedSince
  const written = file.after && readBlob(world, file.after.sha256)
  return file.scope === 'whole'
    ? undoWhole(file, { before, written, current })
    : undoKeys(world, file, { before, written, current })
}

const deletedSince: Undone = {
  after: null,
  kept: [],
  note: 'The file was deleted since, and stays so. `--force` puts the old contents back.',
}

interface Versions {
  readonly before: Bytes | null
  readonly written: Bytes | null
  readonly current: Bytes
}

function undoKeys(world: World, { format, keys, path }: RecordedFile, versions: Versions): Undone {
  try {
    const { bytes, kept } = formatOf(format).undo(versions, keys, placeOf(world.machine, path))
    return { after: bytes, kept }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    throw new UserError({
      code: error.code,
      message: error.message,
      hint: 'Correct the file by hand, or put back the old contents: repoint rollback --force',
      cause: error,
    })
  }
}

/** A login made since the run must not be replaced by an older one. */
function undoWhole(file: RecordedFile, { before, written, current }: Versions): Undone {
  const isOnlyReformatted =
    written !== null &&
    isDeepStrictEqual(readIfSound(file, current)?.root, readIfSound(file, written)?.root ?? NaN)
  if (isOnlyReformatted) return { after: before, kept: [] }
  return {
    after: current,
    kept: file.keys,
    note: 'It was changed since by a login or by hand, so it is left as it is. `--force` puts the old contents back.',
  }
}

/** Undefined: what stands there is no document of the format, as a file before us may have been. */
function readIfSound({ format, path }: RecordedFile, bytes: Bytes): ConfigDocument | undefined {
  try {
    return formatOf(format).read(bytes, path)
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}
