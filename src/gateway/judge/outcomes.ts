import { compact } from '../../compact.ts'
import { cleanForeignText } from '../foreign-text.ts'
import { knownHost } from '../hosts.ts'
import { closestModels } from '../models/rules.ts'
import type { Catalog } from '../types.ts'
import type { AskedRequest, HttpAnswer, Outcome } from './answer.ts'
import type { ErrorBody } from './error-body.ts'

/** An answer with everything that the rules use. */
export interface JudgedAnswer {
  readonly answer: HttpAnswer
  readonly question: AskedRequest
  readonly error: ErrorBody
  /** The status of the answer, or the one inside the body of a 200. */
  readonly status: number
}

export function redirected(judged: JudgedAnswer): Outcome {
  const { answer, question } = judged
  const location = answer.headers['location'] ?? ''
  const from = new URL(answer.url)
  const to = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined
  if (location === '' || to === undefined || !/^https?:$/.test(to.protocol)) {
    return outcome(judged, {
      code: 'redirected',
      message: `${hostOf(answer)} redirects without naming a web address (HTTP ${answer.status})`,
      hint: `${checkAddress} If it is, whoever runs the gateway must mend the redirect.`,
    })
  }

  const prefix = new URL(question.baseUrl).pathname.replace(/\/$/, '')
  const route = from.pathname.startsWith(prefix)
    ? from.pathname.slice(prefix.length)
    : from.pathname
  // A host after two slashes is more often a broken path, or an attack, than the intended address.
  const isHostMeant = !/^[\\/]{2}/.test(location)
  const root =
    isHostMeant && route !== '' && to.pathname.endsWith(route)
      ? to.origin + to.pathname.slice(0, -route.length)
      : undefined
  if (to.href === from.href || root === question.baseUrl) {
    return outcome(judged, {
      code: 'redirected',
      message: `${hostOf(answer)} redirects in a circle: ${withoutQuery(from, question)} leads back to itself (HTTP ${answer.status})`,
      hint: `The answer names no other base URL: ask whoever runs the gateway. ${checkAddress}`,
    })
  }

  const unsent = to.origin === from.origin ? '' : '; the key was not sent there'
  return outcome(judged, {
    code: 'redirected',
    message: `${hostOf(answer)} redirects to ${withoutQuery(to, question)} (HTTP ${answer.status})${unsent}`,
    hint:
      root === undefined
        ? 'A login page or the network may be in the way: open the address in a browser, and check --base-url.'
        : `If you trust that address, give --base-url ${cleanForeignText(root, question.secrets)}.`,
  })
}

/** Without the query, because a redirect may put anything there. */
function withoutQuery(url: URL, { secrets }: AskedRequest): string {
  return cleanForeignText(url.origin + url.pathname, secrets)
}

export function keyRejected(judged: JudgedAnswer): Outcome {
  return outcome(judged, {
    code: 'key-rejected',
    tryOtherKeyHeader: isHeaderOpen(judged),
    message: `The gateway refuses the key${says(judged)}`,
    hint: `Look the key up ${onItsPage(judged)} (it may be mistyped, disabled, expired or used up), then run the command again with the right one.`,
  })
}

/** The web page that shows the user's keys. */
function onItsPage({ question }: JudgedAnswer): string {
  return `on ${knownHost(question.baseUrl)?.keys ?? "the gateway's web page"}`
}

/** Gateways of the one-api family, which use this header, read the key from every usual header. */
function isHeaderOpen({ answer }: JudgedAnswer): boolean {
  return answer.headers['x-oneapi-request-id'] === undefined
}

/** The key is valid, but not allowed to use this route. */
export function routeNotAllowed(judged: JudgedAnswer): Outcome {
  const { answer, question } = judged
  const isList = question.asked === 'catalog'
  const path = cleanForeignText(new URL(answer.url).pathname, question.secrets)
  return outcome(judged, {
    code: 'route-not-allowed',
    message: `This key may not ask ${path}${says(judged)}`,
    hint: `${isList ? 'Name the model with --model ID, which works without the list; or have' : 'Have'} the route allowed for the key on the gateway's web page.`,
  })
}

/** Gateways that pass requests on may require a header that names the destination. */
export function headerMissing(judged: JudgedAnswer, name: string): Outcome {
  return outcome(judged, {
    code: 'header-missing',
    // This header may be the one for the key.
    tryOtherKeyHeader: !name.startsWith('x-'),
    message: `The gateway wants the header ${name} in addition to the key${says(judged)}`,
    hint: `Add --header '${name}: VALUE', or '${name}: $VARIABLE' for what is secret.`,
  })
}

/** Some gateways admit only requests that look like a certain client's (seen 2026-11-21). */
export function clientRefused(judged: JudgedAnswer): Outcome {
  return outcome(judged, {
    code: 'client-refused',
    message: `The gateway admits certain clients only, and not this check${says(judged)}`,
    hint: 'Set the client up with --try-client: what it says itself is the proof then.',
  })
}

/** A rejection that names another cause than the key, or none. */
export function forbidden(judged: JudgedAnswer, cause?: keyof typeof forbiddings): Outcome {
  const { message, hint } = forbiddings[cause ?? 'unnamed']
  return outcome(judged, {
    code: 'forbidden',
    // AWS says "Forbidden" if it does not see the key.
    tryOtherKeyHeader: cause === undefined && isHeaderOpen(judged),
    message: message + says(judged),
    hint,
  })
}

const forbiddings = {
  unnamed: {
    message: 'The gateway forbids the request, and does not name the key as the cause',
    hint: "Look at its words, and at what the key may do on the gateway's web page. Where only this check may be meant, set the client up with --try-client: what the client says itself is the proof then.",
  },
  region: {
    message: 'The gateway serves nobody in this country or region',
    hint: 'The key is not at fault. Ask whoever runs the gateway, or use one that serves your region.',
  },
  network: {
    message:
      'The gateway admits certain networks only, and not the one that this machine asks from',
    hint: "The key is not at fault. Check the VPN and the proxy, or have this address admitted on the gateway's web page.",
  },
  content: {
    message:
      'The gateway refuses the words of the request, a mere greeting, by its rules for content',
    hint: 'The key is not at fault. Try another model with --model ID; or set the client up with --try-client: what the client says itself is the proof then.',
  },
  firewall: {
    message: 'A firewall or web server in front of the gateway blocks the request',
    hint: 'The key is not at fault. Check the VPN and the proxy, or ask the operator of the gateway. If only this check is blocked, set the client up with --try-client.',
  },
  account: {
    message: 'The account behind the key may not ask',
    hint: "See the gateway's web page: the account may have to be verified, or be blocked.",
  },
} as const

export function modelUnknown(judged: JudgedAnswer): Outcome {
  const { model = '', catalog } = judged.question
  const near =
    catalog === undefined ? [] : closestModels(model, catalog).filter((id) => id !== model)
  const isListed = catalog?.models.some(({ id }) => id === model) === true

  return outcome(judged, {
    code: 'model-unknown',
    message: `The gateway cannot serve the model ${modelOf(judged)}${isListed ? ', although its catalog lists it' : ''}${says(judged)}`,
    hint:
      near.length === 0
        ? 'Choose one of the list: repoint models, then --model ID.'
        : `Choose another with --model ID; nearest: ${near.map((id) => cleanForeignText(id)).join(', ')}. All: repoint models.`,
  })
}

/** Whether there is a catalog, and it does not list the requested model. */
export function isUnlisted({
  model,
  catalog,
}: Pick<AskedRequest, 'model'> & { readonly catalog?: Catalog | undefined }): boolean {
  return catalog?.models.every(({ id }) => id !== model) === true
}

export function modelNotAllowed(judged: JudgedAnswer): Outcome {
  return outcome(judged, {
    code: 'model-not-allowed',
    message: `This key may not use the model ${modelOf(judged)}${says(judged)}`,
    hint: "Choose another with --model ID, or have the model allowed for this key on the gateway's web page.",
  })
}

/** The key is not at fault: the gateway's operator has not set a price for the model. */
export function modelUnpriced(judged: JudgedAnswer): Outcome {
  return outcome(judged, {
    code: 'model-not-allowed',
    message: `The gateway has no price for the model ${modelOf(judged)}, and serves it to nobody until it has${says(judged)}`,
    hint: 'Choose another with --model ID, or ask whoever runs the gateway to set its price.',
  })
}

export function protocolUnsupported(judged: JudgedAnswer): Outcome {
  const { asked } = judged.question
  const protocol = asked === 'chat' ? 'chat completions' : asked
  return outcome(judged, {
    code: 'protocol-unsupported',
    message: `The gateway does not serve the ${protocol} protocol for ${modelOf(judged)}${says(judged)}`,
    hint: 'Choose a model that speaks it (repoint models), or ask whoever runs the gateway.',
  })
}

export function wrongRoute(judged: JudgedAnswer): Outcome {
  const { question } = judged
  if (question.isBaseProven)
    return question.isRouteProven && isUnlisted(question)
      ? modelUnknown(judged)
      : protocolUnsupported(judged)
  return outcome(judged, {
    code: 'wrong-route',
    message: `An API answers at ${hostOf(judged.answer)}, but not at ${cleanForeignText(new URL(judged.answer.url).pathname, question.secrets)}${says(judged)}`,
    hint: `Check --base-url: it must be the root before /v1 (now ${question.baseUrl}).${knownRoot(judged)}${withoutCatalog(judged)}`,
  })
}

export function notAnApi(judged: JudgedAnswer): Outcome {
  const { answer, question, error } = judged
  const url = withoutQuery(new URL(answer.url), question)
  const what = asksForLogin(answer)
    ? `The web server at ${hostOf(answer)} wants a login of its own before the API`
    : error.kind === 'page'
      ? `A web page answers at ${url}, not the API`
      : `What answers at ${url} is not the API`

  return outcome(judged, {
    code: 'not-an-api',
    message: what + says(judged),
    hint: checkAddress + knownRoot(judged) + withoutCatalog(judged),
  })
}

/** The known base URL of the host, if the request went elsewhere. */
function knownRoot({ answer, question }: JudgedAnswer): string {
  const known = knownHost(question.baseUrl)
  const path = question.asked === 'messages' ? known?.messages : known?.chat
  if (known === undefined || path === undefined) return ''
  const root = new URL(question.baseUrl).origin + path
  return answer.url.startsWith(root) ? '' : ` That of ${known.name} is ${root} (${known.date}).`
}

/** What to do if the address is right and the gateway has no catalog. */
function withoutCatalog({ question, status }: JudgedAnswer): string {
  return question.asked === 'catalog' && status === 404
    ? ' If it is, the gateway has no list of models: name one with --model ID, which works without.'
    : ''
}

/** @param what whether the balance is zero, or a plan has ended or does not cover the request */
export function quota(judged: JudgedAnswer, what: 'balance' | 'plan' = 'balance'): Outcome {
  const { message, hint } = shortages[what]
  return outcome(judged, {
    code: 'quota',
    message: message + says(judged),
    hint: hint.replace('PAGE', onItsPage(judged)),
  })
}

const shortages = {
  balance: {
    message: 'The account behind the key has nothing left to spend',
    hint: 'Top it up PAGE, or use another key; the configuration is not at fault.',
  },
  plan: {
    message: 'The plan behind the key does not cover the request, or has nothing left to spend',
    hint: 'Look at the plan PAGE; if it is valid, it may have a base URL that differs from that of pay as you go.',
  },
} as const

export function rateLimited(judged: JudgedAnswer): Outcome {
  const wait = judged.answer.headers['retry-after'] ?? ''
  const when = /^\d{1,6}$/.test(wait) ? `in ${wait} s` : 'in a minute'
  return outcome(judged, {
    code: 'rate-limited',
    message: `The gateway takes no more requests for now${says(judged)}`,
    hint: `Run the command again ${when}.`,
  })
}

export function fault(judged: JudgedAnswer, what: string): Outcome {
  return outcome(judged, {
    code: 'gateway-fault',
    message: `The gateway at ${hostOf(judged.answer)} ${what}${says(judged)}`,
    hint: 'Run the command again in a while; if it stays so, ask whoever runs the gateway.',
  })
}

const checkAddress =
  'Check --base-url: it must be the root of the API, with its path prefix if it has one (https://host/prefix).'

/** The requested model, as shown. */
function modelOf({ question }: JudgedAnswer): string {
  return cleanForeignText(question.model ?? '')
}

/** A web server in front of the API asks for Basic and similar logins. A gateway's API never does. */
export function asksForLogin(answer: HttpAnswer): boolean {
  return (
    answer.status === 401 &&
    /\b(?:basic|digest|ntlm|negotiate)\b/i.test(answer.headers['www-authenticate'] ?? '') &&
    !/\bbearer\b/i.test(answer.headers['www-authenticate'] ?? '')
  )
}

/** The status and the gateway's own words, in parentheses. */
export function says({ answer, question, error }: JudgedAnswer): string {
  const words = cleanForeignText(error.words.replace(requestIdInWords, ''), question.secrets)
  return ` (HTTP ${answer.status}${words === '' ? '' : `: "${words}"`})`
}

export function outcome(judged: JudgedAnswer, parts: Omit<Outcome, 'requestId' | 'said'>): Outcome {
  return compact({ ...parts, said: says(judged), requestId: requestIdOf(judged) })
}

const requestIdHeaders = [
  'x-oneapi-request-id',
  'x-request-id',
  'request-id',
  'x-litellm-call-id',
  'x-amzn-requestid',
  'cf-ray',
]

/** The message shows the ID separately at its end. Gateways that wrap other errors have several IDs. */
const requestIdInWords =
  /[\s,;.，。]{0,3}(?:[([（]\s*)?\brequest[ _-]?id\b\s*[:：=]?\s*["']?([\w.:-]*\d(?:[\w.:-]*\w)?)["']?(?:\s*[)\]）])?/gi

function requestIdOf({ answer, question, error }: JudgedAnswer): string | undefined {
  const fromBody = [...error.words.matchAll(requestIdInWords)][0]?.[1]
  return requestIdHeaders
    .map((name) => answer.headers[name])
    .concat(fromBody)
    .find(
      (id) =>
        id !== undefined &&
        /^[\w.:-]{4,100}$/.test(id) &&
        // A gateway may echo anything there.
        cleanForeignText(id, question.secrets) === id,
    )
}

export function hostOf(answer: HttpAnswer): string {
  return new URL(answer.url).host
}
