import { compact } from '../../compact.ts'
import type { Protocol } from '../../protocols.ts'
import type { GatewayFailure } from '../codecs/failure.ts'
import { failures } from '../codecs/failure.ts'
import { type VendorErrorName, vendorError, vendorErrorNames } from './vendor-errors.ts'

/** What is to go wrong, when, and how often. Parts can be combined. */
export interface Fault {
  /** Only on this route; absent: on every route under /v1. */
  readonly route?: 'models' | Protocol
  /** Only for this model. */
  readonly model?: string
  /** Only where the body has this text in it: a parameter that the gateway does not bear. */
  readonly holds?: string
  /** On every nth request that matches; 1 if absent. */
  readonly every?: number
  /** Stops after so many times. */
  readonly times?: number

  /** One of the service's own errors (`rate-limited`), or of the vendors behind it (`rate_limit_error`). */
  readonly error?: FaultName
  /** Any status, as an error of the vendor behind the service. */
  readonly status?: number
  readonly message?: string
  /** In seconds, with `error` or `status`. */
  readonly retryAfter?: number
  /** 200 and a web page instead of JSON. */
  readonly webPage?: boolean
  /** The connection is reset without an answer. */
  readonly reset?: boolean
  /** Before the first byte, in ms. */
  readonly delayMs?: number
  /** Between the frames of a stream, in ms. */
  readonly betweenMs?: number
  /** The connection is cut after so many frames of a stream. */
  readonly cutAfter?: number
  /** An error event, that of `error` or `status` if there is one, ends the stream after so many frames. */
  readonly errorAfter?: number
}

/** The group that every key of this gateway belongs to. */
export const group = 'default'

/** The errors of the service that can be asked for, in the order in which it checks. */
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

/** All errors that can be asked for by name: the service's, then the vendors'. */
export const faultNames = [
  ...(Object.keys(serviceErrors) as ServiceErrorName[]),
  ...vendorErrorNames,
] as const

export type FaultName = ServiceErrorName | VendorErrorName

/** The failure that a fault asks for; undefined: it does something else. */
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

/** What a fault is matched against. */
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

/** The faults in force, with their counters. */
export class Faults {
  #configured: FaultState[] = []
  #ofScenario: FaultState[] = []

  /** Replaces those of the command line, the API and the control route. Counters start again. */
  setConfigured(faults: readonly Fault[]): void {
    this.#configured = faults.map(createState)
  }

  /** Replaces those of the scenario file. Counters start again. */
  setScenario(faults: readonly Fault[]): void {
    this.#ofScenario = faults.map(createState)
  }

  list(): readonly Fault[] {
    return [...this.#ofScenario, ...this.#configured].map(({ fault }) => fault)
  }

  /** What happens to this request: all faults that strike, in one; undefined: nothing. */
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
