import { join } from 'node:path'
import { ifPossible } from '../errors.ts'
import type { Catalog } from '../gateway/types.ts'
import type { Platform } from '../platform/platform.ts'
import { createDurably, ignoreFileErrors, ignoreMissing } from '../transaction/files.ts'
import { stateFolder } from '../transaction/records/state-folder.ts'

/** The model IDs of the last catalog, one per line. The shell completes `--model` from it. */
const fileName = 'models.txt'

/** The largest list that is written or read, in bytes. */
const maxBytes = 256 * 1024

/** Saves the IDs for the shell's completion. Best effort: a full disk must not fail a command. */
export function saveModels({ files, machine, processes }: Platform, catalog: Catalog): void {
  const path = join(stateFolder(machine), fileName)
  const ids = catalog.models.map(({ id }) => id).filter((id) => /^[\w./:@+-]+$/.test(id))
  const bytes = new TextEncoder().encode(`${ids.join('\n')}\n`)
  if (bytes.length > maxBytes) return

  const temporary = `${path}.${processes.pid}`
  ignoreFileErrors(() => {
    createDurably(files, temporary, bytes, { mode: 0o600 })
    files.rename(temporary, path)
  })
}

/** The IDs of the last catalog that a command read, or [] if there is none. */
export function savedModels({ files, machine }: Pick<Platform, 'files' | 'machine'>): string[] {
  const bytes = ifPossible(() => files.read(join(stateFolder(machine), fileName), maxBytes))
  return new TextDecoder().decode(bytes).split('\n').filter(Boolean)
}

/** Removes the list. */
export function removeModels({ files, machine }: Pick<Platform, 'files' | 'machine'>): void {
  ignoreFileErrors(() => ignoreMissing(() => files.unlink(join(stateFolder(machine), fileName))))
}
