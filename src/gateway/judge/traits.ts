import type { ErrorCode, exitStatus } from '../../errors.ts'

/** The exit statuses for what a gateway answered, or failed to answer (docs/errors.md). */
type GatewayStatus = 3 | 4 | 5 | 6 | 7

/** The codes of a gateway's answers and failures. A new code without traits does not compile. */
export type OutcomeCode =
  | 'header-missing'
  | {
      [Code in ErrorCode]: (typeof exitStatus)[Code] extends GatewayStatus ? Code : never
    }[ErrorCode]

/** What a failure can blame. */
export type Culprit =
  | 'key'
  | 'address'
  | 'network'
  | 'model'
  | 'route'
  | 'header'
  | 'account'
  | 'gateway'
  | 'sender'

/** What an outcome means for the caller. */
export interface Traits {
  /** What the user would have to change. */
  readonly blames: Culprit
  /** Only an API answers like this, so its words are the ones to show. */
  readonly provesAnApi: boolean
  /** A working gateway without a catalog may answer the catalog request like this. */
  readonly mayLackList: boolean
  /** What may work although the user changes nothing. Empty: nothing. */
  readonly mayHelp: readonly NextAttempt[]
}

/**
 * `protocol`: the gateway may serve the same model over another protocol. `client`: the client's own
 * request may succeed, and `--try-client` would prove it. `retry`: the same request may succeed a few
 * seconds later.
 */
export type NextAttempt = 'protocol' | 'client' | 'retry'

const nothingProven = { provesAnApi: false, mayLackList: false }
const anApi = { provesAnApi: true, mayLackList: true }

const traits: Readonly<Record<OutcomeCode, Traits>> = {
  'header-missing': { ...anApi, blames: 'header', mayHelp: [] },

  // An API that rejects the key for its list would reject it for a model too.
  'key-rejected': { ...anApi, blames: 'key', mayLackList: false, mayHelp: [] },

  'not-an-api': { ...nothingProven, blames: 'address', mayHelp: ['protocol'] },
  'wrong-route': { ...nothingProven, blames: 'address', mayLackList: true, mayHelp: ['protocol'] },
  'docs-host': { ...nothingProven, blames: 'address', mayHelp: [] },

  'model-unknown': { ...anApi, blames: 'model', mayHelp: ['protocol'] },
  'model-not-allowed': { ...anApi, blames: 'model', mayHelp: ['protocol'] },
  'route-not-allowed': { ...anApi, blames: 'route', mayHelp: ['protocol'] },
  'tools-unsupported': { ...anApi, blames: 'model', mayHelp: ['protocol'] },
  'parameter-unsupported': { ...anApi, blames: 'model', mayHelp: ['protocol'] },

  // Some gateways answer an unknown path with this.
  'protocol-unsupported': {
    ...nothingProven,
    blames: 'model',
    mayLackList: true,
    mayHelp: ['protocol'],
  },
  // Another model or protocol may help. Nobody knows.
  'request-rejected': {
    ...nothingProven,
    blames: 'model',
    mayLackList: true,
    mayHelp: ['protocol'],
  },

  refused: { ...nothingProven, blames: 'network', mayHelp: [] },
  dns: { ...nothingProven, blames: 'network', mayHelp: [] },
  tls: { ...nothingProven, blames: 'network', mayHelp: [] },
  proxy: { ...nothingProven, blames: 'network', mayHelp: [] },
  timeout: { ...nothingProven, blames: 'network', mayHelp: [] },
  redirected: { ...nothingProven, blames: 'network', mayHelp: [] },

  quota: { ...anApi, blames: 'account', mayHelp: [] },
  'rate-limited': { ...anApi, blames: 'account', mayHelp: ['retry'] },
  'gateway-fault': {
    ...nothingProven,
    blames: 'gateway',
    mayLackList: true,
    mayHelp: ['protocol', 'retry'],
  },

  'client-refused': { ...anApi, blames: 'sender', mayHelp: ['client'] },
  forbidden: { ...anApi, blames: 'sender', mayHelp: ['client'] },
}

/** Undefined: the code is not about a gateway. */
export function traitsOf({ code }: { readonly code: ErrorCode }): Traits | undefined {
  return (traits as Partial<Record<ErrorCode, Traits>>)[code]
}

/** Whether a remedy may help after an error. */
export function mayHelp(remedy: NextAttempt, error: { readonly code: ErrorCode }): boolean {
  return traitsOf(error)?.mayHelp.includes(remedy) === true
}
