import type { OutcomeCode } from '../../outcome-codes.ts'
import type { Catalog, CertificateStores, Protocol, Sender } from '../types.ts'

/** The largest catalog that is read, in bytes. OpenRouter's has about 500 kB. */
export const maxCatalogBytes = 8_000_000

/** The largest response to a probe that is read, in bytes. Clients read one of 2 MB (seen 2026-11-26). */
export const maxResponseBytes = 4_000_000

/** The response to one request, as plain data, so that the diagnosis needs no network. */
export interface HttpResponse {
  /** The address that answered, after redirects. */
  readonly url: string
  readonly status: number
  /** Names in lower case; repeated headers joined with `, `. */
  readonly headers: Readonly<Record<string, string>>
  /** Decoded, up to the request's size limit. */
  readonly body: string
  /** Why the body ends early. Absent: the body is whole, or repoint has read enough of it. */
  readonly cut?: 'limit' | 'connection' | 'encoding'
  /** The gateway had not ended the response some time after its last event. */
  readonly isOpen?: true
  /** The proxy that the response came through, as shown: `host:port (HTTP_PROXY)`. */
  readonly proxy?: string
}

/**
 * How far a request had come when it failed. `tunnel`: through the proxy, or in TLS behind it. `lookup`:
 * resolving the gateway's host name.
 */
export type RequestStage = 'proxy' | 'tunnel' | 'lookup' | 'connect' | 'tls' | 'first-byte' | 'body'

/** A request without a response, as plain data. */
export interface NetworkFailure {
  readonly url: string
  readonly stage: RequestStage
  /** The code of Node, OpenSSL or undici: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  readonly errorCode: string
  /** The error's own words, cleaned. For the certificate of another host: the hosts that it is for. */
  readonly detail: string
  /** `deadline`: our own timeout; `cancelled`: the user's Ctrl-C. */
  readonly reason: 'error' | 'deadline' | 'cancelled'
  /** How long repoint waited, in ms. */
  readonly waitedMs: number
  /** The first bytes of a response that was not HTTP. */
  readonly firstBytes?: string
  /** The proxy in use, as shown: `host:port (HTTP_PROXY)`. */
  readonly proxy?: string
  /** The status of the proxy's own response to CONNECT. */
  readonly proxyStatus?: number
}

/** The request, as far as the judgement of its response depends on it. */
export interface SentRequest {
  readonly route: Protocol | 'catalog'
  readonly address: string
  /** The requested model. Absent: the request names none. */
  readonly model?: string
  /** The client that would receive the response. Absent: any. */
  readonly sender?: Sender
  /** The catalog that the gateway sent for this key: it proves that the key is right, and names the nearest models. */
  readonly catalog?: Catalog
  /**
   * What else an API has answered at this base URL. `catalog`: a catalog request with this key, so neither of the
   * two is at fault. `route`: also a request to this route that names no model. Absent: nothing that is known.
   */
  readonly apiAnswered?: 'catalog' | 'route'
  /** The user told Node to accept any certificate, which repoint does not do. */
  readonly isCheckRefused?: boolean
  /** The client's certificate stores. Those that are set for Node can differ. */
  readonly authorities?: CertificateStores
  readonly hasNodeExtraCa?: boolean
  /** Removed from the words of a response. */
  readonly secrets: readonly string[]
}

/** What a response or a failure means: one of the closed set of codes. diagnose.ts explains the words. */
export interface Outcome {
  /** `cancelled`: the user interrupted the request. `usage`: repoint does not send it over plain http. */
  readonly code: OutcomeCode | 'cancelled' | 'usage'
  /** What failed and where, without a full stop at the end. */
  readonly message: string
  /** What to do next. A flag is in braces, see `completeHint`. */
  readonly hint: string
  /** The status and the gateway's own words, as in the message. Absent: the gateway did not answer. */
  readonly quote?: string
  /** The gateway's ID of the request, for its operator. */
  readonly requestId?: string
  /** The gateway may accept the key in another header. */
  readonly tryOtherKeyHeader?: boolean
  /** The header that the gateway asks for, in lower case. */
  readonly wantedHeader?: string
  /** The flag of a setup without the part that the gateway rejects: `--no-reasoning`. */
  readonly cure?: string
}
