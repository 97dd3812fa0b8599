import type { Protocol } from '../../protocols.ts'
import builtIn from './catalog.json' with { type: 'json' }

/** One model that the gateway knows. */
export interface CatalogEntry {
  readonly id: string
  readonly ownedBy: string
  /** In the order in which the catalog lists them. */
  readonly endpointTypes: readonly string[]
  /** Another name of this model: it is served under the id that stands here. */
  readonly aliasOf?: string
  /** The key may not use it: 403. */
  readonly isForbidden?: boolean
  /** The operator forgot to price it: 500. */
  readonly hasNoPrice?: boolean
  /** What a saved list says of it beside these: `context_length` and the like. */
  readonly listed?: Readonly<Record<string, unknown>>
  /** In the catalog, but no conversation partner: the upstream refuses it on all three protocols. */
  readonly isNotForChat?: boolean
}

export const allEndpointTypes: readonly string[] = ['openai', 'openai-response', 'anthropic']
/**
 * The catalog that is served unless `models` says otherwise. The ids of the message family are
 * exactly those that Claude Code 2.1.54 to 2.1.330 send for their slots (run on Linux, 2026-11-22).
 */
export const builtInCatalog: readonly CatalogEntry[] = builtIn

/** The endpoint type that a model needs so that a protocol reaches it. */
const endpointTypeByProtocol: Readonly<Record<Protocol, string>> = {
  chat: 'openai',
  responses: 'openai-response',
  messages: 'anthropic',
}

export function supportsProtocol(entry: CatalogEntry, protocol: Protocol): boolean {
  return entry.endpointTypes.includes(endpointTypeByProtocol[protocol])
}

/** A catalog made ready: lookups and the two answers of GET /v1/models. */
export type ServedModels = ReturnType<typeof createCatalog>

export function createCatalog(entries: readonly CatalogEntry[]) {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const visible = entries.filter((entry) => !entry.isForbidden && !entry.hasNoPrice)

  return {
    find: (id: string) => byId.get(id),
    /** The entry that serves: an alias leads to its target. */
    resolve(id: string) {
      const entry = byId.get(id)
      return entry?.aliasOf === undefined ? entry : byId.get(entry.aliasOf)
    },
    // The service writes maps with sorted keys, hence this order.
    list: JSON.stringify({ data: visible.map(openaiModel), object: 'list', success: true }),
    messagesList: JSON.stringify({
      data: visible.map(anthropicModel),
      first_id: visible[0]?.id ?? '',
      has_more: false,
      last_id: visible.at(-1)?.id ?? '',
    }),
    /** Those to talk to, as the catalog lists them. */
    ids: visible.flatMap(({ id, isNotForChat }) => (isNotForChat ? [] : id)),
  }
}

/** 2021-07-20T10:40:00Z: the service gives every model this time. In seconds. */
const createdAt = 1_626_777_600

export function openaiModel(entry: CatalogEntry) {
  return {
    ...entry.listed,
    id: entry.id,
    object: 'model',
    created: createdAt,
    owned_by: entry.ownedBy,
    supported_endpoint_types: entry.endpointTypes,
  }
}

export function anthropicModel(entry: CatalogEntry) {
  return {
    ...entry.listed,
    id: entry.id,
    created_at: new Date(createdAt * 1000).toISOString().replace('.000Z', 'Z'),
    display_name: entry.id,
    type: 'model',
  }
}
