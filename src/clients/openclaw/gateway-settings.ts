import type { SettingPath } from '../../edits/types.ts'
import type { GatewaySettings } from '../contract/config.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { type Table, tableIn, textIn } from '../files/tables.ts'
import { effectiveSettings, providerOf, providerPath } from '../pi-family/providers.ts'
import {
  agentsWithModel,
  defaultModelPath,
  providers,
  readConfig,
  startingModel,
} from './config.ts'

/** The provider that OpenClaw starts with, and every agent's model of that provider. */
export function gatewaySettings(files: LoadedFiles): GatewaySettings {
  const file = readConfig(files)
  const { providerId, model } = startingModel(file)
  if (providerId === undefined) return {}
  const { baseUrl } = effectiveSettings(providerOf(providers, file, providerId), model).endpoint
  if (baseUrl === undefined) return {}

  const provider = providerPath(providers, providerId)
  return { config: [provider, ...modelPathsOf(file.root, providerId)] }
}

/** The settings that choose a provider's models: for all agents, and for single ones. */
function modelPathsOf(root: Table, providerId: string): readonly SettingPath[] {
  const path = defaultModelPath(root)
  const isOfProvider = (model = '') => model.startsWith(`${providerId}/`)
  const members = Object.keys(tableIn(root, path.slice(0, 3)))
  const whole = members.length === 1 ? path.slice(0, 3) : path
  const agentModels = agentsWithModel(root).filter(({ model }) => isOfProvider(model))
  return [
    ...(isOfProvider(textIn(root, path)) ? [whole] : []),
    ...agentModels.map((agent) => agent.path),
  ]
}
