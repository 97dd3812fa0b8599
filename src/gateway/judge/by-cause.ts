/**
 * The outcome of a rejection by the cause that its codes and words name (causes/). A cause counts only if the
 * status of the response can mean it (`canMean`); otherwise the next cause decides.
 */
import { causesOf } from './causes/find-causes.ts'
import type { Cause } from './causes/row.ts'
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

/** The outcome of the first cause that the status can mean. */
export function diagnoseByCause(evidence: Evidence): Outcome | undefined {
  const { error, request, status } = evidence
  for (const named of causesOf(error, status, request.model)) {
    // In a web page, only words about certain clients are precise enough.
    if (error.kind === 'page' && named !== 'client') continue

    // The service behind the gateway never sees the user's key, so its words about a key are about the
    // gateway's own.
    const cause = error.isPassedOn && concernsKey[named] ? 'upstream' : named
    if (canMean(evidence, cause)) return outcomeOf(evidence, cause)
  }
  return undefined
}

const concernsKey: Readonly<Record<Cause, boolean>> = {
  key: true,
  quota: true,
  plan: true,
  account: true,
  rate: false,
  client: false,
  region: false,
  network: false,
  content: false,
  'model-unknown': false,
  'provider-unknown': false,
  'model-not-allowed': false,
  'model-unpriced': false,
  protocol: false,
  'route-not-allowed': false,
  upstream: false,
  gateway: false,
}

/** Whether the status can mean the cause, for this request. */
function canMean(evidence: Evidence, cause: Cause): boolean {
  const { status } = evidence
  switch (cause) {
    case 'key':
    case 'account':
      return isRejection(evidence) && !isAboutModel(evidence, cause)
    case 'plan':
      // 426 asks for another protocol of HTTP: "Upgrade Required".
      return isRejection(evidence) && status !== 426
    case 'quota':
    case 'region':
    case 'network':
    case 'content':
      return isRejection(evidence)
    case 'rate':
      return isRejection(evidence) || status === 503
    case 'client':
      return (isRejection(evidence) && status !== 500) || status === 503
    case 'model-unknown':
      // A 429 means that the model is busy, and some say that it is not available.
      return requestsModel(evidence) && status !== 429
    case 'provider-unknown':
    case 'model-not-allowed':
    case 'model-unpriced':
    case 'protocol':
      return requestsModel(evidence)
    case 'route-not-allowed':
      return status === 401 || status === 403
    case 'upstream':
      return isRejection(evidence) || hundredsOf(status) === 5
    case 'gateway':
      return status !== 429
  }
}

/** A 403 that names the model concerns the model, unless its code says otherwise. */
function isAboutModel(evidence: Evidence, cause: Cause): boolean {
  const { error, status } = evidence
  const hasCodeOfCause = causesOf({ ...error, words: '' }, status).includes(cause)
  return status === 403 && !hasCodeOfCause && mentionsModel(evidence)
}

/** The outcome of a cause that the status can mean, in the order of the table in diagnose.ts. */
function outcomeOf(evidence: Evidence, cause: Cause): Outcome {
  const { error, request, status } = evidence
  switch (cause) {
    case 'key':
      // The catalog accepted the key, so the key that fails now is the gateway's.
      if (status === 500 && request.catalog !== undefined) return outcomeOf(evidence, 'upstream')
      return keyRejected(evidence)
    case 'quota':
      return quota(evidence, 'balance')
    case 'plan':
      return quota(evidence, 'plan')
    case 'rate':
      return rateLimited(evidence)
    case 'client':
      return clientRefused(evidence)
    case 'region':
    case 'network':
    case 'content':
    case 'account':
      return forbidden(evidence, cause)
    case 'model-unknown':
      return modelUnknown(evidence)
    case 'provider-unknown': {
      // The provider is part of the path or of the model's ID. A gateway with a catalog has the right path.
      const isPathGood = isBaseUrlGood(evidence) || request.catalog !== undefined
      return isPathGood ? modelUnknown(evidence) : protocolUnsupported(evidence)
    }
    case 'model-not-allowed': {
      // A value that the gateway does not know, and not a model that the key may not use.
      const isUnknownValue = error.param === 'model' && [400, 422].includes(status)
      return isUnknownValue ? modelUnknown(evidence) : modelNotAllowed(evidence)
    }
    case 'model-unpriced':
      return modelUnpriced(evidence)
    case 'protocol':
      return protocolUnsupported(evidence)
    case 'route-not-allowed':
      return routeNotAllowed(evidence)
    case 'upstream':
      return fault(evidence, 'cannot use the service behind it')
    case 'gateway':
      return fault(evidence, 'answers with an error of its own')
  }
}
