import { join } from 'node:path'
import { ifPossible } from '../../errors.ts'
import type { Catalog } from '../../gateway/types.ts'
import type { Platform } from '../../platform/platform.ts'
import { attempt, createDurably } from '../../transaction/files.ts'
import { stateFolder } from '../../transaction/state.ts'
import type { Session } from '../screen/session.ts'

/** Ids of the last catalog, one a line: what the shell completes after --model. */
const fileName = 'models.txt'

/** Largest list that is kept or read, in bytes. */
const maxBytes = 256 * 1024

/** Keeps the ids for the shell's completion. Best effort: a full disk must not fail a command. */
export function rememberModels({ platform }: Session, catalog: Catalog): void {
  const { files, machine } = platform
  const path = join(stateFolder(machine), fileName)
  const ids = catalog.models.map(({ id }) => id).filter((id) => /^[\w./:@+-]+$/.test(id))
  const bytes = new TextEncoder().encode(`${ids.join('\n')}\n`)
  if (bytes.length > maxBytes) return

  const temporary = `${path}.${platform.processes.pid}`
  attempt(() => {
    createDurably(files, temporary, bytes, { mode: 0o600 })
    files.rename(temporary, path)
  })
}

/** The ids of the last catalog that a command has read; none where there is no such list. */
export function rememberedModels({
  files,
  machine,
}: Pick<Platform, 'files' | 'machine'>): string[] {
  const bytes = ifPossible(() => files.read(join(stateFolder(machine), fileName), maxBytes))
  return new TextDecoder().decode(bytes).split('\n').filter(Boolean)
}
