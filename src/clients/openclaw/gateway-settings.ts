import type { SettingPath } from '../../edits/types.ts'
import type { GatewaySettings } from '../contract/config.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { type Table, tableIn, textIn } from '../files/tables.ts'
import { effectiveSettings, providerOf, providerPath } from '../pi-family/providers.ts'
import {
  agentsWithModel,
  defaultModelPath,
  providerFormat,
  readConfig,
  startingModel,
} from './config.ts'

/** The provider that OpenClaw starts with, and every agent's model of that provider. */
export function gatewaySettings(files: LoadedFiles): GatewaySettings {
  const file = readConfig(files)
  const { providerId, model } = startingModel(file)
  if (providerId === undefined) return {}
  const provider = providerOf(providerFormat, file, providerId)
  const { baseUrl } = effectiveSettings(provider, model).endpoint
  if (baseUrl === undefined) return {}

  const ofProvider = providerPath(providerFormat, providerId)
  return { config: [ofProvider, ...modelPathsOf(file.root, providerId)] }
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
