/**
 * The facts of opencode and its forks, and what their files say. Run with opencode 1.18.33, 2026-11-21 to 2026-11-23,
 * unless a comment says otherwise.
 */
import { win32 } from 'node:path'
import type { ConfigValue, SettingPath } from '../../edits/types.ts'
import { type KeyHeader, type Protocol, protocols } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import type { ClientModule, ClientName } from '../contract/client.ts'
import type { FolderFiles, HarmfulVariable, SensitiveSettings } from '../contract/config.ts'
import type { ConfigFile, DiskReader, LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { SettingOption } from '../contract/options.ts'
import type { Program, Recordings } from '../contract/program.ts'
import type { ClientState, Endpoint, SentKey } from '../contract/state.ts'
import { withoutTrailingSlash } from '../files/addresses.ts'
import {
  fileOf,
  filesOfKind,
  mergedFiles,
  originOf,
  type ParsedFile,
  parseFile,
  parseLayers,
  unreadable,
  wordsIn,
} from '../files/parse-file.ts'
import { editableFile, layersThere, pathsOf } from '../files/paths.ts'
import { gatewaySettingsIn, row, type SensitiveRole } from '../files/sensitive-settings.ts'
import { readStrictly, type StrictFile } from '../files/strict-json.ts'
import { numberIn, type Table, tableIn, textIn, valueIn } from '../files/tables.ts'
import type { WindowHandling } from '../models/context-window.ts'
import { reasoningEffortFlag } from '../options/flags.ts'
import { readHeaders } from '../plan/headers.ts'
import { readSettingOptions } from '../plan/setting-options.ts'
import type { testedVersions } from '../program/tested.ts'

// Facts.

/**
 * What opencode or one of its forks passes to the module that they share (`clientOf`). What only one of them does
 * is in its own file instead, as a function that replaces one of that module (kilo.ts). The program has the
 * client's ID as its name.
 */
export interface Fork extends ClientName {
  /** The name of its folder among those of the XDG specification, and of the administrator's folder. */
  readonly folder: string
  /** The names of its configuration in its own folder, weakest first. */
  readonly configNames: readonly string[]
  /** The file that it creates if there is none. */
  readonly newConfig: string
  /** The names of its configuration in a project and in folders below it, weakest first. */
  readonly projectNames: readonly string[]
  /** Folders with configuration in a project and in the home folder, weakest first. */
  readonly dotFolders: readonly string[]
  readonly folderFiles: readonly FolderFiles[]
  /** The prefix of its variables: `OPENCODE` of `OPENCODE_CONFIG` and others. */
  readonly variables: string
  readonly schema: string
  /** IDs of providers that it ships: it merges its own settings for an ID with the configured ones. */
  readonly reservedProviderIds: readonly string[]
  /** Models for which it sends no token limit. Absent: none. */
  readonly asksForNoLimit?: RegExp
  /** What it does with the context windows of models. */
  readonly window: WindowHandling
  /** The name of its key file, next to auth.json: see `OwnConfig`. Absent: every version reads auth.json. */
  readonly keyFile?: string
  /**
   * The version that does not start with keys of the next major version of opencode. Absent: all versions do.
   */
  readonly refusesPermissionsAs?: string
  /** Its `tested.json`. */
  readonly tested: Parameters<typeof testedVersions>[0]
  readonly loadRecordings: () => Promise<Recordings>
  readonly program: Omit<Program, 'command' | 'testedVersions' | 'restartAdvice'>
}

/** Provider IDs that opencode ships and that a user may choose (of the 225 of 1.18.33). */
export const reservedProviderIds = wordsIn(`
  alibaba amazon-bedrock anthropic azure azure-cognitive-services baseten cerebras chutes
  cloudflare-ai-gateway cloudflare-workers-ai cohere databricks deepinfra deepseek digitalocean
  fireworks-ai github-copilot gitlab google google-vertex google-vertex-anthropic groq helicone
  huggingface llama lmstudio meta minimax mistral modelscope moonshotai nebius nvidia ollama-cloud
  openai opencode opencode-go openrouter perplexity requesty scaleway siliconflow snowflake-cortex
  togetherai v0 venice vercel volcengine wandb watsonx xai zai zhipuai`)

/**
 * The package that sends the requests of a provider, or of one of its models: `npm` names it. The client contains
 * these three; any other one hangs offline. A model's own package overrides the provider's (run with opencode 1.2.27,
 * 1.14.41, 1.18.3, 1.18.34 and Kilo 7.0.33, 7.7.9, 2026-11-26).
 */
export const packages: Readonly<Record<Protocol, string>> = {
  chat: '@ai-sdk/openai-compatible',
  responses: '@ai-sdk/openai',
  messages: '@ai-sdk/anthropic',
}

/** The package of the provider that a setup writes. */
export const usualPackage = packages.chat

/** In the entry of a model: its package. */
export const npmPath = ['provider', 'npm']

/** Files that override the user's own. */
const stronger = ['project', 'upper', 'managed']
const all = ['config', ...stronger]
/** Run with opencode; Kilo 7.7.9 reads the same keys. */
const tried = '1.18.33, 2026-11-23'

/** A row that was only read in the program of 1.18.34, 2026-11-23. */
function untested(path: string, role: SensitiveRole, fileKinds: readonly string[]) {
  return { ...row(path, role, fileKinds, 'read in 1.18.34, 2026-11-23'), isUntested: true } as const
}

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'config',
  rows: [
    row('provider.:provider.options.baseURL', 'address', all, tried),
    row('provider.:provider.api', 'address', stronger, tried),
    untested('provider.*.models.*.provider', 'address', ['project']),
    untested('enterprise.url', 'address', ['project']),
    row('provider.:provider.options.apiKey', 'key', all, tried),
    row('provider.:provider.options.headers', 'key', stronger, tried),
    untested('provider.*.models.*.headers', 'key', ['project']),
    row('provider.:provider.env', 'key', stronger, tried),
    row(':provider.key', 'key', ['auth'], tried),
    row('key', 'key', ['key'], '1.18.34, 2026-11-29'),
    row('provider.:provider.npm', 'provider', all, tried),
    row('provider.:provider.models.*.provider.npm', 'provider', ['config'], '1.18.34, 2026-11-26'),
    row('model', 'model', [...all, 'project-agent'], tried),
    row('small_model', 'model', all, tried),
    row('default_agent', 'model', all, tried),
    row('agent.*.model', 'model', ['config', 'project'], tried),
    row('mode.*.model', 'model', ['config', 'project'], tried),
    untested('command.*.model', 'model', ['config', 'project']),
    row('enabled_providers', 'model', all, tried),
    row('disabled_providers', 'model', all, tried),
  ],
}

/** `_CONFIG_CONTENT` is extended by a launch. */
export function harmfulVariables({
  id,
  label,
  variables,
}: Pick<Fork, 'id' | 'label' | 'variables'>): readonly HarmfulVariable[] {
  return [
    {
      name: `${variables}_AUTH_CONTENT`,
      code: `${id}-environment-auth`,
      effect: `${label} reads it instead of auth.json`,
      severity: 'error',
    },
    {
      name: `${variables}_CONFIG_CONTENT`,
      code: `${id}-environment-config`,
      effect: 'it overrides every file',
      severity: 'warning',
      isLeftToLaunch: true,
    },
  ]
}

/**
 * The settings of a provider that opencode and Kilo only use themselves, and those that `firstRequest` adds to the
 * probe. Read in the schemas of 1.18.34 and Kilo 7.7.9, 2026-11-28.
 */
export const harmless: readonly string[] = [
  ...['npm', 'name', 'whitelist', 'blacklist', 'options.baseURL'],
  ...['options.timeout', 'options.headerTimeout', 'options.chunkTimeout'],
  ...['name', 'family', 'release_date', 'status', 'experimental', 'cost', 'limit'].map(ofModel),
  ...['attachment', 'reasoning', 'temperature', 'tool_call', 'modalities'].map(ofModel),
  ...['provider.npm', 'options.reasoningEffort', 'options.effort'].map(ofModel),
]

function ofModel(member: string): string {
  return `models.*.${member}`
}

/**
 * The limit that the client sends if it knows none for a model, in tokens (seen in 1.18.33). A window
 * requires an output limit next to it; this one changes nothing.
 */
export const defaultOutputTokens = 32_000

/** The path of the effort in the entry of a model (1.18.34, 2026-11-26). */
export function effortPath(protocol: Protocol | undefined): readonly [string, string] {
  return ['options', protocol === 'messages' ? 'effort' : 'reasoningEffort']
}

/** The options that one member of the entry of a model holds. The paths begin below the entry. */
export function entryOptions(protocol: Protocol | undefined): readonly SettingOption[] {
  return [{ ...reasoningEffortFlag, path: effortPath(protocol) }]
}

// Reader.

/** Subfolders with agents, each of which may set a model (1.18.34, Kilo 7.7.9). */
const agentFolders = ['agent', 'agents', 'mode', 'modes']

const xdgFolders = { CONFIG: '.config', DATA: '.local/share', STATE: '.local/state' } as const

/** These clients use the XDG folders on every system, including Windows. */
export function xdgFolder(machine: Machine, kind: keyof typeof xdgFolders): string {
  const { join, named } = pathsOf(machine)
  return named(`XDG_${kind}_HOME`) ?? join(machine.home, xdgFolders[kind])
}

export function filesOf(fork: Fork, machine: Machine, disk: DiskReader): readonly ConfigFile[] {
  const { join, dirname, named } = pathsOf(machine)
  const { home, cwd } = machine
  const { folder, configNames, projectNames, dotFolders, variables } = fork

  const config = join(xdgFolder(machine, 'CONFIG'), folder)
  const data = join(xdgFolder(machine, 'DATA'), folder)
  const inFolder = (place: string) => projectNames.map((name) => join(place, name))
  const dotsIn = (place: string) => dotFolders.map((name) => join(place, name))
  const agentsIn = (place: string) =>
    dotsIn(place)
      .flatMap((dot) => agentFolders.map((kind) => join(dot, kind)))
      .flatMap((kind) => disk.entries(kind).map((name) => join(kind, name)))
      .filter((path) => path.endsWith('.md'))

  const [lowest, ...others] = configNames.map((name) => join(config, name))
  const configPath =
    named(`${variables}_CONFIG`) ??
    others.findLast((path) => disk.exists(path)) ??
    join(config, fork.newConfig)

  const above: string[] = []
  const dots: string[] = []
  const agents: string[] = []
  // Up to the root: if git reports no repository, because it is broken or git is missing, opencode also reads
  // the folders above it (1.18.34, not 1.14.41; 2026-11-23).
  for (let place = cwd; ; place = dirname(place)) {
    above.unshift(...inFolder(place))
    dots.unshift(...dotsIn(place).flatMap(inFolder))
    if (place !== home) agents.unshift(...agentsIn(place))
    if (dirname(place) === place) break
  }

  const managed = managedFolder(machine, folder)
  const extra = named(`${variables}_CONFIG_DIR`)

  const keyFile = fork.keyFile && {
    ...editableFile('key', join(data, fork.keyFile)),
    format: 'key' as const,
    content: 'credentials' as const,
    isOptional: true as const,
  }
  return [
    { ...editableFile('auth', join(data, 'auth.json')), content: 'credentials' },
    ...(keyFile ? [keyFile] : []),
    { ...editableFile('config', configPath), holdsSecret: false },
    ...layersThere(disk, configPath, [
      { kind: 'lower', owner: 'user', paths: [lowest!, ...others] },
      { kind: 'upper', owner: 'user', paths: dotsIn(home).flatMap(inFolder) },
      { kind: 'project', owner: 'folder', paths: [...above, ...dots] },
      { kind: 'project-agent', owner: 'folder', content: 'agent', paths: agents },
      { kind: 'upper', owner: 'user', paths: extra === undefined ? [] : inFolder(extra) },
      { kind: 'managed', owner: 'administrator', paths: inFolder(managed) },
    ]),
  ]
}

function managedFolder({ os, env }: Machine, folder: string): string {
  if (os === 'darwin') return `/Library/Application Support/${folder}`
  if (os === 'win32') return win32.join(env['ProgramData'] || 'C:\\ProgramData', folder)
  return `/etc/${folder}`
}

/** What the client's own files say. */
export interface OwnConfig {
  /** The user's configuration files, weakest first. */
  readonly userFiles: readonly ParsedFile[]
  /** The last of them: the file that a setup writes. */
  readonly file: ParsedFile
  /** All of them, merged as the client merges them. It does not start if it cannot read one of them. */
  readonly merged: Table
  readonly auth: StrictFile
  /** The client's key file. Absent: it has none. */
  readonly keyFile?: LoadedFile
  /**
   * The text that the client replaces by the text of that file. opencode 2 reads auth.json only once, when it makes its
   * database, so a setup writes the key there (read in 767454d and 00402592, 2026-11-29; 1.18.34 replaces it too).
   */
  readonly keyReference?: string
  /** The provider of the default model: the part before the first slash. */
  readonly providerId?: string
}

export function readConfig(files: LoadedFiles): OwnConfig {
  const file = parseFile(fileOf(files, 'config'))
  const userFiles = [...parseLayers(files, 'lower'), file]
  const merged = mergedFiles(userFiles)
  const [, providerId] = /^([^/]+)\//.exec(textIn(merged, ['model']) ?? '') ?? []
  const [keyFile] = filesOfKind(files, 'key')
  return {
    userFiles,
    file,
    merged,
    auth: readAuth(fileOf(files, 'auth')),
    keyFile,
    keyReference: keyFile && `{file:${keyFile.path}}`,
    providerId,
  }
}

/** Reads auth.json, which must be strict JSON: otherwise the client ignores the whole file. */
export function readAuth(file: LoadedFile): StrictFile {
  return readStrictly(file, { allowsBom: true })
}

/** A provider of the merged configuration. */
export interface OpencodeProvider {
  readonly table: Table
  readonly options: Table
  /** Absent: the client ships the provider, or there is none. */
  readonly url?: string
  /** Its entry in auth.json, of any kind. */
  readonly login?: ConfigValue
  /** The key that the client would send, and the file that holds it, as far as the files tell. */
  readonly sent?: KeyInHeader
}

interface KeyInHeader extends SentKey {
  readonly keyHeader: KeyHeader
}

export function providerIn(
  { merged, file, auth, keyFile, keyReference }: OwnConfig,
  id: string | undefined,
): OpencodeProvider {
  const table = id === undefined ? {} : tableIn(merged, ['provider', id])
  const options = tableIn(table, ['options'])
  const login = id === undefined ? undefined : valueIn(auth.root, [id])

  const { apiKey: inline } = options
  // Even with an empty key in the configuration the client does not read auth.json.
  const isInline = typeof inline === 'string'
  const isReplaced = isInline && /\{(?:env|file):/.test(inline)
  const ofLogin = textIn(login, ['type']) === 'api' ? textIn(login, ['key']) : undefined
  const ofFile = keyFile && inline === keyReference ? parseFile(keyFile).text(['key']) : undefined
  const key = isInline ? (ofFile ?? (!isReplaced && inline)) : ofLogin
  const { headerKey } = readHeaders(options['headers'])
  const keyPath = ofFile !== undefined ? keyFile!.path : isInline ? file.path : auth.path
  const bearer: KeyInHeader | undefined = key
    ? { key, keyHeader: 'authorization', keyPath }
    : undefined
  return {
    table,
    options,
    url: textIn(options, ['baseURL']),
    login,
    sent: bearer ?? (headerKey && { ...headerKey, keyPath: file.path }),
  }
}

/** Where the key of a provider comes from if no file holds it. */
function keyFromOf({ table, options }: OpencodeProvider): Endpoint['keyFrom'] {
  const { apiKey: inline } = options
  if (typeof inline === 'string' && inline !== '') {
    const variable = /^\{env:(.*)\}$/.exec(inline)?.[1]
    return variable === undefined ? 'elsewhere' : { variable }
  }
  const [variable] = Array.isArray(table['env']) ? table['env'] : []
  return inline === undefined && typeof variable === 'string' ? { variable } : undefined
}

/** The protocol and the base URL of the model that the client starts with. */
function readProtocol(
  { table, url }: OpencodeProvider,
  model: string | undefined,
): {
  readonly baseUrl?: string
  readonly protocol?: Protocol
  /** Whose package says so. `provider`: the model has none. */
  readonly source?: 'model' | 'provider'
} {
  if (url === undefined) return {}
  const modelPackage = textIn(table, ['models', model ?? '', ...npmPath])
  const name = modelPackage ?? textIn(table, ['npm']) ?? usualPackage
  const protocol = protocols.find((candidate) => packages[candidate] === name) ?? 'chat'
  const baseUrl = withoutTrailingSlash(url)
  return {
    baseUrl: protocol === 'messages' ? baseUrl.replace(/\/v1$/, '') : baseUrl,
    protocol,
    source: modelPackage === undefined ? 'provider' : 'model',
  }
}

export function read(files: LoadedFiles): ClientState {
  const config = readConfig(files)
  const { userFiles, merged, providerId } = config
  const provider = providerIn(config, providerId)
  const { table, options, sent } = provider
  const modelIn = (key: 'model' | 'small_model') => {
    const name = textIn(merged, [key])
    const isOfProvider = providerId !== undefined && name?.startsWith(`${providerId}/`)
    return isOfProvider ? name?.slice(providerId.length + 1) : name
  }
  const model = modelIn('model')
  const { baseUrl, protocol, source } = readProtocol(provider, model)
  const entry = tableIn(table, ['models', model ?? ''])

  return {
    endpoint: {
      baseUrl,
      key: sent?.key,
      keyFrom: sent === undefined ? keyFromOf(provider) : undefined,
      keyHeader: sent?.keyHeader ?? 'authorization',
      headers: readHeaders(options['headers']).headers,
    },
    options: {
      protocol,
      model,
      smallModel: modelIn('small_model'),
      providerId,
      contextWindow: numberIn(entry, ['limit', 'context']),
      ...readSettingOptions(entryOptions(protocol), entry),
    },
    unsetOptions: source === 'provider' ? ['protocol'] : undefined,
    offered: Object.keys(tableIn(table, ['models'])),
    origins: {
      baseUrl: originOf(userFiles, ['provider', providerId ?? '', 'options', 'baseURL']),
      model: originOf(userFiles, ['model']),
      smallModel: originOf(userFiles, ['small_model']),
      key: sent?.keyPath,
    },
    findings: unreadable(userFiles.find(({ error }) => error !== undefined)?.error?.message),
  }
}

/**
 * The provider of the default model, its entry in auth.json, and every model that names it. If the client
 * ships the provider, only its address, key and headers count, and a login that is not a key stays.
 */
export function gatewaySettings(
  { reservedProviderIds }: Fork,
  files: LoadedFiles,
): ReturnType<ClientModule['gatewaySettings']> {
  const config = readConfig(files)
  const { file, keyReference, providerId: id } = config
  const { url, login, options } = providerIn(config, id)
  if (id === undefined || url === undefined) return {}

  const isShipped = reservedProviderIds.includes(id)
  const path = ['provider', id]
  const isOfProvider = (setting: SettingPath) =>
    (setting.length === 2 && setting[0] === 'provider') || file.text(setting)?.startsWith(`${id}/`)
  const all = gatewaySettingsIn(sensitiveSettings, fileOf(files, 'config'), id)
  const moved = [
    ...['baseURL', 'apiKey', 'headers'].map((name) => [...path, 'options', name]),
    ...['api', 'npm'].map((name) => [...path, name]),
  ].filter((setting) => file.get(setting) !== undefined)

  // A list that allows only the gateway would leave the client without any provider.
  const listPath = ['enabled_providers']
  const enabled = file.get(listPath)
  const isEnabled = Array.isArray(enabled) && enabled.includes(id)
  const isKey = textIn(login, ['type']) === 'api'
  const isInKeyFile = keyReference !== undefined && options['apiKey'] === keyReference

  return {
    config: [
      ...all.filter(isOfProvider).filter(([name]) => !isShipped || name !== 'provider'),
      ...(isShipped ? moved : []),
      ...(isEnabled ? [enabled.length === 1 ? listPath : [...listPath, { element: id }]] : []),
    ],
    auth: isShipped && !isKey ? [] : [[id]],
    ...(isInKeyFile && { key: [['key']] }),
  }
}
