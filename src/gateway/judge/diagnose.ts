/**
 * Says what a response of the gateway means, or a failure to get one.
 *
 * - The **cause** is what the codes and words of a rejection blame, such as `key` or `quota` (causes/).
 * - The **subject** is the one thing that a sentence is about. It replaces the cause if no known pattern
 *   matches (causes/subjects.ts).
 * - The **outcome** is the verdict: a code with a message and a hint (outcomes.ts). Some codes have several
 *   reasons: `quota` has `balance` and `plan`.
 * - The **traits** of an outcome say what its code means for the caller: whom it **blames**, that is, what
 *   the user would have to change, and what may help, such as a retry (traits.ts).
 *
 * An example. A gateway answers 401 with `{"error": {"message": "Incorrect API key provided"}}`:
 *
 * 1. `readErrorBody` finds the words and no code.
 * 2. `causesOf` finds a name for a key next to "incorrect": the cause is `key` (causes/key-rows.ts).
 * 3. `outcomeRules.key` checks that a 401 can mean that, and returns the outcome `key-rejected`.
 * 4. `errorFor` (ask.ts) makes an error of it, which ends a setup and becomes a finding in `doctor`. Its
 *    traits blame the `key`, so a prompt asks for the key again.
 *
 * To add an outcome, see "Where to begin" in docs/architecture.md.
 */
import { isCatalogBody } from '../models/catalog-page.ts'
import type { Protocol } from '../types.ts'
import {
  type Cause,
  type HttpAnswer,
  maxAnswerBytes,
  maxCatalogBytes,
  type NetworkFailure,
  type Outcome,
  type SentRequest,
} from './answer.ts'
import { causesOf, idPattern } from './causes/find-causes.ts'
import { type ErrorBody, errorBodyFrom, readErrorBody } from './error-body.ts'
import { isFirewall, isTunnelClosed } from './firewalls.ts'
import { type Flaw, flawWords } from './flaws.ts'
import { diagnoseFailure, proxyPassword } from './network-failure.ts'
import {
  asksForLogin,
  clientRefused,
  fault,
  forbidden,
  headerMissing,
  hostOf,
  isUnlisted,
  type JudgedAnswer,
  keyRejected,
  modelNotAllowed,
  modelUnknown,
  modelUnpriced,
  notAnApi,
  outcome,
  protocolUnsupported,
  quota,
  rateLimited,
  redirected,
  requestRejected,
  routeNotAllowed,
  says,
  wrongRoute,
} from './outcomes.ts'
import { acceptedBy, proofIn } from './proof.ts'
import { clientCertificateRequired, httpsRequired } from './tls-failure.ts'
import { wantedHeader } from './wanted-header.ts'

/**
 * The outcome of a result, or undefined if the result is what was requested. Codes and words decide where
 * the status allows their cause. Without them, the status decides.
 */
export function diagnose(
  result: HttpAnswer | NetworkFailure,
  request: SentRequest,
): Outcome | undefined {
  if (!('status' in result)) return diagnoseFailure(result, request)
  if (hundredsOf(result.status) === 2) return diagnoseSuccess(result, request)
  const { status } = result
  return diagnoseError({ answer: result, request, error: readErrorBody(result), status })
}

function diagnoseSuccess(answer: HttpAnswer, request: SentRequest): Outcome | undefined {
  const { asked } = request
  if (asked === 'catalog' && answer.cut === undefined && isCatalogBody(answer.body))
    return undefined

  const error = readErrorBody(answer)
  const judged: JudgedAnswer = { answer, request, error, status: answer.status }
  if (answer.cut === 'encoding')
    return fault(judged, 'compressed its answer in a way that nothing here can read')
  return asked === 'catalog' ? diagnoseNoCatalog(judged) : diagnoseInference(judged, asked)
}

/** A 200 to a catalog request, whose body is not a whole catalog. */
function diagnoseNoCatalog(judged: JudgedAnswer): Outcome {
  if (isCutOff(judged)) return cutOff(judged)
  return judged.error.isApiError ? diagnoseHidden(judged) : notAnApi(judged)
}

/** A 200 to a request to a model. */
function diagnoseInference(judged: JudgedAnswer, protocol: Protocol): Outcome | undefined {
  const { answer, request, error } = judged
  const proof = proofIn(protocol, answer)
  if (proof.kind === 'failed')
    return diagnoseHidden({ ...judged, error: errorBodyFrom(proof.error) })
  if (answer.cut === 'limit' && isCutOff(judged)) return cutOff(judged)

  if (proof.kind === 'answered') {
    const { rejects } = acceptedBy(request.client, protocol)
    const rejectedFlaw = proof.flaws.find((flaw) => rejects.includes(flaw))
    if (rejectedFlaw === undefined) return undefined
    if (proof.error === undefined) return diagnoseFlaw(judged, rejectedFlaw)
    return diagnoseHidden({ ...judged, error: errorBodyFrom(proof.error) })
  }

  if (isCutOff(judged)) return cutOff(judged)
  if (error.isApiError) return diagnoseHidden(judged)
  if (request.isBaseProven) return protocolUnsupported(judged)
  return error.kind === 'empty' ? fault(judged, 'sent an empty answer') : notAnApi(judged)
}

function clientOf({ request }: JudgedAnswer): string {
  return request.client?.label ?? 'the client'
}

function diagnoseFlaw(judged: JudgedAnswer, flaw: Flaw): Outcome {
  if (flaw === 'incomplete-filter' || flaw === 'finish-filter') return forbidden(judged, 'content')
  if (flaw === 'whole')
    return fault(judged, `${flawWords.whole}, and ${clientOf(judged)} can only read a stream`)
  if (flaw === 'cut' || flaw === 'no-finish-no-end') return fault(judged, flawWords[flaw])
  return fault(judged, `${flawWords[flaw]}, which ${clientOf(judged)} does not accept`)
}

/** Whether the body ends early. The beginning of a web page is enough to recognize it. */
function isCutOff({ answer, error }: JudgedAnswer): boolean {
  return answer.cut !== undefined && error.kind !== 'page'
}

function cutOff(judged: JudgedAnswer): Outcome {
  if (judged.answer.cut !== 'limit') return fault(judged, 'stopped in the middle of its answer')
  if (judged.request.asked === 'catalog')
    return fault(judged, `sent a list of models of more than ${maxCatalogBytes / 1_000_000} MB`)
  return fault(judged, `sent more than ${maxAnswerBytes / 1_000_000} MB in answer to one word`)
}

/** An error in the body of a 200. Its own status counts, or else its codes. */
function diagnoseHidden(judged: JudgedAnswer): Outcome {
  return diagnoseError({ ...judged, status: judged.error.status ?? 0 })
}

/** The order matters: a code is more precise than a status. */
function diagnoseError(judged: JudgedAnswer): Outcome {
  return (
    diagnoseIntermediary(judged) ??
    diagnoseByCause(judged) ??
    (judged.error.kind === 'page' ? diagnosePage(judged) : diagnoseByStatus(judged))
  )
}

/** Recognizes an answer that did not come from the gateway: a redirect, a proxy, or the wrong scheme. */
function diagnoseIntermediary(judged: JudgedAnswer): Outcome | undefined {
  const { answer, status } = judged
  if (answer.status === 304) {
    return fault(
      judged,
      'answers "not modified" to a first request; a cache in front of it may cause that',
    )
  }

  if (hundredsOf(answer.status) === 3) return redirected(judged)

  if (isCloudflareBlock(judged)) {
    return outcome(judged, {
      code: 'gateway-fault',
      reason: 'firewall',
      message: `Cloudflare checks for bots in front of ${hostOf(answer)} and blocks every program${says(judged)}`,
      hint: "Ask the gateway's operator to exempt the API from that check.",
    })
  }

  // A proxy or the network asks for a login.
  if (status === 407) {
    return outcome(judged, {
      code: 'proxy',
      message: `The proxy ${answer.proxy ?? 'on the way'} asks for a user name and a password, or rejects the ones in its variable (HTTP 407)`,
      hint: proxyPassword,
    })
  }

  if (status === 511) {
    return outcome(judged, {
      code: 'proxy',
      message: 'This network requires a login first (HTTP 511)',
      hint: 'Open a web page in a browser and log in to the network. Then run the command again.',
    })
  }

  if (status >= 400 && isProxysOwn(answer)) {
    return outcome(judged, {
      code: 'proxy',
      message: `The proxy ${answer.proxy ?? 'on the way'} answered instead of the gateway${says(judged)}`,
      hint: `Bypass the proxy: NO_PROXY=${new URL(answer.url).hostname}. Or ask the proxy's operator to allow the host.`,
    })
  }

  if (status !== 400) return undefined
  const url = new URL(answer.url)
  if (url.protocol === 'http:' && plainOnTls.test(answer.body)) return httpsRequired(url)
  return noCertificate.test(answer.body) ? clientCertificateRequired(url) : undefined
}

/** nginx, if it requires a client certificate. */
const noCertificate = /No required SSL certificate was sent|The SSL certificate error/

/** Whether a forward proxy wrote the answer itself. An answer that it passes on names the web server. */
function isProxysOwn({ headers }: HttpAnswer): boolean {
  return (
    headers['x-squid-error'] !== undefined ||
    /^(?:squid|tinyproxy|privoxy|mitmproxy|zscaler|bluecoat)\b/i.test(headers['server'] ?? '')
  )
}

/** nginx, Go's net/http, Apache: fixed texts for plain http on a TLS port. */
const plainOnTls =
  /plain HTTP request was sent to HTTPS port|Client sent an HTTP request to an HTTPS server|speaking plain HTTP to an SSL-enabled server port/

/** The outcome by cause, if a row names one. */
function diagnoseByCause(judged: JudgedAnswer): Outcome | undefined {
  const { answer, error, request, status } = judged
  if (isFirewall(answer)) return forbidden(judged, 'firewall')
  if (isTunnelClosed(answer)) return fault(judged, 'is not connected to its tunnel')
  if (status === 402) {
    const causes = causesOf(error, status)
    const isPlanUsedUp = causes.includes('plan') && !causes.includes('quota')
    return quota(judged, isPlanUsedUp ? 'plan' : 'balance')
  }

  const header =
    hundredsOf(status) === 4 && error.kind !== 'page' ? wantedHeader(error, answer.body) : undefined
  if (header !== undefined) return headerMissing(judged, header)

  for (const cause of causesOf(error, status, modelAsked(request))) {
    // Of a web page, only the sentence that names certain clients is precise enough.
    if (error.kind === 'page' && cause !== 'client') continue
    const isGatewaysOwnKey = error.isPassedOn && causesOfSender.includes(cause)
    const caused = outcomeRules[isGatewaysOwnKey ? 'upstream' : cause](judged)
    if (caused !== undefined) return caused
  }

  if (asksModel(judged) && isUnbuilt(judged)) return protocolUnsupported(judged)
  const isRouteMissing =
    error.codes.some((code) => routeCodes.includes(code)) ||
    /^unexpected endpoint\b/i.test(error.words)
  return isRouteMissing ? wrongRoute(judged) : undefined
}

/**
 * Causes that concern the gateway's own key and account if the service behind the gateway names them:
 * that service never sees the user's.
 */
const causesOfSender: readonly Cause[] = ['key', 'account', 'quota', 'plan']

/** Codes for a route that does not exist. */
const routeCodes = [
  'api_not_implemented',
  'not_implemented',
  'unsupported_api_for_model',
  'unsupported_endpoint',
]

/** Makes an outcome of an answer, or none. */
type OutcomeRule = (judged: JudgedAnswer) => Outcome | undefined

/**
 * The outcome of each cause for this answer. Undefined: the status cannot mean that cause, so that the next
 * cause counts.
 */
const outcomeRules: Readonly<Record<Cause, OutcomeRule>> = {
  upstream: (judged) =>
    isRejection(judged) || hundredsOf(judged.status) === 5 ? upstreamFault(judged) : undefined,
  gateway: (judged) =>
    judged.status === 429 ? undefined : fault(judged, 'answers with an error of its own'),
  client: (judged) =>
    judged.status === 503 || (isRejection(judged) && judged.status !== 500)
      ? clientRefused(judged)
      : undefined,
  region: ifRejected((judged) => forbidden(judged, 'region')),
  network: ifRejected((judged) => forbidden(judged, 'network')),
  content: ifRejected((judged) => forbidden(judged, 'content')),
  rate: (judged) =>
    isRejection(judged) || judged.status === 503 ? rateLimited(judged) : undefined,
  quota: ifRejected((judged) => quota(judged)),
  plan: ifRejected((judged) => quota(judged, 'plan')),
  account: ifRejected((judged) =>
    isAboutModel(judged, 'account') ? undefined : forbidden(judged, 'account'),
  ),
  'model-unpriced': ifModelAsked(modelUnpriced),
  'model-not-allowed': ifModelAsked((judged) => {
    // A value that the gateway does not know, and not a model that the key may not use.
    const isUnknownValue = judged.error.param === 'model' && [400, 422].includes(judged.status)
    return isUnknownValue ? modelUnknown(judged) : modelNotAllowed(judged)
  }),
  // A 429 means that the model is busy, and some say that it is not available.
  'model-unknown': ifModelAsked((judged) =>
    judged.status === 429 ? undefined : modelUnknown(judged),
  ),
  // The provider is part of the model's ID or of the path.
  'provider-unknown': ifModelAsked((judged) => {
    const isBaseRight = judged.request.isBaseProven || judged.request.catalog !== undefined
    return isBaseRight ? modelUnknown(judged) : protocolUnsupported(judged)
  }),
  protocol: ifModelAsked(protocolUnsupported),
  route: (judged) =>
    [0, 400, 401, 403].includes(judged.status) ? routeNotAllowed(judged) : undefined,
  key: (judged) => {
    // The catalog accepted the key, so the key that fails now is the gateway's.
    if (judged.status === 500 && judged.request.catalog !== undefined) return upstreamFault(judged)
    return isRejection(judged) && !isAboutModel(judged, 'key') ? keyRejected(judged) : undefined
  },
}

/** A rule that counts only if the gateway rejects the request. */
function ifRejected(rule: OutcomeRule): OutcomeRule {
  return (judged) => (isRejection(judged) ? rule(judged) : undefined)
}

/** A rule that counts only for a request to a model. */
function ifModelAsked(rule: OutcomeRule): OutcomeRule {
  return (judged) => (asksModel(judged) ? rule(judged) : undefined)
}

function upstreamFault(judged: JudgedAnswer): Outcome {
  return fault(judged, 'cannot use the service behind it', 'upstream')
}

/** A 403 that names the model concerns the model, unless its code says otherwise. */
function isAboutModel(judged: JudgedAnswer, cause: Cause): boolean {
  const { error, status } = judged
  const isByCode = causesOf({ ...error, words: '' }, status).includes(cause)
  return status === 403 && !isByCode && asksModel(judged) && mentionsModel(judged)
}

/** The requested model. Empty: the request names none. */
function modelAsked({ asked, model = '' }: SentRequest): string {
  return asked === 'catalog' ? '' : model
}

function asksModel({ request }: JudgedAnswer): boolean {
  return request.asked !== 'catalog'
}

/** The gateway rejects what the client sent, by status or in the body of a 200. Some send only 500. */
function isRejection({ status }: JudgedAnswer): boolean {
  return hundredsOf(status) === 4 || status === 0 || status === 500
}

/** New API's messages route omits its code. These words are not translated. */
function isUnbuilt({ error, status }: JudgedAnswer): boolean {
  return status === 500 && /^not implemented\b/i.test(error.words)
}

/** A web page with an error status: a web server, a firewall or a proxy in front of the API. */
function diagnosePage(judged: JudgedAnswer): Outcome {
  const { answer, request, status } = judged
  if (status === 401) return asksForLogin(answer) ? notAnApi(judged) : keyRejected(judged)
  if (status === 429) return rateLimited(judged)
  if (status >= 500 && status !== 501 && status !== 505)
    return fault(judged, 'answers with a web page')
  if (request.isBaseProven && isRouteStatus(status)) return protocolUnsupported(judged)

  const isFromFirewall = request.isBaseProven || titleOfFirewall.test(judged.error.words)
  if (status === 406 || (status === 403 && isFromFirewall)) return forbidden(judged, 'firewall')
  return notAnApi(judged)
}

/** What the titles of a firewall's pages say, also in Chinese: forbidden, intercepted, blocked. */
const titleOfFirewall = /forbidden|denied|blocked|not acceptable|禁止|拦截|阻断/i

/** The outcome by status, if the answer names no cause. */
function diagnoseByStatus(judged: JudgedAnswer): Outcome {
  const { answer, error, status } = judged
  const namesModel = asksModel(judged) && mentionsModel(judged)

  if (status === 401) {
    if (asksForLogin(answer) && !error.isApiError) return notAnApi(judged)
    return error.words === '' ? keyRejected(judged) : forbidden(judged)
  }
  if (status === 403) return namesModel ? modelNotAllowed(judged) : forbidden(judged)
  if (status === 429) return rateLimited(judged)
  // "Unavailable for legal reasons".
  if (status === 451) return forbidden(judged, 'region')

  if (asksModel(judged) && error.param === 'model' && hundredsOf(status) === 4)
    return modelUnknown(judged)
  if (isRouteStatus(status)) return namesModel ? modelUnknown(judged) : wrongRoute(judged)
  if (status === 400 || status === 422) return diagnoseBadRequest(judged)

  // one-api and its relatives: no channel or no price for the model, without a code.
  const isGatewaysRejection = (status === 500 || status === 503) && isGatewaysOwn(error)
  if (namesModel && (isGatewaysRejection || status === 0)) return modelUnknown(judged)
  return fault(judged, 'answers with an error of its own')
}

/** A 400 or 422 that names no cause: the model, the request, or no API at all. */
function diagnoseBadRequest(judged: JudgedAnswer): Outcome {
  const { request, error } = judged
  if (asksModel(judged) && mentionsModel(judged) && error.param === '') return modelUnknown(judged)
  if (!error.isApiError) return notAnApi(judged)
  if (!asksModel(judged)) return fault(judged, 'rejects the request')

  const isModelToBlame = isUnlisted(request) && !blamesParameter(error)
  return isModelToBlame ? modelUnknown(judged) : requestRejected(judged)
}

/** By the parameter's name, or a name in the words such as `max_tokens`. */
function blamesParameter({ param, words }: ErrorBody): boolean {
  return param !== '' || /[a-z]_[a-z]/.test(words)
}

/** Whether a gateway of the one-api family wrote the error, and did not pass it on from its upstream. */
function isGatewaysOwn({ codes }: ErrorBody): boolean {
  return codes.some((code) => /^\w+_api_error$/.test(code) || code === 'get_channel_failed')
}

function hundredsOf(status: number): number {
  return Math.floor(status / 100)
}

function isRouteStatus(status: number): boolean {
  return status === 404 || status === 405 || status === 410 || status === 501
}

/**
 * Whether it is Cloudflare's challenge, in any language, or its block page. Its pages about a broken
 * server look similar.
 */
function isCloudflareBlock({ answer, error }: JudgedAnswer): boolean {
  const { status, headers, body } = answer
  if (status < 400) return false
  if (headers['cf-mitigated'] !== undefined) return true
  if (error.kind !== 'page' || (status !== 403 && status !== 503)) return false
  return (
    /^\s*(?:just a moment|attention required)\b/i.test(error.words) ||
    /challenge-platform|_cf_chl|cf-chl|cf-challenge|cf-browser-verification/.test(body) ||
    (status === 403 && headers['cf-ray'] !== undefined && /cf-(?:error|wrapper)/.test(body))
  )
}

/** Whether the gateway's words name the requested model. This works in any language. */
function mentionsModel({ request, error }: JudgedAnswer): boolean {
  const { model = '' } = request
  return model.length > 1 && idPattern(model).test(error.words)
}
