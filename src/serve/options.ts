import { UserError } from '../errors.ts'
import { InvalidData } from '../schema.ts'
import type { Fault } from './faults/faults.ts'
import type { LoggedRequest } from './log/entry.ts'
import type { CatalogEntry } from './model/catalog.ts'
import type {
  GatewayQuestion,
  WrittenReply,
  WrittenScenario,
} from './scenarios/written-scenario.ts'

/** The answers and faults for requests with one key. All members are optional. */
export interface ScopeOptions {
  /** At least 8 characters. Absent: a key is generated. */
  readonly key?: string
  /** The answers, or the path of a JSON or YAML file, which is read once. */
  readonly scenario?: WrittenScenario | string
  /** Answers a question. If it returns `undefined`, the scenario and the built-in model answer. */
  readonly answer?: (
    question: GatewayQuestion,
  ) => WrittenReply | string | undefined | Promise<WrittenReply | string | undefined>
  /**
   * Rejects requests without a written answer, and answers whose arguments do not fit the schema of the
   * tool. The built-in model does not answer.
   */
  readonly strict?: boolean
  /** The faults at the start. `setFaults` replaces them. */
  readonly faults?: readonly Fault[]
  /**
   * `off` writes a stream at once, a recorded answer without its pauses. By default, a stream is written in pieces
   * that end inside a frame.
   */
  readonly fragment?: 'on' | 'off'
  /**
   * `vendor`, the default, rejects what a model's family rejects. `rewritten` accepts it, as gateways do
   * that rewrite such requests.
   */
  readonly families?: 'vendor' | 'rewritten'
  /** A real gateway that gets every request without a written or recorded answer. */
  readonly upstream?: Upstream
  /**
   * A scenario file with recorded answers. They are replayed, and the answers of the upstream are added. One
   * scope at a time can record into a file.
   */
  readonly record?: string
}

/** How to start a gateway. Scopes have its `fragment`, `families` and `upstream` unless they set their own. */
export interface GatewayOptions extends ScopeOptions {
  /** 0, the default: any free port. */
  readonly port?: number
  /** Default: `127.0.0.1`. */
  readonly host?: string
  /** Replaces the built-in catalog. IDs or entries. */
  readonly models?: readonly (string | CatalogEntry)[]
  /** The same as `scenario`. */
  readonly scenarioFile?: string
  /** Called at the end of each request. */
  readonly onRequest?: (request: LoggedRequest) => void
  readonly limits?: Partial<Limits>
}

/** The values of an option: a list of words, or values that the code which uses the option checks. */
type AllowedValues = readonly string[] | 'checked-later'

const scopeOptions: Readonly<Record<keyof ScopeOptions, AllowedValues>> = {
  key: 'checked-later',
  scenario: 'checked-later',
  answer: 'checked-later',
  strict: 'checked-later',
  faults: 'checked-later',
  fragment: ['on', 'off'],
  families: ['vendor', 'rewritten'],
  upstream: 'checked-later',
  record: 'checked-later',
}

const gatewayOptions: Readonly<Record<keyof GatewayOptions, AllowedValues>> = {
  ...scopeOptions,
  port: 'checked-later',
  host: 'checked-later',
  models: 'checked-later',
  scenarioFile: 'checked-later',
  onRequest: 'checked-later',
  limits: 'checked-later',
}

/** They have no effect if an upstream answers what nobody wrote an answer for. */
const localOptions: readonly string[] = [
  'strict',
  'faults',
  'models',
] satisfies (keyof GatewayOptions)[]

/**
 * @throws UserError `usage` for an unknown option or value, and for one without an effect: a mistake would go
 *   unnoticed
 */
export function checkGatewayOptions(options: ScopeOptions, caller: 'startGateway' | 'scope'): void {
  const hasUpstream = options.upstream !== undefined
  const known = new Map(Object.entries(caller === 'scope' ? scopeOptions : gatewayOptions))

  for (const [name, value] of Object.entries(options)) {
    const allowed = known.get(name)
    if (allowed === undefined)
      throw new UserError({
        code: 'usage',
        message: `${caller}() does not know the option ${name}`,
        hint: `It knows ${[...known.keys()].join(', ')}.`,
      })

    if (allowed !== 'checked-later' && value !== undefined && !allowed.includes(value))
      throw new UserError({
        code: 'usage',
        message: `${caller}() does not know the value ${String(value)} of the option ${name}`,
        hint: `It knows ${allowed.join(', ')}.`,
      })

    const isSet = Array.isArray(value) ? value.length > 0 : Boolean(value)
    if (hasUpstream && isSet && localOptions.includes(name))
      throw new UserError({
        code: 'usage',
        message: `The upstream answers the other requests, so ${name} would have no effect`,
        hint: `Leave out the upstream or ${name}.`,
      })
  }
}

export interface Upstream {
  /** The address, without `/v1`. */
  readonly url: string
  readonly key: string
}

/** The limits of the gateway. */
export type Limits = Readonly<typeof defaultLimits>

export const defaultLimits = {
  maxBodyBytes: 32 * 1024 * 1024,
  /** The time for all headers of a request, in ms. */
  headersTimeoutMs: 10_000,
  /** The time for a whole request with headers and body, in ms. */
  requestTimeoutMs: 60_000,
  /** How many streams can be open at the same time. Further ones get 503. */
  maxOpenStreams: 4096,
  /** A client that does not read for this long is disconnected, in ms. */
  stalledWriteMs: 60_000,
  /** The number of requests in the log. */
  loggedRequests: 1000,
  /** The size of all headers and bodies in the log together, in characters. */
  loggedCharacters: 8 * 1024 * 1024,
}

/**
 * Reads data that a program passes.
 *
 * @throws UserError `usage` instead of InvalidData
 */
export function withUsageErrors<Result>(what: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof InvalidData)) throw error
    const hint = 'docs/gateway.md describes the allowed values.'
    throw new UserError({ code: 'usage', message: `${what}: ${error.message}`, hint, cause: error })
  }
}
