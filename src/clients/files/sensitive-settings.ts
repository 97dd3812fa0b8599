import type { ConfigValue, SettingPath, SettingRole } from '../../edits/types.ts'
import { uniquePaths } from '../../edits/values/paths.ts'
import type { ClientModule } from '../contract/client.ts'
import type { SensitiveSetting, SensitiveSettings } from '../contract/config.ts'
import type { LoadedFile } from '../contract/files.ts'
import { parseFile, textOf } from './parse-file.ts'
import { isTable } from './tables.ts'

/** A sensitive setting that a file sets. */
export interface FoundSetting extends SensitiveSetting {
  /** The path of the setting. For a setting in a list, the path of the list. */
  readonly settingPath: SettingPath
  readonly value: ConfigValue
}

export type SensitiveRole = SensitiveSetting['role']

/** One line of a client's table, as in `row('model', 'model', ['settings'], '1.4.0, 2026-11-23')`. */
export function row(
  path: string,
  role: SensitiveRole,
  fileKinds: readonly string[],
  source: string,
): SensitiveSetting {
  return { path, role, fileKinds, source }
}

/** The sensitive settings that a file sets. */
export function* settingsIn(
  { config: { sensitiveSettings } }: Pick<ClientModule, 'config'>,
  file: LoadedFile,
  providerId?: string,
): Generator<FoundSetting, void> {
  const content = contentOf(file)
  const provider = providerId && (sensitiveSettings.providerTable?.(providerId) ?? providerId)
  const matches = matcher((name) => file.owner === 'folder' || name === provider)

  for (const row of sensitiveSettings.rows.filter(({ fileKinds }) =>
    fileKinds.includes(file.kind),
  )) {
    for (const { settingPath, value } of leavesAt(content, row.path.split('.'), matches))
      if (hasEffect(value) || isEmptyAddress(row, value)) yield { ...row, settingPath, value }
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
  const matches = matcher((name) => name === provider)

  const paths = rows.flatMap((row): SettingPath[] => {
    const role = undoRole(row.role)
    if (role === undefined || !row.fileKinds.includes(file.kind)) return []
    const pattern = row.path.split('.')
    const table = pattern.indexOf(':provider') + 1
    return [...leavesAt(content, pattern, matches)]
      .filter(({ settingPath }) => settingPath.length === pattern.length)
      .map(({ settingPath }) => (table === 0 ? settingPath : settingPath.slice(0, table)))
  })
  return uniquePaths(paths)
}

/** The settings of a file of any kind, as one table. */
function contentOf(file: LoadedFile): ConfigValue {
  const text = unixText(file)
  if (file.content === 'variables')
    return { env: Object.fromEntries(variablesIn(text).map(({ name }) => [name, true])) }
  if (file.content === 'agent') {
    const [, head = ''] = /^---\r?\n(.*?)\r?\n---/s.exec(text) ?? []
    const keys = [...head.matchAll(/^([\w-]+):[ \t]*(.*)$/gm)]
    return Object.fromEntries(keys.map(([, name, value]) => [name!, value || true]))
  }
  return parseFile(file).document?.root ?? null
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

/** The role by which undo restores settings together. Undefined: none. */
function undoRole(role: SensitiveRole): SettingRole | undefined {
  return role === 'proxy' || role === 'trust' ? undefined : role
}

/** The role that undo needs for each setting in a file of this kind. Undefined: none. */
export function rolesIn(
  { rows }: SensitiveSettings,
  fileKind: string,
): (path: SettingPath) => SettingRole | undefined {
  const matchesPart = matcher(() => true)
  const matches = (pattern: string, key: SettingPath[number] | undefined) =>
    key !== undefined && matchesPart(pattern, typeof key === 'string' ? key : '')
  const ofKind = rows
    .filter(({ role, fileKinds }) => undoRole(role) !== undefined && fileKinds.includes(fileKind))
    .map(({ path, role }) => ({ patterns: path.split('.'), role }))
  return (path) => {
    const row = ofKind.find(({ patterns }) =>
      patterns.every((pattern, index) => matches(pattern, path[index])),
    )
    return row && undoRole(row.role)
  }
}

/** Whether a name matches a part of a row's path. */
type Matches = (pattern: string, name: string) => boolean

/** @param isProvider whether `:provider` matches a name */
function matcher(isProvider: (name: string) => boolean): Matches {
  return (pattern, name) => (pattern === ':provider' ? isProvider(name) : isLike(pattern, name))
}

/**
 * The values whose path matches the pattern. The elements of a list are searched too, but their path is
 * that of the list.
 */
function* leavesAt(
  value: ConfigValue,
  [pattern, ...rest]: readonly string[],
  matches: Matches,
  settingPath: SettingPath = [],
  isInList = false,
): Generator<Pick<FoundSetting, 'settingPath' | 'value'>, void> {
  if (pattern === undefined) {
    yield { settingPath, value }
    return
  }

  const isList = Array.isArray(value)
  if (!isList && !isTable(value)) return

  for (const [index, below] of Object.entries(value)) {
    const id = isTable(below) ? below['id'] : undefined
    const name = isList && typeof id === 'string' ? id : index
    if (!matches(pattern, name)) continue
    const isBelowList = isInList || isList
    const belowPath = isBelowList ? settingPath : [...settingPath, name]
    yield* leavesAt(below, rest, matches, belowPath, isBelowList)
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

export function placeIn(file: LoadedFile, { settingPath }: FoundSetting): string {
  const [parent, name] = settingPath
  if (file.content !== 'variables' || parent !== 'env') return parseFile(file).place(settingPath)
  const line = variablesIn(unixText(file)).find((variable) => variable.name === name)?.line
  return line === undefined ? file.path : `${file.path}:${line}`
}
