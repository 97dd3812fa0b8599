/**
 * Says what a response of the gateway means. network-failure.ts does so if there is none.
 *
 * - The **cause** is what the codes and words of a rejection blame, such as `key` or `quota` (causes/).
 * - The **subject** is the one thing that a sentence is about. It replaces the cause if no known pattern
 *   matches (causes/subjects.ts).
 * - The **outcome** is the verdict: a code with a message and a hint (outcomes.ts).
 * - The **traits** of an outcome say what its code means for the caller: whom it **blames**, that is, what
 *   the user would have to change, and what may help, such as a retry (src/outcome-codes.ts).
 *
 * An example. A gateway answers 401 with `{"error": {"message": "Incorrect API key provided"}}`:
 *
 * 1. `readErrorBody` finds the words and no code.
 * 2. `causesOf` finds a name for a key next to "incorrect": the cause is `key` (causes/key-rows.ts).
 * 3. `outcomeRules.key` (by-cause.ts) checks that a 401 can mean that, and returns the outcome `key-rejected`.
 * 4. `errorFor` (ask.ts) makes an error of it, which ends a setup and becomes a finding in `doctor`. Its
 *    traits blame the `key`, so a prompt asks for the key again.
 *
 * To add an outcome, see "Where to begin" in docs/architecture.md.
 */
import { isCatalogBody } from '../models/catalog-page.ts'
import type { Protocol } from '../types.ts'
import { diagnoseByCause } from './by-cause.ts'
import { diagnoseByStatus, diagnosePage } from './by-status.ts'
import { noStatus } from './causes/row.ts'
import { errorBodyFrom, readErrorBody } from './error-body.ts'
import { type Flaw, flawWords } from './flaws.ts'
import { diagnoseIntermediary } from './intermediary.ts'
import { hundredsOf, type JudgedResponse } from './judged-response.ts'
import { fault, forbidden, notAnApi, protocolUnsupported } from './outcomes.ts'
import { acceptedBy, proofIn } from './proof.ts'
import {
  type HttpResponse,
  maxCatalogBytes,
  maxResponseBytes,
  type Outcome,
  type SentRequest,
} from './types.ts'

/**
 * The outcome of a response, or undefined if it is what was requested. Codes and words decide where the status
 * allows their cause. Without them, the status decides.
 */
export function diagnose(response: HttpResponse, request: SentRequest): Outcome | undefined {
  const { status } = response
  const judged: JudgedResponse = { response, request, error: readErrorBody(response), status }
  return hundredsOf(status) === 2 ? diagnoseSuccess(judged) : diagnoseError(judged)
}

/**
 * An error, by the first file that recognizes it: intermediary.ts, by-cause.ts, by-status.ts. The order matters,
 * because a code is more precise than a status.
 */
function diagnoseError(judged: JudgedResponse): Outcome {
  return (
    diagnoseIntermediary(judged) ??
    diagnoseByCause(judged) ??
    (judged.error.kind === 'page' ? diagnosePage(judged) : diagnoseByStatus(judged))
  )
}

/** A 2xx response. Undefined: it is what was requested. */
function diagnoseSuccess(judged: JudgedResponse): Outcome | undefined {
  const { response, request } = judged
  const { route } = request
  if (route === 'catalog' && response.cut === undefined && isCatalogBody(response.body))
    return undefined

  if (response.cut === 'encoding')
    return fault(judged, 'compressed its answer in a way that nothing here can read')
  return route === 'catalog' ? diagnoseNoCatalog(judged) : diagnoseInference(judged, route)
}

/** A 200 to a catalog request, whose body is not a whole catalog. */
function diagnoseNoCatalog(judged: JudgedResponse): Outcome {
  if (isCutOff(judged)) return cutOff(judged)
  return judged.error.isApiError ? diagnoseHidden(judged) : notAnApi(judged)
}

/** A 200 to a request to a model. */
function diagnoseInference(judged: JudgedResponse, protocol: Protocol): Outcome | undefined {
  const { response, request, error } = judged
  const proof = proofIn(protocol, response)
  if (proof.kind === 'failed')
    return diagnoseHidden({ ...judged, error: errorBodyFrom(proof.error) })
  if (response.cut === 'limit' && isCutOff(judged)) return cutOff(judged)

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

function clientLabel({ request }: JudgedResponse): string {
  return request.client?.label ?? 'the client'
}

function diagnoseFlaw(judged: JudgedResponse, flaw: Flaw): Outcome {
  if (flaw === 'incomplete-filter' || flaw === 'finish-filter') return forbidden(judged, 'content')
  if (flaw === 'whole')
    return fault(judged, `${flawWords.whole}, and ${clientLabel(judged)} can only read a stream`)
  if (flaw === 'cut' || flaw === 'no-finish-no-end') return fault(judged, flawWords[flaw])
  return fault(judged, `${flawWords[flaw]}, which ${clientLabel(judged)} does not accept`)
}

/** Whether the body ends early. The beginning of a web page is enough to recognize it. */
function isCutOff({ response, error }: JudgedResponse): boolean {
  return response.cut !== undefined && error.kind !== 'page'
}

function cutOff(judged: JudgedResponse): Outcome {
  if (judged.response.cut !== 'limit') return fault(judged, 'stopped in the middle of its answer')
  if (judged.request.route === 'catalog')
    return fault(judged, `sent a list of models of more than ${maxCatalogBytes / 1_000_000} MB`)
  return fault(judged, `sent more than ${maxResponseBytes / 1_000_000} MB in answer to one word`)
}

/** An error in the body of a 200. Its own status counts, or else its codes. */
function diagnoseHidden(judged: JudgedResponse): Outcome {
  return diagnoseError({ ...judged, status: judged.error.status ?? noStatus })
}
