import type { Finding } from '../finding.ts'
import type { Protocol } from '../protocols.ts'

export { type Protocol, protocols } from '../protocols.ts'

/** What is known of a model; what is absent is unknown. */
export interface ModelFacts {
  /** In tokens. */
  readonly contextWindow?: number
  /** In tokens. */
  readonly maxOutputTokens?: number
  /** Whether it sees them. */
  readonly images?: boolean
  readonly reasoning?: boolean
  readonly tools?: boolean
}

/** One entry of the catalog. */
export interface CatalogModel extends ModelFacts {
  readonly id: string
  /** Absent where the gateway does not say: unknown, not none. */
  readonly endpointTypes?: readonly string[]
  readonly displayName?: string
  /** The gateway says that the model holds no conversation, or is not served now. */
  readonly isConversational?: false
}

/** A model, and the protocol over which a client requests it. */
export interface ModelRoute {
  readonly model: string
  readonly protocol: Protocol
}

/** The answer of GET /v1/models, whatever its shape was. */
export interface Catalog {
  readonly models: readonly CatalogModel[]
  /** What is to be said about it beside the models. */
  readonly findings?: readonly Finding[]
  /** The gateway's clock when it answered, where it tells: to the second, without the way here. */
  readonly serverTime?: Date
  /** It is New API that answers, which says so in a header of each answer (middleware, 2026-11-23). */
  readonly isNewApi?: true
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

/** A part of the query that goes with every request: some gateways want a version there. */
export interface QueryParameter {
  readonly name: string
  /** Never a secret. */
  readonly value: string
}

/** What a client's first request has besides messages and tools, as far as a gateway may reject it. */
export interface FirstRequest {
  /** Members of the body, also the token limit. undefined: the client does not send this member. */
  readonly body: Readonly<Record<string, unknown>>
  /** In lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** After such an error the client tries once more without these members and headers. */
  readonly retryWithout?: { readonly to: RegExp; readonly names: readonly string[] }
  /**
   * The check of tool calls that the client asks for. It goes on if the gateway rejects or ignores it.
   * `withheld`: the client needs the check, and its settings keep it from asking.
   */
  readonly safeguards?: Safeguards | 'withheld' | undefined
  /** What the user can do if the gateway rejects a member or header, by its name. Absent: nothing. */
  readonly hints?: Readonly<Record<string, string>>
}

/** A server-side check of tool calls: `safeguards` in the body, and the beta that it belongs to. */
export interface Safeguards {
  readonly body: readonly object[]
  readonly beta: string
}

/** The client whose requests a probe stands for. */
export interface Sender extends FirstRequest {
  /** The client, for people. */
  readonly label: string
}

/** Headers that can hold the key instead of `authorization: Bearer`. */
export const keyHeaders = ['x-api-key', 'api-key'] as const
export type KeyHeader = (typeof keyHeaders)[number]

/** The base URLs of a gateway, without a slash at the end. */
export interface BaseUrls {
  /** For `/models`, `/chat/completions` and `/responses`. It usually ends in `/v1`. */
  readonly chat: string
  /** For `/v1/messages`. */
  readonly messages: string
}

/** Where a client finds certificate authorities besides the public ones. */
export interface CertificateStores {
  /** Whether it reads the system's store by itself. */
  readonly system: boolean
  /** A variable that keeps it from doing so if it names a readable file. */
  readonly hidesSystem?: string
  /** Variables that name a PEM file, and variables that name folders of them. */
  readonly files: readonly string[]
  readonly folders: readonly string[]
  /** The label of the client, or of several clients that are proven at once. */
  readonly of?: string
}

/** A gateway, and how it is asked: as it was given, found in a client's files, or remembered. */
export interface Gateway {
  /** As it was given, cleaned, without a trailing slash: `https://gw.example/prefix`. */
  readonly baseUrl: string
  /** In the origin of `baseUrl`. Absent: where the routes of nearly every gateway hang. */
  readonly baseUrls?: BaseUrls | undefined
  /** Already cleaned. Never printed. Absent: it is not known here. */
  readonly key?: string | undefined
  /** Where the key goes alone. Absent: `authorization: Bearer`. */
  readonly keyHeader?: KeyHeader | undefined
  readonly headers?: readonly ExtraHeader[] | undefined
  readonly query?: readonly QueryParameter[] | undefined
  /** A PEM file with further authorities. */
  readonly caFile?: string | undefined
  /** Plain http to another machine was allowed. */
  readonly allowHttp?: true | undefined
  /** What it is remembered as. */
  readonly name?: string | undefined
}

/** A gateway that can be asked from this machine. */
export interface GatewayAccess extends Gateway {
  readonly baseUrls: BaseUrls
  readonly key: string
  /** For the whole of one request, in ms. */
  readonly timeoutMs: number
  /** What the client believes that is set up; absent: what most of them do. */
  readonly authorities?: CertificateStores | undefined
  /** Proxy variables, and those of `authorities`, are read from here. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal | undefined
}
