import { isDeepStrictEqual } from 'node:util'
import { formatOf } from '../edits/format.ts'
import type { Bytes } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import { copyOf } from './blobs.ts'
import { sha256Of } from './durable.ts'
import { findTarget, readIfThere } from './target.ts'
import type { FileVersion, RecordedFile, RunRecord, World } from './types.ts'

/**
 * The runs as if they had written each file under the name that it has now: a client may read
 * `opencode.json` as well as `opencode.jsonc`, and who adds a comment renames the one to the other.
 * Only a file that still holds address and key as a run left them is followed.
 *
 * @param runs newest first
 */
export function followRenames(world: World, runs: readonly RunRecord[]): readonly RunRecord[] {
  const paths = new Set(runs.flatMap(({ files }) => files.map(({ path }) => path)))
  return [...paths].reduce((followed, path) => followRename(world, followed, path), runs)
}

function followRename(
  world: World,
  runs: readonly RunRecord[],
  path: string,
): readonly RunRecord[] {
  const now = otherName(path)
  if (now === undefined || isThere(world, path)) return runs
  const found = readAt(world, now)
  if (found === undefined) return runs
  let contents: Contents = found.bytes
  const followed: RunRecord[] = []
  for (const run of runs) {
    const here = run.files.find((file) => file.path === now)
    const there = run.files.find((file) => file.path === path)
    if (here === undefined && there === undefined) followed.push(run)
    // One run that knew both names wrote two files.
    else if (here && there) break
    else if (here) {
      contents = contentsOf(world, here.before)
      followed.push(run)
    } else if (there && isAsLeft(world, there, contents)) {
      contents = contentsOf(world, there.before)
      const moved = { ...there, path: now, realPath: found.realPath }
      const files = run.files.map((file) => (file === there ? moved : file))
      followed.push({ ...run, files })
    } else break
  }
  return [...followed, ...runs.slice(followed.length)]
}

function otherName(path: string): string | undefined {
  if (/\.json$/i.test(path)) return `${path}c`
  return /\.jsonc$/i.test(path) ? path.slice(0, -1) : undefined
}

/** Also what cannot be looked at is there. */
function isThere({ files }: World, path: string): boolean {
  try {
    files.lstat(path)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

function readAt(
  { files, machine }: World,
  path: string,
): { readonly bytes: Bytes; readonly realPath: string } | undefined {
  try {
    const { realPath } = findTarget(files, machine, path)
    const bytes = readIfThere(files, machine, realPath)
    return bytes ? { bytes, realPath } : undefined
  } catch (error) {
    if (error instanceof UserError || (error as NodeJS.ErrnoException).code) return undefined
    throw error
  }
}

/** null: there was no file. undefined: the copy is gone. */
type Contents = Bytes | null | undefined

function contentsOf(world: World, version: FileVersion | null): Contents {
  return version && (copyOf(world, version) ?? undefined)
}

/** Whether the contents are those that a run left, at least in what sends a key to an address. */
function isAsLeft(world: World, file: RecordedFile, contents: Contents): boolean {
  if (contents === undefined || file.scope === 'whole') return false
  // A rollback took it away, and the next one, which is followed, brought it back.
  if (contents === null || file.after === null) return contents === file.after
  if (sha256Of(contents) === file.after.sha256) return true
  const written = copyOf(world, file.after)
  if (written === null) return false
  try {
    const format = formatOf(file.format)
    const [then, now] = [format.read(written, file.path), format.read(contents, file.path)]
    const values = file.boundKeys.map((key) => then.get(key))
    return (
      values.some((value) => value !== undefined) &&
      isDeepStrictEqual(
        values,
        file.boundKeys.map((key) => now.get(key)),
      )
    )
  } catch (error) {
    if (error instanceof UserError) return false
    throw error
  }
}
