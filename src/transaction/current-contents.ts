import { wrapFileErrors } from './files.ts'
import type { FileVersion, World } from './record.ts'
import { findTarget, readIfExists } from './target.ts'
import type { Copies } from './undo/copies.ts'
import type { Contents } from './undo/undo-run.ts'

/** The current files. Each is read once, when it is needed. */
export function currentContents(world: World, copies: Copies): Contents {
  const versions = new Map<string, FileVersion | null>()
  return {
    changes: new Map(),
    get: (path) => {
      if (!versions.has(path)) versions.set(path, readCurrentVersion(world, copies, path))
      return versions.get(path) ?? null
    },
  }
}

function readCurrentVersion(world: World, copies: Copies, path: string): FileVersion | null {
  const { files, machine } = world
  return wrapFileErrors(machine, path, () => {
    const { realPath, status } = findTarget(files, machine, path)
    const bytes = status && readIfExists(files, machine, realPath)
    return bytes ? copies.add(bytes, { ...status, mode: status.mode & 0o777 }) : null
  })
}
