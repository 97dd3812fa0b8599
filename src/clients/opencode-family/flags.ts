import type { Protocol } from '../../gateway/types.ts'
import type { SettingOption } from '../contract/options.ts'
import { reasoningEffortFlag } from '../options/flags.ts'

/** The options that one member of the entry of a model holds. The paths begin below the entry. */
export function entryOptions(protocol: Protocol | undefined): readonly SettingOption[] {
  return [{ ...reasoningEffortFlag, path: effortPath(protocol) }]
}

/** The path of the effort in the entry of a model (1.18.34, 2026-11-26). */
export function effortPath(protocol: Protocol | undefined): readonly [string, string] {
  return ['options', protocol === 'messages' ? 'effort' : 'reasoningEffort']
}
