import { compareValues } from '../../src/edits/compare-values.ts'
import type { Format } from '../../src/edits/format.ts'
import { type Bytes, type SettingPath, sameBytes } from '../../src/edits/types.ts'
import type { Versions } from '../../src/edits/undo-text.ts'
import { UserError, valueOrError } from '../../src/errors.ts'

/** Undoes the settings that still have our values, and keeps the others, as an undo of a run does. */
export function undoOurs(
  format: Format,
  { before, written, now }: Versions<Bytes | null>,
  paths: readonly SettingPath[],
  fileName: string,
) {
  if (sameBytes(now, written)) return { bytes: before, kept: [] }
  if (now === null) throw new Error('Deleted files are not undone setting by setting')

  const read = (bytes: Bytes | null) => {
    const document = bytes && valueOrError(() => format.read(bytes, fileName))
    return document === null || document instanceof UserError ? undefined : document
  }
  const documents = { before: read(before), written: read(written), now: read(now) }

  const compared = paths.flatMap((path) => compareValues(documents, path))
  const settings = compared.filter(({ isEarlier }) => !isEarlier)
  const restore = settings.filter(({ isOurs }) => isOurs).map(({ path }) => path)
  const kept = settings.filter(({ isOurs }) => !isOurs).map(({ path }) => path)

  const versions = { before, written, now }
  return { bytes: format.undo(versions, { restore, keep: kept }, fileName), kept }
}
