import type { ConfigValue } from '../../edits/plan.ts'
import type { FileTexts, Settings } from '../client.ts'
import { readHeaders } from '../headers.ts'
import { readStrictJson } from '../strict-json.ts'
import { fileOf, isTable, layersOf, type ReadFile, readFile } from '../texts.ts'
import type { Layout } from './layout.ts'

type Table = { readonly [key: string]: ConfigValue }

/** The user's own configuration, the weaker file before the stronger. */
export function ownFiles(texts: FileTexts): readonly ReadFile[] {
  return [...layersOf(texts, 'lower'), fileOf(texts, 'config')].map(readFile)
}

/**
 * The user's files merged as opencode 1.18.33 merges them (2026-11-21): tables key by key, all else
 * replaced. One unreadable file stops it.
 */
export function mergedConfig(texts: FileTexts): {
  readonly value: Table
  readonly problem: string | undefined
} {
  const files = ownFiles(texts)
  return {
    value: files.reduce<Table>((merged, file) => merge(merged, file.document?.root ?? {}), {}),
    problem: files.find((file) => file.problem !== undefined)?.problem,
  }
}

function merge(below: Table, above: Table): Table {
  const merged = new Map(Object.entries(below))
  for (const [key, value] of Object.entries(above)) {
    const old = merged.get(key)
    merged.set(key, isTable(old) && isTable(value) ? merge(old, value) : value)
  }
  return Object.fromEntries(merged)
}

/** The provider of the default model: what stands before its first slash. */
export function chosenProvider(texts: FileTexts): string | undefined {
  const { model } = mergedConfig(texts).value
  const slash = typeof model === 'string' ? model.indexOf('/') : -1
  return slash > 0 ? (model as string).slice(0, slash) : undefined
}

/** The key that a provider would send, and where it stands, as far as files tell. */
export function readKey(
  texts: FileTexts,
  providerId: string,
  options: Table,
): Pick<Settings, 'key' | 'keyPath' | 'keyHeader'> | undefined {
  const { keyed } = readHeaders(options['headers'])
  return (
    bearerKey(texts, providerId, options) ??
    (keyed && { ...keyed, keyPath: fileOf(texts, 'config').path })
  )
}

function bearerKey(
  texts: FileTexts,
  providerId: string,
  options: Table,
): Pick<Settings, 'key' | 'keyPath'> | undefined {
  const inline = options['apiKey']
  if (typeof inline === 'string') {
    // Even an empty one keeps auth.json from being read.
    if (inline === '' || /\{(?:env|file):/.test(inline)) return undefined
    return { key: inline, keyPath: fileOf(texts, 'config').path }
  }
  const auth = fileOf(texts, 'auth')
  if (auth.bytes === null) return undefined
  const read = readStrictJson(auth.bytes, { allowsBom: true })
  const entry = read.kind === 'object' ? (read.root[providerId] as ConfigValue) : undefined
  if (!isTable(entry) || entry['type'] !== 'api' || typeof entry['key'] !== 'string') {
    return undefined
  }
  return entry['key'] === '' ? undefined : { key: entry['key'], keyPath: auth.path }
}

/** A provider of the merged configuration; without an address it is one that the client ships. */
export interface ConfiguredProvider {
  readonly options: Table
  readonly url: string | undefined
  /** Its models and its address are the user's own, not the client's. */
  readonly isCustom: boolean
  /** Variables that its key may come from. */
  readonly keyVariables: readonly string[]
}

export function configuredProvider(
  { reservedIds }: Layout,
  texts: FileTexts,
  id: string,
): ConfiguredProvider {
  const { provider: all } = mergedConfig(texts).value
  const found = isTable(all) && Object.hasOwn(all, id) ? all[id] : undefined
  const table = isTable(found) ? found : {}
  const options = isTable(table['options']) ? table['options'] : {}
  const url = options['baseURL']
  const variables: readonly ConfigValue[] = Array.isArray(table['env']) ? table['env'] : []
  return {
    options,
    url: typeof url === 'string' ? url : undefined,
    isCustom: typeof url === 'string' && !reservedIds.includes(id),
    keyVariables: variables.filter((name) => typeof name === 'string'),
  }
}

/** Whether the client reads nothing of auth.json, which must be strict JSON. */
export function isAuthIgnored(texts: FileTexts): boolean {
  const { bytes } = fileOf(texts, 'auth')
  return bytes !== null && readStrictJson(bytes, { allowsBom: true }).kind === 'refused'
}

/** Whether auth.json has an entry for a provider, of whatever kind. */
export function hasLogin(texts: FileTexts, id: string): boolean {
  const { bytes } = fileOf(texts, 'auth')
  const read = bytes && readStrictJson(bytes, { allowsBom: true })
  return read?.kind === 'object' && Object.hasOwn(read.root, id)
}
