/** Lists, reads and removes the records of runs: `run-<id>.json` in the state folder. */
import type { Machine } from '../../platform/platform.ts'
import {
  errorCode,
  ignoreFileErrors,
  ignoreMissing,
  isInside,
  randomName,
  toFileError,
  wrapFileErrors,
} from '../files.ts'
import { decodeDocument, type RunRecord, type World } from '../record.ts'
import {
  type FirstCopies,
  noFirstCopies,
  readFirstCopies,
  removedRuns,
  versionsIn,
} from './first-copies.ts'
import {
  blobNamePattern,
  findState,
  movedPath,
  type StatePaths,
  stateFolder,
} from './state-folder.ts'

const recordNamePattern = /^run-.+\.json$/

/**
 * The largest record that repoint reads, in bytes. A record of four files has about 3 kB. One that points a picker with
 * 20,000 models at another gateway has 11 MB for each client.
 */
const maxRecordBytes = 100_000_000

interface RunList {
  /** Newest first. */
  readonly runs: readonly RunRecord[]
  /** The paths of records that are damaged or of another version, newest first. */
  readonly damaged: readonly string[]
}

/** Lists the recorded runs. Changes nothing. A record of another version is listed as damaged. */
export function listRuns(world: World): RunList {
  const paths = findState(world)
  return paths ? readRuns(world, paths) : { runs: [], damaged: [] }
}

/** The first copies of all files. Changes nothing. */
export function listFirstCopies(world: World): FirstCopies {
  const paths = findState(world)
  return (paths && readFirstCopies(world, paths)) ?? noFirstCopies
}

/** Like `listRuns`, of a state folder that exists. The last runs are those whose records were removed. */
export function readRuns(world: World, paths: StatePaths): RunList {
  const firstCopies = readFirstCopies(world, paths) ?? noFirstCopies
  const { runs, damaged } = readRecords(world, paths, firstCopies)
  return { runs: [...runs, ...removedRuns(firstCopies)], damaged }
}

/** The runs that have a record. A record that someone deleted counts as damaged. */
export function readRecords(
  world: World,
  paths: StatePaths,
  { runs: expected, removedUpTo = '' }: FirstCopies,
): RunList {
  const runs: RunRecord[] = []
  const damaged: string[] = []

  const existing = recordNames(world, paths).filter((name) => name > `run-${removedUpTo}.json`)
  const missing = expected.map((id) => `run-${id}.json`).filter((name) => !existing.includes(name))
  damaged.push(...missing.toReversed().map(paths.file))
  for (const name of existing.reverse()) {
    const path = paths.file(name)
    const document = readRunDocument(world, path)
    if (document === undefined) continue

    const isValid = document !== 'damaged' && name === `run-${document.run.id}.json`
    if (isValid) runs.push(relocateRun(world.machine, document.run))
    else damaged.push(path)
  }

  // A crash can leave records that a merged run has replaced.
  const replaced = new Set(runs.flatMap(({ replaces = [] }) => replaces))
  const isReplaced = (path: string) => [...replaced].some((id) => path === paths.record(id))
  return {
    runs: runs.filter(({ id }) => !replaced.has(id)),
    damaged: damaged.filter((path) => !isReplaced(path)),
  }
}

/** The file names of the records, oldest first. */
export function recordNames(world: World, paths: StatePaths): string[] {
  return wrapFileErrors(world.machine, paths.folder, () => {
    const names = world.files.readdir(paths.folder)
    return names.filter((name) => recordNamePattern.test(name)).sort()
  })
}

/** @returns undefined if there is no such file */
export function readRunDocument(world: World, path: string) {
  try {
    return decodeDocument(world.files.read(path, maxRecordBytes)) ?? 'damaged'
  } catch (error) {
    if (error instanceof RangeError) return 'damaged'
    if (errorCode(error) === 'ENOENT') return undefined
    throw toFileError(world.machine, path, error)
  }
}

/** Gives a run its new paths if the home folder has moved together with the state folder in it. */
function relocateRun(machine: Machine, run: RunRecord): RunRecord {
  if (run.home === machine.home || !isInside(stateFolder(machine), machine.home)) return run
  const newPath = movedPath(machine, run.home)

  return {
    ...run,
    home: machine.home,
    files: run.files.map((file) => ({
      ...file,
      path: newPath(file.path),
      realPath: newPath(file.realPath),
    })),
    folders: run.folders.map(newPath),
    ...(run.kept && {
      kept: run.kept.map((setting) => ({ ...setting, file: newPath(setting.file) })),
    }),
  }
}

/**
 * The ID for a run at `now`. It sorts after all earlier IDs, also within one second and after the clock
 * was set back.
 *
 * @param names the names of the records, oldest first
 */
export function nextRunId(now: Date, names: readonly string[]): string {
  const stamp = `${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
  const newest = /^run-(\d{8}T\d{6}Z)-([0-9a-f]+)\./.exec(names.at(-1) ?? '')
  const [, newestStamp = '', newestSuffix = ''] = newest ?? []
  if (stamp <= newestStamp) return `${newestStamp}-${nextSuffix(newestSuffix)}`

  // Below 0x8000, so that there is room to count up within one second.
  const suffix = Number.parseInt(randomName(), 16) & 0x7fff
  return `${stamp}-${suffix.toString(16).padStart(4, '0')}`
}

/** The next hexadecimal suffix in string order. After `f…` it gets one digit longer. */
function nextSuffix(hex: string): string {
  if (/^f+$/.test(hex)) return `${hex}0`
  return (BigInt(`0x${hex}`) + 1n).toString(16).padStart(hex.length, '0')
}

function hashesOf({ files }: RunRecord): string[] {
  return files.flatMap(({ before, written }) =>
    [before, written].flatMap((version) => (version ? [version.sha256] : [])),
  )
}

/**
 * Removes records, then the copies that no other record names. The caller holds the lock.
 *
 * @param records the paths, oldest first. The folder is flushed after each, because an undo must not
 *   be deleted before the run that it undid.
 */
export function removeRecords(world: World, paths: StatePaths, records: readonly string[]): void {
  const { files } = world
  if (records.length === 0) return
  for (const path of records) {
    ignoreMissing(() => files.unlink(path))
    files.fsyncFolder(paths.folder)
  }
  removeUnusedBlobs(world, paths)
}

/** Removes the records of every version, and all copies. The caller holds the lock. */
export function removeAllRecords(world: World, paths: StatePaths): void {
  ignoreMissing(() => world.files.unlink(paths.firstCopies))
  removeRecords(world, paths, recordNames(world, paths).map(paths.file))
  removeUnusedBlobs(world, paths)
}

/**
 * Removes the copies that no record names. Removes none while a record is damaged, because it could
 * name any of them. The copies of a draft are removed, because a draft is never applied. The caller
 * holds the lock.
 */
export function removeUnusedBlobs(world: World, paths: StatePaths): void {
  const { files } = world
  ignoreFileErrors(() => {
    const { runs, damaged } = readRuns(world, paths)
    if (damaged.length > 0) return
    const first = versionsIn(readFirstCopies(world, paths) ?? noFirstCopies)
    const used = new Set([...runs.flatMap(hashesOf), ...first.map((version) => version?.sha256)])
    const unused = files
      .readdir(paths.blobs)
      .filter((name) => blobNamePattern.test(name) && !used.has(name))
    for (const name of unused) files.unlink(paths.blob(name))
    if (unused.length > 0) files.fsyncFolder(paths.blobs)
  })
}
