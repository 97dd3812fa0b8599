import type { ConfigValue, SettingPath, SettingRole } from '../edits/plan.ts'
import { uniquePaths } from '../edits/values/paths.ts'
import type { Finding, Severity } from '../finding.ts'
import {
  type ClientModule,
  type ClientName,
  type ClientState,
  type LoadedFile,
  type LoadedFiles,
  type SensitiveSetting,
  type SensitiveSettings,
  shownModel,
} from './client.ts'
import { isTable, isUrlOf, readFile, shownUrl, textOf } from './loaded-files.ts'

/** A sensitive setting that a file sets. */
interface FoundSetting extends SensitiveSetting {
  /** The path of the setting. For a setting in a list, the path of the list. */
  readonly location: SettingPath
  readonly value: ConfigValue
}

/** The current setup of a client. A setting with the same value overrides nothing. */
export interface ConfiguredGateway {
  readonly baseUrl?: string | undefined
  readonly providerId?: string | undefined
  readonly model?: string | undefined
}

export function configuredGateway(state: ClientState): ConfiguredGateway {
  const { providerId } = state.options
  return { baseUrl: state.endpoint.baseUrl, providerId, model: shownModel(state) }
}

type SensitiveRole = SensitiveSetting['role']

/** Outside the user's own files, settings with these roles send the key to another address. */
const redirectingRoles: readonly SensitiveRole[] = ['address', 'key', 'provider', 'proxy', 'trust']

type ClientWithSettings = Pick<ClientName, 'family' | 'label'> & Pick<ClientModule, 'config'>

/**
 * The settings in other people's files that override the user's: files of the current folder, of the
 * administrator, and others that win. Setup, `use`, `key`, `run`, `status` and `doctor` report them.
 */
export function* overrideFindings(
  client: ClientWithSettings,
  files: LoadedFiles,
  configured: ConfiguredGateway,
): Generator<Finding, void> {
  for (const file of files) {
    if (file.use !== 'layer') continue
    const settings = [...settingsIn(client, file, configured.providerId)].filter(
      (setting) => !isSameAs(setting, client, configured),
    )
    const redirecting = settings.filter(({ role }) => redirectingRoles.includes(role))
    const models = settings.filter(({ role }) => role === 'model')

    if (file.kind === 'profile') {
      yield* strongerFileFindings(client, file, settings, 'warning')
    } else if (file.kind.startsWith('project')) {
      yield* folderFindings(client, file, redirecting, whyUnknown(client, file))
      yield* folderFindings(client, file, models)
    } else {
      yield* strongerFileFindings(client, file, redirecting, 'error')
      yield* strongerFileFindings(client, file, models, 'warning')
    }
  }
}

/** The sensitive settings that a file sets. */
function* settingsIn(
  { config: { sensitiveSettings } }: Pick<ClientModule, 'config'>,
  file: LoadedFile,
  providerId?: string,
): Generator<FoundSetting, void> {
  const content = contentOf(file)
  const isOfFolder = file.kind.startsWith('project')
  const provider = providerId && (sensitiveSettings.providerTable?.(providerId) ?? providerId)

  for (const row of sensitiveSettings.rows.filter(({ fileKinds }) =>
    fileKinds.includes(file.kind),
  )) {
    const matches = (pattern: string, name: string) =>
      pattern === ':provider' ? isOfFolder || name === provider : isLike(pattern, name)
    for (const { location, value } of leavesAt(content, row.path.split('.'), matches))
      if (hasEffect(value) || isEmptyAddress(row, value)) yield { ...row, location, value }
  }
}

/**
 * The settings of a client's own file that choose its gateway: address, key, provider and models, as far as
 * its table knows them. For the provider in use, it is the whole table. Settings in a list are left out.
 */
export function gatewaySettingsIn(
  { rows, providerTable }: SensitiveSettings,
  file: LoadedFile,
  providerId = '',
): readonly SettingPath[] {
  const content = contentOf(file)
  const provider = providerTable?.(providerId) ?? providerId
  const matches = (pattern: string, name: string) =>
    pattern === ':provider' ? name === provider : isLike(pattern, name)

  const paths = rows.flatMap((row): SettingPath[] => {
    const role = undoRoles[row.role]
    if (role === undefined || (role !== 'model' && !row.fileKinds.includes(file.kind))) return []
    const pattern = row.path.split('.')
    const table = pattern.indexOf(':provider') + 1
    return [...leavesAt(content, pattern, matches)]
      .filter(({ location }) => location.length === pattern.length)
      .map(({ location }) => (table === 0 ? location : location.slice(0, table)))
  })
  return uniquePaths(paths)
}

/** The settings of a file of any kind, as one table. */
function contentOf(file: LoadedFile): ConfigValue {
  const text = unixText(file)
  if (file.kind.endsWith('-env'))
    return { env: Object.fromEntries(variablesIn(text).map(({ name }) => [name, true])) }
  if (file.path.endsWith('.md')) {
    const [, head = ''] = /^---\r?\n(.*?)\r?\n---/s.exec(text) ?? []
    const keys = [...head.matchAll(/^([\w-]+):[ \t]*(.*)$/gm)]
    return Object.fromEntries(keys.map(([, name, value]) => [name!, value || true]))
  }
  return readFile(file).document?.root ?? null
}

/** The text of a file with every line ending as `\n`. */
function unixText(file: LoadedFile): string {
  return textOf(file).replace(/\r\n?/g, '\n')
}

/**
 * The variables that a .env file sets, as dotenv 17.1 in Qwen Code 0.24.4 reads it: it accepts `NAME: value`,
 * and the `=` or a quoted value on a later line; no `unset` removes a variable.
 */
function variablesIn(text: string): readonly { readonly name: string; readonly line: number }[] {
  const pattern = /^[^\S\n]*(?:export[^\S\n]+)?([\w.-]+)(?:\s*=|:\s)(?:[^\S\n]*[^\s#]|\s*['"`])/gm
  return [...text.matchAll(pattern)].map(({ 1: name = '', index }) => ({
    name,
    line: text.slice(0, index).split('\n').length,
  }))
}

/** The roles of settings that undo restores together. */
const undoRoles: Readonly<Partial<Record<SensitiveRole, SettingRole>>> = {
  address: 'address',
  key: 'key',
  provider: 'provider',
  model: 'model',
}

/**
 * The role that undo needs for a setting in a file of this kind. Undefined: none. The choice of a model
 * counts in every file.
 */
export function roleOf(
  { rows }: SensitiveSettings,
  fileKind: string,
  path: SettingPath,
): SettingRole | undefined {
  const matches = (pattern: string, key: SettingPath[number] | undefined) =>
    key !== undefined &&
    (pattern === ':provider' || isLike(pattern, typeof key === 'string' ? key : ''))
  const row = rows.find(
    ({ path: at, role, fileKinds }) =>
      undoRoles[role] !== undefined &&
      (role === 'model' || fileKinds.includes(fileKind)) &&
      at.split('.').every((pattern, index) => matches(pattern, path[index])),
  )
  return row && undoRoles[row.role]
}

/**
 * The values whose path matches the pattern. The elements of a list are searched too, but their location is
 * that of the list.
 */
function* leavesAt(
  value: ConfigValue,
  [pattern, ...rest]: readonly string[],
  matches: (pattern: string, name: string) => boolean,
  location: SettingPath = [],
  isInList = false,
): Generator<Pick<FoundSetting, 'location' | 'value'>, void> {
  if (pattern === undefined) {
    yield { location, value }
    return
  }

  const isList = Array.isArray(value)
  if (!isList && !isTable(value)) return

  for (const [index, below] of Object.entries(value)) {
    const id = isTable(below) ? below['id'] : undefined
    const name = isList && typeof id === 'string' ? id : index
    if (!matches(pattern, name)) continue
    const isBelowList = isInList || isList
    const belowLocation = isBelowList ? location : [...location, name]
    yield* leavesAt(below, rest, matches, belowLocation, isBelowList)
  }
}

/** Whether a setting decides anything: one that is off or empty does not. */
function hasEffect(value: ConfigValue): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return value !== null && value !== '' && value !== false
}

/**
 * Whether a setting is an empty address. With one, a client uses its own service: Claude Code 2.1.330 sends
 * the key there (2026-11-23).
 */
function isEmptyAddress({ role }: SensitiveSetting, value: ConfigValue): boolean {
  return role === 'address' && value === ''
}

/**
 * Whether a name matches a pattern, in upper or lower case: the variables of proxies count in both, and on
 * Windows every variable does.
 */
function isLike(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern.toUpperCase() === name.toUpperCase()
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 'is').test(name)
}

/** Whether the client's own files set the same value. */
function isSameAs(
  { role, value }: FoundSetting,
  { config: { sensitiveSettings } }: ClientWithSettings,
  configured: ConfiguredGateway,
): boolean {
  if (typeof value !== 'string') return false
  const { baseUrl, providerId, model } = configured
  if (role === 'address') return baseUrl !== undefined && isUrlOf(value, baseUrl)
  if (role !== 'model') return false
  const provider = providerId && (sensitiveSettings.providerTable?.(providerId) ?? providerId)
  return [model, provider, `${provider}/${model}`].includes(value)
}

/**
 * Why repoint cannot tell what a project file sets: it is too large, broken, or its keys contain variables.
 * Undefined: it can.
 */
function whyUnknown(
  { config: { interpolation } }: ClientWithSettings,
  file: LoadedFile,
): string | undefined {
  if (file.bytes === null && /^project(?:-env)?$/.test(file.kind)) return 'cannot be read'
  if (file.kind !== 'project') return undefined
  const { document, problem } = readFile(file)
  if (problem !== undefined) return problem
  const hasVariableKeys =
    interpolation.isInKeys && hasKeyLike(document?.root ?? null, interpolation.names)
  return hasVariableKeys ? 'makes other keys' : undefined
}

function hasKeyLike(value: ConfigValue, pattern: RegExp | null): boolean {
  if (pattern === null || typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([key, below]) => pattern.test(key) || hasKeyLike(below, pattern),
  )
}

/** The end of a sentence about the client. */
const effects: Readonly<Record<SensitiveRole, (value: ConfigValue) => string>> = {
  address: (value) =>
    `sends your key to ${(typeof value === 'string' && shownUrl(value)) || 'another address'}`,
  key: () => 'sends your key to another address, or uses another key',
  provider: () => 'may send your key to another provider',
  proxy: () => "sends your key through the folder's proxy",
  trust: () => 'trusts a certificate that the folder chose, whose owner can read your key',
  model: () => 'uses another model than you chose',
}

/** Reports a file of the current folder that decides where the key is sent, or which model is used. */
function* folderFindings(
  { family, label, config }: ClientWithSettings,
  file: LoadedFile,
  found: readonly FoundSetting[],
  unknown?: string,
): Generator<Finding, void> {
  const [first] = found
  const role = first?.role ?? 'provider'
  if (first === undefined && unknown === undefined) return

  const what = `${label}, started in this folder, ${effects[role](first?.value ?? null)}`
  const isRedirected = redirectingRoles.includes(role)
  const keys = keysOf(found)

  yield {
    code: `${family}-project-${config.sensitiveSettings.codeWord}`,
    message: `${nameOf(file)} of this folder ${keys ? `sets ${keys}` : (unknown ?? 'is there')}: ${what}`,
    location: first ? placeIn(file, first) : file.path,
    hint: `If you do not trust this folder, start ${label} in another one. Or remove the setting from the file.`,
    ...(isRedirected && { consent: `${what}, because of ${file.path}.`, redirectsKey: true }),
    severity: isRedirected ? 'error' : 'warning',
    cause: 'override',
  }
}

/** The owner of each kind of file, and the hint. */
const strongerFiles: Readonly<Record<string, readonly [string, string]>> = {
  managed: ["the administrator's file", 'Ask the administrator of this machine.'],
  profile: ['this profile', 'Nothing to do unless you use that profile.'],
}

/** Reports a file of the administrator, or one of the user that a setup does not write. */
function* strongerFileFindings(
  { family, config }: ClientWithSettings,
  file: LoadedFile,
  found: readonly FoundSetting[],
  severity: Severity,
): Generator<Finding, void> {
  const [first] = found
  if (first === undefined) return
  const isProfile = file.kind === 'profile'
  const [owner = 'this file', hint = 'Remove it from that file.'] = strongerFiles[file.kind] ?? []

  yield {
    code: `${family}-${file.kind}${isProfile ? '' : `-${config.sensitiveSettings.codeWord}`}`,
    message: `${owner} sets ${keysOf(found)} and overrides your setting`,
    location: placeIn(file, first),
    hint,
    severity,
    cause: 'override',
  }
}

/** The names of the settings, for a message. A variable is shown without `env.`. */
function keysOf(found: readonly FoundSetting[]): string {
  const names = found.map(({ location }) => location.join('.').replace(/^env\./, ''))
  return [...new Set(names)].join(', ')
}

function nameOf({ path }: LoadedFile): string {
  return path.split(/[\\/]/).at(-1)!
}

function placeIn(file: LoadedFile, { location }: FoundSetting): string {
  const [parent, name] = location
  if (!file.kind.endsWith('-env') || parent !== 'env') return readFile(file).place(location)
  const line = variablesIn(unixText(file)).find((variable) => variable.name === name)?.line
  return line === undefined ? file.path : `${file.path}:${line}`
}
