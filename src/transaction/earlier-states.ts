/** How a client's files were at earlier times, as far as the records tell. Reads only. */
import type { Bytes } from '../edits/plan.ts'
import { resultOf, UserError } from '../errors.ts'
import type { FileVersion, RecordedSetting, World } from './record.ts'
import { listRuns, readBlob } from './state.ts'
import { Copies } from './undo/copies.ts'
import { activeRuns } from './undo/stack.ts'
import { undoFile } from './undo/undo-file.ts'

/** The contents of files by their paths. */
export type FileContents = ReadonlyMap<string, Bytes | null>

export interface EarlierState {
  /** The files as they were then. A file that no run recorded is missing. */
  readonly recorded: FileContents
  /** The files of today without what repoint changed since then. What others changed stays. */
  readonly undone: FileContents
  /** The settings that repoint wrote since then, by file. */
  readonly settings: ReadonlyMap<string, readonly RecordedSetting[]>
}

/**
 * As the newest run left the files, as the newest setup found them, as the one before found them, and so on.
 * A run that was undone does not count. Ends early if a record is damaged, or a copy is gone.
 *
 * @param now the files as they are. Other files of the same clients are another installation's
 */
export function* earlierStates(
  world: World,
  clients: readonly string[],
  now: FileContents,
): Generator<EarlierState, void> {
  const { runs, damaged } = listRuns(world)
  if (damaged.length > 0) return

  const copies = new Copies((sha256) => readBlob(world, sha256))
  const own = runs.map((run) => ({
    ...run,
    files: run.files.filter(({ client, path }) => clients.includes(client) && now.has(path)),
  }))
  const recorded = new Map<string, FileVersion | null>()
  for (const { path, after } of own.flatMap(({ files }) => files))
    if (!recorded.has(path)) recorded.set(path, after)
  if (recorded.size === 0) return

  const undone = new Map([...now].map(([path, bytes]) => [path, asVersion(copies, bytes)]))
  const settings = new Map<string, readonly RecordedSetting[]>()
  const state = () =>
    resultOf(() => ({
      recorded: bytesOf(copies, recorded),
      undone: bytesOf(copies, undone),
      settings: new Map(settings),
    }))

  const newest = state()
  if (newest instanceof UserError) return
  yield newest

  for (const { files } of activeRuns(own.toReversed(), clients).toReversed()) {
    const earlier = resultOf(() => {
      for (const file of files) {
        const { path, before } = file
        const { after } = undoFile({ copies, file, now: undone.get(path) ?? null })
        undone.set(path, after)
        recorded.set(path, before)
        settings.set(path, [...(settings.get(path) ?? []), ...file.settings])
      }
      return state()
    })
    if (earlier instanceof UserError) return
    yield earlier
  }
}

function asVersion(copies: Copies, bytes: Bytes | null): FileVersion | null {
  return bytes && copies.add(bytes, { mode: 0o600, uid: -1, gid: -1 })
}

function bytesOf(copies: Copies, versions: ReadonlyMap<string, FileVersion | null>): FileContents {
  return new Map([...versions].map(([path, version]) => [path, copies.bytesOf(version)]))
}
