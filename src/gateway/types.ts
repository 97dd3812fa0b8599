import type { Notice } from '../notice.ts'

/** The three protocols of the gateway. */
export type ProtocolName = 'chat' | 'responses' | 'messages'

/** One entry of the catalog. */
export interface CatalogModel {
  readonly id: string
  /** Absent where the gateway does not say: unknown, not none. */
  readonly endpointTypes?: readonly string[]
  /** In tokens, where the gateway says it. */
  readonly contextWindow?: number
  /** In tokens, where the gateway says it. */
  readonly maxOutputTokens?: number
  readonly displayName?: string
  readonly ownedBy?: string
}

/** The answer of GET /v1/models, whatever its shape was. */
export interface Catalog {
  readonly models: readonly CatalogModel[]
  /** What is to be said about it beside the models. */
  readonly notices?: readonly Notice[]
  /** The gateway's clock when it answered, where it tells: to the second, without the way here. */
  readonly serverTime?: Date
}

/** Where a gateway's routes hang; no slash at the end. */
export interface Roots {
  /** Before `/models`, `/chat/completions`, `/responses`: mostly ends in `/v1`. */
  readonly chat: string
  /** Before `/v1/messages`. */
  readonly messages: string
}

/** How to reach one gateway. */
export interface GatewayAccess {
  /** As it was given, cleaned, without a trailing slash: `https://gw.example/prefix`. */
  readonly baseUrl: string
  /** In the origin of `baseUrl`. */
  readonly roots: Roots
  /** Already cleaned. Never printed. */
  readonly key: string
  /** For the whole of one request, in ms. */
  readonly timeoutMs: number
  /** A PEM file with further authorities. */
  readonly caFile?: string | undefined
  /** Proxy variables are read from here. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal | undefined
}
