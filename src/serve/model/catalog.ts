import type { Protocol } from '../../protocols.ts'
import builtIn from './catalog.json' with { type: 'json' }

/** One model that the gateway knows. */
export interface CatalogEntry {
  readonly id: string
  readonly ownedBy: string
  /** In the order in which the catalog lists them. */
  readonly endpointTypes: readonly string[]
  /** The ID of the model that serves this alias. */
  readonly aliasOf?: string
  /** The key may not use it. Requests get 403. */
  readonly isForbidden?: boolean
  /** The operator set no price. Requests get 500. */
  readonly hasNoPrice?: boolean
  /** Other members of a saved list, such as `context_length`. */
  readonly listed?: Readonly<Record<string, unknown>>
  /** It is in the catalog, but the vendor rejects it on all three protocols. */
  readonly isNotForChat?: boolean
}

export const allEndpointTypes: readonly string[] = ['openai', 'openai-response', 'anthropic']

/** A model that a scenario has recorded answers of. */
export function recordedModel(id: string): CatalogEntry {
  return { id, ownedBy: 'custom', endpointTypes: allEndpointTypes }
}

/** The default catalog: the models of the official SDKs, which scripts/write-sdk-data.js reads. */
export const builtInCatalog: readonly CatalogEntry[] = builtIn.models

/** The endpoint type that a model needs for a protocol. */
const endpointTypeByProtocol: Readonly<Record<Protocol, string>> = {
  chat: 'openai',
  responses: 'openai-response',
  messages: 'anthropic',
}

export function servesProtocol(entry: CatalogEntry, protocol: Protocol): boolean {
  return entry.endpointTypes.includes(endpointTypeByProtocol[protocol])
}

/** A catalog with lookups and the two responses of GET /v1/models. */
export type ServedCatalog = ReturnType<typeof createCatalog>

export function createCatalog(entries: readonly CatalogEntry[]) {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const visible = entries.filter((entry) => !entry.isForbidden && !entry.hasNoPrice)
  // The imitated gateway writes maps with sorted keys, hence this order.
  const listText = (page: readonly CatalogEntry[]) =>
    JSON.stringify({ data: page.map(openaiModel), object: 'list', success: true })
  const messagesListText = (page: readonly CatalogEntry[], hasMore: boolean) =>
    JSON.stringify({
      data: page.map(anthropicModel),
      first_id: page[0]?.id ?? '',
      has_more: hasMore,
      last_id: page.at(-1)?.id ?? '',
    })
  const wholeList = listText(visible)
  const wholeMessagesList = messagesListText(visible, false)

  return {
    find: (id: string) => byId.get(id),
    /** The entry that serves an ID. An alias is resolved. */
    resolve(id: string) {
      const entry = byId.get(id)
      return entry?.aliasOf === undefined ? entry : byId.get(entry.aliasOf)
    },
    /** @param query the text after `?` */
    list(query = '') {
      return query === '' ? wholeList : listText(pageOf(visible, query).page)
    },
    messagesList(query = '') {
      if (query === '') return wholeMessagesList
      const { page, hasMore } = pageOf(visible, query)
      return messagesListText(page, hasMore)
    },
    /** The IDs of the chat models, in the order of the catalog. */
    ids: visible.flatMap(({ id, isNotForChat }) => (isNotForChat ? [] : id)),
  }
}

/** A page of the catalog: at most `limit` models, after or before one. Without a limit: all of them. */
function pageOf(entries: readonly CatalogEntry[], queryText: string) {
  const query = new URLSearchParams(queryText)
  const indexOf = (id: string | null) => entries.findIndex((entry) => entry.id === id)
  const limit = Math.max(1, Number(query.get('limit')) || entries.length)
  const before = indexOf(query.get('before_id'))
  if (before !== -1) {
    const start = Math.max(0, before - limit)
    return { page: entries.slice(start, before), hasMore: start > 0 }
  }
  const start = indexOf(query.get('after_id') ?? query.get('after')) + 1
  return { page: entries.slice(start, start + limit), hasMore: start + limit < entries.length }
}

/** 2021-07-20T10:40:00Z, in seconds. The imitated gateway reports this time for every model. */
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
