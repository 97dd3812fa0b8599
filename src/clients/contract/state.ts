import type { Finding } from '../../finding.ts'
import type { ExtraHeader, KeyHeader, QueryParameter } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import type { ClientOptions, OptionName } from './options.ts'

/** A client's settings, as its files say now. */
export interface ClientState {
  readonly endpoint: Endpoint
  readonly options: ClientOptions
  /** Options that no file sets: their values here are the client's default. */
  readonly unsetOptions?: readonly OptionName[]
  /** The model as the file names it, for reports. Absent: `options.model`. */
  readonly shownModel?: string
  /** The model IDs in the client's picker, for the provider in use. */
  readonly offered?: readonly string[]
  readonly origins: Origins
  /** The ID of the client whose setup wrote files that a family shares. Absent: the first one. */
  readonly configuredAs?: string
  /** Another login that the client would use instead of our key, as shown: `a ChatGPT login`. */
  readonly login?: string
  /** Why the client cannot read its files. */
  readonly findings: readonly Finding[]
}

/** How a client reaches its gateway, as its files say. A value that no file sets is absent. */
export interface Endpoint {
  /**
   * As configured, without a slash at the end. The client appends its route. Absent: it uses its own
   * service, also with a key in its files.
   */
  readonly baseUrl?: string
  readonly key?: string
  /** Where a key comes from that no file holds. `elsewhere`: the client runs a program or reads another file. */
  readonly keyFrom?: { readonly variable: string } | 'elsewhere'
  readonly keyHeader: KeyHeader
  readonly headers?: readonly ExtraHeader[]
  readonly query?: readonly QueryParameter[]
  /** The PEM file with more certificate authorities. Absent: the environment decides. */
  readonly caFile?: string
  /** Another address that gets the key, for example from old conversations. */
  readonly alsoSendsTo?: string
}

/** The absolute paths of the files that set these values. */
export interface Origins {
  readonly baseUrl?: string
  readonly model?: string
  readonly smallModel?: string
  readonly key?: string
}

/** The key that a client sends. */
export interface SentKey {
  readonly key: string
  /** The file that holds it. */
  readonly keyPath: string
}

/** The state of a client whose files say nothing. */
export const emptyState: ClientState = {
  endpoint: { keyHeader: 'authorization' },
  options: {},
  origins: {},
  findings: [],
}

/** The state in an environment: with the key of the variable that the files name. */
export function inEnvironment(state: ClientState, env: Machine['env']): ClientState {
  const { endpoint } = state
  const { keyFrom } = endpoint
  const key = typeof keyFrom === 'object' ? env[keyFrom.variable] || undefined : undefined
  return key === undefined ? state : { ...state, endpoint: { ...endpoint, key } }
}

/** Why a client cannot read its files. Undefined: it can. */
export function whyUnreadable({ findings }: Pick<ClientState, 'findings'>): string | undefined {
  return findings.find(({ topic }) => topic === 'broken')?.message
}

/** Whether a client sends the same key or login to the same address. */
export function usesSameCredentials(a: ClientState, b: ClientState): boolean {
  return (
    a.endpoint.baseUrl === b.endpoint.baseUrl &&
    a.endpoint.key === b.endpoint.key &&
    a.login === b.login
  )
}

/** What reports show as the model that a client starts with. */
export function shownModel({ shownModel: shown, options }: ClientState): string | undefined {
  return shown ?? options.model
}
