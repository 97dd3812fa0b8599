import { isSecretName, maskSecret, maskTellTale, printableLine } from '../text.ts'
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
} from './plan.ts'
import { plainKey, showPath as showKey } from './values.ts'

export interface DescribeOptions {
  /** How a path is shown: with `~` for the home folder, say. */
  readonly showPath: (path: string) => string
}

/** One file's edit: its path, then a line for each key. Secrets are masked. */
export function describeEdit(edit: FileEdit, options: DescribeOptions): string[] {
  return [titleOf(edit, options), ...describeChanges(edit).map((line) => `  ${line}`)]
}

/** `~/.codex/config.toml (will be updated)`. */
export function titleOf(edit: FileEdit, options: DescribeOptions): string {
  return `${printableLine(options.showPath(edit.path))} (${willBe(actionOf(edit))})`
}

/** The same as the documents of `--json` tell it. */
export function editDocument(edit: FileEdit) {
  return { path: edit.path, action: actionOf(edit), changes: describeChanges(edit) }
}

/** Every key that an edit changes, a line each. */
export function describeChanges(edit: FileEdit): string[] {
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

  const isTold = (key: string) => edit.changes.some(({ path }) => path[0] === key)
  const dropped = keysWithout(before, after)
  const returned = keysWithout(after, before)

  const lines = [
    ...gathered(changes.filter(({ line }) => line !== undefined) as ChangeLine[]),
    ...dropped.filter((key) => !isTold(key)).map((key) => `- ${showKey([key])}`),
    ...returned.filter((key) => !isTold(key)).map((key) => `+ ${showKey([key])} (as before)`),
  ]
  return [...lines.map(printableLine), ...newMode]
}

/** What is to become of a file: a plan is not done yet. */
export function willBe(action: FileAction): string {
  return action === 'unchanged' ? action : `will be ${action}`
}

interface ChangeLine {
  readonly path: SettingPath
  readonly line: string
}

/** From this many on, new entries of one list are told in one line. */
const manyEntries = 5

/** Empty entries of one table (`models."x" = {}`), told together where they are many. */
function gathered(told: readonly ChangeLine[]): string[] {
  const groups = new Map<string, ChangeLine[]>()
  for (const one of told) {
    const isEntry = one.line.startsWith('- ') || one.line.endsWith(' = {}')
    const group = isEntry ? one.line[0] + showKey(one.path.slice(0, -1)) : one.line
    groups.set(group, [...(groups.get(group) ?? []), one])
  }

  return [...groups.values()].flatMap((group) => {
    if (group.length < manyEntries) return group.map(({ line }) => line)
    const first = group[0]!
    const names = group.map(({ path }) => plainKey(path.at(-1)!)).join(', ')
    return [
      `${first.line[0]} ${showKey(first.path.slice(0, -1))}: ${group.length} entries: ${names}`,
    ]
  })
}

function describeChange(
  change: SettingChange,
  before: ConfigDocument | undefined,
): string | undefined {
  const key = showKey(change.path)
  const found = before?.get(change.path)
  // A number is none (`maxOutputTokens`), and no kind of login (`auth.selectedType`).
  const isNumber = [change.value, found].every(
    (value) => value === undefined || typeof value === 'number',
  )
  const last = change.path.at(-1)
  const isKind = typeof last === 'string' && /type$/i.test(last)
  const isSecret =
    change.isSecret ||
    (!isNumber &&
      !isKind &&
      change.path.some((key) => typeof key === 'string' && isSecretName(key)))

  // Codex writes `"OPENAI_API_KEY": null` beside a login: that is no key.
  const asFound = (value: ConfigValue | undefined) =>
    isSecret && value === null ? undefined : value
  const old = asFound(found)
  const value = asFound(change.value)

  const show = (value: ConfigValue) =>
    isSecret && value !== '' ? maskValue(value) : shortened(showMasked(value))
  const isText = typeof last === 'object' && typeof last.element === 'string'
  if (value === undefined) return old === undefined ? undefined : `- ${key}`
  if (old === undefined) return isText ? `+ ${key}` : `+ ${key} = ${show(value)}`
  if (showValue(old) === showValue(value)) return undefined
  return `~ ${key}: ${show(old)} -> ${show(value)}`
}

/** The keys of one document that the other lacks. */
function keysWithout(one?: ConfigDocument, other?: ConfigDocument): string[] {
  const there = other?.root ?? {}
  return Object.keys(one?.root ?? {}).filter((key) => !Object.hasOwn(there, key))
}

function maskValue(value: ConfigValue): string {
  return typeof value === 'string' ? maskSecret(printableLine(value)) : maskSecret('')
}

/** Longest value that is shown whole, in characters: a long list of ids fits in. */
const longestShown = 2_000

function shortened(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, 100)}…`
}

/** As `showValue`, with what is called like a secret inside of it, or looks like one, masked. */
function showMasked(value: ConfigValue): string {
  const masked = (part: ConfigValue): ConfigValue => {
    if (typeof part !== 'object' || part === null) return part
    if (Array.isArray(part)) return part.map(masked)
    return Object.fromEntries(
      Object.entries(part).map(([key, child]: [string, ConfigValue]) => [
        key,
        isSecretName(key) && typeof child !== 'boolean' ? maskValue(child) : masked(child),
      ]),
    )
  }

  return maskTellTale(showValue(masked(value)))
}

function showValue(value: ConfigValue): string {
  if (typeof value === 'bigint') return String(value)
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part))
}
