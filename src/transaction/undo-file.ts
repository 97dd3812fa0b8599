import { isDeepStrictEqual } from 'node:util'
import { compact } from '../compact.ts'
import type { ConfigDocument } from '../edits/edit.ts'
import { documentOf, formatOf } from '../edits/format.ts'
import {
  type Bytes,
  type FileEdit,
  type KeyChange,
  type KeyPath,
  sameBytes,
} from '../edits/plan.ts'
import type { Versions } from '../edits/revert.ts'
import { includesPath, plainPath, startsWith, uniquePaths } from '../edits/values.ts'
import { resultOf, UserError } from '../errors.ts'
import { sha256Of, shownPath, toldAt } from './files.ts'
import type { RecordedFile, World } from './record.ts'
import { contentsOf, copyOf } from './state.ts'
import { findTarget, readIfThere } from './target.ts'

/** One file led back, before it is known what becomes of its client's others. */
export interface UndoneFile {
  readonly edit: FileEdit
  readonly kept: readonly KeyPath[]
  readonly note?: string
  /** The file was deleted since. */
  readonly isGone: boolean
  /** Addresses that were changed since, and keys that were replaced by others. */
  readonly changedBound: readonly KeyPath[]
  /**
   * An address went with the file. `with-older`: with it went one from before the run, which the old
   * key was meant for.
   */
  readonly addressGone: 'no' | 'yes' | 'with-older'
  /** Our key was taken out since, by a login or by hand. */
  readonly isKeyGone: boolean
  /** Addresses of someone's that the file names once it is led back. */
  readonly addresses: readonly KeyPath[]
  /** The addresses that are ours in it now. */
  readonly ownAddresses: readonly KeyPath[]
}

/** One step back, newest first. */
export interface RecordedStep {
  readonly file: RecordedFile
  /** Runs between this one and the next newer one are not recorded any more. */
  readonly isBehindGap: boolean
  /** The run's work is to go: what it found changed since the next older one has gone with it. */
  readonly stands: boolean
}

export interface UndoOptions {
  /** The old contents as they were, whatever has been changed since. */
  readonly force?: boolean | undefined
  /**
   * Our keys that are neither address nor key stay in a table that we made and that someone has put
   * something into: without them the client might not read the rest.
   */
  readonly keepsTables?: boolean | undefined
  /**
   * A table that we made for address and key goes as a whole, with what someone has written into it
   * since: without them the client might not read the rest of the file.
   */
  readonly dropsTables?: boolean | undefined
}

/**
 * Why a client's files have to stay as they are: a key would come to an address that it was not meant
 * for. Undefined: they need not.
 *
 * An address that someone has changed keeps its key. So does one whose file is gone, unless it is known
 * to stand nowhere else and the old key was meant for no other. A key that someone has put in the place
 * of ours keeps the address. Where our key is merely gone, the address goes too, as long as none comes
 * in its place: else the user's own login, made since, would be sent to the gateway.
 *
 * @param isAbandoned whether the address of a file that is gone stands nowhere else
 */
export function whyHeld(
  { machine }: World,
  files: readonly UndoneFile[],
  isAbandoned?: (path: string) => boolean,
): string | undefined {
  const named = ({ edit }: UndoneFile, keys: readonly KeyPath[]) =>
    `${keys.map(plainPath).join(', ')} in ${shownPath(machine, edit.path)}`
  const together = 'Address and key belong together, so all of them stay.'
  const hasLogin = files.some(({ isKeyGone }) => isKeyGone)
  const own = files.filter(({ ownAddresses }) => ownAddresses.length > 0)
  const byHand = own.map((file) => named(file, file.ownAddresses)).join(' and ')
  const ways = hasLogin
    ? `\`--force\` puts the old contents back, in place of the login made since. To keep that login, take out by hand what points at the gateway${byHand ? `: ${byHand}` : ''}.`
    : '`--force` puts the old contents back.'

  const changed = files.filter(({ changedBound }) => changedBound.length > 0)
  if (changed.length > 0) {
    const places = changed.map((file) => named(file, file.changedBound)).join(' and ')
    return `Changed since: ${places}. ${together} ${ways}`
  }

  const gone = files.find(
    ({ addressGone, edit }) =>
      addressGone === 'with-older' || (addressGone === 'yes' && !isAbandoned?.(edit.path)),
  )
  if (gone)
    return `${shownPath(machine, gone.edit.path)} was deleted since, and with it the address. ${together} ${ways}`

  const returning = files.find(({ addresses }) => addresses.length > 0)
  if (!hasLogin || returning === undefined) return undefined
  return `The key of this run was taken out since, and an older address would come back: ${named(returning, returning.addresses)}. ${together} ${ways}`
}

export function leftAsItIs(undone: UndoneFile, why: string): UndoneFile {
  const { edit, isGone, note } = undone
  const { mode: _, ...rest } = edit
  return {
    ...undone,
    edit: { ...rest, after: edit.before, changes: [] },
    kept: isGone ? [] : edit.changes.map(({ path }) => path),
    note: isGone && note !== undefined ? note : why,
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
  steps: readonly [RecordedStep, ...RecordedStep[]],
  options: UndoOptions = {},
): UndoneFile {
  const newest = steps[0].file
  const target = oldestOf(steps)
  const keys = keysOf(steps)
  const current = readCurrent(world, target)

  const back: LedBack = options.force
    ? { after: contentsOf(world, target.before), kept: [] }
    : foldBack(world, steps, current.bytes, options)

  const now = documentOf(target, current.bytes)
  const then = documentOf(target, back.after)
  const { client, path, format, scope, holdsSecret } = target
  const changes = changesTo(then, keys)
  const edit = compact({
    client,
    path,
    format,
    scope,
    holdsSecret,
    changes,
    before: current.bytes,
    after: back.after,
    mode: modeAlone(current, newest, target, back.after),
  })

  const isGone = current.bytes === null && newest.after !== null
  const isLost = isGone && !options.force
  const { secretKeys, boundKeys } = keys
  const addresses = boundKeys.filter((key) => !includesPath(secretKeys, key))
  const isTakenOut = (key: KeyPath) => includesPath(secretKeys, key) && !now?.get(key)
  const changed = boundKeys.filter((bound) => back.kept.some((key) => startsWith(key, bound)))

  return {
    edit,
    kept: back.kept,
    ...compact({ note: back.note }),
    isGone,
    changedBound: changed.filter((key) => !isTakenOut(key)),
    addressGone: isLost ? addressGone(world, target, addresses) : 'no',
    isKeyGone: back.isLogin === true || (isLost ? boundKeys : changed).some(isTakenOut),
    addresses: addresses.filter((key) => then?.get(key) !== undefined),
    ownAddresses: addresses.filter((key) => now?.get(key) !== undefined),
  }
}

function oldestOf(steps: readonly RecordedStep[]): RecordedFile {
  return steps.at(-1)!.file
}

type RecordedKeys = Pick<RecordedFile, 'keys' | 'secretKeys' | 'boundKeys'>

/** Our keys of all steps, each once. */
function keysOf(steps: readonly RecordedStep[]): RecordedKeys {
  const allIn = (list: keyof RecordedKeys) => uniquePaths(steps.flatMap(({ file }) => file[list]))
  return { keys: allIn('keys'), secretKeys: allIn('secretKeys'), boundKeys: allIn('boundKeys') }
}

/** What gives our keys the values that a version has. */
export function changesTo(
  version: ConfigDocument | undefined,
  { keys, secretKeys, boundKeys }: RecordedKeys,
): readonly KeyChange[] {
  return keys.map((path) => ({
    path,
    value: version?.get(path),
    isSecret: includesPath(secretKeys, path),
    isBound: includesPath(boundKeys, path),
  }))
}

/** The mode to give back where nothing else is: contents and mode are as the newest run left them. */
function modeAlone(
  current: Current,
  { after: left }: RecordedFile,
  { before }: RecordedFile,
  after: Bytes | null,
): number | undefined {
  const isAsLeft = current.mode === left?.mode && sha256OrNull(current.bytes) === left.sha256
  if (!isAsLeft || !sameBytes(current.bytes, after)) return undefined
  const original = before?.mode ?? left.mode
  return original === left.mode ? undefined : original
}

interface LedBack {
  readonly after: Bytes | null
  readonly kept: readonly KeyPath[]
  readonly note?: string
  /** A login comes back that was made between two runs. */
  readonly isLogin?: boolean
}

function foldBack(
  world: World,
  steps: readonly RecordedStep[],
  current: Bytes | null,
  options: UndoOptions,
): LedBack {
  // As long as nobody came between two runs, only the last copy matters.
  const untouched = untouchedSteps(steps, current)
  const last = steps[untouched - 1]?.file
  let after = last ? contentsOf(world, last.before) : current
  let kept: readonly KeyPath[] = []
  let note: string | undefined
  let isLogin = false

  for (const [index, step] of steps.entries()) {
    if (index < untouched) continue

    const { file } = step
    const newer = steps[index - 1]
    if (newer !== undefined && isLoginBetween(file, newer, after)) {
      isLogin = true
      note = loginComesBack
      break
    }

    const met = newer ? asLeft(world, step, newer, after) : after
    const undone = undoStep(world, file, met, options)
    after = undone.after
    kept = uniquePaths([...kept, ...undone.kept])
    note = undone.note ?? note
  }

  // What one step had to leave, an earlier one may have led back all the same.
  const stays = keysThatStay(world, oldestOf(steps), after, kept)
  const isAllBack = kept.length > 0 && stays.length === 0
  return { after, kept: stays, isLogin, ...compact({ note: isAllBack ? undefined : note }) }
}

/** How many of the steps, from the newest, met what the next newer one left behind. */
function untouchedSteps(steps: readonly RecordedStep[], current: Bytes | null): number {
  let now = sha256OrNull(current)
  const end = steps.findIndex(({ file }) => {
    const isAsWritten = now === (file.after?.sha256 ?? null)
    now = file.before?.sha256 ?? null
    return !isAsWritten
  })
  return end < 0 ? steps.length : end
}

/**
 * A file as it was before `newer`, with our keys as `older` had left them, wherever what stands there
 * is not to come back: runs that are not recorded any more wrote it, or `newer` wrote it over. The
 * latter is a drift that was healed: who goes back to before both means neither.
 */
function asLeft(
  world: World,
  older: RecordedStep,
  newer: RecordedStep,
  bytes: Bytes | null,
): Bytes | null {
  if (!older.isBehindGap && !newer.stands) return bytes

  const written = contentsOf(world, older.file.after)
  if (bytes === null) return newer.stands && newer.file.before === null ? written : null
  const found = contentsOf(world, newer.file.before)
  const lead = older.file.scope === 'whole' ? wholeAsLeft : keysAsLeft
  return lead(world, { older, newer, bytes, written, found })
}

/** One file between two runs. */
interface Between {
  readonly older: RecordedStep
  readonly newer: RecordedStep
  /** As it was before the newer run, as far as it is led back. */
  readonly bytes: Bytes
  /** As the older run left it. */
  readonly written: Bytes | null
  /** As the newer run met it. */
  readonly found: Bytes | null
}

/** A login, which has other keys than what we write, stays where runs are missing. */
function wholeAsLeft(_: World, { older, newer, bytes, written, found }: Between): Bytes | null {
  const [now, then] = [bytes, written].map((one) => documentOf(older.file, one))
  if (!now || !then || !sameBytes(bytes, found)) return bytes

  const isOurKind = newer.stands || isDeepStrictEqual(Object.keys(now.root), Object.keys(then.root))
  return isOurKind ? written : bytes
}

/** Each key that nobody has touched since the newer run met it: all behind a gap, else what it healed. */
function keysAsLeft(world: World, { older, newer, bytes, written, found }: Between): Bytes {
  const { file, isBehindGap } = older
  const [now, then, met, healed] = [bytes, written, found, contentsOf(world, newer.file.after)].map(
    (one) => documentOf(file, one),
  )
  if (!now || !then || !met) return bytes

  const isUntouched = (key: KeyPath) => isDeepStrictEqual(now.get(key), met.get(key))
  const isHealed = (key: KeyPath) => !isDeepStrictEqual(met.get(key), healed?.get(key))
  const changes = file.keys
    .filter((key) => isUntouched(key) && (isBehindGap || isHealed(key)))
    .map((path) => ({ path, value: then.get(path) }))
  return formatOf(file.format).edit(bytes, changes, shownPath(world.machine, file.path))
}

/** Whether a login was made before `newer`, in the place of our key: a newer one than any before us. */
function isLoginBetween(
  { scope, secretKeys, after }: RecordedFile,
  { file: newer, stands }: RecordedStep,
  bytes: Bytes | null,
): boolean {
  if (!stands || scope !== 'whole' || after === null) return false
  const isFound = sha256OrNull(bytes) === newer.before?.sha256
  const document = isFound ? documentOf(newer, bytes) : undefined
  return document !== undefined && secretKeys.every((key) => !document.get(key))
}

const loginComesBack =
  'The login that was made between two runs comes back, not an older one. `--force` puts the old contents back.'

function keysThatStay(
  world: World,
  target: RecordedFile,
  after: Bytes | null,
  kept: readonly KeyPath[],
): readonly KeyPath[] {
  const before = copyOf(world, target.before)
  if (target.scope === 'whole') return sameBytes(before, after) ? [] : kept
  const documentAfter = documentOf(target, after)
  const documentBefore = documentOf(target, before)
  return kept.filter((key) => !isDeepStrictEqual(documentAfter?.get(key), documentBefore?.get(key)))
}

function addressGone(
  world: World,
  target: RecordedFile,
  keys: readonly KeyPath[],
): UndoneFile['addressGone'] {
  if (keys.length === 0) return 'no'
  const before = documentOf(target, contentsOf(world, target.before))
  return keys.some((key) => before?.get(key) !== undefined) ? 'with-older' : 'yes'
}

interface Current {
  readonly bytes: Bytes | null
  /** Permission bits. */
  readonly mode: number
}

function readCurrent({ files, machine }: World, { path }: RecordedFile): Current {
  return toldAt(machine, path, () => {
    const { realPath, status } = findTarget(files, machine, path)
    return { bytes: readIfThere(files, machine, realPath), mode: (status?.mode ?? 0) & 0o777 }
  })
}

function undoStep(
  world: World,
  file: RecordedFile,
  current: Bytes | null,
  { keepsTables, dropsTables }: UndoOptions,
): LedBack {
  const now = sha256OrNull(current)
  if (now === (file.after?.sha256 ?? null))
    return { after: contentsOf(world, file.before), kept: [] }
  if (current === null) return file.before ? deletedSince : { after: null, kept: [] }
  // A run that was cut off came no further than to here.
  if (now === file.before?.sha256) return { after: current, kept: [] }

  const found: FileVersions = {
    before: contentsOf(world, file.before),
    written: contentsOf(world, file.after),
    current: withOurStamps(world, file, current),
  }
  if (file.scope === 'whole') return undoWhole(file, found)
  const versions = dropsTables ? withOurTables(world, file, found) : found
  const all = undoKeys(world, file, file.keys, versions)
  if (!keepsTables) return all
  const inTables = keysOfSharedTables(file, versions, all.after)
  const others = file.keys.filter((key) => !includesPath(inTables, key))
  const { after, kept } = undoKeys(world, file, others, versions)

  return { after, kept: uniquePaths([...kept, ...inTables]) }
}

const deletedSince: LedBack = {
  after: null,
  kept: [],
  note: 'The file was deleted since, and stays so. `--force` puts the old contents back.',
}

function sha256OrNull(bytes: Bytes | null): string | null {
  return bytes && sha256Of(bytes)
}

type FileVersions = Versions<Bytes | null> & { readonly current: Bytes }

function undoKeys(
  world: World,
  { format, path }: RecordedFile,
  keys: readonly KeyPath[],
  versions: FileVersions,
): LedBack {
  const place = shownPath(world.machine, path)
  const undone = resultOf(() => formatOf(format).undo(versions, keys, place))
  if (!(undone instanceof UserError)) return { after: undone.bytes, kept: undone.kept }

  throw new UserError({
    code: undone.code,
    message: undone.message,
    hint: 'Correct the file by hand, or put back the old contents: repoint rollback --force',
    cause: undone,
  })
}

/** A file with what the client writes anew at each start as we wrote it, where that still stands there. */
function withOurStamps(world: World, file: RecordedFile, current: Bytes): Bytes {
  const { stampedKeys = [], format, path } = file
  const now = documentOf(file, current)
  const standing = stampedKeys.filter((key) => now?.get(key) !== undefined)
  if (standing.length === 0) return current

  const written = documentOf(file, contentsOf(world, file.after))
  const changes = standing.map((key) => ({ path: key, value: written?.get(key) }))
  return formatOf(format).edit(current, changes, shownPath(world.machine, path))
}

/**
 * The tables that we made for address and key as we wrote them, whatever others wrote into them; not
 * where they changed address or key themselves.
 */
function withOurTables(world: World, file: RecordedFile, versions: FileVersions): FileVersions {
  const [before, written, now] = [versions.before, versions.written, versions.current].map((one) =>
    documentOf(file, one),
  )
  const isAsWritten = (key: KeyPath) => isDeepStrictEqual(now?.get(key), written?.get(key))
  const changes = uniquePaths(file.boundKeys.map((key) => key.slice(0, -1)))
    .filter((table) => table.length > 0 && before?.get(table) === undefined)
    .filter((table) => file.boundKeys.every((key) => !startsWith(key, table) || isAsWritten(key)))
    .map((path) => ({ path, value: written?.get(path) }))
  const place = shownPath(world.machine, file.path)
  return { ...versions, current: formatOf(file.format).edit(versions.current, changes, place) }
}

/** Our keys, but for address and key, in tables that we made and in which something of others stays. */
function keysOfSharedTables(
  file: RecordedFile,
  versions: FileVersions,
  after: Bytes | null,
): readonly KeyPath[] {
  const before = documentOf(file, versions.before)
  const documentAfter = documentOf(file, after)

  return file.keys.filter((key) => {
    const table = key.slice(0, -1)
    const isOurs = table.length > 0 && before?.get(table) === undefined
    const isShared = isOurs && documentAfter?.get(table) !== undefined
    return isShared && !includesPath(file.boundKeys, key) && !includesPath(file.secretKeys, key)
  })
}

/** A login made since the run must not be replaced by an older one. */
function undoWhole(file: RecordedFile, { before, written, current }: FileVersions): LedBack {
  const ours = documentOf(file, written)
  if (ours && isDeepStrictEqual(documentOf(file, current)?.root, ours.root))
    return { after: before, kept: [] }
  return {
    after: current,
    kept: file.keys,
    note: 'It was changed since by a login or by hand, so it is left as it is. `--force` puts the old contents back.',
  }
}
