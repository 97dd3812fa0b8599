/**
 * The outcome of a rejection by the cause that its codes and words name (causes/). A cause counts only if the
 * status of the answer can mean it; otherwise the next cause decides.
 */

import { causesOf } from './causes/find-causes.ts'
import { type Cause, noStatus } from './causes/row.ts'
import {
  type Evidence,
  hundredsOf,
  isBaseUrlGood,
  isRejection,
  mentionsModel,
  requestsModel,
} from './evidence.ts'
import {
  clientRefused,
  fault,
  forbidden,
  keyRejected,
  modelNotAllowed,
  modelUnknown,
  modelUnpriced,
  protocolUnsupported,
  quota,
  rateLimited,
  routeNotAllowed,
} from './outcomes.ts'
import type { Outcome } from './types.ts'

/** The outcome of a 402 ("payment required"). */
export function diagnosePayment(evidence: Evidence): Outcome | undefined {
  const { error, status } = evidence
  if (status !== 402) return undefined
  const causes = causesOf(error, status)
  return quota(evidence, causes.includes('plan') && !causes.includes('quota') ? 'plan' : 'balance')
}

/** The outcome by cause, if a row names one. */
export function diagnoseByCause(evidence: Evidence): Outcome | undefined {
  const { error, request, status } = evidence
  for (const cause of causesOf(error, status, request.model)) {
    // Of a web page, only the sentence that names certain clients is precise enough.
    if (error.kind === 'page' && cause !== 'client') continue
    const caused = outcomeRules[cause](evidence)
    if (caused !== undefined) return caused
  }
  return undefined
}

/** Makes an outcome of an answer, or none. */
type OutcomeRule = (evidence: Evidence) => Outcome | undefined

/**
 * The outcome of each cause for this answer, in the order of the table in diagnose.ts. Undefined: the status
 * cannot mean that cause, so that the next cause counts.
 */
const outcomeRules: Readonly<Record<Cause, OutcomeRule>> = {
  key: ofAnyKey((evidence) => {
    // The catalog accepted the key, so the key that fails now is the gateway's.
    if (evidence.status === 500 && evidence.request.catalog !== undefined)
      return upstreamFault(evidence)
    return isAboutModel(evidence, 'key') ? undefined : keyRejected(evidence)
  }),
  quota: ofAnyKey((evidence) => quota(evidence, 'balance')),
  plan: ofAnyKey((evidence) => quota(evidence, 'plan')),
  rate: (evidence) =>
    isRejection(evidence) || evidence.status === 503 ? rateLimited(evidence) : undefined,
  client: (evidence) =>
    evidence.status === 503 || (isRejection(evidence) && evidence.status !== 500)
      ? clientRefused(evidence)
      : undefined,
  region: ifRejected((evidence) => forbidden(evidence, 'region')),
  network: ifRejected((evidence) => forbidden(evidence, 'network')),
  content: ifRejected((evidence) => forbidden(evidence, 'content')),
  account: ofAnyKey((evidence) =>
    isAboutModel(evidence, 'account') ? undefined : forbidden(evidence, 'account'),
  ),
  // A 429 means that the model is busy, and some say that it is not available.
  'model-unknown': ifModelAsked((evidence) =>
    evidence.status === 429 ? undefined : modelUnknown(evidence),
  ),
  'provider-unknown': ifModelAsked((evidence) => {
    // The provider is part of the path or of the model's ID. A gateway with a catalog has the right path.
    const isPathGood = isBaseUrlGood(evidence) || evidence.request.catalog !== undefined
    return isPathGood ? modelUnknown(evidence) : protocolUnsupported(evidence)
  }),
  'model-not-allowed': ifModelAsked((evidence) => {
    // A value that the gateway does not know, and not a model that the key may not use.
    const isUnknownValue = evidence.error.param === 'model' && [400, 422].includes(evidence.status)
    return isUnknownValue ? modelUnknown(evidence) : modelNotAllowed(evidence)
  }),
  'model-unpriced': ifModelAsked(modelUnpriced),
  protocol: ifModelAsked(protocolUnsupported),
  route: (evidence) =>
    [noStatus, 400, 401, 403].includes(evidence.status) ? routeNotAllowed(evidence) : undefined,
  upstream: upstreamRule,
  gateway: (evidence) =>
    evidence.status === 429 ? undefined : fault(evidence, 'answers with an error of its own'),
}

/** A rule that counts only if the gateway rejects the request. */
function ifRejected(rule: OutcomeRule): OutcomeRule {
  return (evidence) => (isRejection(evidence) ? rule(evidence) : undefined)
}

/**
 * A rule about a key or its account, for a rejection. If the service behind the gateway names such a cause, it
 * means the gateway's key there, because it never sees the user's.
 */
function ofAnyKey(rule: OutcomeRule): OutcomeRule {
  const usersKeyRule = ifRejected(rule)
  return (evidence) => (evidence.error.isPassedOn ? upstreamRule(evidence) : usersKeyRule(evidence))
}

/** The gateway cannot use the service behind it. */
function upstreamRule(evidence: Evidence): Outcome | undefined {
  const mayMeanIt = isRejection(evidence) || hundredsOf(evidence.status) === 5
  return mayMeanIt ? upstreamFault(evidence) : undefined
}

/** A rule that counts only for a request to a model. */
function ifModelAsked(rule: OutcomeRule): OutcomeRule {
  return (evidence) => (requestsModel(evidence) ? rule(evidence) : undefined)
}

function upstreamFault(evidence: Evidence): Outcome {
  return fault(evidence, 'cannot use the service behind it')
}

/** A 403 that names the model concerns the model, unless its code says otherwise. */
function isAboutModel(evidence: Evidence, cause: Cause): boolean {
  const { error, status } = evidence
  const hasCodeOfCause = causesOf({ ...error, words: '' }, status).includes(cause)
  return status === 403 && !hasCodeOfCause && mentionsModel(evidence)
}
