/**
 * The outcome of an error whose codes and words name no cause (causes/): no such route, a web page, or what the
 * status means.
 */

import { noStatus } from './causes/row.ts'
import type { ErrorBody } from './error-body.ts'
import {
  asksForLogin,
  type Evidence,
  hundredsOf,
  isBaseUrlGood,
  isRouteStatus,
  isUnlisted,
  mentionsModel,
  requestsModel,
} from './evidence.ts'
import {
  fault,
  forbidden,
  keyRejected,
  modelNotAllowed,
  modelUnknown,
  notAnApi,
  protocolUnsupported,
  rateLimited,
  requestRejected,
  wrongRoute,
} from './outcomes.ts'
import type { Outcome } from './types.ts'

/** The outcome if the codes or words say that the gateway does not have the route. */
export function diagnoseMissingRoute(evidence: Evidence): Outcome | undefined {
  const { error, status } = evidence
  // New API's messages route omits its code. These words are not translated.
  if (requestsModel(evidence) && status === 500 && /^not implemented\b/i.test(error.words))
    return protocolUnsupported(evidence)

  const isRouteMissing =
    error.codes.some(({ name }) => routeCodes.includes(name)) ||
    /^unexpected endpoint\b/i.test(error.words)
  return isRouteMissing ? noRoute(evidence) : undefined
}

/** Codes for a route that does not exist. */
const routeCodes = [
  'api_not_implemented',
  'not_implemented',
  'unsupported_api_for_model',
  'unsupported_endpoint',
]

/** There is no such route. If the base URL is right, the gateway lacks the protocol, or the model. */
function noRoute(evidence: Evidence): Outcome {
  const { request } = evidence
  if (!isBaseUrlGood(evidence)) return wrongRoute(evidence)
  const lacksModel = request.apiAnswered === 'route' && isUnlisted(request)
  return lacksModel ? modelUnknown(evidence) : protocolUnsupported(evidence)
}

/** A web page with an error status: a web server, a firewall or a proxy in front of the API. */
export function diagnosePage(evidence: Evidence): Outcome | undefined {
  const { response, error, status } = evidence
  if (error.kind !== 'page') return undefined
  if (status === 401) return asksForLogin(response) ? notAnApi(evidence) : keyRejected(evidence)
  if (status === 429) return rateLimited(evidence)
  if (status >= 500 && status !== 501 && status !== 505)
    return fault(evidence, 'answers with a web page')
  if (isBaseUrlGood(evidence) && isRouteStatus(status)) return protocolUnsupported(evidence)

  const isFromFirewall = isBaseUrlGood(evidence) || titleOfFirewall.test(error.words)
  if (status === 406 || (status === 403 && isFromFirewall)) return forbidden(evidence, 'firewall')
  return notAnApi(evidence)
}

/** What the titles of a firewall's pages say, also in Chinese: forbidden, intercepted, blocked. */
const titleOfFirewall = /forbidden|denied|blocked|not acceptable|禁止|拦截|阻断/i

export function diagnoseByStatus(evidence: Evidence): Outcome {
  const { response, error, status } = evidence
  const namesModel = mentionsModel(evidence)

  if (status === 401) {
    if (asksForLogin(response) && !error.isApiError) return notAnApi(evidence)
    if (namesModel) return modelNotAllowed(evidence)
    // The words of known causes have decided before. Otherwise it is the key, in whatever language.
    return otherThings.test(error.words) ? forbidden(evidence, 'unnamed') : keyRejected(evidence)
  }
  if (status === 403 && /^\W*unauthorized\W*$/i.test(error.words)) return keyRejected(evidence)
  if (status === 403) return namesModel ? modelNotAllowed(evidence) : forbidden(evidence, 'unnamed')
  if (status === 429) return rateLimited(evidence)
  // "Unavailable for legal reasons".
  if (status === 451) return forbidden(evidence, 'region')

  if (requestsModel(evidence) && error.param === 'model' && hundredsOf(status) === 4)
    return modelUnknown(evidence)
  if (isRouteStatus(status)) return namesModel ? modelUnknown(evidence) : noRoute(evidence)
  if (status === 400 || status === 422) return diagnoseBadRequest(evidence)

  // one-api and its relatives: no channel or no price for the model, without a code.
  const isOwnRejection = (status === 500 || status === 503) && isGatewaysOwn(error)
  if (namesModel && (isOwnRejection || status === noStatus)) return modelUnknown(evidence)
  return fault(evidence, 'answers with an error of its own')
}

/** Things other than a key that a 401 may name. */
const otherThings =
  /\b(?:polic(?:y|ies)|rules?|firewall|frozen|regions?|countr(?:y|ies)|networks?)\b/i

/** A 400 or 422 that names no cause: the model, the request, or no API at all. */
function diagnoseBadRequest(evidence: Evidence): Outcome {
  const { request, error } = evidence
  if (mentionsModel(evidence) && error.param === '') return modelUnknown(evidence)
  const isApiHere = error.isApiError || isBaseUrlGood(evidence) || request.catalog !== undefined
  if (!isApiHere) return notAnApi(evidence)
  if (!requestsModel(evidence)) return fault(evidence, 'rejects the request')

  const isModelToBlame = isUnlisted(request) && !blamesParameter(error)
  return isModelToBlame ? modelUnknown(evidence) : requestRejected(evidence)
}

/** By the parameter's name, or a name in the words such as `max_tokens`. */
function blamesParameter({ param, words }: ErrorBody): boolean {
  return param !== '' || /[a-z]_[a-z]/.test(words)
}

/** Whether a gateway of the one-api family wrote the error, and did not pass it on from its upstream. */
function isGatewaysOwn({ codes }: ErrorBody): boolean {
  return codes.some(({ name }) => /^\w+_api_error$/.test(name) || name === 'get_channel_failed')
}
