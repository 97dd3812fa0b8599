/** Reads and writes the options of which each is one setting of a client's file. */
import type { SettingChange, SettingPath } from '../../edits/types.ts'
import type { EnumOptions, SettingOption } from '../contract/options.ts'
import type { ChosenOptions } from '../contract/setup.ts'
import { type Table, textIn, valueIn } from '../files/tables.ts'
import { effectiveOptions } from '../options/chosen-options.ts'

/** The options in the table that holds their settings. A value that the flag does not list is left out. */
export function readSettingOptions(
  options: readonly SettingOption[],
  table: Table | undefined,
): EnumOptions {
  const values = options.map(({ option, choices, path }) => {
    const value = textIn(table, path)
    return [option, choices.find((choice) => choice === value)]
  })
  return Object.fromEntries(values)
}

/** The changes that a setup makes to the settings of these options. `now` is the table that holds them. */
export function settingOptionChanges(
  options: readonly SettingOption[],
  now: Table | undefined,
  input: ChosenOptions,
): readonly SettingChange[] {
  const effective = effectiveOptions(input)
  return options.flatMap(({ option, path }) => optionChange(now, path, effective[option], input))
}

/**
 * Sets an option in a table. If the option is undecided, the setting stays, except that `--defaults` removes
 * it.
 */
export function optionChange(
  now: Table | undefined,
  path: SettingPath,
  value: string | number | undefined,
  { resetToDefaults }: ChosenOptions,
): readonly SettingChange[] {
  const isRemoved = resetToDefaults === true && valueIn(now, path) !== undefined
  return value === undefined && !isRemoved ? [] : [{ path, value }]
}
