import { repairToStrictJson } from '../../edits/strict-json.ts'
import type { FileText } from '../client.ts'
import { readStrictJson } from '../strict-json.ts'

/** A settings file as Claude Code reads it. */
export interface ClaudeSettings {
  readonly path: string
  /** Empty where there is no file or the client skips it. */
  readonly root: Readonly<Record<string, unknown>>
  /** The settings' `env`, values as text. */
  readonly env: Readonly<Record<string, string>>
  /** Why the client skips the whole file without a word. */
  readonly skipped: string | undefined
  /** It is skipped for comments or trailing commas alone. */
  readonly isRepairable: boolean
}

/**
 * Reads a settings file as 2.1.197 and 2.1.329 do (2026-11-21): strictly, and as a whole or not at
 * all; a byte order mark is fine, values of `env` become text.
 */
export function readSettings(file: Pick<FileText, 'path' | 'bytes'>): ClaudeSettings {
  const nothing = { path: file.path, root: {}, env: {}, isRepairable: false }
  if (file.bytes === null) return { ...nothing, skipped: undefined }
  const read = readStrictJson(file.bytes, { allowsBom: true })
  if (read.kind === 'refused') {
    return { ...nothing, skipped: read.why, isRepairable: read.isRepairable }
  }
  const wrong = wrongType(read.root)
  if (wrong !== undefined) return { ...nothing, skipped: wrong }
  const env = Object.fromEntries(
    Object.entries((read.root['env'] ?? {}) as object).map(([name, value]) => [
      name,
      String(value),
    ]),
  )
  return { ...nothing, root: read.root, env, skipped: undefined }
}

/** The same, as it will be read once a setup has taken its comments and trailing commas out. */
export function readRepairedSettings(file: Pick<FileText, 'path' | 'bytes'>): ClaudeSettings {
  const settings = readSettings(file)
  if (!settings.isRepairable || file.bytes === null) return settings
  return readSettings({ path: file.path, bytes: repairToStrictJson(file.bytes, file.path) })
}

function wrongType(root: Readonly<Record<string, unknown>>): string | undefined {
  const { model, env, permissions } = root
  if (model !== undefined && typeof model !== 'string') return '"model" is not text'
  if (env !== undefined && !isObject(env)) return '"env" is not an object'
  if (permissions !== undefined) {
    if (!isObject(permissions)) return '"permissions" is not an object'
    for (const list of ['allow', 'deny', 'ask']) {
      const value = permissions[list]
      if (value !== undefined && !Array.isArray(value)) {
        return `"permissions.${list}" is not a list`
      }
    }
  }
  return undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
