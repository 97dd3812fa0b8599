import type { ErrorCode, exitStatus } from '../../errors.ts'

/** The exit statuses for what a gateway answered, or failed to answer (docs/errors.md). */
type GatewayStatus = 3 | 4 | 5 | 6 | 7

/** The codes of a gateway's answers and failures. A new code without traits does not compile. */
export type OutcomeCode =
  | 'header-missing'
  | {
      [Code in ErrorCode]: (typeof exitStatus)[Code] extends GatewayStatus ? Code : never
    }[ErrorCode]

/** What a failure can blame: the thing to change, or whom to ask. */
export type Culprit =
  // The user mistyped it: a setup asks for it again.
  | 'key'
  | 'address'
  | 'network'
  // Another model, or another protocol, may work.
  | 'model'
  | 'route'
  // The gateway needs a header that repoint did not send.
  | 'header'
  // The balance, the plan or the rate.
  | 'account'
  // The gateway's operator must act.
  | 'gateway'
  // The gateway admits other clients.
  | 'sender'

/**
 * What an outcome means for the caller. Callers ask for a trait. They compare a code only where no other
 * outcome matters: `quota`, `tls`, `refused`, `not-an-api`.
 */
export type Traits = GeneralTraits & (ModelTraits | { readonly blames: Exclude<Culprit, 'model'> })

interface GeneralTraits {
  /** Only an API answers like this, so its words are the ones to show. */
  readonly provesAnApi: boolean
  /** A working gateway without a catalog may answer the catalog request like this. */
  readonly mayLackList: boolean
  /** The API may be at another base URL of the same host. */
  readonly mayBeElsewhere: boolean
  /** What may work although the user changes nothing. */
  readonly mayHelp: readonly NextAttempt[]
}

/** The traits of an outcome whose cure is another model. */
interface ModelTraits {
  readonly blames: 'model'
  /**
   * Whether the gateway has the model. `no`: for no key and over no protocol, unless its catalog lists the
   * model. `not for this key`: perhaps for other keys. `perhaps`: the answer rejects something else.
   */
  readonly hasModel: 'no' | 'not for this key' | 'perhaps'
}

/**
 * `protocol`: the gateway may serve the same model over another protocol. `client`: the client's own
 * request may succeed, and `--try-client` would prove it. `retry`: the same request may succeed a few
 * seconds later.
 */
export type NextAttempt = 'protocol' | 'client' | 'retry'

/** An answer that only an API gives. */
const anApi = { provesAnApi: true, mayLackList: true, mayBeElsewhere: false }

/** An answer that other web servers give too. */
const unproven = { provesAnApi: false, mayLackList: true, mayBeElsewhere: false }

/** No answer, because the network is in the way. */
const unreachable = {
  blames: 'network',
  provesAnApi: false,
  mayLackList: false,
  mayBeElsewhere: false,
  mayHelp: [],
} as const

const traits: Readonly<Record<OutcomeCode, Traits>> = {
  // An API that rejects the key for its list would reject it for a model too.
  'key-rejected': { ...anApi, blames: 'key', mayLackList: false, mayHelp: [] },
  'header-missing': { ...anApi, blames: 'header', mayHelp: [] },
  'route-not-allowed': { ...anApi, blames: 'route', mayHelp: ['protocol'] },

  'not-an-api': {
    ...unproven,
    blames: 'address',
    mayLackList: false,
    mayBeElsewhere: true,
    mayHelp: ['protocol'],
  },
  'wrong-route': { ...unproven, blames: 'address', mayBeElsewhere: true, mayHelp: ['protocol'] },
  // repoint recognizes the address of a documentation and sends no request.
  'docs-host': { ...unproven, blames: 'address', mayLackList: false, mayHelp: [] },

  'model-unknown': { ...anApi, blames: 'model', hasModel: 'no', mayHelp: ['protocol'] },
  'model-not-allowed': {
    ...anApi,
    blames: 'model',
    hasModel: 'not for this key',
    mayHelp: ['protocol'],
  },
  'tools-unsupported': { ...anApi, blames: 'model', hasModel: 'perhaps', mayHelp: ['protocol'] },
  'parameter-unsupported': {
    ...anApi,
    blames: 'model',
    hasModel: 'perhaps',
    mayHelp: ['protocol'],
  },
  // Some gateways answer an unknown path with this.
  'protocol-unsupported': {
    ...unproven,
    blames: 'model',
    hasModel: 'perhaps',
    mayBeElsewhere: true,
    mayHelp: ['protocol'],
  },
  // Another model or protocol may help. Nobody knows.
  'request-rejected': {
    ...unproven,
    blames: 'model',
    hasModel: 'perhaps',
    mayHelp: ['protocol'],
  },

  refused: unreachable,
  dns: unreachable,
  tls: unreachable,
  proxy: unreachable,
  timeout: unreachable,
  redirected: unreachable,

  quota: { ...anApi, blames: 'account', mayHelp: [] },
  'rate-limited': { ...anApi, blames: 'account', mayHelp: ['retry'] },
  'gateway-fault': { ...unproven, blames: 'gateway', mayHelp: ['protocol', 'retry'] },

  'client-refused': { ...anApi, blames: 'sender', mayHelp: ['client'] },
  forbidden: { ...anApi, blames: 'sender', mayHelp: ['client'] },
}

/** An outcome, an error or a finding. */
interface WithCode {
  readonly code: string
}

/** Undefined: the code is not about a gateway. */
export function traitsOf({ code }: WithCode): Traits | undefined {
  return (traits as Readonly<Partial<Record<string, Traits>>>)[code]
}

/** Whether a remedy may help after an error. */
export function mayHelp(remedy: NextAttempt, error: WithCode): boolean {
  return traitsOf(error)?.mayHelp.includes(remedy) === true
}

/** Whether only an API gives such an answer, so that the base URL is right. */
export function provesAnApi(outcome: WithCode): boolean {
  return traitsOf(outcome)?.provesAnApi === true
}

/** Whether the address itself seems to be wrong. */
export function isAboutAddress(outcome: WithCode): boolean {
  return traitsOf(outcome)?.blames === 'address'
}

/** Whether the API may be at another base URL of the same host. */
export function mayBeElsewhere(outcome: WithCode): boolean {
  return traitsOf(outcome)?.mayBeElsewhere === true
}

/** Whether the gateway has no such model, for any key. A list of models can still contain it. */
export function lacksModel(outcome: WithCode): boolean {
  return hasModel(outcome) === 'no'
}

/** Whether the gateway does not serve the model to this key, whatever the request contains. */
export function deniesModel(outcome: WithCode): boolean {
  return ['no', 'not for this key'].includes(hasModel(outcome))
}

/** Whether the gateway has no route for this protocol, for any model. */
export function lacksRoute({ code }: WithCode): boolean {
  return code === 'wrong-route'
}

/** Whether the gateway does not serve the model over this protocol. */
export function lacksProtocol({ code }: WithCode): boolean {
  return code === 'protocol-unsupported'
}

/** Whether the model takes no tools over this protocol. */
export function lacksTools({ code }: WithCode): boolean {
  return code === 'tools-unsupported'
}

/** Whether the gateway accepts only certain clients, and repoint is none of them. */
export function admitsOnlyClients({ code }: WithCode): boolean {
  return code === 'client-refused'
}

function hasModel(outcome: WithCode): ModelTraits['hasModel'] {
  const traits = traitsOf(outcome)
  return traits?.blames === 'model' ? traits.hasModel : 'perhaps'
}
