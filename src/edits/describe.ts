import { isSecretName, maskSecret, maskSecretsIn, printableLine } from '../text.ts'
import type { ConfigDocument } from './edit.ts'
import { documentOf } from './format.ts'
import {
  actionOf,
  type ConfigValue,
  type FileAction,
  type FileEdit,
  type SettingChange,
  type SettingPath,
  sameBytes,
} from './types.ts'
import { plainKey, showPath as showKey } from './values/paths.ts'

interface DescribeOptions {
  /** Formats a path, for example with `~` for the home folder. */
  readonly showPath: (path: string) => string
}

/** Describes an edit: the path of the file, then a line for each key. Secrets are masked. */
export function describeEdit(edit: FileEdit, options: DescribeOptions): string[] {
  return [editTitle(edit, options), ...describeChanges(edit).map((line) => `  ${line}`)]
}

/** `~/.codex/config.toml (will be updated)`. */
export function editTitle(edit: FileEdit, options: DescribeOptions): string {
  return `${printableLine(options.showPath(edit.path))} (${actionText(actionOf(edit))})`
}

/** Describes an edit for `--json`. */
export function editDocument(edit: FileEdit) {
  return { path: edit.path, action: actionOf(edit), changes: describeChanges(edit) }
}

/**
 * Describes each key that an edit changes, in one line each.
 *
 * @param maxNames how many entries of one table a line names. Absent: all
 */
export function describeChanges(edit: FileEdit, maxNames = Number.POSITIVE_INFINITY): string[] {
  const newMode =
    edit.mode === undefined ? [] : [`~ mode: ${edit.mode.toString(8).padStart(4, '0')}`]
  if (sameBytes(edit.before, edit.after)) return newMode

  // A file that cannot be parsed is described without its old values.
  const before = documentOf(edit, edit.before)
  const after = documentOf(edit, edit.after)
  const changes = edit.changes.map((change) => ({
    path: change.path,
    line: describeChange(change, before),
  }))

  const isDescribed = (key: string) => edit.changes.some(({ path }) => path[0] === key)
  const removedKeys = keysMissingIn(after, before)
  const restoredKeys = keysMissingIn(before, after)

  const lines = [
    ...groupEntries(changes.filter(({ line }) => line !== undefined) as ChangeLine[], maxNames),
    ...removedKeys.filter((key) => !isDescribed(key)).map((key) => `- ${showKey([key])}`),
    ...restoredKeys
      .filter((key) => !isDescribed(key))
      .map((key) => `+ ${showKey([key])} (as before)`),
  ]

  return [...lines.map(printableLine), ...newMode]
}

/** The action of an edit in the future tense: a plan is not applied yet. */
export function actionText(action: FileAction): string {
  return action === 'unchanged' ? action : `will be ${action}`
}

interface ChangeLine {
  readonly path: SettingPath
  readonly line: string
}

/** This many new entries of one table, or more, are described in one line. */
const manyEntries = 5

/** Groups the empty entries of one table (`models."x" = {}`) into one line if there are many. */
function groupEntries(changes: readonly ChangeLine[], maxNames: number): string[] {
  const groups = new Map<string, ChangeLine[]>()
  for (const change of changes) {
    const isEntry = change.line.startsWith('- ') || change.line.endsWith(' = {}')
    const group = isEntry ? change.line[0] + showKey(change.path.slice(0, -1)) : change.line
    groups.set(group, [...(groups.get(group) ?? []), change])
  }

  return [...groups.values()].flatMap((group) => {
    if (group.length < manyEntries) return group.map(({ line }) => line)

    const [first] = group as [ChangeLine]
    const sign = first.line[0]
    const table = showKey(first.path.slice(0, -1))
    const named = group.slice(0, maxNames).map(({ path }) => plainKey(path.at(-1)!))
    const rest = group.length - named.length
    const others = rest > 0 ? ` and ${rest} others` : ''
    return [`${sign} ${table}: ${group.length} entries: ${named.join(', ')}${others}`]
  })
}

function describeChange(
  change: SettingChange,
  before: ConfigDocument | undefined,
): string | undefined {
  const key = showKey(change.path)
  const isSecret = change.isSecret || hasSecretName(change, before)

  // Codex writes `"OPENAI_API_KEY": null` next to a login. That is not a key.
  const ignoreNullSecret = (value: ConfigValue | undefined) =>
    isSecret && value === null ? undefined : value
  const oldValue = ignoreNullSecret(before?.get(change.path))
  const newValue = ignoreNullSecret(change.value)

  if (newValue === undefined) return oldValue === undefined ? undefined : `- ${key}`
  if (oldValue !== undefined && showValue(oldValue) === showValue(newValue)) return undefined

  const show = (value: ConfigValue) =>
    isSecret && value !== '' ? maskValue(value) : shortenValue(showMasked(value))
  if (oldValue !== undefined) return `~ ${key}: ${show(oldValue)} -> ${show(newValue)}`

  // The path of a string in a list shows the string already.
  const last = change.path.at(-1)
  const isText = typeof last === 'object' && typeof last.element === 'string'
  return isText ? `+ ${key}` : `+ ${key} = ${show(newValue)}`
}

/** Whether a change without `isSecret` may set a secret, because a key of its path is named like one. */
function hasSecretName(change: SettingChange, before: ConfigDocument | undefined): boolean {
  // A number (`maxOutputTokens`) and a kind of login (`auth.selectedType`) are not secrets.
  const isNumber = [change.value, before?.get(change.path)].every(
    (value) => value === undefined || typeof value === 'number',
  )
  const last = change.path.at(-1)
  const isKind = typeof last === 'string' && /type$/i.test(last)
  if (isNumber || isKind) return false
  return change.path.some((key) => typeof key === 'string' && isSecretName(key))
}

/** The keys of a document that `lacking` does not have. */
function keysMissingIn(lacking?: ConfigDocument, document?: ConfigDocument): string[] {
  const root = lacking?.root ?? {}
  return Object.keys(document?.root ?? {}).filter((key) => !Object.hasOwn(root, key))
}

function maskValue(value: ConfigValue): string {
  return typeof value === 'string' ? maskSecret(printableLine(value)) : maskSecret('')
}

/** The longest value that is shown in full, in characters: enough for a long list of IDs. */
const maxShownLength = 2_000

function shortenValue(text: string): string {
  return text.length <= maxShownLength ? text : `${text.slice(0, 100)}…`
}

/** Like `showValue`, but masks members whose names or values look like secrets. */
function showMasked(value: ConfigValue): string {
  const mask = (part: ConfigValue): ConfigValue => {
    if (typeof part !== 'object' || part === null) return part
    if (Array.isArray(part)) return part.map(mask)
    return Object.fromEntries(
      Object.entries(part).map(([key, child]: [string, ConfigValue]) => [
        key,
        isSecretName(key) && typeof child !== 'boolean' ? maskValue(child) : mask(child),
      ]),
    )
  }

  return maskSecretsIn(showValue(mask(value)))
}

function showValue(value: ConfigValue): string {
  if (typeof value === 'bigint') return String(value)
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part))
}
