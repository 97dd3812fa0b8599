/**
 * Shows whether a gateway serves a model, with the requests that the client would send. The functions of a probe,
 * in their order:
 *
 *     sendInOrder               for each base URL, until an API answers:
 *       sendAt                    sends the client's first request (attempt.ts),
 *         sendWithRetry             once more if the gateway is busy,
 *         repeatAsClient            and without what the gateway rejects, as the client does
 *       nameRejectedPart          sends smaller requests, to find the part that it rejects (rejected-part.ts)
 *     judgeWithOtherAnswers     judges a rejection that blames the address by what else an API answers there
 *
 * `ProbeRequest` says what to probe, and `RequestForm` what one of the requests contains. `RequestSpec` is that
 * request over HTTP, and `Judged` what came of it.
 */
import type { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { baseUrlFor } from '../base-urls.ts'
import { requestCatalog } from '../catalog.ts'
import { isUnlisted } from '../judge/evidence.ts'
import { acceptedBy, answersSafeguards, readInference } from '../judge/inference.ts'
import { errorFor, judge, withHint } from '../judge/judge.ts'
import {
  deniesModel,
  isAboutAddress,
  isFromApi,
  lacksProtocol,
  mayBeElsewhere,
  traitsOf,
} from '../judge/traits.ts'
import type { HttpResponse, Outcome } from '../judge/types.ts'
import { sendWithKey } from '../send.ts'
import type {
  CatalogAnswer,
  FirstRequest,
  GatewayAccess,
  Protocol,
  SafeguardsAnswer,
  Sender,
} from '../types.ts'
import {
  catalogOf,
  formOf,
  judgeResult,
  newSearches,
  type ProbeAttempt,
  type ProbeInput,
  type ProbeRequest,
  sendAt,
} from './attempt.ts'
import { probeUrl, requestAt } from './probe-request.ts'
import { nameRejectedPart } from './rejected-part.ts'

/** The result if the gateway serves the model over the protocol to this key. */
export interface ProbeResult {
  /** The base URL that answered. */
  readonly baseUrl: string
  readonly findings: readonly Finding[]
  readonly safeguards: SafeguardsAnswer
}

/**
 * Sends the first request of the client, or one small inference with a tool if there is no client. Both are
 * streamed because all the clients stream: a gateway, or a proxy before it, that answers in one piece passes
 * every other check and leaves a client waiting forever.
 *
 * If the gateway rejects repoint's token limit, a second request omits it: some gateways have no such parameter,
 * and the client does not send it. If a rejection may be about the request, a request without the client's
 * additions tells whether it is.
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
  const { protocol, sender, searches = newSearches() } = request
  const input: ProbeInput = { ...request, access, searches }

  const first = await sendInOrder(input, candidates)
  const attempt = await judgeWithOtherAnswers(input, first, candidates)
  if (attempt.kind !== 'served') throw probeError(attempt.outcome, request)

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
    hint: 'If the key is right, use another protocol: --protocol chat',
  }
}

const notStreamed: Finding = {
  code: 'not-streamed',
  severity: 'note',
  message: 'The gateway does not stream its answers',
  hint: "The client works, but sends each request twice. Ask the gateway's operator to turn on streaming.",
}

/** Tries the first base URL, and the others only if no API answers there. */
async function sendInOrder(
  input: ProbeInput,
  candidates: readonly string[],
): Promise<ProbeAttempt> {
  let first: ProbeAttempt | undefined
  for (const baseUrl of candidates) {
    const attempt = await nameRejectedPart(input, await sendAt(input, baseUrl))
    if (attempt.kind === 'served') return attempt

    // The first result decides unless its base URL may be wrong. A later one decides only if an API gave it.
    const { outcome } = attempt
    const isDecided = first === undefined ? !mayBeElsewhere(outcome) : isFromApi(outcome)
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

  const catalog = input.catalog ?? requestCatalog(input.access)
  const withCatalog = { ...input, catalog }
  checkCatalogAnswer(await catalog, input, candidates)

  const { baseUrl, response } = attempt
  const judged = await judgeResult(withCatalog, response, 'catalog')
  const mayLackModel =
    judged.kind === 'unusable' &&
    lacksProtocol(judged.outcome) &&
    isUnlisted({ model: input.model, catalog: await catalogOf(withCatalog) })
  if (!mayLackModel || !(await hasRoute(input, baseUrl))) return { baseUrl, ...judged }

  return { baseUrl, ...(await judgeResult(withCatalog, response, 'route')) }
}

/**
 * Returns if an API answered the catalog request, even with an error.
 *
 * @throws UserError that error if no API gave it, or if it blames the key. It is clearer than that of the route
 */
function checkCatalogAnswer(
  answer: CatalogAnswer,
  { protocol }: ProbeInput,
  candidates: readonly string[],
): void {
  if (answer.kind === 'received') return

  const { error } = answer
  if (isFromApi(error) && traitsOf(error)?.blames !== 'key') return
  if (!isAboutAddress(error)) throw error
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
