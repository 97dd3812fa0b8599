import * as v from 'valibot'
import type { SettingPath } from '../../edits/plan.ts'
import type { LoadedFile } from '../client.ts'
import { type Table, tableIn, textIn } from '../loaded-files.ts'
import { readStrictly, type StrictFile } from '../strict-json.ts'

/** How Cline reads providers.json: run with 3.0.57 and 3.0.65, 2026-11-23, which do it alike. */

/**
 * Its provider for a gateway with the chat protocol. An id of our own would be another one, but the agent
 * ends then with `Unknown or disabled provider`. Its other providers with an address of the user's choice,
 * `openai-native` (responses) and `anthropic` (messages), offer tools that the vendors' servers run
 * themselves, which no setting takes out.
 */
export const providerId = 'openai-compatible'

export const providerPath: SettingPath = ['providers', providerId]
export const settingsPath: SettingPath = [...providerPath, 'settings']
export const usedPath: SettingPath = ['lastUsedProvider']

/** A file of which Cline reads something at all. What it does not know it leaves out when it writes. */
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
  /** The provider that it starts with; undefined: its own service. */
  readonly used: string | undefined
  /** What it says of `providerId`; empty: nothing. */
  readonly settings: Table
}

/**
 * Plain JSON and nothing else: with a comment, a trailing comma, a byte order mark, or one entry of any
 * provider that is not as it should be, the whole file counts as empty. The next start then writes a new
 * one over it, in which no key of any provider is left.
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
  return first.received === 'undefined' ? `${path} is missing` : `${path} is none that it takes`
}

/** Whether an entry holds a login of a vendor's, which goes out in the place of a key. */
export function hasLogin({ root }: ProvidersFile, id: string): boolean {
  return textIn(root, ['providers', id, 'settings', 'auth', 'accessToken']) !== undefined
}
