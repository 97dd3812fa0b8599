import type { ConfigValue, SettingChange, SettingPath } from '../../../edits/types.ts'
import type { FileFix } from '../../../finding.ts'
import type { KeyHeader } from '../../../gateway/types.ts'
import type { LoadedFiles } from '../../contract/files.ts'
import { type ParsedFile, parseLayers } from '../../files/parse-file.ts'
import { isTable, type Table, textIn } from '../../files/tables.ts'
import { readHeaders, textMembers } from '../../plan/headers.ts'
import { printsKeyFile } from './key-command.ts'

export function configRepair(...changes: readonly SettingChange[]): FileFix {
  return { fileKind: 'config', changes }
}

/** Codex does not start if a table has one of these names (0.169.0, 2026-11-24). */
export const reservedIds: readonly string[] = [
  'openai',
  'ollama',
  'lmstudio',
  'amazon-bedrock',
  'amazon-bedrock-runtime',
  'gcp',
]

/** A table of `model_providers`. */
export interface Provider {
  readonly id: string
  readonly table: Table
  readonly path: SettingPath
}

/** The header of a provider's table, for messages. */
export function tableName(id: string): string {
  return `[model_providers.${id}]`
}

export function providersOf(config: ParsedFile): readonly Provider[] {
  return config
    .members(['model_providers'])
    .flatMap(([id, table]) =>
      isTable(table) ? [{ id, table, path: ['model_providers', id] }] : [],
    )
}

/** The provider that config.toml selects. Without a table it is one of Codex's own, or missing. */
export function providerInUse(
  config: ParsedFile,
): { readonly id: string; readonly table: Table | undefined } | undefined {
  const id = config.text(['model_provider'])
  return id === undefined ? undefined : { id, table: config.table(['model_providers', id]) }
}

/**
 * `openai_base_url` moves Codex's own provider. A conversation that was recorded with that provider continues
 * with it, whichever provider is selected now. Versions before 0.115.0 do not read it. Run with 0.115.0 to
 * 0.169.0, 2026-11-22.
 */
export const builtInAddressPath: SettingPath = ['openai_base_url']

/** The address for voice. opencodex 2.63.0 writes it next to `openai_base_url` (2026-11-29). */
export const voiceAddressPath: SettingPath = ['experimental_realtime_ws_base_url']

/** The address for a new conversation, and the setting that holds it. */
export function addressInUse(config: ParsedFile): {
  readonly path: SettingPath
  readonly url?: string
} {
  const inUse = providerInUse(config)
  const isOwn = inUse === undefined || inUse.id === 'openai'
  const path = isOwn ? builtInAddressPath : ['model_providers', inUse.id, 'base_url']
  const url = config.text(path)
  return url === undefined ? { path } : { path, url }
}

/** Where Codex takes its key from. */
export type KeySource =
  /** A command, or another login of the table. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'table'; readonly key: string; readonly keyHeader: KeyHeader }
  /** The command of the table prints the file that `--keep-login` writes. */
  | { readonly kind: 'key-file' }
  /** `CODEX_API_KEY` overrides its key. */
  | { readonly kind: 'auth.json' }
  | { readonly kind: 'none' }

/**
 * The source that Codex uses among those of a provider's table (each neighbouring pair run with 0.171.0, 2026-11-28).
 *
 * @param table undefined: Codex's own provider
 */
export function keySourceOf(table: Table | undefined): KeySource {
  if (table === undefined) return { kind: 'auth.json' }
  const needsAuthFile = table['requires_openai_auth'] === true
  if (table['auth'] !== undefined)
    return { kind: printsKeyFile(table['auth']) ? 'key-file' : 'elsewhere' }

  // Without that variable Codex stops, whatever else the table has.
  const name = textIn(table, ['env_key'])
  if (name !== undefined) return { kind: 'variable', name }
  const token = textIn(table, ['experimental_bearer_token'])
  if (token !== undefined) return { kind: 'table', key: token, keyHeader: 'authorization' }

  // Next to requires_openai_auth, Codex does not send an Authorization of `http_headers`.
  if (needsAuthFile) return { kind: 'auth.json' }
  const authorization = authorizationIn(table)
  if (authorization !== undefined)
    return { kind: 'table', key: authorization, keyHeader: 'authorization' }
  const { headerKey } = readHeaders(table['http_headers'])
  if (headerKey !== undefined) return { kind: 'table', ...headerKey }
  const isElsewhere =
    table['gateway_oauth'] !== undefined || table['env_http_headers'] !== undefined
  return { kind: isElsewhere ? 'elsewhere' : 'none' }
}

/** The key in the Authorization header of a table. */
function authorizationIn(table: Table): string | undefined {
  const [header] = textMembers(table['http_headers']).filter(({ name }) => isAuthorization(name))
  return header?.value.replace(/^Bearer /i, '')
}

export function isAuthorization(name: string): boolean {
  return name.toLowerCase() === 'authorization'
}

/** The source of the key that Codex sends to the provider in use. */
export function keySourceInUse(config: ParsedFile): KeySource {
  const inUse = providerInUse(config)
  if (inUse === undefined || inUse.table !== undefined) return keySourceOf(inUse?.table)
  return { kind: inUse.id === 'openai' ? 'auth.json' : 'none' }
}

/** Whether the provider in use sends the key of auth.json. */
export function takesAuthFile(config: ParsedFile): boolean {
  return keySourceInUse(config).kind === 'auth.json'
}

/** The settings of a provider table that hold a credential, which overrides auth.json. */
export const credentialSettings = ['env_key', 'experimental_bearer_token', 'auth']

/** Codex sends only the token of `gateway_oauth`, unless the table also requests auth.json. */
export function hasOwnKey(table: Table): boolean {
  const hasToken = table['gateway_oauth'] !== undefined && table['requires_openai_auth'] !== true
  return hasToken || credentialSettings.some((key) => table[key] !== undefined)
}

/**
 * The settings of a provider table with which Codex starts and sends the key to `base_url` only. Read from the
 * fields of `ModelProviderInfo` in nine versions from 0.105.0 to 0.169.0, and run on 0.105.0 and 0.169.0,
 * 2026-11-24.
 */
export const harmless: readonly string[] = [
  'name',
  'base_url',
  'wire_api',
  'requires_openai_auth',
  'supports_websockets',
  'request_max_retries',
  'stream_max_retries',
  'stream_idle_timeout_ms',
  'websocket_connect_timeout_ms',
]

/** Settings that describe one gateway or that Codex sends to it: harmless only at the gateway that they are for. */
const settingsOfOneGateway = [
  ...['query_params', 'http_headers', 'env_http_headers', 'env_key_instructions'],
  ...['capabilities', 'supports_standalone_web_search'],
]

/**
 * The settings that may send the key of auth.json to another address, or stop Codex. Every unknown setting
 * counts as one. Codex sends the key to `model_catalog_url` (by default from 0.162.1 on, in 0.157.1 with the feature
 * `api_key_model_discovery`), and does not start with `aws` or, next to auth.json, with `gateway_oauth`.
 */
export function harmfulSettings(table: Table): readonly string[] {
  const known = [...credentialSettings, ...harmless, ...settingsOfOneGateway]
  return Object.keys(table).filter((key) => !known.includes(key))
}

/** The files, next to config.toml, in which Codex reads provider tables. A setup does not write them. */
export function otherLayers(files: LoadedFiles): readonly ParsedFile[] {
  return ['system', 'profile', 'managed'].flatMap((kind) => parseLayers(files, kind))
}

/**
 * With this name Codex asks the server to compact a long conversation, which only OpenAI's can: the conversation ends
 * with "expected exactly one compaction output item" (0.171.0, 2026-11-28).
 */
export const vendorName = 'OpenAI'

/** With these names Codex sends no key of auth.json (0.155.1 to 0.169.0, 2026-11-24). */
export function isBedrockName(name: ConfigValue | undefined): boolean {
  return name === 'Amazon Bedrock' || name === 'Amazon Bedrock Runtime'
}

/** The token for a provider that needs no key. */
export const noKey = 'repoint-no-key'

/** The settings that keep the key of auth.json from a provider: a variable that is not set, or a token. */
export const keyBlockers = {
  // Nobody sets that variable, so Codex sends the provider nothing.
  env_key: 'REPOINT_SET_ASIDE',
  env_key_instructions:
    'repoint moved Codex to another gateway. Continue there: codex fork ID. Or undo: repoint rollback codex',
  experimental_bearer_token: noKey,
}

export function isTurnedOff(table: ConfigValue | undefined): boolean {
  return textIn(table, ['env_key']) === keyBlockers.env_key
}

/** The address of Codex's own provider if `openai_base_url` is not set. */
export const vendorUrl = 'https://api.openai.com/v1'
