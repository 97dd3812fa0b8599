import * as v from 'valibot'
import type { SettingPath } from '../../edits/types.ts'
import type { LoadedFile } from '../contract/files.ts'
import { readStrictly, type StrictFile } from '../files/strict-json.ts'
import { type Table, tableIn, textIn } from '../files/tables.ts'

/** How Cline reads providers.json: both versions that were run read it the same way. */

/** In tokens: the limit that Cline requests once it knows a window, or what is left of that window. */
export const usualOutputTokens = 32_000

/**
 * Cline's provider for a gateway with the chat protocol. With an ID of our own, the agent exits with `Unknown
 * or disabled provider`.
 *
 * Cline has two other providers with an address of the user's choice: `openai-native` (responses) and
 * `anthropic` (messages). They always offer tools that the vendors' servers run (`image_generation`,
 * `web_search`), no setting removes those, and `repoint run` could not give them a key: they read it from
 * the file only (3.0.57 and 3.0.65, 2026-11-26).
 */
export const providerId = 'openai-compatible'

export const providerPath: SettingPath = ['providers', providerId]
export const settingsPath: SettingPath = [...providerPath, 'settings']
export const usedPath: SettingPath = ['lastUsedProvider']

/** A file that Cline reads at all. When Cline writes the file, it drops everything that it does not know. */
const fileSchema = v.object({
  version: v.literal(1),
  lastUsedProvider: v.optional(v.string()),
  providers: v.record(
    v.string(),
    v.object({
      settings: v.object({
        provider: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]*$/i)),
        apiKey: v.optional(v.string()),
        model: v.optional(v.string()),
        baseUrl: v.optional(v.pipe(v.string(), v.url())),
        headers: v.optional(v.record(v.string(), v.string())),
        contextWindow: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
      }),
      updatedAt: v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z$/)),
      tokenSource: v.picklist(['manual', 'oauth', 'migration']),
    }),
  ),
})

/** providers.json as Cline reads it. */
export interface ProvidersFile extends StrictFile {
  /** The provider that Cline starts with. Undefined: its own service. */
  readonly used: string | undefined
  /** The settings of `providerId`. Empty: there are none. */
  readonly settings: Table
}

/**
 * Cline accepts plain JSON only. A comment, a trailing comma, a byte order mark or one invalid entry of any
 * provider makes the whole file count as empty. The next start then overwrites it, and the keys of all
 * providers are lost.
 */
export function readProviders(file: LoadedFile): ProvidersFile {
  const read = readStrictly(file, { problemIn })
  const { root } = read
  return { ...read, used: textIn(root, usedPath), settings: tableIn(root, settingsPath) }
}

function problemIn(root: Table): string | undefined {
  const { issues } = v.safeParse(fileSchema, root)
  const [first] = issues ?? []
  if (first === undefined) return undefined
  const path = v.getDotPath(first) ?? 'the file'
  return first.received === 'undefined'
    ? `${path} is missing`
    : `${path} has a value that Cline does not accept`
}

/** Whether an entry holds a login of a vendor, which Cline sends instead of a key. */
export function hasLogin({ root }: ProvidersFile, id: string): boolean {
  return textIn(root, ['providers', id, 'settings', 'auth', 'accessToken']) !== undefined
}
