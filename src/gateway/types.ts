import type { Notice } from '../notice.ts'

/** The three protocols of the gateway. */
export const protocols = ['chat', 'responses', 'messages'] as const
export type ProtocolName = (typeof protocols)[number]

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
}

/** The answer of GET /v1/models, whatever its shape was. */
export interface Catalog {
  readonly models: readonly CatalogModel[]
  /** What is to be said about it beside the models. */
  readonly notices?: readonly Notice[]
  /** The gateway's clock when it answered, where it tells: to the second, without the way here. */
  readonly serverTime?: Date
}

/** A header that goes with every request beside the usual ones: some gateways choose by it. */
export interface ExtraHeader {
  /** In lower case. */
  readonly name: string
  /** Visible ASCII and spaces inside. */
  readonly value: string
  /** It came from a variable or a file, and is shown nowhere. */
  readonly isSecret?: true
}

/** Headers for a key that is not taken as `authorization: Bearer`. */
export const keyHeaders = ['x-api-key', 'api-key'] as const
export type KeyHeader = (typeof keyHeaders)[number]

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
  /** Where the key goes alone. Absent: `authorization: Bearer`. */
  readonly keyHeader?: KeyHeader | undefined
  readonly headers?: readonly ExtraHeader[] | undefined
  /** For the whole of one request, in ms. */
  readonly timeoutMs: number
  /** A PEM file with further authorities. */
  readonly caFile?: string | undefined
  /** Proxy variables are read from here. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal | undefined
}
