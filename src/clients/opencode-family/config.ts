import type { ConfigValue } from '../../edits/types.ts'
import type { KeyHeader } from '../../gateway/types.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { Endpoint, SentKey } from '../contract/state.ts'
import {
  fileOf,
  filesOfKind,
  mergedFiles,
  type ParsedFile,
  parseFile,
} from '../files/parse-file.ts'
import { readStrictly, type StrictFile } from '../files/strict-json.ts'
import { isTable, type Table, tableIn, textIn, valueIn } from '../files/tables.ts'
import { readHeaders } from '../plan/headers.ts'

/** The user's own configuration files, weakest first. */
export function userFiles(files: LoadedFiles): readonly ParsedFile[] {
  return [...filesOfKind(files, 'lower'), fileOf(files, 'config')].map(parseFile)
}

/** The user's files merged as opencode merges them. It does not start if it cannot read one of them. */
export function mergedConfig(files: LoadedFiles): {
  readonly value: Table
  readonly problem: string | undefined
} {
  const configFiles = userFiles(files)
  return {
    value: mergedFiles(configFiles),
    problem: configFiles.find(({ error }) => error !== undefined)?.error?.message,
  }
}

/** The provider of the default model: the part before the first slash. */
export function providerIdInUse({ model }: Table): string | undefined {
  const slash = typeof model === 'string' ? model.indexOf('/') : -1
  return slash > 0 ? (model as string).slice(0, slash) : undefined
}

/** A provider of the merged configuration. */
export interface ConfiguredProvider {
  readonly table: Table
  readonly options: Table
  /** Absent: the client ships the provider, or there is none. */
  readonly url: string | undefined
}

export function providerOf(config: Table, id: string | undefined): ConfiguredProvider {
  const table = id === undefined ? {} : tableIn(config, ['provider', id])
  const options = tableIn(table, ['options'])
  return { table, options, url: textIn(options, ['baseURL']) }
}

interface KeyInHeader extends SentKey {
  readonly keyHeader: KeyHeader
}

/** The key that the client would send to a provider, and the file that holds it, as far as the files tell. */
export function readKey(
  files: LoadedFiles,
  providerId: string,
  options: Table,
): KeyInHeader | undefined {
  const { headerKey } = readHeaders(options['headers'])
  return (
    bearerKey(files, providerId, options) ??
    (headerKey && { ...headerKey, keyPath: fileOf(files, 'config').path })
  )
}

/** Where the key of a provider comes from if no file holds it. */
export function keyFromOf({ table, options }: ConfiguredProvider): Endpoint['keyFrom'] {
  const { apiKey: inline } = options
  if (typeof inline === 'string' && inline !== '') {
    const variable = /^\{env:(.*)\}$/.exec(inline)?.[1]
    return variable === undefined ? 'elsewhere' : { variable }
  }
  const [variable] = Array.isArray(table['env']) ? table['env'] : []
  return inline === undefined && typeof variable === 'string' ? { variable } : undefined
}

function bearerKey(
  files: LoadedFiles,
  providerId: string,
  { apiKey: inline }: Table,
): KeyInHeader | undefined {
  if (typeof inline === 'string') {
    // Even with an empty key the client does not read auth.json.
    if (inline === '' || /\{(?:env|file):/.test(inline)) return undefined
    return { key: inline, keyHeader: 'authorization', keyPath: fileOf(files, 'config').path }
  }

  const login = loginOf(files, providerId)
  const key = isTable(login) && login['type'] === 'api' ? login['key'] : undefined
  if (typeof key !== 'string' || key === '') return undefined
  return { key, keyHeader: 'authorization', keyPath: fileOf(files, 'auth').path }
}

/** Reads auth.json, which must be strict JSON: otherwise the client ignores the whole file. */
export function readAuth(file: LoadedFile): StrictFile {
  return readStrictly(file, { allowsBom: true })
}

/** The entry of a provider in auth.json, of any kind. */
export function loginOf(files: LoadedFiles, id: string): ConfigValue | undefined {
  return valueIn(readAuth(fileOf(files, 'auth')).root, [id])
}
