import { isObject } from '../codecs/read.ts'
import type { CatalogEntry } from '../model/catalog.ts'
import { checkBoolean, checkList, checkObject, checkString, Misfit } from './check.ts'

const keys = [
  'id',
  'ownedBy',
  'endpointTypes',
  'aliasOf',
  'isForbidden',
  'hasNoPrice',
  'isNotForChat',
]

/**
 * Reads a catalog from plain data: a list of entries, or the answer of a real GET /v1/models.
 *
 * @throws Misfit
 */
export function readModels(data: unknown): readonly CatalogEntry[] {
  const isAnswer = isObject(data) && Array.isArray(data['data'])
  const path = isAnswer ? ['data'] : []
  const entries = checkList(isAnswer ? data['data'] : data, path).map((value, index) =>
    isAnswer ? readAnswered(value, [...path, index]) : readEntry(value, [...path, index]),
  )
  if (entries.length === 0) throw new Misfit(path, 'must have at least one model')
  const ids = new Set<string>()
  for (const [index, { id, aliasOf }] of entries.entries()) {
    if (ids.has(id)) throw new Misfit([...path, index, 'id'], `stands there twice: ${id}`)
    ids.add(id)
    const target = entries.find((entry) => entry.id === aliasOf)
    if (aliasOf !== undefined && (target === undefined || target.aliasOf !== undefined))
      throw new Misfit([...path, index, 'aliasOf'], `is no model of this catalog: ${aliasOf}`)
  }
  return entries
}

const everyProtocol = ['openai', 'openai-response', 'anthropic']

function readEntry(value: unknown, path: readonly (string | number)[]): CatalogEntry {
  if (typeof value === 'string')
    return { id: value, ownedBy: 'custom', endpointTypes: everyProtocol }
  const entry = checkObject(value, path, keys)
  const at = (key: string) => [...path, key]
  const flag = (key: string) =>
    entry[key] === undefined ? {} : { [key]: checkBoolean(entry[key], at(key)) }
  return {
    id: checkString(entry['id'], at('id')),
    ownedBy:
      entry['ownedBy'] === undefined ? 'custom' : checkString(entry['ownedBy'], at('ownedBy')),
    endpointTypes:
      entry['endpointTypes'] === undefined
        ? everyProtocol
        : checkList(entry['endpointTypes'], at('endpointTypes')).map((type, index) =>
            checkString(type, [...at('endpointTypes'), index]),
          ),
    ...(entry['aliasOf'] === undefined
      ? {}
      : { aliasOf: checkString(entry['aliasOf'], at('aliasOf')) }),
    ...flag('isForbidden'),
    ...flag('hasNoPrice'),
    ...flag('isNotForChat'),
  }
}

/** Other gateways leave most members out; where the types are missing, every protocol is served. */
function readAnswered(value: unknown, path: readonly (string | number)[]): CatalogEntry {
  const id = isObject(value) ? value['id'] : undefined
  if (!isObject(value) || typeof id !== 'string') throw new Misfit([...path, 'id'], 'must be text')
  const types = value['supported_endpoint_types']
  const ownedBy = value['owned_by']
  return {
    id,
    ownedBy: typeof ownedBy === 'string' ? ownedBy : 'custom',
    endpointTypes: Array.isArray(types)
      ? types.filter((type): type is string => typeof type === 'string')
      : everyProtocol,
  }
}
