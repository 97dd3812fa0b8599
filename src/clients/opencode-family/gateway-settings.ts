import type { SettingPath } from '../../edits/types.ts'
import type { GatewaySettings } from '../contract/config.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { fileOf, type ParsedFile, parseKind } from '../files/parse-file.ts'
import { gatewaySettingsIn } from '../files/sensitive-settings.ts'
import { loginOf, mergedConfig, providerIdInUse, providerOf } from './config.ts'
import type { Fork } from './fork.ts'
import { sensitiveSettings } from './sensitive-settings.ts'

/**
 * The provider of the default model, its entry in auth.json, and every model that names it. If the client
 * ships the provider, only its address, key and headers count, and a login that is not a key stays.
 */
export function gatewaySettings(
  { reservedProviderIds }: Fork,
  files: LoadedFiles,
): GatewaySettings {
  const { value } = mergedConfig(files)
  const id = providerIdInUse(value)
  if (id === undefined || providerOf(value, id).url === undefined) return {}

  const config = parseKind(files, 'config')
  const isShipped = reservedProviderIds.includes(id)
  const isOfProvider = (path: SettingPath) =>
    (path.length === 2 && path[0] === 'provider') || config.text(path)?.startsWith(`${id}/`)
  const all = gatewaySettingsIn(sensitiveSettings, fileOf(files, 'config'), id)

  return {
    config: [
      ...all.filter(isOfProvider).filter(([name]) => !isShipped || name !== 'provider'),
      ...(isShipped ? movedSettings(config, id) : []),
      ...enabledProvider(config, id),
    ],
    auth: isShipped && !isKey(files, id) ? [] : [[id]],
  }
}

function movedSettings(config: ParsedFile, id: string): readonly SettingPath[] {
  const providerPath = ['provider', id]
  return [
    ...['baseURL', 'apiKey', 'headers'].map((name) => [...providerPath, 'options', name]),
    ...['api', 'npm'].map((name) => [...providerPath, name]),
  ].filter((path) => config.get(path) !== undefined)
}

/** A list that allows only the gateway would leave the client without any provider. */
function enabledProvider(config: ParsedFile, id: string): readonly SettingPath[] {
  const path = ['enabled_providers']
  const enabled = config.get(path)
  if (!Array.isArray(enabled) || !enabled.includes(id)) return []
  return [enabled.length === 1 ? path : [...path, { element: id }]]
}

function isKey(files: LoadedFiles, id: string): boolean {
  const login = loginOf(files, id)
  return typeof login === 'object' && login !== null && 'type' in login && login.type === 'api'
}
