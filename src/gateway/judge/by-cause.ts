/**
 * The outcome of a rejection by the cause that its codes and words name (causes/). A cause counts only if the
 * status of the answer can mean it; otherwise the next cause decides.
 */

import { causesOf } from './causes/find-causes.ts'
import { type Cause, noStatus } from './causes/row.ts'
import {
  asksModel,
  hundredsOf,
  isRejection,
  type JudgedResponse,
  mentionsModel,
  modelAsked,
} from './judged-response.ts'
import {
  clientRefused,
  fault,
  forbidden,
  headerMissing,
  keyRejected,
  modelNotAllowed,
  modelUnknown,
  modelUnpriced,
  protocolUnsupported,
  quota,
  rateLimited,
  routeNotAllowed,
  wrongRoute,
} from './outcomes.ts'
import type { Outcome } from './types.ts'
import { wantedHeader } from './wanted-header.ts'

/** The outcome by cause, if a row names one. */
export function diagnoseByCause(judged: JudgedResponse): Outcome | undefined {
  const { response, error, request, status } = judged
  if (status === 402) {
    const causes = causesOf(error, status)
    const isPlanUsedUp = causes.includes('plan') && !causes.includes('quota')
    return quota(judged, isPlanUsedUp ? 'plan' : 'balance')
  }

  const header =
    hundredsOf(status) === 4 && error.kind !== 'page'
      ? wantedHeader(error, response.body)
      : undefined
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
type OutcomeRule = (judged: JudgedResponse) => Outcome | undefined

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
  quota: ifRejected((judged) => quota(judged, 'balance')),
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
    [noStatus, 400, 401, 403].includes(judged.status) ? routeNotAllowed(judged) : undefined,
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

function upstreamFault(judged: JudgedResponse): Outcome {
  return fault(judged, 'cannot use the service behind it')
}

/** A 403 that names the model concerns the model, unless its code says otherwise. */
function isAboutModel(judged: JudgedResponse, cause: Cause): boolean {
  const { error, status } = judged
  const isByCode = causesOf({ ...error, words: '' }, status).includes(cause)
  return status === 403 && !isByCode && asksModel(judged) && mentionsModel(judged)
}

/** New API's messages route omits its code. These words are not translated. */
function isUnbuilt({ error, status }: JudgedResponse): boolean {
  return status === 500 && /^not implemented\b/i.test(error.words)
}
