/** The outcome of an error by its status, if its codes and words name no cause. */

import { noStatus } from './causes/row.ts'
import type { ErrorBody } from './error-body.ts'
import {
  asksForLogin,
  asksModel,
  hundredsOf,
  isRouteStatus,
  isUnlisted,
  type JudgedResponse,
  mentionsModel,
} from './judged-response.ts'
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

/** A web page with an error status: a web server, a firewall or a proxy in front of the API. */
export function diagnosePage(judged: JudgedResponse): Outcome {
  const { response, request, status } = judged
  if (status === 401) return asksForLogin(response) ? notAnApi(judged) : keyRejected(judged)
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
export function diagnoseByStatus(judged: JudgedResponse): Outcome {
  const { response, error, status } = judged
  const namesModel = asksModel(judged) && mentionsModel(judged)

  if (status === 401) {
    if (asksForLogin(response) && !error.isApiError) return notAnApi(judged)
    return error.words === '' ? keyRejected(judged) : forbidden(judged, 'unnamed')
  }
  if (status === 403) return namesModel ? modelNotAllowed(judged) : forbidden(judged, 'unnamed')
  if (status === 429) return rateLimited(judged)
  // "Unavailable for legal reasons".
  if (status === 451) return forbidden(judged, 'region')

  if (asksModel(judged) && error.param === 'model' && hundredsOf(status) === 4)
    return modelUnknown(judged)
  if (isRouteStatus(status)) return namesModel ? modelUnknown(judged) : wrongRoute(judged)
  if (status === 400 || status === 422) return diagnoseBadRequest(judged)

  // one-api and its relatives: no channel or no price for the model, without a code.
  const isGatewaysRejection = (status === 500 || status === 503) && isGatewaysOwn(error)
  if (namesModel && (isGatewaysRejection || status === noStatus)) return modelUnknown(judged)
  return fault(judged, 'answers with an error of its own')
}

/** A 400 or 422 that names no cause: the model, the request, or no API at all. */
function diagnoseBadRequest(judged: JudgedResponse): Outcome {
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
