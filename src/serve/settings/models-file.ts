import * as v from 'valibot'
import { type CatalogEntry, everyProtocol } from '../model/catalog.ts'
import { isObject } from '../requests/read.ts'
import { accept, flag, list, Misfit, mapping, orText, text } from './schema.ts'

/** One entry as people write it; an id alone is one too. */
const written = mapping({
  id: text,
  ownedBy: v.optional(text, 'custom'),
  endpointTypes: v.optional(list(text), everyProtocol),
  aliasOf: v.exactOptional(text),
  isForbidden: v.exactOptional(flag),
  hasNoPrice: v.exactOptional(flag),
  isNotForChat: v.exactOptional(flag),
  listed: v.exactOptional(v.record(v.string(), v.unknown())),
})

/** Other gateways leave most members out; where the types are missing, every protocol is served. */
const answeredEntry = v.pipe(
  v.looseObject({
    id: text,
    owned_by: v.fallback(text, 'custom'),
    supported_endpoint_types: v.fallback(list(text), everyProtocol),
  }),
  v.transform(({ id, owned_by, supported_endpoint_types, object, created, ...listed }) => ({
    id,
    ownedBy: owned_by,
    endpointTypes: supported_endpoint_types,
    ...(Object.keys(listed).length === 0 ? {} : { listed }),
  })),
)

/**
 * Reads a catalog from plain data: a list of entries, or the answer of a real GET /v1/models.
 *
 * @throws Misfit
 */
export function readModels(data: unknown): readonly CatalogEntry[] {
  const isAnswer = isObject(data) && Array.isArray(data['data'])
  const path = isAnswer ? ['data'] : []
  const entries: readonly CatalogEntry[] = isAnswer
    ? accept(list(answeredEntry), data['data'], path)
    : accept(list(orText('id', written)), data)
  if (entries.length === 0) throw new Misfit(path, 'must have at least one model')

  const byId = new Map<string, CatalogEntry>()
  for (const [index, entry] of entries.entries()) {
    if (byId.has(entry.id))
      throw new Misfit([...path, index, 'id'], `stands there twice: ${entry.id}`)
    byId.set(entry.id, entry)
  }
  for (const [index, { aliasOf }] of entries.entries()) {
    const target = byId.get(aliasOf ?? '')
    if (aliasOf !== undefined && (target === undefined || target.aliasOf !== undefined))
      throw new Misfit([...path, index, 'aliasOf'], `is no model of this catalog: ${aliasOf}`)
  }
  return entries
}
