import type { ErrorCode, exitStatus } from '../../errors.ts'

/** The codes of a gateway's answers and failures. A new code without traits does not compile. */
export type OutcomeCode =
  | 'header-missing'
  | {
      [Code in ErrorCode]: (typeof exitStatus)[Code] extends 3 | 4 | 5 | 6 | 7 ? Code : never
    }[ErrorCode]

/** What an outcome means for the caller. */
export interface Traits {
  /** What the user would have to change. */
  readonly blames:
    | 'key'
    | 'address'
    | 'network'
    | 'model'
    | 'route'
    | 'header'
    | 'account'
    | 'gateway'
    | 'asker'
  /** Only an API answers like this, so its words are the ones to show. */
  readonly provesAnApi: boolean
  /** A working gateway without a catalog may answer the catalog request like this. */
  readonly mayLackList: boolean
  /** The gateway may serve the same model over another protocol. */
  readonly mayWorkOverAnotherProtocol?: true
  /** The client's own request may succeed although our probe failed: `--try-client` would prove it. */
  readonly curedByTryClient: boolean
}

const nothingProven = { provesAnApi: false, mayLackList: false, curedByTryClient: false }
const anApi = { provesAnApi: true, mayLackList: true, curedByTryClient: false }

const traits: Readonly<Record<OutcomeCode, Traits>> = {
  'header-missing': { ...anApi, blames: 'header' },

  'key-rejected': { ...anApi, blames: 'key', mayLackList: false },

  'not-an-api': { ...nothingProven, blames: 'address', mayWorkOverAnotherProtocol: true },
  'wrong-route': {
    ...nothingProven,
    blames: 'address',
    mayLackList: true,
    mayWorkOverAnotherProtocol: true,
  },
  'docs-host': { ...nothingProven, blames: 'address' },

  'model-unknown': { ...anApi, blames: 'model', mayWorkOverAnotherProtocol: true },
  'model-not-allowed': { ...anApi, blames: 'model', mayWorkOverAnotherProtocol: true },
  // Some gateways answer an unknown path with this.
  'protocol-unsupported': {
    ...nothingProven,
    blames: 'model',
    mayLackList: true,
    mayWorkOverAnotherProtocol: true,
  },
  'route-not-allowed': { ...anApi, blames: 'route', mayWorkOverAnotherProtocol: true },
  'tools-unsupported': { ...anApi, blames: 'model', mayWorkOverAnotherProtocol: true },
  'parameter-unsupported': { ...anApi, blames: 'model', mayWorkOverAnotherProtocol: true },
  // Another model or protocol may help. Nobody knows.
  'request-rejected': {
    ...nothingProven,
    blames: 'model',
    mayLackList: true,
    mayWorkOverAnotherProtocol: true,
  },

  refused: { ...nothingProven, blames: 'network' },
  dns: { ...nothingProven, blames: 'network' },
  tls: { ...nothingProven, blames: 'network' },
  proxy: { ...nothingProven, blames: 'network' },
  timeout: { ...nothingProven, blames: 'network' },
  redirected: { ...nothingProven, blames: 'network' },

  quota: { ...anApi, blames: 'account' },
  'rate-limited': { ...anApi, blames: 'account' },
  'gateway-fault': {
    ...nothingProven,
    blames: 'gateway',
    mayLackList: true,
    mayWorkOverAnotherProtocol: true,
  },
  'client-refused': { ...anApi, blames: 'asker', curedByTryClient: true },
  forbidden: { ...anApi, blames: 'asker', curedByTryClient: true },
}

/** Undefined: the code is not about a gateway. */
export function traitsOf({ code }: { readonly code: ErrorCode }): Traits | undefined {
  return (traits as Partial<Record<ErrorCode, Traits>>)[code]
}
