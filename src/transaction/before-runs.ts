/**
 * What would a client's files be without the newest runs? `off` asks it of all files of a client (`filesBeforeRuns`),
 * and a setup of one file (`fileWithoutRuns`). Reads only.
 */
import type { Bytes } from '../edits/types.ts'
import { UserError } from '../errors.ts'
import { type Copies, type FileContents, filesOnDisk, savedCopies } from './contents.ts'
import {
  decidesEndpoint,
  type FileVersion,
  type RecordedFile,
  type RecordedSetting,
  type Runs,
  type World,
} from './record.ts'
import { listRuns } from './records/records.ts'
import { activeRuns } from './undo/active-runs.ts'
import { endpointSituations } from './undo/run-situations.ts'
import { undoFile } from './undo/undo-file.ts'
import { undoRun } from './undo/undo-runs.ts'
import { isSafe } from './undo/undo-safety.ts'

interface FilesBeforeRuns {
  /** The files as they were then. A file that no run recorded is missing. */
  readonly recorded: FileContents
  /** The files of today without what repoint changed since then. What others changed stays. */
  readonly withoutRuns: FileContents
  /** The settings that repoint wrote since then, by file. */
  readonly settings: ReadonlyMap<string, readonly RecordedSetting[]>
}

/**
 * Yields the files as the newest run left them, then as each setup found them, newest first. A run that
 * was undone does not count. Ends early if a record is damaged, or a copy is gone.
 *
 * @param now the files as they are. Other files of the same clients are another installation's
 */
export function* filesBeforeRuns(
  world: World,
  clients: readonly string[],
  now: FileContents,
): Generator<FilesBeforeRuns, void> {
  const { runs, damaged } = listRuns(world)
  if (damaged.length > 0) return

  const copies = savedCopies(world)
  const clientRuns = runs.map((run) => ({
    ...run,
    files: run.files.filter(({ client, path }) => clients.includes(client) && now.has(path)),
  }))
  const recorded = newestVersions(clientRuns)
  if (recorded.size === 0) return

  const withoutRuns = new Map([...now].map(([path, bytes]) => [path, asVersion(copies, bytes)]))
  const settings = new Map<string, readonly RecordedSetting[]>()
  const filesSoFar = (): FilesBeforeRuns => ({
    recorded: bytesOf(copies, recorded),
    withoutRuns: bytesOf(copies, withoutRuns),
    settings: new Map(settings),
  })

  try {
    yield filesSoFar()

    for (const { files } of activeRuns(clientRuns, clients)) {
      for (const file of files) {
        const { path, before } = file
        const { result } = undoFile({ copies, file, now: withoutRuns.get(path) ?? null })
        withoutRuns.set(path, result)
        recorded.set(path, before)
        settings.set(path, [...(settings.get(path) ?? []), ...file.settings])
      }
      yield filesSoFar()
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
}

/**
 * Yields the contents of a file without its newest run, then without its newest two runs, and so on. Each
 * includes what others wrote since.
 *
 * Ends early if a version cannot be computed: a record is damaged, a copy is missing, or someone
 * pointed the client to another service.
 */
export function* fileWithoutRuns(world: World, path: string): Generator<Bytes | null> {
  try {
    const { runs, damaged } = listRuns(world)
    if (damaged.length > 0) return

    let allFiles = filesOnDisk(world)

    const setsEndpoint = (file: RecordedFile) =>
      file.path === path && file.settings.some(decidesEndpoint)
    if (!runs.some(({ files }) => files.some(setsEndpoint))) return

    for (const run of activeRuns(runs)) {
      const files = run.files.filter((file) => file.path === path)
      if (files.length === 0) continue
      if (!isSafe(endpointSituations(files, allFiles))) return

      allFiles = undoRun({ ...run, files }, allFiles, {}).result
      yield allFiles.copies.bytesOf(allFiles.get(path))
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
}

/** The version of each file that its newest run wrote. */
function newestVersions(runs: Runs): Map<string, FileVersion | null> {
  const oldestFirst = runs.flatMap(({ files }) => files).toReversed()
  // Of equal keys, a map keeps the last value.
  return new Map(oldestFirst.map(({ path, written }) => [path, written]))
}

function asVersion(copies: Copies, bytes: Bytes | null): FileVersion | null {
  return bytes && copies.add(bytes, { mode: 0o600, uid: -1, gid: -1 })
}

function bytesOf(copies: Copies, versions: ReadonlyMap<string, FileVersion | null>): FileContents {
  return new Map([...versions].map(([path, version]) => [path, copies.bytesOf(version)]))
}
