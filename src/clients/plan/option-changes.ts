import type { SettingChange, SettingPath } from '../../edits/types.ts'
import type { ResolveInput } from '../contract/setup.ts'
import type { ReadFile } from '../files/read-file.ts'

/**
 * Sets an option in a file. If the option is undecided, the setting stays, except that `--defaults` removes
 * it.
 */
export function optionChange(
  file: Pick<ReadFile, 'get'>,
  path: SettingPath,
  value: string | number | undefined,
  { resetToDefaults }: Pick<ResolveInput, 'resetToDefaults'>,
): readonly SettingChange[] {
  const isRemoved = resetToDefaults === true && file.get(path) !== undefined
  return value === undefined && !isRemoved ? [] : [{ path, value }]
}
