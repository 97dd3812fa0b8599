/** What a code means: its exit status, and its row in docs/errors.md. */
export interface CodeMeaning {
  readonly exitStatus: number
  readonly likelyCause: string
  /** What the user does about it. */
  readonly cure: string
}

/** What an outcome can blame: the thing to change, or whom to ask. */
export type Culprit =
  // The user may have mistyped it: a setup asks for it again.
  | 'key'
  | 'address'
  // Nothing answers, or not the gateway: the host, the network, a proxy or a redirect. A setup asks for the address.
  | 'connection'
  // Another model, or another protocol, may work.
  | 'model'
  | 'route'
  // The gateway needs a header that repoint did not send.
  | 'header'
  // What the account has left: its balance, its plan or its rate.
  | 'quota'
  // The gateway's operator must act.
  | 'gateway'
  // The gateway does not serve this program, network, country, account or text. It serves others.
  | 'policy'

/**
 * What an outcome means for the caller. Callers ask for a trait (gateway/judge/traits.ts). They compare a
 * code only where no other outcome matters: `tls`, `refused`, `not-an-api`.
 */
export type Traits = GeneralTraits & (ModelTraits | { readonly blames: Exclude<Culprit, 'model'> })

interface GeneralTraits {
  /** Only an API answers like this, so its words are the ones to show. */
  readonly isFromApi: boolean
  /**
   * A working gateway without a catalog may answer the catalog request like this: a setup then asks for a model. No
   * if the same failure would stop the request for a model too, or if nothing shows that an API answers. A model
   * that the user has named is probed more often (`mayStillServe` in gateway/catalog.ts).
   */
  readonly mayLackList: boolean
  /** The API may be at another base URL of the same host. */
  readonly mayBeElsewhere: boolean
  /** What may work although the user changes nothing. */
  readonly mayHelp: readonly NextAttempt[]
}

/** The traits of an outcome whose cure is another model. */
export interface ModelTraits {
  readonly blames: 'model'
  /**
   * Whether the gateway has the model. `no`: for no key and over no protocol, unless its catalog lists the
   * model. `not for this key`: perhaps for other keys. `perhaps`: the response rejects something else.
   */
  readonly hasModel: 'no' | 'not for this key' | 'perhaps'
}

/**
 * `protocol`: the gateway may serve the same model over another protocol. `client`: the client's own
 * request may succeed, so repoint asks the installed client. `retry`: the same request may succeed a few
 * seconds later. `product`: the key may be for another product of the same host, such as a coding plan.
 */
export type NextAttempt = 'protocol' | 'client' | 'retry' | 'product'

/** A response that only an API gives. */
const fromApi = { isFromApi: true, mayLackList: true, mayBeElsewhere: false }

/** A response that other web servers give too. */
const fromAnyServer = { isFromApi: false, mayLackList: true, mayBeElsewhere: false }

/** The gateway did not answer. */
const unreachable = {
  blames: 'connection',
  isFromApi: false,
  mayLackList: false,
  mayBeElsewhere: false,
  mayHelp: [],
} as const

/** The outcomes of a request to a gateway: what its response means, or why there is none. */
export const outcomeCodes = {
  'header-missing': {
    exitStatus: 2,
    likelyCause: 'The gateway requires a header in addition to the key.',
    cure: "Add it: `--header 'NAME: VALUE'` ([headers.md](headers.md)).",
    ...fromApi,
    blames: 'header',
    mayHelp: [],
  },
  'key-rejected': {
    exitStatus: 3,
    likelyCause: 'The key is mistyped, disabled, expired, or for another gateway.',
    cure: "Copy a valid key from the gateway's web page. For clients that are set up: `repoint key`.",
    // An API that rejects the key for its list would reject it for a model too.
    ...fromApi,
    blames: 'key',
    mayLackList: false,
    mayHelp: [],
  },
  'not-an-api': {
    exitStatus: 4,
    likelyCause: 'The address belongs to a web page or to another program.',
    cure: 'Use the "API base URL" from your gateway\'s page: `--base-url URL`.',
    ...fromAnyServer,
    blames: 'address',
    mayLackList: false,
    mayBeElsewhere: true,
    mayHelp: ['protocol'],
  },
  'wrong-route': {
    exitStatus: 4,
    likelyCause: 'The API is at another path of this host.',
    cure: 'Use the "API base URL" from your gateway\'s page: `--base-url URL`.',
    ...fromAnyServer,
    blames: 'address',
    mayBeElsewhere: true,
    mayHelp: ['protocol'],
  },
  'docs-host': {
    exitStatus: 4,
    likelyCause: 'The address belongs to the documentation.',
    cure: 'Use the address that the documentation names: `--base-url URL`.',
    // repoint recognizes the address of a documentation and sends no request.
    ...fromAnyServer,
    blames: 'address',
    mayLackList: false,
    mayHelp: [],
  },
  'model-unknown': {
    exitStatus: 5,
    likelyCause: 'The gateway does not have the model, or has no provider for it at the moment.',
    cure: 'Name another model: `--model ID`. The hint names the nearest ones.',
    ...fromApi,
    blames: 'model',
    hasModel: 'no',
    mayHelp: ['protocol'],
  },
  'model-not-allowed': {
    exitStatus: 5,
    likelyCause: 'The gateway does not allow this key to use the model, or has no price for it.',
    cure: "Name another model: `--model ID`. Or allow the model on the gateway's web page.",
    ...fromApi,
    blames: 'model',
    hasModel: 'not for this key',
    mayHelp: ['protocol'],
  },
  'protocol-unsupported': {
    exitStatus: 5,
    likelyCause: 'The gateway does not serve the protocol that the client needs.',
    cure: '`repoint check` shows which clients work with the gateway.',
    // Some gateways answer an unknown path with this.
    ...fromAnyServer,
    blames: 'model',
    hasModel: 'perhaps',
    mayBeElsewhere: true,
    mayHelp: ['protocol', 'client'],
  },
  'route-not-allowed': {
    exitStatus: 5,
    likelyCause: 'The key may use the API, but not this route.',
    cure: "Allow the route on the gateway's web page. Without a list of models: `--model ID`.",
    ...fromApi,
    blames: 'route',
    mayHelp: ['protocol'],
  },
  'tools-unsupported': {
    exitStatus: 5,
    likelyCause: 'The gateway serves the model without tools, which every client needs.',
    cure: 'Name a model that can use tools: `--model ID`.',
    ...fromApi,
    blames: 'model',
    hasModel: 'perhaps',
    mayHelp: ['protocol', 'client'],
  },
  'parameter-unsupported': {
    exitStatus: 5,
    likelyCause: 'The gateway rejects a parameter that the client always sends.',
    cure: 'The hint names the setting of the client. Otherwise name another model: `--model ID`.',
    ...fromApi,
    blames: 'model',
    hasModel: 'perhaps',
    mayHelp: ['protocol', 'client'],
  },
  'request-rejected': {
    exitStatus: 5,
    likelyCause: 'The gateway rejects the request, and its words name no cause that repoint knows.',
    cure: 'Read the words of the gateway in the message. Name another model: `--model ID`.',
    // Another model or protocol may help. Nobody knows.
    ...fromAnyServer,
    blames: 'model',
    hasModel: 'perhaps',
    mayHelp: ['protocol', 'client'],
  },
  refused: {
    exitStatus: 6,
    likelyCause: 'Nothing listens at the address, or the network blocks the connection.',
    cure: 'Start the gateway, or check the host and port: `--base-url URL`.',
    ...unreachable,
  },
  dns: {
    exitStatus: 6,
    likelyCause: 'The name in the address has no host, or the name server does not answer.',
    cure: 'Check the spelling of the address, the network and the VPN.',
    ...unreachable,
  },
  tls: {
    exitStatus: 6,
    likelyCause:
      'The certificate is private, expired or for another host, or the port does not speak https.',
    cure: 'For a private authority: `--ca-file PATH`. Otherwise use the scheme in the hint.',
    ...unreachable,
  },
  proxy: {
    exitStatus: 6,
    likelyCause: 'The proxy in an environment variable does not work, or rejects the host.',
    cure: 'Correct or unset that variable, or bypass the proxy with `NO_PROXY`.',
    ...unreachable,
  },
  timeout: {
    exitStatus: 6,
    likelyCause:
      'The gateway, or the network, did not answer in time. A local model may still be loading.',
    cure: 'Run the command again, or wait longer: `--timeout SECONDS`.',
    ...unreachable,
  },
  redirected: {
    exitStatus: 6,
    likelyCause: 'The address leads to another one, often a login page.',
    cure: 'Open the address in a browser. If you trust the other one, use it: `--base-url URL`.',
    ...unreachable,
  },
  quota: {
    exitStatus: 7,
    likelyCause: 'The account or the plan of the key has no credit left.',
    cure: "Top it up on the gateway's web page, or use another key.",
    ...fromApi,
    blames: 'quota',
    mayHelp: ['product'],
  },
  'rate-limited': {
    exitStatus: 7,
    likelyCause: 'Too many requests.',
    cure: 'Wait as long as the hint says, then run the command again.',
    ...fromApi,
    blames: 'quota',
    mayHelp: ['retry'],
  },
  'gateway-fault': {
    exitStatus: 7,
    likelyCause: 'The gateway, or a server in front of it, has a fault.',
    cure: "Run the command again in a few minutes, or ask the gateway's operator.",
    ...fromAnyServer,
    blames: 'gateway',
    mayHelp: ['protocol', 'retry'],
  },
  'client-refused': {
    exitStatus: 7,
    likelyCause: "The gateway accepts only certain clients, and rejected repoint's test request.",
    cure: 'Install the client: repoint then lets it test the gateway.',
    ...fromApi,
    blames: 'policy',
    mayHelp: ['client'],
  },
  forbidden: {
    exitStatus: 7,
    likelyCause:
      'A region, a network, a firewall, a content filter or the account blocks the request.',
    cure: 'The message says which one, if the gateway does. The key is not the cause.',
    ...fromApi,
    blames: 'policy',
    mayHelp: ['client'],
  },
} as const satisfies Readonly<Record<string, CodeMeaning & Traits>>

export type OutcomeCode = keyof typeof outcomeCodes
