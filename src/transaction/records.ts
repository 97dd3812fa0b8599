import { decodeDocument } from './document.ts'
import { attempt, randomName } from './durable.ts'
import { fileFailure } from './failure.ts'
import { followRenames } from './renamed.ts'
import { findState, type StatePaths } from './state.ts'
import { steadyWorld } from './steady.ts'
import type { RunRecord, World } from './types.ts'

export { readBlob } from './blobs.ts'
export { stateFolder } from './state.ts'

/** Largest record that is read or made, in bytes. One of four files has about 3 kB. */
export const maxRecordBytes = 8_000_000

export interface Runs {
  /** Newest first. */
  readonly runs: readonly RunRecord[]
  /**
   * Records that cannot be read, newest first: where they lie, under a name that bears the id of
   * their run. They are told for as long as they are there.
   */
  readonly damaged: readonly string[]
}

/**
 * The recorded runs, each file under the name that it has now. Reads only. A record that is damaged,
 * or that a newer repoint wrote, is told and never guessed at; the next run that is carried out sets
 * it aside under another name.
 */
export function listRuns(world: World): Runs {
  const steady = steadyWorld(world)
  const paths = findState(steady)
  if (!paths) return { runs: [], damaged: [] }
  const { runs, damaged } = readRuns(steady, paths)
  return { runs: followRenames(steady, runs), damaged }
}

export function readRuns(world: World, paths: StatePaths): Runs {
  const runs: RunRecord[] = []
  const damaged: string[] = []
  for (const name of recordNames(world, paths).reverse()) {
    const path = paths.named(name)
    const run = readRecord(world, path)
    if (run === 'gone') continue
    if (run && name === `run-${run.id}.json`) runs.push(run)
    else damaged.push(path)
  }
  return { runs, damaged }
}

/** How the name of a record ends that was set aside. */
export const damagedName = /\.json\.damaged-[0-9a-f]+$/

/** The file names of the records, oldest first, and of those that were set aside. */
export function recordNames(world: World, paths: StatePaths): string[] {
  try {
    const names = world.files.readdir(paths.folder)
    return names.filter((name) => /^run-.+\.json(\.damaged-[0-9a-f]+)?$/.test(name)).sort()
  } catch (error) {
    throw fileFailure(world.machine, paths.folder, error)
  }
}

/** @returns undefined for a record that is not sound */
function readRecord(world: World, path: string): RunRecord | undefined | 'gone' {
  try {
    return decodeDocument(world.files.read(path, maxRecordBytes))?.run
  } catch (error) {
    if (error instanceof RangeError) return undefined
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'gone'
    throw fileFailure(world.machine, path, error)
  }
}

/**
 * Renames what cannot be read, so that it is in nobody's way and still there to be looked at. Needs
 * the lock.
 *
 * @param record the place of the record that it is, or would have become
 */
export function setAside(world: World, path: string, record: string): string {
  const aside = `${record}.damaged-${randomName()}`
  let isAside = false
  attempt(() => {
    world.files.rename(path, aside)
    isAside = true
  })
  return isAside ? aside : path
}

/**
 * An id for a run at `now` that sorts behind all earlier ones, also within one second and when the
 * clock was set back.
 */
export function nextRunId(now: Date, names: readonly string[]): string {
  const stamp = `${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
  const newest = names
    .flatMap((name) => /^run-(\d{8}T\d{6}Z)-([0-9a-f]+)\./.exec(name)?.slice(1, 3) ?? [])
    .slice(-2)
  const [newestStamp = '', newestEnd = ''] = newest
  // Below 8000, so that there is room to count up within one second.
  if (stamp > newestStamp)
    return `${stamp}-${(randomName16() & 0x7fff).toString(16).padStart(4, '0')}`
  return `${newestStamp}-${successor(newestEnd)}`
}

function randomName16(): number {
  return Number.parseInt(randomName().slice(0, 4), 16)
}

/** The next longer or larger one in the order of text. */
function successor(hex: string): string {
  if (/^f+$/.test(hex)) return `${hex}0`
  return (BigInt(`0x${hex}`) + 1n).toString(16).padStart(hex.length, '0')
}
