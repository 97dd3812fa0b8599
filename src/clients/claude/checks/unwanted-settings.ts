import type { SettingChange, SettingPath } from '../../../edits/types.ts'
import type { FileFix, Finding, Findings } from '../../../finding.ts'
import { isExported } from '../../checks/environment.ts'
import type { ClientContext } from '../../contract/client.ts'
import { type ClaudeSettings, names } from '../settings.ts'

/** A setting that a setup removes or replaces if the file has it and the user agrees. */
export function* checkUnwantedSettings(
  settings: ClaudeSettings,
  path: SettingPath,
  { value, ...finding }: Unwanted,
): Findings {
  const { env, root } = settings
  const name = String(path.at(-1))
  if (path.length === 1 ? root[name] === undefined : !env[name]) return

  yield {
    location: settings.place(path),
    hint: 'Remove it.',
    fix: settingsRepair(changeTo(path, value)),
    needsConsentTo: `Remove ${name} from ${settings.path}.`,
    severity: 'error',
    ...finding,
  }
}

interface Unwanted
  extends Pick<Finding, 'code' | 'message'>,
    Partial<Pick<Finding, 'hint' | 'needsConsentTo' | 'severity'>> {
  /** The new value. Undefined: the setting is removed. */
  readonly value?: string
}

export function settingsRepair(...changes: readonly SettingChange[]): FileFix {
  return { fileKind: 'settings', changes }
}

const credentials = [names.apiKey, names.token, names.headers, 'apiKeyHelper']

/**
 * A change that masks a credential where it is shown. The plan adds the role that keeps a credential together
 * with its address in an undo (`editFile`).
 */
export function changeTo(path: SettingPath, value: string | undefined): SettingChange {
  const isCredential = credentials.some((name) => name === path.at(-1))
  return { path, value, ...(isCredential ? { isSecret: true } : {}) }
}

/** The value that disables a variable: an empty value in the settings' `env` overrides the shell's. */
export function withoutEffect(context: ClientContext, name: string): '' | undefined {
  return isExported(context, name) ? '' : undefined
}
