import type { GatewaySettings } from '../contract/config.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { fileOf } from '../files/parse-file.ts'
import { gatewaySettingsIn } from '../files/sensitive-settings.ts'
import { sensitiveSettings } from './sensitive-settings.ts'
import { inEnv, names, readRepairedSettings, slotOf, slotVariables } from './settings.ts'

/**
 * The slots with their labels, and the settings about the gateway's models. A top-level `model` that names a
 * slot stays: Claude Code's own service has the slots too.
 */
export function gatewaySettings(files: LoadedFiles): GatewaySettings {
  const file = fileOf(files, 'settings')
  // A file that Claude Code skips counts too: somebody may remove its comments tomorrow.
  const { env, root } = readRepairedSettings(file)
  if (!env[names.baseUrl]) return {}

  const isSlot = typeof root['model'] === 'string' && slotOf(root['model']) !== undefined
  const known = gatewaySettingsIn(sensitiveSettings, file)
  const ofModels = Object.keys(env).filter(
    (name) =>
      name === names.contextTokens ||
      name === names.discovery ||
      slotVariables.some((slot) => name.startsWith(`${slot}_`)),
  )
  return {
    settings: [
      ...known.filter(([name]) => name !== 'model' || !isSlot),
      ...ofModels.map((name) => inEnv(name)),
    ],
  }
}
