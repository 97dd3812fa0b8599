import { compact } from '../../compact.ts'
import type { Protocol } from '../../protocols.ts'
import { type Failure, failures } from '../codecs/failure.ts'
import errors from './vendor-errors.json' with { type: 'json' }

/** Something that goes wrong on purpose: what, when, and how often. */
export interface Fault extends FaultSelection, FaultEffects {}

/** The requests to which a fault applies. */
export interface FaultSelection {
  /** Only on this route. Absent: on every route below /v1. */
  readonly route?: 'models' | Protocol
  /** Only for this model. */
  readonly model?: string
  /** Only if the body contains this text, such as a parameter that a gateway rejects. */
  readonly holds?: string
  /** Only on every nth request that matches. Absent: on each. */
  readonly every?: number
  /** Only this many times. */
  readonly times?: number
}

/** What goes wrong. Effects can be combined. */
export interface FaultEffects {
  /** An error of the imitated gateway (`rate-limited`) or of the vendors (`rate_limit_error`). */
  readonly error?: FaultName
  /** Any status, as an error of the vendor. */
  readonly status?: number
  readonly message?: string
  /** In seconds, with `error` or `status`. */
  readonly retryAfter?: number
  /** Responds with 200 and a web page instead of JSON. */
  readonly webPage?: boolean
  /** Resets the connection without a response. */
  readonly reset?: boolean
  /** The delay before the first byte, in ms. */
  readonly delayMs?: number
  /** The delay between the frames of a stream, in ms. */
  readonly betweenMs?: number
  /** Cuts the connection after this many frames of a stream. */
  readonly cutAfter?: number
  /** Ends the stream after this many frames with an error event, that of `error` or `status` if set. */
  readonly errorAfter?: number
}

/** The imitated gateway's errors that a fault can cause, in the order of its checks. */
const gatewayErrors = {
  'invalid-token': () => failures.invalidToken(),
  'rate-limited': () => failures.rateLimited(),
  'model-forbidden': (model) => failures.modelForbidden(model),
  'model-unknown': (model) => failures.unknownModel(model),
  'invalid-request': () => failures.invalidRequest('field messages is required'),
  'no-price': (model) => failures.noPrice(model),
  quota: () => failures.outOfQuota(),
  overloaded: () => failures.badVendorStatus(529),
  // To the imitated gateway, the vendor is the upstream.
  upstream: () => failures.badVendorStatus(502),
} satisfies Readonly<Record<string, (model: string) => Failure>>

type GatewayErrorName = keyof typeof gatewayErrors

export const vendorErrorNames = Object.keys(errors) as readonly VendorErrorName[]

/** All errors that a fault can cause: the imitated gateway's, then the vendors'. */
export const faultNames = [
  ...(Object.keys(gatewayErrors) as GatewayErrorName[]),
  ...vendorErrorNames,
] as const

export type FaultName = GatewayErrorName | VendorErrorName

/** The failure that a fault causes. Undefined if it has a different effect. */
export function failureOf(
  { error, status, message, retryAfter }: FaultEffects,
  { route, model = '' }: FaultTarget,
): Failure | undefined {
  const overrides = compact({ message, retryAfter })
  if (error !== undefined) return { ...namedFailure(error, route, model), ...overrides }
  return status === undefined ? undefined : { ...failures.badVendorStatus(status), ...overrides }
}

function namedFailure(name: FaultName, route: FaultTarget['route'], model: string): Failure {
  return isGatewayError(name) ? gatewayErrors[name](model) : vendorError(name, route, model)
}

function isGatewayError(name: FaultName): name is GatewayErrorName {
  return Object.hasOwn(gatewayErrors, name)
}

/** The part of a request that a fault is matched against. */
interface FaultTarget {
  readonly route: 'models' | Protocol
  readonly model: string | undefined
}

interface FaultState {
  readonly fault: Fault
  /** How many requests the fault matched, and how many of these it was applied to. */
  matchCount: number
  appliedCount: number
}

function createState(fault: Fault): FaultState {
  return { fault, matchCount: 0, appliedCount: 0 }
}

function matchesFault({ route, model, holds }: Fault, target: FaultTarget, body: string): boolean {
  if (route !== undefined && route !== target.route) return false
  if (model !== undefined && model !== target.model) return false
  return holds === undefined || body.includes(holds)
}

/** Counts a request that matches, and decides by `every` and `times` whether the fault applies to it. */
function countMatch(state: FaultState): boolean {
  const { every = 1, times = Number.POSITIVE_INFINITY } = state.fault
  state.matchCount++
  const applies = state.matchCount % every === 0 && state.appliedCount < times
  if (applies) state.appliedCount++
  return applies
}

/** The active faults with their counters. */
export class Faults {
  #states: readonly FaultState[] = []

  /** Replaces all faults and resets their counters. */
  set(faults: readonly Fault[]): void {
    this.#states = faults.map(createState)
  }

  list(): readonly Fault[] {
    return this.#states.map(({ fault }) => fault)
  }

  /** Combines the effects of all faults that apply to this request, and counts the request. */
  nextEffects(target: FaultTarget, body = ''): FaultEffects {
    const matching = this.#states.filter(({ fault }) => matchesFault(fault, target, body))
    const faults = matching.filter(countMatch).map(({ fault }) => fault)
    return Object.assign({}, ...faults)
  }
}

/**
 * The errors of the vendors: of Anthropic on messages, of OpenAI elsewhere. They come from the vendors'
 * error references and from the error types of their SDKs (openai 7.57.0, @anthropic-ai/sdk 1.12.0,
 * 2026-11-23).
 *
 * The names are listed here, because the build creates no types from JSON.
 */
type VendorErrorName =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'request_too_large'
  | 'context_length_exceeded'
  | 'rate_limit_error'
  | 'insufficient_quota'
  | 'api_error'
  | 'timeout_error'
  | 'overloaded_error'

interface VendorError {
  readonly status: number
  readonly type: string
  readonly message: string
  readonly code?: string
}

/** @param route selects the vendor */
function vendorError(name: VendorErrorName, route: string, model: string): Failure {
  const error: VendorError = errors[name][route === 'messages' ? 'anthropic' : 'openai']
  const place = route === 'chat' ? 'messages' : 'input'

  return {
    ...error,
    kind: 'failure',
    shape: 'vendor',
    message: error.message.replace('MODEL', model),
    code: error.code ?? null,
    ...(name === 'context_length_exceeded' ? { param: place } : {}),
    // The vendors say when to retry. The time is short, so that test suites do not wait.
    ...(name === 'rate_limit_error' ? { retryAfter: 1 } : {}),
  }
}
