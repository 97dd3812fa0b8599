import type { SettingChange, SettingPath } from '../../edits/types.ts'
import { samePath } from '../../edits/values/paths.ts'
import type { LoadedFile } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { readFile } from '../files/read-file.ts'
import type { Table } from '../files/tables.ts'

/**
 * The changes to a table. If they remove every member, they remove the table, unless it is older than the
 * setups.
 *
 * @param table its path, and its members before the changes
 */
export function changesOrRemoval(
  file: LoadedFile,
  { path, now }: { readonly path: SettingPath; readonly now: Table },
  changes: readonly SettingChange[],
  target: SetupTarget,
): readonly SettingChange[] {
  const names = Object.keys(now)
  const isRemoved = (name: string) =>
    changes.some((change) => change.value === undefined && samePath(change.path, [...path, name]))
  const addsNothing = changes.every(({ value }) => value === undefined)
  const isEmptied = names.length > 0 && names.every(isRemoved) && addsNothing
  return isEmptied && isAddedSince(file, path, target) ? [{ path, value: undefined }] : changes
}

/** Whether an earlier version of the file, from before a run, does not have this setting. */
function isAddedSince(file: LoadedFile, path: SettingPath, { earlier }: SetupTarget): boolean {
  for (const bytes of earlier?.(file.kind) ?? []) {
    const { document, problem } = readFile({ ...file, bytes })
    if (problem === undefined && document?.get(path) === undefined) return true
  }
  return false
}
