import { UserError } from '../errors.ts'
import type { LoggedRequest } from './log/request-log.ts'
import type { CatalogEntry } from './model/catalog.ts'
import type { Fault } from './settings/faults.ts'
import type { GatewayQuestion, WrittenReply, WrittenScenario } from './settings/written.ts'

/** The answers and faults of the requests that carry one key. Everything has a default. */
export interface ScopeOptions {
  /** Of 8 characters or more. Generated if absent. */
  readonly key?: string
  /** Answers: as they are, or the path of a JSON or YAML file, which is read once. */
  readonly scenario?: WrittenScenario | string
  /** Answers a question, or leaves it (`undefined`) to the scenario and the built-in model. */
  readonly answer?: (
    question: GatewayQuestion,
  ) => WrittenReply | string | undefined | Promise<WrittenReply | string | undefined>
  /**
   * A question that nobody wrote an answer for is refused, and so is an answer whose arguments do not
   * fit the schema of the tool; the built-in model says nothing.
   */
  readonly strict?: boolean
  /** In force from the start; `setFaults` changes them. */
  readonly faults?: readonly Fault[]
  /** `off` writes a stream at once. By default it is written in pieces that end within a frame. */
  readonly fragment?: 'on' | 'off'
  /**
   * What families of models reject although others accept it: as the vendor does by default, or
   * accepted, as by gateways that rewrite such requests before they pass them on (`rewritten`).
   */
  readonly families?: 'vendor' | 'rewritten'
}

/** How to start a gateway. */
export interface GatewayOptions extends ScopeOptions {
  /** 0, the default: any free port. */
  readonly port?: number
  /** Loopback unless said: `127.0.0.1`. */
  readonly host?: string
  /** Replaces the built-in catalog: ids alone, or entries. */
  readonly models?: readonly (string | CatalogEntry)[]
  /** The same as `scenario`. */
  readonly scenarioFile?: string
  /** Passes requests on to a real gateway instead of answering them. */
  readonly upstream?: Upstream
  /** Writes what the upstream answers into this file, which must not be there yet; it is a scenario. */
  readonly recordFile?: string
  /** Called at the end of each request. */
  readonly onRequest?: (request: LoggedRequest) => void
  readonly limits?: Partial<Limits>
}

const scopeOptionNames = [
  ...(['key', 'scenario', 'answer', 'strict', 'faults'] as const),
  ...(['fragment', 'families'] as const),
]
const gatewayOptionNames = [
  ...scopeOptionNames,
  ...(['port', 'host', 'models', 'scenarioFile'] as const),
  ...(['upstream', 'recordFile', 'onRequest', 'limits'] as const),
] satisfies readonly (keyof GatewayOptions)[]

/** @throws UserError `usage` for an unknown member or word: a typing error would go unnoticed */
export function checkOptions(options: ScopeOptions, caller: 'startGateway' | 'scope'): void {
  const known: readonly string[] = caller === 'scope' ? scopeOptionNames : gatewayOptionNames
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new UserError({
      code: 'usage',
      message: `${caller}() does not know the option ${unknown}`,
      hint: `It knows ${known.join(', ')}.`,
    })

  for (const [name, words] of Object.entries(allowedValues)) {
    const word: unknown = options[name as keyof typeof allowedValues]
    if (word !== undefined && !words.includes(word as string))
      throw new UserError({
        code: 'usage',
        message: `${caller}() does not know the value ${String(word)} of the option ${name}`,
        hint: `It knows ${words.join(', ')}.`,
      })
  }
}

const allowedValues: Readonly<Record<'fragment' | 'families', readonly string[]>> = {
  fragment: ['on', 'off'],
  families: ['vendor', 'rewritten'],
}

export interface Upstream {
  /** The root, without `/v1`. */
  readonly url: string
  readonly key: string
}

/** What the gateway bears before it says no. */
export type Limits = Readonly<typeof defaultLimits>

export const defaultLimits = {
  maxBodyBytes: 32 * 1024 * 1024,
  /** For all headers of a request, in ms. */
  headersTimeoutMs: 10_000,
  /** For a whole request, headers and body, in ms. */
  requestTimeoutMs: 60_000,
  /** Streams that are open at the same time; a further one is answered with 503. */
  maxOpenStreams: 4096,
  /** A client that does not read for so long is cut off, in ms. */
  stalledWriteMs: 60_000,
  /** Requests in the log. */
  loggedRequests: 1000,
  /** Of all headers and bodies in the log together, in characters. */
  loggedCharacters: 8 * 1024 * 1024,
}
