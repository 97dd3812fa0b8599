import type { ConfigValue } from '../../edits/plan.ts'
import type { ClientState, LoadedFile, LoadedFiles } from '../client.ts'
import { readHeaders } from '../headers.ts'
import {
  fileOf,
  isTable,
  layersOf,
  mergedFiles,
  type ReadFile,
  readFile,
  type Table,
  tableIn,
  textIn,
  valueIn,
} from '../loaded-files.ts'
import { readStrictly, type StrictFile } from '../strict-json.ts'

/** The user's own configuration, the weaker file before the stronger. */
export function ownFiles(files: LoadedFiles): readonly ReadFile[] {
  return [...layersOf(files, 'lower'), fileOf(files, 'config')].map(readFile)
}

/** The user's files merged as opencode 1.18.33 merges them (2026-11-21). One unreadable file stops it. */
export function mergedConfig(texts: LoadedFiles): {
  readonly value: Table
  readonly problem: string | undefined
} {
  const files = ownFiles(texts)
  return {
    value: mergedFiles(files),
    problem: files.find((file) => file.problem !== undefined)?.problem,
  }
}

/** The provider of the default model: what stands before its first slash. */
export function chosenProvider({ model }: Table): string | undefined {
  const slash = typeof model === 'string' ? model.indexOf('/') : -1
  return slash > 0 ? (model as string).slice(0, slash) : undefined
}

/** A provider of the merged configuration. */
export interface ConfiguredProvider {
  readonly table: Table
  readonly options: Table
  /** Absent: it is one that the client ships, or none. */
  readonly url: string | undefined
}

export function providerOf(config: Table, id: string | undefined): ConfiguredProvider {
  const table = id === undefined ? {} : tableIn(config, ['provider', id])
  const options = tableIn(table, ['options'])
  return { table, options, url: textIn(options, ['baseURL']) }
}

/** The key that a provider would send, and where it stands, as far as files tell. */
export function readKey(
  files: LoadedFiles,
  providerId: string,
  options: Table,
): Pick<ClientState, 'key' | 'keyPath' | 'keyHeader'> | undefined {
  const { keyed } = readHeaders(options['headers'])
  return (
    bearerKey(files, providerId, options) ??
    (keyed && { ...keyed, keyPath: fileOf(files, 'config').path })
  )
}

function bearerKey(
  files: LoadedFiles,
  providerId: string,
  { apiKey: inline }: Table,
): Pick<ClientState, 'key' | 'keyPath'> | undefined {
  if (typeof inline === 'string') {
    // Even an empty one keeps auth.json from being read.
    if (inline === '' || /\{(?:env|file):/.test(inline)) return undefined
    return { key: inline, keyPath: fileOf(files, 'config').path }
  }

  const login = loginOf(files, providerId)
  const key = isTable(login) && login['type'] === 'api' ? login['key'] : undefined
  if (typeof key !== 'string' || key === '') return undefined
  return { key, keyPath: fileOf(files, 'auth').path }
}

/** auth.json, which must be strict JSON: else the client reads nothing of it. */
export function readAuth(file: LoadedFile): StrictFile {
  return readStrictly(file, { allowsBom: true })
}

/** What auth.json holds for a provider, of whatever kind. */
export function loginOf(files: LoadedFiles, id: string): ConfigValue | undefined {
  return valueIn(readAuth(fileOf(files, 'auth')).root, [id])
}
