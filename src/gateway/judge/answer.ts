import type { ErrorCode } from '../../errors.ts'
import type { Catalog, CertificateStores, Protocol } from '../types.ts'

/** Largest catalog that is read, in bytes. OpenRouter's has about 500 kB. */
export const maxCatalogBytes = 8_000_000

/** Largest answer to a probe that is read, in bytes. */
export const maxAnswerBytes = 1_000_000

/** What one request brought back: plain data, so that the diagnosis needs no network. */
export interface HttpAnswer {
  /** The address that answered, after redirects. */
  readonly url: string
  readonly status: number
  /** Names in lower case; repeated headers joined with `, `. */
  readonly headers: Readonly<Record<string, string>>
  /** Decoded, up to the limit of the request. */
  readonly body: string
  /** Why the body ends early; absent: it is whole, or we have seen enough. */
  readonly cut?: 'limit' | 'connection' | 'encoding'
  /** The proxy that it came through, for people: `host:port (from HTTP_PROXY)`. */
  readonly proxy?: string
}

/**
 * How far a request had come when it failed; `tunnel`: through the proxy, or in TLS behind it; `lookup`:
 * the name of the gateway is being resolved.
 */
export type RequestStage = 'proxy' | 'tunnel' | 'lookup' | 'connect' | 'tls' | 'first-byte' | 'body'

/** A request that got no answer: plain data. */
export interface NetworkFailure {
  readonly url: string
  readonly stage: RequestStage
  /** Node's, OpenSSL's or undici's code: `ECONNREFUSED`, `CERT_HAS_EXPIRED`; empty: none. */
  readonly errorCode: string
  /** The error's own words, cleaned; for a certificate of another host: the hosts it is for. */
  readonly detail: string
  /** `deadline`: our own limit; `cancelled`: the person's Ctrl-C. */
  readonly reason: 'error' | 'deadline' | 'cancelled'
  /** How long was waited, in ms. */
  readonly waitedMs: number
  /** First bytes of what answered where it was not HTTP. */
  readonly firstBytes?: string
  /** The proxy in use, for people: `host:port (from HTTP_PROXY)`. */
  readonly proxy?: string
  /** Status of the proxy's own answer to CONNECT. */
  readonly proxyStatus?: number
}

/** What was asked, as far as an answer must be judged by it. */
export interface AskedRequest {
  readonly asked: Protocol | 'catalog'
  /** The root. */
  readonly baseUrl: string
  /** The model that was asked for. */
  readonly model?: string
  /** To name the nearest models. */
  readonly catalog?: Catalog
  /** The catalog came from this root with this key, so neither address nor key can be at fault. */
  readonly isBaseProven?: boolean
  /** The route answers other requests. */
  readonly isRouteProven?: boolean
  /** The person told Node to take any certificate, which repoint does not. */
  readonly isCheckRefused?: boolean
  /** What the client believes, and what is set for Node, which may be something else. */
  readonly authorities?: CertificateStores | undefined
  readonly isNodeToldMore?: boolean
  /** Never repeated from an answer. */
  readonly secrets: readonly string[]
}

/** One of the closed set of failures. */
export interface Outcome {
  readonly code: ErrorCode
  /** What and where, without a final full stop. */
  readonly message: string
  /** The next thing to do. */
  readonly hint: string
  /** The status and the gateway's own words, as they stand in the message; absent: it did not answer. */
  readonly said?: string
  /** The gateway's own id of the request, for its operator. */
  readonly requestId?: string
  /** What was refused may be taken with the key in another header. */
  readonly tryOtherKeyHeader?: boolean
}
