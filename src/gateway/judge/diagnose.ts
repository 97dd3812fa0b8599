/**
 * Says what a response of the gateway means. network-failure.ts does so if there is none.
 *
 * - The **cause** is the reason that the codes and words of a rejection name, such as `key` or `quota` (causes/).
 * - The **subject** is the one thing that a sentence is about. It replaces the cause if no known pattern
 *   matches (causes/subjects.ts).
 * - The **outcome** is the verdict: a code with a message and a hint (outcomes.ts). A rule makes it from the
 *   **evidence**, which is the response, its request and the error in its body (evidence.ts).
 * - The **traits** of an outcome say what its code means for the caller: whom it **blames**, that is, what
 *   the user would have to change, and what may help, such as a retry (src/outcome-codes.ts).
 *
 * An example. A gateway answers 401 with `{"error": {"message": "Incorrect API key provided"}}`:
 *
 * 1. `readErrorBody` finds the words and no code.
 * 2. `causesOf` finds a name for a key next to "incorrect": the cause is `key` (causes/key-rows.ts).
 * 3. `diagnoseByCause` (by-cause.ts) checks that a 401 can mean that, and returns the outcome `key-rejected`.
 * 4. `errorFor` (judge.ts) makes an error of it, which ends a setup and becomes a finding in `doctor`. Its
 *    traits blame the `key`, so a prompt asks for the key again.
 *
 * A rejection that blames the address is judged again, with what other requests to the base URL got
 * (`apiAnswered`): see `judgeWithOtherAnswers` in ../probe/probe.ts.
 *
 * The usual outcome of each cause, what it blames, and whether a setup stops for all clients then, because they
 * share what it blames (test/gateway/judge/causes.test.ts checks the table):
 *
 *     Cause                               Outcome                Blames    Stops all clients
 *     key                                 key-rejected           key       yes
 *     quota, plan                         quota                  quota     yes
 *     rate                                rate-limited           quota     yes
 *     client                              client-refused         policy    no
 *     region, network, content, account   forbidden              policy    no
 *     model-unknown, provider-unknown     model-unknown          model     no
 *     model-not-allowed, model-unpriced   model-not-allowed      model     no
 *     protocol                            protocol-unsupported   model     no
 *     route-not-allowed                   route-not-allowed      route     no
 *     upstream, gateway                   gateway-fault          gateway   no
 *
 * `forbidden` is also the outcome of a firewall and of a rejection without a known cause. Then the gateway may
 * still serve another client, so no `forbidden` stops them all.
 *
 * To add an outcome, see docs/changing.md.
 */
import { isCatalogBody } from '../models/catalog-page.ts'
import type { Protocol } from '../types.ts'
import { diagnoseByCause, diagnosePayment } from './by-cause.ts'
import { diagnoseByStatus, diagnoseMissingRoute, diagnosePage } from './by-status.ts'
import { noStatus } from './causes/row.ts'
import { type ErrorBody, errorBodyFrom, readErrorBody } from './error-body.ts'
import { type Evidence, hundredsOf, isBaseUrlGood } from './evidence.ts'
import { type Flaw, flawWords } from './flaws.ts'
import { acceptedBy, readInference } from './inference.ts'
import { diagnoseIntermediary, isFirewall } from './intermediary.ts'
import { fault, forbidden, headerMissing, notAnApi, protocolUnsupported } from './outcomes.ts'
import { nameRejectedPart } from './request-parts.ts'
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
  const evidence: Evidence = { response, request, error: readErrorBody(response), status }
  return hundredsOf(status) === 2 ? diagnoseSuccess(evidence) : diagnoseError(evidence)
}

/**
 * An error. The first of these that recognizes it decides, so the order is part of the rule:
 *
 *     diagnoseIntermediary     something in front of the gateway answered
 *     diagnosePayment          a 402: the account has no credit, or its plan has ended
 *     diagnoseMissingHeader    the words ask for one more header
 *     diagnoseByCause          the codes or words name a cause that the status can mean
 *     diagnoseMissingRoute     the codes or words say that there is no such route
 *     diagnosePage             a web page: the status decides
 *     diagnoseByStatus         anything else: the status decides
 *
 * If that blames the model or the gateway, the words may still name a part of the request (request-parts.ts).
 */
function diagnoseError(evidence: Evidence): Outcome {
  const outcome =
    diagnoseIntermediary(evidence) ??
    diagnosePayment(evidence) ??
    diagnoseMissingHeader(evidence) ??
    diagnoseByCause(evidence) ??
    diagnoseMissingRoute(evidence) ??
    diagnosePage(evidence) ??
    diagnoseByStatus(evidence)
  return nameRejectedPart(outcome, evidence)
}

/** A 2xx response. Undefined: it is what was requested. */
function diagnoseSuccess(evidence: Evidence): Outcome | undefined {
  const { response, request } = evidence
  const { route } = request
  if (route === 'catalog' && response.cut === undefined && isCatalogBody(response.body))
    return undefined

  // AWS WAF challenges a browser with a 202.
  if (isFirewall(response)) return forbidden(evidence, 'firewall')
  if (response.cut === 'encoding')
    return fault(evidence, 'compressed its answer in a way that nothing here can read')
  return route === 'catalog' ? diagnoseNoCatalog(evidence) : diagnoseInference(evidence, route)
}

/** A 200 to a catalog request, whose body is not a whole catalog. */
function diagnoseNoCatalog(evidence: Evidence): Outcome {
  if (isCutOff(evidence)) return cutOff(evidence)
  if (evidence.error.isApiError) return diagnoseHidden(evidence)
  return diagnosePlainText(evidence) ?? notAnApi(evidence)
}

/** Plain text with a status of success says why there is no answer: `The service is under maintenance`. */
function diagnosePlainText(evidence: Evidence): Outcome | undefined {
  if (evidence.error.kind !== 'text') return undefined
  return diagnoseByCause({ ...evidence, status: noStatus })
}

/** A 200 to a request to a model. */
function diagnoseInference(evidence: Evidence, protocol: Protocol): Outcome | undefined {
  const { response, request, error } = evidence
  const inference = readInference(protocol, response)
  if (inference.kind === 'failed')
    return diagnoseHidden({ ...evidence, error: errorBodyFrom(inference.error) })
  // The answer is too long, whatever it contains. One that the gateway cuts off can still be complete enough
  // for the client: its flaws decide.
  if (response.cut === 'limit' && isCutOff(evidence)) return cutOff(evidence)

  if (inference.kind === 'answered') {
    const { rejects } = acceptedBy(request.sender, protocol)
    // A client accepts the encodings that it asks for.
    const encodings = request.sender?.headers?.['accept-encoding']?.split(/,\s*/) ?? []
    // The first is the most serious one. An error after some text is a flaw too: its words decide.
    const rejectedFlaw = inference.flaws.find(
      (flaw) => rejects.includes(flaw) && !encodings.includes(flaw),
    )
    if (rejectedFlaw === undefined) return undefined
    if (inference.error === undefined) return diagnoseFlaw(evidence, rejectedFlaw)
    return diagnoseHidden({ ...evidence, error: errorBodyFrom(inference.error) })
  }

  if (isCutOff(evidence)) return cutOff(evidence)
  if (error.isApiError) return diagnoseHidden(evidence)
  const said = diagnosePlainText(evidence)
  if (said !== undefined) return said
  // The gateway answers this route with something that is not the protocol.
  if (isBaseUrlGood(evidence)) return protocolUnsupported(evidence)
  return error.kind === 'empty' ? fault(evidence, 'sent an empty answer') : notAnApi(evidence)
}

function clientLabel({ request }: Evidence): string {
  return request.sender?.label ?? 'the client'
}

function diagnoseFlaw({ error, ...others }: Evidence, flaw: Flaw): Outcome {
  // The words of a stream are its events, which say nothing about the flaw.
  const evidence = { ...others, error: { ...error, words: '' } }
  if (flaw === 'incomplete-filter' || flaw === 'finish-filter')
    return forbidden(evidence, 'content')
  if (flaw === 'cut' || flaw === 'no-finish-no-end') return fault(evidence, flawWords[flaw])
  const client = clientLabel(evidence)
  const meaning =
    flaw === 'whole' ? `and ${client} can only read a stream` : `which ${client} does not accept`
  return {
    ...fault(evidence, `${flawWords[flaw]}, ${meaning}`),
    hint: "Another model may be answered otherwise: {--model ID}. Or ask the gateway's operator.",
  }
}

/** Whether the body ends early. The beginning of a web page is enough to recognize it. */
function isCutOff({ response, error }: Evidence): boolean {
  return response.cut !== undefined && error.kind !== 'page'
}

function cutOff(evidence: Evidence): Outcome {
  if (evidence.response.cut !== 'limit')
    return fault(evidence, 'stopped in the middle of its answer')
  if (evidence.request.route === 'catalog')
    return fault(evidence, `sent a list of models of more than ${maxCatalogBytes / 1_000_000} MB`)
  return fault(evidence, `sent more than ${maxResponseBytes / 1_000_000} MB in answer to one word`)
}

/** An error in the body of a 200. Its own status counts, or else its codes. */
function diagnoseHidden(evidence: Evidence): Outcome {
  return diagnoseError({ ...evidence, status: evidence.error.status ?? noStatus })
}

/** The outcome if the gateway asks for a header that repoint does not send. */
function diagnoseMissingHeader(evidence: Evidence): Outcome | undefined {
  const { response, error, status } = evidence
  if (hundredsOf(status) !== 4 || error.kind === 'page') return undefined
  const header = wantedHeader(error, response.body)
  return header === undefined ? undefined : headerMissing(evidence, header)
}

/** Required headers that the sentence does not name. */
const unnamedHeaders: readonly {
  readonly words?: RegExp
  readonly codes?: readonly string[]
  readonly header: string
  readonly source: string
}[] = [
  {
    words: /^no api key found in request\b/i,
    header: 'apikey',
    source: 'https://developer.konghq.com/plugins/key-auth/ (2026-11-23)',
  },
  {
    words: /\bmissing subscription key\b/i,
    header: 'ocp-apim-subscription-key',
    source: 'https://github.com/continuedev/continue/issues/4601 (2025-03)',
  },
  {
    codes: ['2009'],
    header: 'cf-aig-authorization',
    source:
      'https://developers.cloudflare.com/ai-gateway/configuration/authentication/ (2026-11-24)',
  },
]

/** Headers that contain a key, and headers that repoint sends with every request. */
const sentHeaders =
  /^(?:x-api-key|api-key|x-goog-api-key|content-\w+|accept(?:-\w+)?|user-agent|set-\w+)$/

/** Words with a hyphen that are not headers. */
const hyphenatedWord =
  /^(?:(?:re|non|pre|multi|sub|up|opt|e|third|end|real|long|short|pay|top|old|new|api|sign|log|gpt|claude|per)-.*|.*-(?:only|in|up|out|based|level|specific|authentication))$/i

const headerName = /(?<![\w/.@-])(?:x-[a-z][\w-]*|[a-z]+(?:-[a-z]+)+)(?![\w/@])/gi

/** What surrounds the name of a header: "the **header named** x-team", "x-team **request header**". */
const headerBefore = /(?:\bheaders?|请求头)\s*(?:named\s*)?:?\s*["'`]?$/i
const headerAfter = /^["'`]?:?\s*(?:(?:request|http)\s+)?(?:header\b|请求头)/i

/** Whether a sentence says that something is missing. */
const saysMissing =
  /\b(?:missing|requir\w+|must|provided?|includ\w+|set|send|sent|suppl(?:y|ied)|specif\w+|expected|contain\w*|absent|add|needs?|mandatory|not (?:found|present)|empty)\b|缺少|缺失|必须|需要|未提供|未携带|请提供|请携带|不能为空/i

/** The header that a rejection asks for, in lower case. */
function wantedHeader(error: ErrorBody, body: string): string | undefined {
  const { words, codes } = error
  const unnamed = unnamedHeaders.find(
    (row) => row.words?.test(words) || codes.some(({ name }) => row.codes?.includes(name)),
  )
  if (unnamed !== undefined) return unnamed.header

  // FastAPI names the place of what is missing.
  const placed = /"loc"\s*:\s*\[\s*"header"\s*,\s*"([\w-]{1,60})"/.exec(body)?.[1]
  if (placed !== undefined) return isForeign(placed) ? placed.toLowerCase() : undefined
  if (!saysMissing.test(words)) return undefined

  const candidates = [...words.matchAll(headerName)].filter(([name]) => isForeign(name))
  const wanted =
    candidates.find(({ 0: name, index }) => isCalledHeader(words, index, name)) ??
    candidates.find(([name]) => /^(?:x|cf)-/i.test(name))
  return wanted?.[0].toLowerCase()
}

/** Whether a word can be a header that repoint does not send. */
function isForeign(name: string): boolean {
  return !sentHeaders.test(name.toLowerCase()) && !hyphenatedWord.test(name)
}

function isCalledHeader(words: string, index: number, name: string): boolean {
  const end = index + name.length
  return (
    headerBefore.test(words.slice(Math.max(0, index - 30), index)) ||
    headerAfter.test(words.slice(end, end + 30))
  )
}
