import type { ConfigValue, SettingChange, SettingPath } from '../../edits/types.ts'
import { ifPossible } from '../../errors.ts'
import type { FileFix } from '../../finding.ts'
import { addressFor, isSameButVersion } from '../../gateway/base-urls.ts'
import type { KeyHeader } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import type { HarmfulVariable, KnownVariables, SensitiveSettings } from '../contract/config.ts'
import type { ConfigFile, DiskReader, LoadedFile, LoadedFiles } from '../contract/files.ts'
import { isLoopbackUrl, shownUrl, withoutTrailingSlash } from '../files/addresses.ts'
import { type ParsedFile, parseKind, parseLayers } from '../files/parse-file.ts'
import { pathsOf, projectFolders } from '../files/paths.ts'
import { row } from '../files/sensitive-settings.ts'
import { readStrictly } from '../files/strict-json.ts'
import { isTable, merged, type Table, tableIn, textIn } from '../files/tables.ts'
import { readHeaders, textMembers } from '../plan/headers.ts'

// The key file.

/**
 * With `--keep-login`, auth.json keeps the login, and the provider's table names a command that prints the gateway's
 * key from a file of its own. Codex sends only that key to the gateway (0.118.0 and 0.171.0, 2026-11-29).
 */
export const keyFileName = 'repoint-key'

/**
 * The commands that print the file. Codex takes `cwd` from the folder of config.toml, so that no path needs quotes. It
 * removes the line break at the end of the output. `cat` was run with 0.118.0 and 0.171.0 on Linux; the command for
 * Windows was not run (2026-11-29). `/d` ignores the commands that the registry adds to each start of cmd.
 */
const commands = {
  posix: { command: 'cat', args: [keyFileName], cwd: '.' },
  windows: { command: 'cmd', args: ['/d', '/c', 'type', keyFileName], cwd: '.' },
} as const

/** The command for the system that has the file. */
export function commandFor({ path }: Pick<LoadedFile, 'path'>) {
  return /^(?:[A-Za-z]:)?\\/.test(path) ? commands.windows : commands.posix
}

/** Whether a value of `auth` is a command that a setup writes, on whichever system. */
export function printsKeyFile(auth: ConfigValue | undefined): boolean {
  return Object.values(commands).some((command) => isCommand(auth, command))
}

export function isCommand(
  auth: ConfigValue | undefined,
  { command, args, cwd }: (typeof commands)[keyof typeof commands],
): boolean {
  if (!isTable(auth)) return false
  return (
    textIn(auth, ['command']) === command &&
    JSON.stringify(auth['args']) === JSON.stringify(args) &&
    textIn(auth, ['cwd']) === cwd
  )
}

// Files.

/** `$CODEX_HOME`, else `~/.codex`. Absolute. */
export function codexHome(machine: Machine): string {
  const { join, named } = pathsOf(machine)
  return named('CODEX_HOME') ?? join(machine.home, '.codex')
}

/** The file that a setup writes with the gateway's models. */
const modelsFile = 'repoint-models.json'

const settings = { format: 'toml', content: 'settings', scope: 'keys', holdsSecret: false } as const
const editable = { ...settings, use: 'editable', owner: 'user' } as const
const layer = { ...settings, use: 'layer' } as const

export function codexFiles(machine: Machine, disk: DiskReader): readonly ConfigFile[] {
  const { join } = pathsOf(machine)
  const home = codexHome(machine)
  const auth = { ...editable, kind: 'auth', content: 'credentials', holdsSecret: true } as const
  const whole = { format: 'json', scope: 'whole' } as const

  return [
    // In the order of `plan`, which says why.
    { ...auth, ...whole, path: join(home, 'auth.json') },
    {
      ...auth,
      kind: 'key',
      format: 'key',
      scope: 'whole',
      path: join(home, keyFileName),
      isOptional: true,
    },
    { ...editable, ...whole, kind: 'models', path: join(home, modelsFile), isOptional: true },
    { ...editable, kind: 'config', path: join(home, 'config.toml') },
    ...layersOfCodex(machine, disk, home).filter(({ path }) => disk.exists(path)),
  ]
}

/**
 * The other configurations, weakest first: the system's, those of the project from its root inwards, profiles,
 * and the administrator's. In a trusted folder the `model` of a project overrides the user's; Codex ignores a
 * provider in it (0.140.0 to 0.169.0, 2026-11-23).
 */
function layersOfCodex(machine: Machine, disk: DiskReader, home: string): readonly ConfigFile[] {
  const { join } = pathsOf(machine)
  const isWindows = machine.os === 'win32'
  const managed = join(isWindows ? home : '/etc/codex', 'managed_config.toml')
  const projects = projectFolders(machine, disk)
    .map((folder) => join(folder, '.codex'))
    .filter((folder) => folder !== home)
  const profiles = disk.entries(home).filter((name) => name.endsWith('.config.toml'))

  const ofSystem = { ...layer, kind: 'system', owner: 'administrator' } as const
  const ofProject = { ...layer, kind: 'project', owner: 'folder' } as const
  const ofProfile = { ...layer, kind: 'profile', owner: 'user', isProfile: true } as const
  return [
    ...(isWindows ? [] : [{ ...ofSystem, path: '/etc/codex/config.toml' }]),
    ...projects.map((folder) => ({ ...ofProject, path: join(folder, 'config.toml') })),
    ...profiles.map((name) => ({ ...ofProfile, path: join(home, name) })),
    { ...layer, kind: 'managed', owner: 'administrator', path: managed },
  ]
}

// auth.json.

/** The contents of auth.json as Codex reads them. */
interface CodexAuth {
  /** The API key that it sends. */
  readonly usableKey?: string
  /** A key in the file that Codex does not use, because a login overrides it. */
  readonly shadowedKey?: string
  /** A login that Codex uses instead of a key, as shown after `a` or `your`. */
  readonly login?: string
  /** A login in the file that Codex does not use, because a key overrides it. */
  readonly shadowedLogin?: string
  /** Fields that other tools write a key into. Codex does not read them. */
  readonly unreadKeys?: readonly string[]
  /** Why Codex silently ignores the file. */
  readonly whyIgnored?: string
}

const chatgptLogin = 'ChatGPT login'

/** Fields of auth.json that are no login, or belong to that of ChatGPT. They do not change what Codex sends. */
const noLogins = new Set(['OPENAI_API_KEY', 'auth_mode', 'tokens', 'last_refresh'])

/**
 * Reads auth.json as Codex does: with a byte order mark, a comment or broken JSON, it ignores the whole file.
 * `auth_mode` decides between a key and ChatGPT tokens. Without it the key does (`codex login status` of 0.130.0,
 * 0.149.1, 0.162.1 and 0.169.0, 2026-11-28).
 */
export function readCodexAuth(file: LoadedFile): CodexAuth {
  const { root, whyIgnored } = readStrictly(file)
  if (whyIgnored !== undefined) return { whyIgnored }

  const key = root['OPENAI_API_KEY']
  const mode = root['auth_mode']
  const hasTokens = root['tokens'] !== undefined && root['tokens'] !== null
  const others = Object.keys(root).filter((name) => !noLogins.has(name) && root[name] !== null)
  const keyText = typeof key === 'string' && key !== '' ? key : undefined

  const hasKeyMode = mode === 'apikey' || keyText !== undefined
  if (mode === 'chatgpt' || mode === 'chatgptAuthTokens' || (hasTokens && !hasKeyMode))
    return { login: chatgptLogin, shadowedKey: keyText }
  if (mode !== undefined && mode !== null && mode !== 'apikey')
    return { login: `login of the kind ${JSON.stringify(mode)}`, shadowedKey: keyText }
  if (keyText === undefined) {
    const unreadKeys = others.filter((name) => /_(?:KEY|TOKEN)$/.test(name))
    const logins = others.filter((name) => !unreadKeys.includes(name))
    if (logins.length > 0) return { login: `login (${logins.join(', ')})` }
    return unreadKeys.length === 0 ? {} : { unreadKeys }
  }

  if (/[\r\n]/.test(keyText))
    return { whyIgnored: 'its key contains a line break', shadowedKey: keyText }
  if (hasTokens && !areTokens(root['tokens']))
    return { whyIgnored: 'Codex does not accept its tokens', shadowedKey: keyText }
  return { usableKey: keyText, ...(hasTokens && { shadowedLogin: chatgptLogin }) }
}

/** Whether Codex accepts the tokens. Otherwise it ignores the whole file, with the key (0.169.0, 2026-11-29). */
function areTokens(value: ConfigValue | undefined): boolean {
  if (!isTable(value)) return false
  const { id_token: id, access_token: access, refresh_token: refresh, account_id: account } = value
  const areTexts = [access, refresh, account ?? ''].every((text) => typeof text === 'string')
  return areTexts && typeof id === 'string' && isWebToken(id)
}

/** Whether a text is a JSON web token with claims in it. Its parts have no padding. */
function isWebToken(text: string): boolean {
  const [, part] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(text) ?? []
  const claims = part && ifPossible(() => JSON.parse(Buffer.from(part, 'base64url').toString()))
  return typeof claims === 'object' && claims !== null
}

// Providers.

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

/**
 * `openai_base_url` moves Codex's own provider. A conversation that was recorded with that provider continues
 * with it, whichever provider is selected now. Versions before 0.115.0 do not read it. Run with 0.115.0 to
 * 0.169.0, 2026-11-22.
 */
export const builtInAddressPath: SettingPath = ['openai_base_url']

/** The address for voice. opencodex 2.63.0 writes it next to `openai_base_url` (2026-11-29). */
export const voiceAddressPath: SettingPath = ['experimental_realtime_ws_base_url']

/** The provider that config.toml selects for a new conversation. */
interface ProviderInUse {
  /** Absent: Codex's own. */
  readonly id: string | undefined
  /** Absent: the provider is one of Codex's own, or missing. */
  readonly table: Table | undefined
  /** It has no table, and Codex does not start. */
  readonly isMissing: boolean
  /** The setting that holds the address. */
  readonly addressPath: SettingPath
  readonly url: string | undefined
  readonly keySource: KeySource
}

export function providerInUse(config: ParsedFile): ProviderInUse {
  const id = config.text(['model_provider'])
  const table = id === undefined ? undefined : config.table(['model_providers', id])
  const isBuiltIn = id === undefined || id === 'openai'
  const addressPath = isBuiltIn ? builtInAddressPath : ['model_providers', id, 'base_url']
  return {
    id,
    table,
    isMissing: id !== undefined && table === undefined && !reservedIds.includes(id),
    addressPath,
    url: config.text(addressPath),
    keySource: table || isBuiltIn ? keySourceOf(table) : { kind: 'none' },
  }
}

/** Where Codex takes its key from. */
type KeySource =
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
function keySourceOf(table: Table | undefined): KeySource {
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

function authorizationIn(table: Table): string | undefined {
  const [header] = textMembers(table['http_headers']).filter(({ name }) => isAuthorization(name))
  return header?.value.replace(/^Bearer /i, '')
}

export function isAuthorization(name: string): boolean {
  return name.toLowerCase() === 'authorization'
}

/** The settings of a provider table that hold a credential, which overrides auth.json. */
export const credentialSettings = ['env_key', 'experimental_bearer_token', 'auth']

/** Codex sends only the token of `gateway_oauth`, unless the table also requests auth.json. */
function hasOwnKey(table: Table): boolean {
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

// Other providers.

/**
 * A provider that sends the key of auth.json to another address than the gateway's. `providers.ts` reports it.
 *
 * All providers share auth.json, and Codex can use each of them next to the one in use: in a conversation
 * that was recorded with it, with `-c model_provider=ID`, or in a profile. Codex merges the tables of all
 * layers key by key. It does not read a project's providers. Run on 0.140.0, 0.145.0, 0.152.1, 0.161.0 and
 * 0.169.0, 2026-11-23.
 */
export interface OtherProvider {
  readonly id: string
  /** Merged from all layers. */
  readonly table: Table
  readonly url: string
  /** The address that gets the key, as shown to the user. */
  readonly address: string
  /** The file and line that set this address. */
  readonly location: string
  /** Its address is in a file that overrides config.toml: a profile, or the administrator's file. */
  readonly isAbove: boolean
  /** The file is a profile, and the address is on this machine: the key stays here. */
  readonly isLocalProfile: boolean
}

/**
 * The providers that send the key of auth.json to another address than `baseUrl`, including Codex's built-in
 * one. For the table of `ourId` only the address counts: a setup removes its harmful settings.
 *
 * @param planned what a setup is about to write into config.toml
 */
export function* otherProviders(
  files: LoadedFiles,
  baseUrl: string,
  ourId: string | undefined,
  planned: Table = {},
): Generator<OtherProvider> {
  const config = parseKind(files, 'config')
  const ignoredIds = reservedIds.filter((id) => id !== 'openai')
  const reported = new Set<string>()

  for (const layers of layerStacks(files, planned)) {
    for (const [id, table] of Object.entries(providerTablesIn(layers.settings))) {
      if (ignoredIds.includes(id) || reported.has(id)) continue
      if (!isTable(table) || hasOwnKey(table)) continue

      const redirect = redirectOf(table, baseUrl, id !== ourId)
      if (redirect === undefined) continue
      // Each provider is reported once, although several profiles may merge its table.
      reported.add(id)

      const path = id === 'openai' ? builtInAddressPath : ['model_providers', id, redirect.setting]
      const { url, address } = redirect
      const { location, isAbove, isProfile } = locate(layers, path, config)
      const isLocalProfile = isProfile && isLoopbackUrl(url)
      yield { id, table, url, address, location, isAbove, isLocalProfile }
    }
  }
}

/** The files that Codex merges in one of its starts, and the settings that follow. */
interface LayerStack {
  readonly settings: Table
  /** The administrator's defaults and config.toml, weakest first. */
  readonly below: readonly ParsedFile[]
  /** The files that override config.toml: a profile, and what the administrator manages. */
  readonly above: readonly ParsedFile[]
}

/**
 * Merges the layers without a profile, then with each profile: Codex uses at most one at a time.
 *
 * @param planned what a setup is about to write into config.toml
 */
function layerStacks(files: LoadedFiles, planned: Table = {}): readonly LayerStack[] {
  const below = [...parseLayers(files, 'system'), parseKind(files, 'config')]
  const managed = parseLayers(files, 'managed')
  const profiles = parseLayers(files, 'profile').map((profile) => [profile])

  return [[], ...profiles].map((profile) => {
    const above = [...profile, ...managed]
    const tables = [...tablesOf(below), planned, ...tablesOf(above)]
    return { settings: tables.reduce(merged, {}), below, above }
  })
}

function tablesOf(files: readonly ParsedFile[]): readonly Table[] {
  return files.map((file) => file.root)
}

/** The setting of a provider's table that sends its key elsewhere. Undefined: none does. */
function redirectOf(
  table: Table,
  baseUrl: string,
  mayHaveHarmfulSettings: boolean,
): { readonly setting: string; readonly url: string; readonly address: string } | undefined {
  const url = textIn(table, ['base_url']) ?? vendorUrl
  if (!isSameButVersion(url, baseUrl)) return { setting: 'base_url', url, address: shownUrl(url) }

  const [harmful] = mayHaveHarmfulSettings ? harmfulSettings(table) : []
  if (harmful === undefined) return undefined
  return { setting: harmful, url, address: `another address (${harmful})` }
}

/** The strongest file that sets a path, or else config.toml. */
function locate({ below, above }: LayerStack, path: SettingPath, config: ParsedFile) {
  const isSetIn = (file: ParsedFile) => file.get(path) !== undefined
  const strongest = [...below, ...above].findLast(isSetIn)
  return {
    location: strongest?.place(path) ?? config.path,
    isAbove: above.some(isSetIn),
    isProfile: strongest?.kind === 'profile',
  }
}

/** The provider tables of the merged settings, with Codex's built-in provider. */
function providerTablesIn(settings: Table): Table {
  const vendor = textIn(settings, builtInAddressPath) ?? vendorUrl
  const openai = { base_url: vendor, requires_openai_auth: true }
  return { ...tableIn(settings, ['model_providers']), openai }
}

/** The address other than `baseUrl` to which every version sends the key of auth.json. Not one that a user accepts. */
export function otherAddress(files: LoadedFiles, baseUrl: string): string | undefined {
  const ourId = providerInUse(parseKind(files, 'config')).id
  for (const { table, url, address, isLocalProfile } of otherProviders(files, baseUrl, ourId)) {
    if (table['requires_openai_auth'] !== true || isLocalProfile) continue
    return isSameButVersion(url, baseUrl)
      ? address
      : shownUrl(addressFor(withoutTrailingSlash(url), 'responses'))
  }
  return undefined
}

// Where each setting may be, and what it decides.

const tried = '0.169.0, 2026-11-21'

const provider = 'model_providers.:provider'

/** From 0.129.0 on, Codex says "Ignored unsupported project-local config keys" (0.128.0 to 0.171.0 run, 2026-11-28). */
const ofOldProjects = {
  fileKinds: ['project'],
  before: '0.129.0',
  source: '0.105.0 to 0.128.0, 2026-11-28',
}

const user = ['config']
/** Files that override the user's own. */
const stronger = ['managed', 'profile']

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'config',
  // In a project Codex reads them only if the folder is trusted.
  rows: [
    row('openai_base_url', 'address', [...user, ...stronger], tried),
    { path: 'openai_base_url', role: 'address', ...ofOldProjects },
    {
      path: 'experimental_realtime_ws_base_url',
      role: 'address',
      fileKinds: user,
      isUntested: true,
      source: 'program of 0.171.0, 2026-11-29',
    },
    row(provider, 'provider', stronger, tried),
    { path: provider, role: 'provider', ...ofOldProjects },
    row(`${provider}.base_url`, 'address', user, tried),
    row(`${provider}.query_params`, 'address', user, tried),
    row(`${provider}.requires_openai_auth`, 'key', user, tried),
    row(`${provider}.env_key`, 'key', user, tried),
    row(`${provider}.experimental_bearer_token`, 'key', user, tried),
    row(`${provider}.auth`, 'key', user, tried),
    row('model_provider', 'provider', [...user, ...stronger], tried),
    { path: 'model_provider', role: 'provider', ...ofOldProjects },
    row('cli_auth_credentials_store', 'key', stronger, tried),
    row('forced_login_method', 'key', stronger, tried),
    row('model', 'model', [...user, ...stronger, 'project'], tried),
    row('OPENAI_API_KEY', 'key', ['auth'], tried),
    row('auth_mode', 'key', ['auth'], tried),
    row('key', 'key', ['key'], '0.118.0 and 0.171.0, 2026-11-29'),
  ],
}

// Variables of the environment.

/** Without effect next to a key in the provider's table (0.171.0, 2026-11-28). */
export const keyVariables: readonly HarmfulVariable[] = [
  {
    name: 'CODEX_API_KEY',
    code: 'codex-environment-key',
    effect: 'Codex sends this key instead of your gateway key',
    severity: 'error',
  },
  {
    name: 'CODEX_ACCESS_TOKEN',
    code: 'codex-environment-token',
    effect: 'Codex sends no key',
    severity: 'error',
  },
]

/** They stop Codex, whatever key its table has (0.171.0, 2026-11-28). Earlier versions do not read them. */
export const identityVariables: readonly HarmfulVariable[] = [
  'OPENAI_IDENTITY_TOKEN_FILE',
  'OPENAI_IDENTITY_TOKEN_SOURCE',
  'OPENAI_FEDERATION_RULE_ID',
  'OPENAI_SPIFFE_AUDIENCE',
].map((name) => ({
  name,
  code: 'codex-environment-identity',
  effect: 'Codex does not start, from 0.171.0 on',
  severity: 'error',
}))

export const variables: KnownVariables = {
  families: ['CODEX_', 'OPENAI_'],
  harmful: [...keyVariables, ...identityVariables],
  // Each was run with 0.171.0 and a key in auth.json, 2026-11-28.
  harmless: [
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'OPENAI_API_BASE',
    'CODEX_EXEC_SERVER_URL',
    'CODEX_GITHUB_PERSONAL_ACCESS_TOKEN',
    'CODEX_OSS_BASE_URL',
    'CODEX_CONNECTORS_TOKEN',
    'CODEX_REFRESH_TOKEN_URL_OVERRIDE',
    'CODEX_REVOKE_TOKEN_URL_OVERRIDE',
    'CODEX_AUTHAPI_BASE_URL',
    'CODEX_APP_SERVER_LOGIN_CLIENT_ID',
  ],
}
