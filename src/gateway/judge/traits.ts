import type { ErrorCode, exitStatus } from '../../errors.ts'

/** The codes of what a gateway answers, or does not: a new one without traits does not compile. */
export type OutcomeCode =
  | 'header-missing'
  | {
      [Code in ErrorCode]: (typeof exitStatus)[Code] extends 3 | 4 | 5 | 6 | 7 ? Code : never
    }[ErrorCode]

/** What an outcome tells whoever asked, beside its words. */
export interface Traits {
  /** What would have to be another one. */
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
  /** Only an API answers so: it is there, and its words are the ones to tell. */
  readonly provesAnApi: boolean
  /** A gateway that works, and has no list of models, may answer so where it is asked for one. */
  readonly mayLackList: boolean
  /** The gateway may serve the same model over another protocol. */
  readonly mayBeOneProtocol?: true
  /** A request of the client's own may pass where ours does not: `--try-client` would prove it. */
  readonly curedByTryClient: boolean
}

const nothingProven = { provesAnApi: false, mayLackList: false, curedByTryClient: false }
const anApi = { provesAnApi: true, mayLackList: true, curedByTryClient: false }

const traits: Readonly<Record<OutcomeCode, Traits>> = {
  'header-missing': { ...anApi, blames: 'header' },

  'key-rejected': { ...anApi, blames: 'key', mayLackList: false },

  'not-an-api': { ...nothingProven, blames: 'address', mayBeOneProtocol: true },
  'wrong-route': { ...nothingProven, blames: 'address', mayLackList: true, mayBeOneProtocol: true },
  'docs-host': { ...nothingProven, blames: 'address' },

  'model-unknown': { ...anApi, blames: 'model', mayBeOneProtocol: true },
  'model-not-allowed': { ...anApi, blames: 'model', mayBeOneProtocol: true },
  // Some say so of an unknown path.
  'protocol-unsupported': {
    ...nothingProven,
    blames: 'model',
    mayLackList: true,
    mayBeOneProtocol: true,
  },
  'route-not-allowed': { ...anApi, blames: 'route', mayBeOneProtocol: true },
  'tools-unsupported': { ...anApi, blames: 'model', mayBeOneProtocol: true },
  'parameter-unsupported': { ...anApi, blames: 'model', mayBeOneProtocol: true },

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
    mayBeOneProtocol: true,
  },
  'client-refused': { ...anApi, blames: 'asker', curedByTryClient: true },
  forbidden: { ...anApi, blames: 'asker', curedByTryClient: true },
}

/** Undefined: the code is about something else than a gateway. */
export function traitsOf({ code }: { readonly code: ErrorCode }): Traits | undefined {
  return (traits as Partial<Record<ErrorCode, Traits>>)[code]
}
