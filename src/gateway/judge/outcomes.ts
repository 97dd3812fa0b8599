/** The outcomes of responses: a function for each, which writes the message and the hint. */
import { cleanForeignText } from '../foreign-text.ts'
import { knownHost } from '../hosts.ts'
import { aliasTarget, closestModels } from '../models/rules.ts'
import type { Catalog } from '../types.ts'
import {
  asksForLogin,
  type Evidence,
  outcome,
  quotedModel,
  quoteOf,
  responseHost,
  withoutQuery,
} from './evidence.ts'
import type { Outcome } from './types.ts'

/** The hint for an address that is not that of the API. */
export const checkAddress = 'Paste the "API base URL" from your gateway\'s page: {--base-url URL}.'

export function keyRejected(evidence: Evidence): Outcome {
  return outcome(evidence, {
    code: 'key-rejected',
    tryOtherKeyHeader: mayAcceptOtherKeyHeader(evidence),
    message: `The gateway rejects this key${quoteOf(evidence)}`,
    hint: `Copy a valid key from ${keysPage(evidence)}, then {key}.`,
  })
}

/** Where the user finds the keys. */
function keysPage({ request }: Evidence): string {
  return knownHost(request.address)?.keys ?? "the gateway's web page"
}

/** Whether another header for the key may help. Gateways of the one-api family read the key from all of them. */
function mayAcceptOtherKeyHeader({ response }: Evidence): boolean {
  return response.headers['x-oneapi-request-id'] === undefined
}

/** The key is valid, but not allowed to use this route. */
export function routeNotAllowed(evidence: Evidence): Outcome {
  const { response, request } = evidence
  const isList = request.route === 'catalog'
  const path = cleanForeignText(new URL(response.url).pathname, request.secrets)
  return outcome(evidence, {
    code: 'route-not-allowed',
    message: `The gateway does not allow this key to use ${path}${quoteOf(evidence)}`,
    hint: `${isList ? 'Name a model, which works without the list: {--model ID}. Or allow' : 'Allow'} this route for the key on the gateway's web page.`,
  })
}

/** Gateways that pass requests on may require a header that names the destination. */
export function headerMissing(evidence: Evidence, name: string): Outcome {
  return outcome(evidence, {
    code: 'header-missing',
    // This header may be the one for the key.
    tryOtherKeyHeader: !name.startsWith('x-') || /key|token|auth|^x-bf-vk$/.test(name),
    wantedHeader: name,
    message: `The gateway requires the header ${name} in addition to the key${quoteOf(evidence)}`,
    hint: `Add it: --header '${name}: VALUE'. If the value is secret: --header '${name}: $VARIABLE'`,
  })
}

/** Some gateways admit only requests that look like a certain client's (seen 2026-11-21). */
export function clientRefused(evidence: Evidence): Outcome {
  if (asksForNewer.test(evidence.error.words))
    return outcome(evidence, {
      code: 'client-refused',
      message: `The gateway wants a newer client${quoteOf(evidence)}`,
      hint: 'Update the client, then run the command again: repoint tests with the installed client.',
    })
  return outcome(evidence, {
    code: 'client-refused',
    message: `The gateway accepts only certain clients, and rejected repoint's test request${quoteOf(evidence)}`,
    hint: 'Set up a client that the gateway accepts: repoint then tests with the installed client.',
  })
}

/** Of a client that is refused. 升级: upgrade. 过低: too low. */
const asksForNewer = /\b(?:upgrade|update|outdated|too old|obsolete)\b|升级|过低/i

/** A rejection that names a cause other than the key, or none. */
export function forbidden(evidence: Evidence, reason: keyof typeof forbiddenReasons): Outcome {
  const { message, hint } = forbiddenReasons[reason]
  return outcome(evidence, {
    code: 'forbidden',
    // AWS says "Forbidden" if it does not see the key.
    tryOtherKeyHeader: reason === 'unnamed' && mayAcceptOtherKeyHeader(evidence),
    message: message + quoteOf(evidence),
    hint,
  })
}

const forbiddenReasons = {
  unnamed: {
    message: 'The gateway forbids the request and does not say why',
    hint: "Check on the gateway's web page what this key may do.",
  },
  region: {
    message: 'The gateway does not serve this country or region',
    hint: 'The key is not the cause. Use a gateway that serves your region.',
  },
  network: {
    message:
      "The gateway accepts only certain networks, and this machine's network is not one of them",
    hint: "The key is not the cause. Check the VPN and the proxy, or allow this machine's address on the gateway's web page.",
  },
  content: {
    message: "The gateway's content filter rejects the short test question",
    hint: 'The key is not the cause. Name another model: {--model ID}',
  },
  firewall: {
    message: 'A firewall or web server in front of the gateway blocks the request',
    hint: "The key is not the cause. Check the VPN and the proxy, or ask the gateway's operator.",
  },
  account: {
    message: 'The gateway does not accept requests from the account of this key',
    hint: "Look at the account on the gateway's web page: it may be blocked, or not verified yet.",
  },
} as const

export function modelUnknown(evidence: Evidence): Outcome {
  const { model = '', catalog } = evidence.request
  const isListed = catalog?.models.some(({ id }) => id === model) === true
  const suggestions = catalog === undefined ? [] : otherModels(model, catalog)

  return outcome(evidence, {
    code: 'model-unknown',
    message: `The gateway does not serve the model ${quotedModel(evidence)}${isListed ? ', although it lists it' : ''}${quoteOf(evidence)}`,
    hint: `Name another model: {--model ${suggestions.join('|') || 'ID'}}`,
  })
}

/** Models with a similar name, without the rejected one and its aliases. */
function otherModels(model: string, catalog: Catalog): readonly string[] {
  return closestModels(model, catalog, 5)
    .filter((id) => id !== model && aliasTarget(catalog, id) !== model)
    .slice(0, 3)
    .map((id) => cleanForeignText(id))
}

export function modelNotAllowed(evidence: Evidence): Outcome {
  return outcome(evidence, {
    code: 'model-not-allowed',
    message: `The gateway does not allow this key to use the model ${quotedModel(evidence)}${quoteOf(evidence)}`,
    hint: "Name another model: {--model ID}. Or allow this model for the key on the gateway's web page.",
  })
}

/** The key is not at fault: the gateway's operator has not set a price for the model. */
export function modelUnpriced(evidence: Evidence): Outcome {
  return outcome(evidence, {
    code: 'model-not-allowed',
    message: `The gateway does not serve the model ${quotedModel(evidence)}, because its operator has set no price for it${quoteOf(evidence)}`,
    hint: "Name another model: {--model ID}. Or ask the gateway's operator to set a price.",
  })
}

export function protocolUnsupported(evidence: Evidence): Outcome {
  const { route } = evidence.request
  const protocol = route === 'chat' ? 'chat completions' : route
  return outcome(evidence, {
    code: 'protocol-unsupported',
    message: `The gateway does not serve ${quotedModel(evidence)} over the ${protocol} protocol${quoteOf(evidence)}`,
    hint: 'Name a model that the gateway serves over this protocol: {--model ID}',
  })
}

/** A rejection whose cause nobody can tell from the status and the words. */
export function requestRejected(evidence: Evidence): Outcome {
  return outcome(evidence, {
    code: 'request-rejected',
    message: `The gateway rejects the request for ${quotedModel(evidence)}${quoteOf(evidence)}`,
    hint: "This message names no known cause. Name another model: {--model ID}. Or ask the gateway's operator.",
  })
}

export function wrongRoute(evidence: Evidence): Outcome {
  const { response, request } = evidence
  const path = cleanForeignText(new URL(response.url).pathname, request.secrets)
  return outcome(evidence, {
    code: 'wrong-route',
    message: `An API answers at ${responseHost(response)}, but it has no ${path}${quoteOf(evidence)}`,
    hint: checkAddress + knownAddressHint(evidence),
  })
}

export function notAnApi(evidence: Evidence): Outcome {
  const { response, request, error } = evidence
  const url = withoutQuery(new URL(response.url), request)

  let problem = `The answer from ${url} is not from the API of a gateway`
  if (error.kind === 'page') problem = `A web page answers at ${url}, not the API`
  if (asksForLogin(response))
    problem = `The web server at ${responseHost(response)} asks for its own login before the API`

  return outcome(evidence, {
    code: 'not-an-api',
    message: problem + quoteOf(evidence),
    hint: checkAddress + knownAddressHint(evidence),
  })
}

/** The known base URL of the host, if the request went elsewhere. */
function knownAddressHint({ response, request }: Evidence): string {
  const known = knownHost(request.address)
  const path = request.route === 'messages' ? known?.messages : known?.chat
  if (known === undefined || path === undefined || known.isBelow) return ''
  const address = new URL(request.address).origin + path
  return response.url.startsWith(address)
    ? ''
    : ` For ${known.name} it is ${address} (as of ${known.date}).`
}

/** @param reason whether the balance is zero, or a plan has ended or does not cover the request */
export function quota(evidence: Evidence, reason: 'balance' | 'plan'): Outcome {
  const { message, ...advice } = shortages(keysPage(evidence))[reason]
  return outcome(evidence, { code: 'quota', message: message + quoteOf(evidence), ...advice })
}

function shortages(page: string) {
  return {
    balance: {
      message: 'The account of this key has no credit left',
      hint: `Top it up on ${page}, or run the command again with another key.`,
    },
    plan: {
      message: 'The plan of this key does not cover the request, or is used up',
      hint: `Look at the plan on ${page}. A plan may have a base URL different from pay-as-you-go: {--base-url URL}`,
    },
  }
}

export function rateLimited(evidence: Evidence): Outcome {
  const wait = evidence.response.headers['retry-after'] ?? ''
  const when = /^\d{1,6}$/.test(wait) ? `in ${wait} s` : 'in a minute'
  return outcome(evidence, {
    code: 'rate-limited',
    message: `The gateway accepts no more requests at the moment${quoteOf(evidence)}`,
    hint: `Run the command again ${when}.`,
  })
}

/** @param problem what the gateway does, as the rest of the sentence */
export function fault(evidence: Evidence, problem: string): Outcome {
  return outcome(evidence, {
    code: 'gateway-fault',
    message: `The gateway at ${responseHost(evidence.response)} ${problem}${quoteOf(evidence)}`,
    hint: "Run the command again in a few minutes. If it fails again, ask the gateway's operator.",
  })
}
