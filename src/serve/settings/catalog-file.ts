import * as v from 'valibot'
import { flag, InvalidData, list, object, parseData, text, textOr } from '../../schema.ts'
import { allEndpointTypes, type CatalogEntry } from '../model/catalog.ts'
import { isObject } from '../requests/json.ts'

/** An entry of a catalog that people write. */
const entrySchema = object({
  id: text,
  ownedBy: v.optional(text, 'custom'),
  endpointTypes: v.optional(list(text), allEndpointTypes),
  aliasOf: v.exactOptional(text),
  isForbidden: v.exactOptional(flag),
  hasNoPrice: v.exactOptional(flag),
  isNotForChat: v.exactOptional(flag),
  listed: v.exactOptional(v.record(v.string(), v.unknown())),
})

/** An entry of a real response. Most members are optional. Without types, every protocol is served. */
const responseEntrySchema = v.pipe(
  v.looseObject({
    id: text,
    owned_by: v.fallback(text, 'custom'),
    supported_endpoint_types: v.fallback(list(text), allEndpointTypes),
  }),
  v.transform(({ id, owned_by, supported_endpoint_types, object, created, ...listed }) => ({
    id,
    ownedBy: owned_by,
    endpointTypes: supported_endpoint_types,
    ...(Object.keys(listed).length === 0 ? {} : { listed }),
  })),
)

/**
 * Reads a catalog from plain data: a list of entries or IDs, or the response of a real GET /v1/models.
 *
 * @throws InvalidData
 */
export function readCatalogFile(data: unknown): readonly CatalogEntry[] {
  const isAnswer = isObject(data) && Array.isArray(data['data'])
  const path = isAnswer ? ['data'] : []
  const entries: readonly CatalogEntry[] = isAnswer
    ? parseData(list(responseEntrySchema), data['data'], path)
    : parseData(list(textOr('id', entrySchema)), data)
  if (entries.length === 0) throw new InvalidData(path, 'must have at least one model')

  const byId = new Map<string, CatalogEntry>()
  for (const [index, entry] of entries.entries()) {
    if (byId.has(entry.id))
      throw new InvalidData([...path, index, 'id'], `is repeated: ${entry.id}`)
    byId.set(entry.id, entry)
  }

  for (const [index, { aliasOf }] of entries.entries()) {
    const target = byId.get(aliasOf ?? '')
    if (aliasOf !== undefined && (target === undefined || target.aliasOf !== undefined))
      throw new InvalidData(
        [...path, index, 'aliasOf'],
        `is not a model of this catalog: ${aliasOf}`,
      )
  }

  return entries
}
