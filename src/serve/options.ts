import type { LoggedRequest } from './log/request-log.ts'
import type { CatalogEntry } from './model/catalog.ts'
import type { Fault } from './settings/faults.ts'

/** How to start a gateway. Everything has a default. */
export interface GatewayOptions {
  /** 0, the default: any free port. */
  readonly port?: number
  /** Loopback unless said: `127.0.0.1`. */
  readonly host?: string
  /** The one key that is accepted, of 8 characters or more. Generated if absent. */
  readonly key?: string
  /** Replaces the built-in catalog. */
  readonly models?: readonly CatalogEntry[]
  /** In force from the start; `setFaults` changes them. */
  readonly faults?: readonly Fault[]
  /** A JSON or YAML file with answers, read again whenever it changes. */
  readonly scenarioFile?: string
  /** Passes requests on to a real gateway instead of answering them. */
  readonly upstream?: Upstream
  /** Writes what the upstream answers into this file, which must not be there yet; it is a scenario. */
  readonly recordFile?: string
  /** Called at the end of each request. */
  readonly onRequest?: (request: LoggedRequest) => void
  /** Called when the scenario file was read again, or could not be: the text of the failure. */
  readonly onScenario?: (failure: string | undefined) => void
  readonly limits?: Partial<Limits>
}

export interface Upstream {
  /** The root, without `/v1`. */
  readonly url: string
  readonly key: string
}

/** What the gateway bears before it says no. */
export interface Limits {
  readonly maxBodyBytes: number
  /** For all headers of a request, in ms. */
  readonly headersTimeoutMs: number
  /** For a whole request, headers and body, in ms. */
  readonly requestTimeoutMs: number
  /** Streams that are open at the same time; a further one is answered with 503. */
  readonly maxOpenStreams: number
  /** A client that does not read for so long is cut off, in ms. */
  readonly stalledWriteMs: number
  /** Requests in the log. */
  readonly loggedRequests: number
  /** Of all headers and bodies in the log together, in characters. */
  readonly loggedCharacters: number
}

export const defaultLimits: Limits = {
  maxBodyBytes: 32 * 1024 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  maxOpenStreams: 4096,
  stalledWriteMs: 60_000,
  loggedRequests: 1000,
  loggedCharacters: 8 * 1024 * 1024,
}
