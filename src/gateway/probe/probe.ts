/**
 * Shows whether a gateway serves a model, with the first request that the client would send. `ProbeRequest` says what
 * to probe, and `RequestForm` what one of the requests contains. `RequestSpec` is that request over HTTP, and `Judged`
 * what came of it.
 */
import { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { baseUrlFor } from '../base-urls.ts'
import { requestCatalog } from '../catalog.ts'
import { isRouteStatus, isUnlisted } from '../judge/evidence.ts'
import { acceptedBy, answersSafeguards, readInference } from '../judge/inference.ts'
import {
  errorFor,
  type Judged,
  type JudgedRequest,
  judge,
  type UnusableResponse,
  withHint,
} from '../judge/judge.ts'
import { rejectsLimit } from '../judge/request-parts.ts'
import {
  deniesModel,
  isAboutAddress,
  isFromApi,
  lacksProtocol,
  mayBeElsewhere,
  traitsOf,
} from '../judge/traits.ts'
import type { HttpResponse, Outcome, SentRequest } from '../judge/types.ts'
import { ask, isTransient, sendWithKey } from '../send.ts'
import type {
  Catalog,
  CatalogAnswer,
  FirstRequest,
  GatewayAccess,
  ModelAndProtocol,
  Protocol,
  SafeguardsAnswer,
  Sender,
} from '../types.ts'
import { hasLimit, probeUrl, type RequestForm, requestAt } from './probe-request.ts'

export interface ProbeRequest extends ModelAndProtocol {
  /** The client that will use the model. Absent: any. */
  readonly sender?: Sender
  /** The catalog, if it was requested already. It names the nearest models, and saves a request. */
  readonly catalog?: CatalogAnswer
  /** Replaces the usual hint if the gateway does not serve the model to this key. */
  readonly unservedHint?: string
}

/** A probe that is running. */
interface ProbeInput extends ProbeRequest {
  readonly access: GatewayAccess
}

/** The result at one base URL. `served`: the gateway served the model. */
type ProbeAttempt = Judged & { readonly baseUrl: string }

/** The result if the gateway serves the model over the protocol to this key. */
export interface ProbeResult {
  /** The base URL that answered. */
  readonly baseUrl: string
  readonly findings: readonly Finding[]
  readonly safeguards: SafeguardsAnswer
}

/** The gateway was busy, also when it was asked again. That says nothing about the model. */
export class BusyError extends UserError {}

/**
 * Sends the first request of the client, or one small inference with a tool if there is no client. Both are
 * streamed because all the clients stream: a gateway, or a proxy before it, that answers in one piece passes
 * every other check and leaves a client waiting forever.
 *
 * If the gateway rejects repoint's token limit, a second request omits it: some gateways have no such parameter,
 * and the client does not send it.
 *
 * @param candidates base URLs that may serve the model, most likely first. The next one is tried if the response is
 *   not from an API
 * @throws UserError from the closed set of gateway failures
 */
export async function probe(
  access: GatewayAccess,
  request: ProbeRequest,
  candidates: readonly string[] = [baseUrlFor(access, request.protocol)],
): Promise<ProbeResult> {
  const { protocol, sender } = request
  const input: ProbeInput = { ...request, access }

  const first = await sendInOrder(input, candidates)
  const attempt = await judgeWithOtherAnswers(input, first, candidates)
  if (attempt.kind !== 'served') {
    const error = probeError(attempt.outcome, request)
    throw isTransient(attempt) ? new BusyError(error) : error
  }

  const { baseUrl, response } = attempt
  const { repeats = [] } = acceptedBy(sender, protocol)
  const inference = readInference(protocol, response)
  const clientRepeats =
    inference.kind === 'answered' && inference.flaws.some((flaw) => repeats.includes(flaw))

  return {
    baseUrl,
    findings: clientRepeats ? [notStreamed] : [],
    safeguards: safeguardsAnswer(sender?.safeguards, response),
  }
}

function safeguardsAnswer(
  requested: FirstRequest['safeguards'],
  { body }: HttpResponse,
): SafeguardsAnswer {
  if (requested === undefined) return 'not-requested'
  return requested !== 'withheld' && answersSafeguards(body) ? 'answered' : 'unanswered'
}

function probeError(outcome: Outcome, { protocol, sender, unservedHint }: ProbeRequest): UserError {
  if (sender?.keyHeader !== undefined && traitsOf(outcome)?.blames === 'key')
    return errorFor(keyHeaderRejected(outcome, sender, protocol))

  const hint = deniesModel(outcome) && unservedHint ? unservedHint : outcome.hint
  return errorFor({ ...outcome, hint })
}

/** The gateway may accept the key in another header, which this client does not use over this protocol. */
function keyHeaderRejected(
  { quote = '' }: Outcome,
  { label, keyHeader }: Sender,
  protocol: Protocol,
): Outcome {
  return {
    code: 'protocol-unsupported',
    message: `${label} sends the key as ${keyHeader} over ${protocol}, and the gateway rejects it${quote}`,
    hint: 'If the key is right, use another protocol: {--protocol chat}',
  }
}

const notStreamed: Finding = {
  code: 'not-streamed',
  severity: 'note',
  message: 'The gateway does not stream its answers',
  hint: "The client works, but sends each request twice. Ask the gateway's operator to turn on streaming.",
}

/** Sends the first request to one base URL, and again without what the client does not need. */
async function sendAt(input: ProbeInput, baseUrl: string): Promise<ProbeAttempt> {
  const { access, sender } = input
  let form = formOf(input, {
    isLimited: true,
    ...(sender ? { clientRequest: sender } : { tools: 'noop' }),
  })
  for (;;) {
    const spec = requestAt(baseUrl, form)
    const judged = await ask(access, spec, judgedRequest(input), sender?.keyHeader)
    const smaller = judged.kind === 'unusable' ? withoutRejected(form, judged) : undefined
    if (smaller === undefined) return { baseUrl, ...judged }
    form = smaller
  }
}

/**
 * The request without repoint's limit or the client's safeguards, if the gateway rejects them. Claude Code 2.1.331
 * omits the safeguards after a 400 or 422, whatever the words (2026-11-24).
 */
function withoutRejected(form: RequestForm, rejection: UnusableResponse): RequestForm | undefined {
  const { clientRequest } = form
  if (typeof clientRequest?.safeguards === 'object' && isAboutRequest(rejection))
    return { ...form, clientRequest: { ...clientRequest, safeguards: undefined } }
  const isLimitRejected = form.isLimited === true && rejectsLimit(rejection.response)
  return isLimitRejected && !hasLimit(clientRequest) ? { ...form, isLimited: false } : undefined
}

/** The status is about the request itself. Without a better clue, the judge blames the model or the gateway. */
function isAboutRequest({ response, outcome }: UnusableResponse): boolean {
  const blames = traitsOf(outcome)?.blames
  return [400, 413, 422].includes(response.status) && (blames === 'model' || blames === 'gateway')
}

function formOf({ protocol, model, sender }: ProbeInput, more: Partial<RequestForm>): RequestForm {
  const needsEnd = sender?.accepts?.rejects.includes('open') === true
  return { protocol, model, needsEnd, ...more }
}

/** @param apiAnswered what else an API has answered there */
function judgedRequest(input: ProbeInput, apiAnswered?: SentRequest['apiAnswered']): JudgedRequest {
  const { protocol, model, sender } = input
  return { route: protocol, model, sender, apiAnswered, catalog: catalogOf(input) }
}

/** Undefined: the catalog was not requested, or cannot be read. */
function catalogOf({ catalog }: ProbeInput): Catalog | undefined {
  return catalog?.kind === 'received' ? catalog.catalog : undefined
}

/** Tries the first base URL, and the others only if no API answers there. */
async function sendInOrder(
  input: ProbeInput,
  candidates: readonly string[],
): Promise<ProbeAttempt> {
  let first: ProbeAttempt | undefined
  for (const baseUrl of candidates) {
    const attempt = await sendAt(input, baseUrl)
    if (attempt.kind === 'served') return attempt

    // The first result decides unless its base URL may be wrong. A later one decides only if an API gave it, and a
    // 404 from an address that nobody typed only if it names the model.
    const { outcome } = attempt
    const isMissing = attempt.kind === 'unusable' && isRouteStatus(attempt.response.status)
    const isOfApi = isFromApi(outcome) && !(isMissing && !outcome.quote?.includes(input.model))
    const isDecided = first === undefined ? !mayBeElsewhere(outcome) : isOfApi
    if (isDecided) return attempt
    first ??= attempt
  }
  return first!
}

/**
 * Judges a rejection that blames the address once more, by what else an API answers at the base URL:
 *
 *     An API answers                          `apiAnswered`   What is wrong
 *     nothing                                 absent          the address
 *     a catalog request                       catalog         the protocol
 *     also the route, if no model is named    route           the model, unless the catalog lists it
 *
 * @throws UserError the error of the catalog if it shows that no API answers, or that the key is wrong
 */
async function judgeWithOtherAnswers(
  input: ProbeInput,
  attempt: ProbeAttempt,
  candidates: readonly string[],
): Promise<ProbeAttempt> {
  if (attempt.kind !== 'unusable' || !isAboutAddress(attempt.outcome)) return attempt

  const catalog = input.catalog ?? (await requestCatalog(input.access))
  const withCatalog = { ...input, catalog }
  if (!hasApiAnswered(catalog, input, candidates)) return attempt

  const { baseUrl, response } = attempt
  const judged = judge(input.access, response, judgedRequest(withCatalog, 'catalog'))
  const mayLackModel =
    judged.kind === 'unusable' &&
    lacksProtocol(judged.outcome) &&
    isUnlisted({ model: input.model, catalog: catalogOf(withCatalog) })
  if (!mayLackModel || !(await hasRoute(input, baseUrl))) return { baseUrl, ...judged }

  return { baseUrl, ...judge(input.access, response, judgedRequest(withCatalog, 'route')) }
}

/**
 * Whether an API answered the catalog request, even with an error.
 *
 * @throws UserError that error if no API gave it, or if it blames the key. It is clearer than that of the route
 */
function hasApiAnswered(
  answer: CatalogAnswer,
  { protocol }: ProbeInput,
  candidates: readonly string[],
): boolean {
  if (answer.kind === 'received') return true

  const { error } = answer
  if (traitsOf(error)?.blames === 'key') throw error
  if (!isAboutAddress(error)) return isFromApi(error)
  const tried = candidates.map((baseUrl) => probeUrl(baseUrl, protocol))
  throw withHint(error, `No API answers at ${tried.join(', ')}.`)
}

/** Whether a route exists. A request that names no model costs nothing. */
async function hasRoute(input: ProbeInput, baseUrl: string): Promise<boolean> {
  const { access, protocol } = input
  const spec = requestAt(baseUrl, formOf(input, {}))
  const judged = judge(access, await sendWithKey(access, { ...spec, body: '{}' }), {
    route: protocol,
  })
  return judged.kind === 'unusable' && !isAboutAddress(judged.outcome)
}
