import { type SettingPath, wholeFile } from '../../edits/types.ts'
import type { GatewaySettings } from '../contract/config.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import { fileOf, parseKind } from '../files/parse-file.ts'
import { gatewaySettingsIn } from '../files/sensitive-settings.ts'
import { readStrictly } from '../files/strict-json.ts'
import { readCodexAuth } from './auth.ts'
import { modelsFilePath, usesModelsFile } from './models-file.ts'
import {
  addressInUse,
  keySourceInUse,
  providerInUse,
  reservedIds,
  takesAuthFile,
} from './providers/provider.ts'
import { sensitiveSettings } from './sensitive-settings.ts'

/**
 * The whole table of the provider in use. It also counts if `model_provider` names a table that is
 * missing: Codex does not start then. auth.json counts only if its key is sent to the gateway; a login in
 * it stays.
 */
export function gatewaySettings(files: LoadedFiles): GatewaySettings {
  const [config, file] = [parseKind(files, 'config'), fileOf(files, 'config')]
  const inUse = providerInUse(config)
  const isMissing = inUse && !inUse.table && !reservedIds.includes(inUse.id)
  if (addressInUse(config).url === undefined && !isMissing) return {}

  const ofModel = [['model_context_window']].filter((path) => config.get(path) !== undefined)
  // With it Codex deletes a ChatGPT login at its start (0.149.1 and 0.169.0, 2026-11-26).
  const isKeyForced = config.text(['forced_login_method']) === 'api'
  // `ollama launch codex-app` writes it. Newer versions of Codex do not start with it.
  const profile = config.text(['profile']) ?? ''
  const isOfProfile = inUse && config.text(['profiles', profile, 'model_provider']) === inUse.id
  const hasModelsFile = usesModelsFile(files, config)
  const hasKeyFile = fileOf(files, 'key').bytes !== null
  const isKeyUsed = takesAuthFile(config)
  return {
    config: [
      ...gatewaySettingsIn(sensitiveSettings, file, inUse?.id),
      ...ofModel,
      ...(hasModelsFile ? [modelsFilePath] : []),
      ...(isKeyForced ? [['forced_login_method']] : []),
      ...(isOfProfile ? [['profile']] : []),
    ],
    models: hasModelsFile && fileOf(files, 'models').bytes !== null ? [wholeFile] : [],
    key: keySourceInUse(config).kind === 'key-file' && hasKeyFile ? [wholeFile] : [],
    auth: isKeyUsed ? keySettings(fileOf(files, 'auth')) : [],
  }
}

/**
 * The setting of the key that Codex sends: the whole file if nothing else is in it. None if Codex sends no
 * key from it.
 */
export function keySettings(file: LoadedFile): readonly SettingPath[] {
  if (readCodexAuth(file).usableKey === undefined) return []
  const { root } = readStrictly(file)
  const ofKey = ['OPENAI_API_KEY', 'auth_mode'].filter((name) => root[name] !== undefined)
  const others = Object.keys(root).filter((name) => !ofKey.includes(name) && root[name] !== null)
  return others.length === 0 ? [wholeFile] : ofKey.map((name) => [name])
}
