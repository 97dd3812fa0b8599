import { isCatalogBody } from '../models/catalog.ts'
import {
  type AskedRequest,
  type Cause,
  type HttpAnswer,
  maxAnswerBytes,
  maxCatalogBytes,
  type NetworkFailure,
  type Outcome,
} from './answer.ts'
import { causesOf, idPattern } from './causes.ts'
import { type ErrorBody, errorFrom, readErrorBody } from './error-body.ts'
import { isFirewall, isTunnelClosed } from './firewalls.ts'
import { type Flaw, flawWords } from './flaws.ts'
import {
  clientCertificateRequired,
  diagnoseFailure,
  httpsRequired,
  proxyPassword,
} from './network-failure.ts'
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
import { wantedHeader } from './wanted-header.ts'

/**
 * Diagnoses a result: exactly one outcome, or undefined if it is what was requested. Codes and words decide
 * (causes.ts) where the status allows the cause. Without them, the status decides.
 */
export function diagnose(
  result: HttpAnswer | NetworkFailure,
  question: AskedRequest,
): Outcome | undefined {
  if (!('status' in result)) return diagnoseFailure(result, question)
  if (hundredsOf(result.status) === 2) return diagnoseSuccess(result, question)
  const { status } = result
  return diagnoseError({ answer: result, question, error: readErrorBody(result), status })
}

function diagnoseSuccess(answer: HttpAnswer, question: AskedRequest): Outcome | undefined {
  const isList = question.asked === 'catalog' && isCatalogBody(answer.body)
  if (isList && answer.cut === undefined) return undefined

  const error = readErrorBody(answer)
  const judged: JudgedAnswer = { answer, question, error, status: answer.status }
  if (answer.cut === 'encoding') {
    return fault(judged, 'compressed its answer in a way that nothing here can read')
  }
  if (question.asked === 'catalog') {
    if (answer.cut !== undefined && error.kind !== 'page') return cutOff(judged)
    return error.isApiError ? diagnoseHidden(judged) : notAnApi(judged)
  }

  const proof = proofIn(question.asked, answer)
  if (proof.kind === 'failed') return diagnoseHidden({ ...judged, error: errorFrom(proof.error) })
  if (answer.cut === 'limit' && error.kind !== 'page') return cutOff(judged)
  if (proof.kind === 'answered') {
    const { rejects } = acceptedBy(question.client, question.asked)
    const flaw = proof.flaws.find((one) => rejects.includes(one))
    if (flaw === undefined || proof.error === undefined) return flaw && diagnoseFlaw(judged, flaw)
    return diagnoseHidden({ ...judged, error: errorFrom(proof.error) })
  }
  if (answer.cut !== undefined && error.kind !== 'page') return cutOff(judged)
  if (error.isApiError) return diagnoseHidden(judged)
  if (question.isBaseProven) return protocolUnsupported(judged)
  return error.kind === 'empty' ? fault(judged, 'sent an empty answer') : notAnApi(judged)
}

function clientOf({ question }: JudgedAnswer): string {
  return question.client?.label ?? 'the client'
}

function diagnoseFlaw(judged: JudgedAnswer, flaw: Flaw): Outcome {
  if (flaw === 'incomplete-filter' || flaw === 'finish-filter') return forbidden(judged, 'content')
  if (flaw === 'whole')
    return fault(judged, `${flawWords.whole}, and ${clientOf(judged)} can only read a stream`)
  const isCut = flaw === 'cut' || flaw === 'no-finish-no-end'
  const ending = isCut ? '' : `, which ${clientOf(judged)} does not accept`
  return fault(judged, flawWords[flaw] + ending)
}

function cutOff(judged: JudgedAnswer): Outcome {
  if (judged.answer.cut !== 'limit') return fault(judged, 'stopped in the middle of its answer')
  return fault(
    judged,
    judged.question.asked === 'catalog'
      ? `sent a list of models of more than ${maxCatalogBytes / 1_000_000} MB`
      : `sent more than ${maxAnswerBytes / 1_000_000} MB in answer to one word`,
  )
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
      blamed: 'firewall',
      message: `Cloudflare checks for bots in front of ${hostOf(answer)} and blocks every program${says(judged)}`,
      hint: "Ask the gateway's operator to exempt the API from that check.",
    })
  }

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
  if (status === 400 && answer.url.startsWith('http:') && plainOnTls.test(answer.body)) {
    return httpsRequired(new URL(answer.url))
  }
  if (status === 400 && noCertificate.test(answer.body))
    return clientCertificateRequired(new URL(answer.url))
  return undefined
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
  const { answer, error, question, status } = judged
  if (isFirewall(answer)) return forbidden(judged, 'firewall')
  if (isTunnelClosed(answer)) return fault(judged, 'is not connected to its tunnel')
  if (status === 402) {
    const causes = causesOf(error, status)
    const isOfPlan = causes.includes('plan') && !causes.includes('quota')
    return quota(judged, isOfPlan ? 'plan' : 'balance')
  }

  const header =
    hundredsOf(status) === 4 && error.kind !== 'page' ? wantedHeader(error, answer.body) : undefined
  if (header !== undefined) return headerMissing(judged, header)

  for (const cause of causesOf(error, status, modelAsked(question))) {
    const isOfPage = error.kind === 'page' && cause !== 'client'
    const isOfGateway = error.isPassedOn && causesOfSender.includes(cause)
    const outcome = isOfPage ? undefined : outcomeOf[isOfGateway ? 'upstream' : cause](judged)
    if (outcome !== undefined) return outcome
  }

  const isModelAsked = question.asked !== 'catalog'
  if (isModelAsked && isUnbuilt(judged)) return protocolUnsupported(judged)
  const isRoute = error.codes.some((code) => routeCodes.includes(code))
  if (isRoute || /^unexpected endpoint\b/i.test(error.words)) return wrongRoute(judged)
  return undefined
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

/** The outcome of each cause for this answer. Undefined: the cause does not fit the status. */
const outcomeOf: Readonly<Record<Cause, (judged: JudgedAnswer) => Outcome | undefined>> = {
  upstream: (judged) =>
    isRefusal(judged) || hundredsOf(judged.status) === 5
      ? fault(judged, 'cannot use the service behind it', 'upstream')
      : undefined,
  gateway: (judged) =>
    judged.status === 429 ? undefined : fault(judged, 'answers with an error of its own'),
  client: (judged) =>
    judged.status === 503 || (isRefusal(judged) && judged.status !== 500)
      ? clientRefused(judged)
      : undefined,
  region: (judged) => (isRefusal(judged) ? forbidden(judged, 'region') : undefined),
  network: (judged) => (isRefusal(judged) ? forbidden(judged, 'network') : undefined),
  content: (judged) => (isRefusal(judged) ? forbidden(judged, 'content') : undefined),
  rate: (judged) => (isRefusal(judged) || judged.status === 503 ? rateLimited(judged) : undefined),
  quota: (judged) => (isRefusal(judged) ? quota(judged) : undefined),
  plan: (judged) => (isRefusal(judged) ? quota(judged, 'plan') : undefined),
  account: (judged) =>
    isRefusal(judged) && !isAboutModel(judged, 'account')
      ? forbidden(judged, 'account')
      : undefined,
  'model-unpriced': (judged) => (asksModel(judged) ? modelUnpriced(judged) : undefined),
  'model-not-allowed': (judged) => {
    if (!asksModel(judged)) return undefined
    // A value that is not allowed, and not a model that the key may not use.
    const isOfValue = judged.error.param === 'model' && [400, 422].includes(judged.status)
    return isOfValue ? modelUnknown(judged) : modelNotAllowed(judged)
  },
  // A 429 means that the model is busy, and some say that it is not available.
  'model-unknown': (judged) =>
    asksModel(judged) && judged.status !== 429 ? modelUnknown(judged) : undefined,
  // The provider is part of the model's ID or of the path.
  'provider-unknown': (judged) => {
    if (!asksModel(judged)) return undefined
    const isBaseRight = judged.question.isBaseProven || judged.question.catalog !== undefined
    return isBaseRight ? modelUnknown(judged) : protocolUnsupported(judged)
  },
  protocol: (judged) => (asksModel(judged) ? protocolUnsupported(judged) : undefined),
  route: (judged) => (isDenial(judged) ? routeNotAllowed(judged) : undefined),
  key: (judged) => {
    if (judged.status === 500 && judged.question.catalog !== undefined)
      return fault(judged, 'cannot use the service behind it', 'upstream')
    return isRefusal(judged) && !isAboutModel(judged, 'key') ? keyRejected(judged) : undefined
  },
}

/** A 403 that names the model concerns the model, unless its code says otherwise. */
function isAboutModel(judged: JudgedAnswer, cause: Cause): boolean {
  const { error, status } = judged
  const isByCode = causesOf({ ...error, words: '' }, status).includes(cause)
  return status === 403 && !isByCode && asksModel(judged) && mentionsModel(judged)
}

/** The requested model. Empty: the request names none. */
function modelAsked({ asked, model = '' }: AskedRequest): string {
  return asked === 'catalog' ? '' : model
}

function asksModel({ question }: JudgedAnswer): boolean {
  return question.asked !== 'catalog'
}

/** The gateway rejects what the client sent, by status or in the body of a 200. Some send only 500. */
function isRefusal({ status }: JudgedAnswer): boolean {
  return hundredsOf(status) === 4 || status === 0 || status === 500
}

/** The gateway rejects the sender, by a status that can mean that. */
function isDenial({ status }: JudgedAnswer): boolean {
  return [0, 400, 401, 403].includes(status)
}

/** New API's messages route omits its code. These words are not translated. */
function isUnbuilt({ error, status }: JudgedAnswer): boolean {
  return status === 500 && /^not implemented\b/i.test(error.words)
}

/** A web page with an error status: a web server, a firewall or a proxy in front of the API. */
function diagnosePage(judged: JudgedAnswer): Outcome {
  const { answer, question, status } = judged
  if (status === 401) return asksForLogin(answer) ? notAnApi(judged) : keyRejected(judged)
  if (status === 429) return rateLimited(judged)
  if (status >= 500 && status !== 501 && status !== 505)
    return fault(judged, 'answers with a web page')
  if (question.isBaseProven && isRouteStatus(status)) return protocolUnsupported(judged)
  const isDenied = /forbidden|denied|blocked|not acceptable|禁止|拦截|阻断/i.test(
    judged.error.words,
  )
  if (status === 406 || (status === 403 && (question.isBaseProven || isDenied)))
    return forbidden(judged, 'firewall')
  return notAnApi(judged)
}

function diagnoseByStatus(judged: JudgedAnswer): Outcome {
  const { answer, question, error, status } = judged
  const isModelAsked = asksModel(judged)
  const mentionsTheModel = isModelAsked && mentionsModel(judged)

  switch (true) {
    case status === 401:
      if (asksForLogin(answer) && !error.isApiError) return notAnApi(judged)
      return error.words === '' ? keyRejected(judged) : forbidden(judged)
    case status === 403:
      return mentionsTheModel ? modelNotAllowed(judged) : forbidden(judged)
    case status === 429:
      return rateLimited(judged)
    // "Unavailable for legal reasons".
    case status === 451:
      return forbidden(judged, 'region')
    case isModelAsked && error.param === 'model' && hundredsOf(status) === 4:
      return modelUnknown(judged)
    case isRouteStatus(status):
      return mentionsTheModel ? modelUnknown(judged) : wrongRoute(judged)
    case status === 400 || status === 422:
      if (mentionsTheModel && error.param === '') return modelUnknown(judged)
      if (isModelAsked && error.isApiError)
        return isUnlisted(question) && !blamesParameter(error)
          ? modelUnknown(judged)
          : requestRejected(judged)
      return error.isApiError ? fault(judged, 'refuses the request') : notAnApi(judged)
    // one-api and its relatives: no channel or no price for the model, without a code.
    case (status === 500 || status === 503) && mentionsTheModel && isGatewaysOwn(error):
    case status === 0 && mentionsTheModel:
      return modelUnknown(judged)
    default:
      return fault(judged, 'answers with an error of its own')
  }
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
function mentionsModel({ question, error }: JudgedAnswer): boolean {
  const { model = '' } = question
  return model.length > 1 && idPattern(model).test(error.words)
}
