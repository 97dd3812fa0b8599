import { compact } from '../../compact.ts'
import type { Protocol } from '../../protocols.ts'
import type { GatewayFailure } from '../codecs/failure.ts'
import { failures } from '../codecs/failure.ts'
import { type VendorErrorName, vendorError, vendorErrorNames } from './vendor-errors.ts'

/** Something that goes wrong on purpose: what, when, and how often. Effects can be combined. */
export interface Fault {
  /** Only on this route. Absent: on every route below /v1. */
  readonly route?: 'models' | Protocol
  /** Only for this model. */
  readonly model?: string
  /** Only if the body contains this text, such as a parameter that the gateway does not accept. */
  readonly holds?: string
  /** Only on every nth request that matches. Absent: on each. */
  readonly every?: number
  /** Only this many times. */
  readonly times?: number

  /** An error of the service (`rate-limited`) or of the vendors behind it (`rate_limit_error`). */
  readonly error?: FaultName
  /** Any status, as an error of the vendor behind the service. */
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

/** The group of every key of this gateway. */
export const group = 'default'

/** The service's errors that a fault can cause, in the order of the service's checks. */
const serviceErrors = {
  'invalid-token': () => failures.invalidToken(),
  'rate-limited': () => failures.rateLimited(),
  'model-forbidden': (model) => failures.modelForbidden(model),
  'model-unknown': (model) => failures.unknownModel(model, group),
  'invalid-request': () => failures.invalidRequest('field messages is required'),
  'no-price': (model) => failures.noPrice(model),
  quota: () => failures.outOfQuota(),
  overloaded: () => failures.upstream(529),
  upstream: () => failures.upstream(502),
} satisfies Readonly<Record<string, (model: string) => GatewayFailure>>

type ServiceErrorName = keyof typeof serviceErrors

/** All errors that a fault can cause: the service's, then the vendors'. */
export const faultNames = [
  ...(Object.keys(serviceErrors) as ServiceErrorName[]),
  ...vendorErrorNames,
] as const

export type FaultName = ServiceErrorName | VendorErrorName

/** The failure that a fault causes. Undefined if it has another effect. */
export function faultFailure(
  { error, status, message, retryAfter }: Fault,
  { route, model = '' }: FaultTarget,
): GatewayFailure | undefined {
  if (error === undefined && status === undefined) return undefined

  const failure =
    error === undefined
      ? failures.upstream(status!)
      : isServiceError(error)
        ? serviceErrors[error](model)
        : vendorError(error, route, model)
  return { ...failure, ...compact({ message, retryAfter }) }
}

function isServiceError(name: FaultName): name is ServiceErrorName {
  return Object.hasOwn(serviceErrors, name)
}

/** The part of a request that a fault is matched against. */
export interface FaultTarget {
  readonly route: 'models' | Protocol
  readonly model: string | undefined
}

interface FaultState {
  readonly fault: Fault
  matchCount: number
  firedCount: number
}

function createState(fault: Fault): FaultState {
  return { fault, matchCount: 0, firedCount: 0 }
}

/** The active faults with their counters. */
export class Faults {
  #configured: FaultState[] = []
  #ofScenario: FaultState[] = []

  /** Replaces the faults of the command line, the API and the control route. Resets the counters. */
  setConfigured(faults: readonly Fault[]): void {
    this.#configured = faults.map(createState)
  }

  /** Replaces the faults of the scenario file. Resets the counters. */
  setScenario(faults: readonly Fault[]): void {
    this.#ofScenario = faults.map(createState)
  }

  list(): readonly Fault[] {
    return [...this.#ofScenario, ...this.#configured].map(({ fault }) => fault)
  }

  /** Combines all faults that apply to this request. Undefined if none applies. */
  nextFault(target: FaultTarget, body = ''): Fault | undefined {
    let combined: Fault | undefined
    for (const state of [...this.#ofScenario, ...this.#configured]) {
      const { fault } = state
      if (fault.route !== undefined && fault.route !== target.route) continue
      if (fault.model !== undefined && fault.model !== target.model) continue
      if (fault.holds !== undefined && !body.includes(fault.holds)) continue

      state.matchCount++
      if (state.matchCount % (fault.every ?? 1) !== 0) continue
      if (state.firedCount >= (fault.times ?? Number.POSITIVE_INFINITY)) continue
      state.firedCount++
      combined = { ...combined, ...fault }
    }

    return combined
  }
}

/** A short name for the log. */
export function describeFault(fault: Fault): string {
  const { error, status, delayMs, betweenMs, cutAfter, errorAfter } = fault
  const parts = [
    error,
    status && `status ${status}`,
    fault.webPage && 'web page',
    fault.reset && 'reset',
    delayMs !== undefined && `delay ${delayMs} ms`,
    betweenMs !== undefined && `between ${betweenMs} ms`,
    cutAfter !== undefined && `cut after ${cutAfter}`,
    errorAfter !== undefined && `error after ${errorAfter}`,
  ]

  return parts.filter(Boolean).join(', ')
}
