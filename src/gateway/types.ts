import type { UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import type { Protocol } from '../protocols.ts'

export { type Protocol, protocols } from '../protocols.ts'

/** The known facts about a model. An absent value is unknown. */
export interface ModelFacts {
  /** In tokens. */
  readonly contextWindow?: number
  /** In tokens. */
  readonly outputLimit?: number
  /** Whether the model accepts images. */
  readonly images?: boolean
  readonly reasoning?: boolean
  readonly tools?: boolean
}

/** One entry of the catalog. */
export interface CatalogModel extends ModelFacts {
  readonly id: string
  /** Absent: the gateway does not report them, which does not mean none. */
  readonly endpointTypes?: readonly string[]
  readonly displayName?: string
  /** The gateway reports that the model is not for conversations, or is not served now. */
  readonly isConversational?: false
  /** The gateway reports that it will end the model, or has ended it: it is no default. */
  readonly isRetired?: true
}

/** A model, and the protocol over which a client requests it. */
export interface ModelAndProtocol {
  readonly model: string
  readonly protocol: Protocol
}

/** The answer to GET /v1/models, whatever its shape was. */
export interface Catalog {
  readonly models: readonly CatalogModel[]
  /** Problems of the catalog that the user should know about. */
  readonly findings?: readonly Finding[]
  /** The gateway's time when it answered, if it reports that: to the second, without the transfer time. */
  readonly serverTime?: Date
  /** The gateway is New API, which sends a header that says so with each answer (middleware, 2026-11-23). */
  readonly isNewApi?: true
}

/** The result of a catalog request. */
export type CatalogAnswer =
  | { readonly kind: 'received'; readonly catalog: Catalog }
  /** The gateway has no catalog, or one that cannot be read. */
  | { readonly kind: 'failed'; readonly error: UserError }

/** What repoint knows about the gateway's catalog. */
export type CatalogInfo =
  | CatalogAnswer
  /** The catalog has not arrived. Options that need it cannot be decided yet. */
  | { readonly kind: 'pending' }
  /** repoint does not request it, for example with `--no-verify`. */
  | { readonly kind: 'not-requested' }

/** A header to send with every request in addition to the usual ones. Some gateways route by it. */
export interface ExtraHeader {
  /** In lower case. */
  readonly name: string
  /** Visible ASCII and spaces inside. */
  readonly value: string
  /** The value came from a variable or a file, and is never shown. */
  readonly isSecret?: true
}

/** A query parameter to send with every request. Some gateways require a version there. */
export interface QueryParameter {
  readonly name: string
  /** Never a secret. */
  readonly value: string
}

/** A client's first request, as the probe sends it. */
export interface FirstRequest {
  /** The whole body, except the model. undefined: the client does not send this member. */
  readonly body: Readonly<Record<string, unknown>>
  /** In lower case, without those of the connection and of the key. */
  readonly headers?: Readonly<Record<string, string>>
  /** Headers that the user has added to the model in the client's files. */
  readonly addedHeaders?: readonly ExtraHeader[]
  /** The query of its URL. */
  readonly query?: string
  /**
   * The check of tool calls that the client asks for. The client continues without the check if the gateway
   * rejects or ignores it.
   * `withheld`: the client needs the check, and its settings keep it from asking.
   */
  readonly safeguards?: Safeguards | 'withheld'
  /**
   * What the user can do if the gateway rejects a member or header, by its name. A setup offers to use a flag in
   * braces if its value is known: `{--no-reasoning}`, `{--output-limit TOKENS}`.
   */
  readonly hints?: Readonly<Record<string, string>>
}

/** A server-side check of tool calls: `safeguards` in the body, and the beta that it belongs to. */
export interface Safeguards {
  readonly body: readonly object[]
  readonly beta: string
}

/**
 * What the gateway does with a client's `safeguards`. `unanswered`: it ignores or rejects them, or the client
 * withholds them. `not-requested`: no probe of this client has requested them.
 */
export type SafeguardsAnswer = 'answered' | 'unanswered' | 'not-requested'

/** What a client does with the responses over one protocol. scripts/try-responses.js finds it out. */
export interface AcceptedResponses {
  /** The flaws (src/gateway/judge/flaws.ts) that make the client reject a response. */
  readonly rejects: readonly string[]
  /** The client repeats a request after one response with such a status. */
  readonly retries: readonly number[]
  /** The same, if the response says when: `retry-after`. */
  readonly retriesIfTold?: readonly number[]
  /** The flaws after which the client repeats the request without a stream. */
  readonly repeats?: readonly string[]
}

export interface Sender extends FirstRequest {
  /** The client's name, as shown. */
  readonly label: string
  /** The only header in which the client sends the key over this protocol. Absent: that of the gateway. */
  readonly keyHeader?: KeyHeader
  readonly accepts?: AcceptedResponses
}

/** Headers that can hold the key instead of the usual `authorization: Bearer KEY`. They hold it alone. */
export const otherKeyHeaders = ['x-api-key', 'api-key'] as const
export type OtherKeyHeader = (typeof otherKeyHeaders)[number]

/** The header that holds the key. A request uses the client's (`Sender.keyHeader`), or else the gateway's. */
export type KeyHeader = 'authorization' | OtherKeyHeader

/** The base URLs of a gateway, without a slash at the end. `chat` is also that of the responses protocol. */
export interface BaseUrls {
  /** For `/models`, `/chat/completions` and `/responses`. It usually ends in `/v1`. */
  readonly chat: string
  /** For `/v1/messages`. */
  readonly messages: string
}

/** Where a client finds certificate authorities in addition to the public ones. */
export interface CertificateStores {
  /** Whether the client reads the system's store by itself. */
  readonly system: boolean
  /** A variable that keeps the client from doing so if it names a readable PEM file. */
  readonly hidesSystem?: string
  /** Variables that name a PEM file, and variables that name folders of them. */
  readonly files: readonly string[]
  readonly folders: readonly string[]
  /** The label of the client, or of several clients that are proven at once. */
  readonly of?: string
}

/** A gateway and how to send requests to it: from the user, a client's files or the saved gateways. */
export interface Gateway {
  /**
   * As the user gave it, cleaned, without a slash at the end: `https://gw.example/prefix`. The flag
   * `--base-url` and the JSON documents call it `baseUrl`.
   */
  readonly address: string
  /** What a client appends its route to, in the origin of `address`. Absent: the usual ones. */
  readonly baseUrls?: BaseUrls
  /** Already cleaned. Never printed. */
  readonly key?: string
  /** The header in which the gateway accepts the key. Absent: not known. */
  readonly keyHeader?: KeyHeader
  readonly headers?: readonly ExtraHeader[]
  readonly query?: readonly QueryParameter[]
  /** A PEM file with additional authorities. */
  readonly caFile?: string
  /** The user allowed plain http to another machine. */
  readonly allowHttp?: true
  /** The name that it is saved under. */
  readonly name?: string
}

/** A gateway that this machine can send requests to. */
export interface GatewayAccess extends Gateway {
  readonly baseUrls: BaseUrls
  readonly key: string
  /** The header to send the key in. The usual one until the gateway rejects it. */
  readonly keyHeader: KeyHeader
  /** For the whole of one request, in ms. */
  readonly timeoutMs: number
  /** The certificate stores of the client that is being set up. Absent: those that most clients use. */
  readonly authorities?: CertificateStores
  /** The source of the proxy variables and of those that `authorities` names. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal
  /** Shared by all requests of this access. Absent: each request waits for `timeoutMs`. */
  readonly hostState?: HostState
}

/** The state that the requests to one host share. A host that answers none of them is silent. */
interface HostState {
  hasAnswered: boolean
  /** When the first GET request started, by `performance.now()`. A host answers it without loading a model. */
  firstGetAt?: number
}
