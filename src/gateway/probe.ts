import { setTimeout as pause } from 'node:timers/promises'
import { UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import { ask, errorFor, judge, withHint } from './ask.ts'
import { catalogRequest } from './catalog.ts'
import { asObject } from './foreign-text.ts'
import type { HttpAnswer, NetworkFailure, Outcome } from './judge/answer.ts'
import {
  parameterUnsupported,
  refusedIn,
  refusesLimit,
  speaksOfTools,
  toolsUnsupported,
  toolTypesUnsupported,
} from './judge/carried.ts'
import { readErrorBody } from './judge/error-body.ts'
import { isUnlisted } from './judge/outcomes.ts'
import { answersSafeguards, proofIn } from './judge/proof.ts'
import { traitsOf } from './judge/traits.ts'
import { hasLimit, placeOf, type QuestionForm, requestAt } from './question.ts'
import { listIn, splitTools, withFunctionsOnly } from './request-tools.ts'
import { rootOf } from './roots.ts'
import type { Catalog, FirstRequest, GatewayAccess, Protocol, Sender } from './types.ts'

/** The gateway serves the model over the protocol to this key. */
export interface ProbeResult {
  /** The base URL that answered. */
  readonly root: string
  readonly notices: readonly Finding[]
  /** Whether the gateway answers the client's `safeguards`. Absent: the client does not send them. */
  readonly answersSafeguards?: boolean
}

export interface ProbeOptions {
  /**
   * The catalog or its error, if it was requested already. It names the nearest models, and saves a
   * request.
   */
  readonly catalog?: Catalog | UserError | undefined
  /** Replaces the usual hint if the gateway does not serve the model to this key. */
  readonly unservedHint?: string | undefined
  /** The client that will use the model. Absent: any. */
  readonly sender?: Sender | undefined
  /**
   * Base URLs that may serve the model, most likely first. The next one is tried if the answer is not
   * from an API. Absent: only the base URL of the access.
   */
  readonly roots?: readonly string[] | undefined
  /** Absent: the probe has its own. */
  readonly searches?: CauseSearches | undefined
}

/**
 * The requests that may still search for the cause of a rejection. The probes of one client share them: a gateway
 * that rejects everything without a reason does so over every protocol and at every address.
 */
export interface CauseSearches {
  left: number
}

/** How many requests may search for a cause. */
const maxSearches = 2

export function newSearches(): CauseSearches {
  return { left: maxSearches }
}

/** What a probe asks for, and what is known before it. */
interface ProbeInput {
  readonly access: GatewayAccess
  readonly protocol: Protocol
  readonly model: string
  readonly catalog: Catalog | undefined
  /** Why the catalog cannot be read, if it was requested. */
  readonly catalogError: UserError | undefined
  readonly sender: Sender | undefined
  readonly searches: CauseSearches
}

/** The result at one base URL. */
interface Attempt {
  readonly root: string
  readonly result: HttpAnswer | NetworkFailure
  /** Undefined: the gateway served the model. */
  readonly outcome: Outcome | undefined
}

/**
 * Sends the first request of the client, or one small inference with a tool if there is no client. Both are
 * streamed because all the clients stream: a gateway, or a proxy before it, that answers in one piece passes
 * every other check and leaves a client waiting forever.
 *
 * If the gateway rejects our own token limit, a second request omits it: not all gateways know one, and
 * the client sends none. If a rejection may be about the request, a request without the client's
 * additions tells whether it is.
 *
 * @throws UserError from the closed set of gateway failures
 */
export async function probe(
  access: GatewayAccess,
  protocol: Protocol,
  model: string,
  options: ProbeOptions = {},
): Promise<ProbeResult> {
  const { roots = [rootOf(access, protocol)], sender, unservedHint } = options
  const { searches = newSearches() } = options
  const [catalog, catalogError] =
    options.catalog instanceof UserError ? [undefined, options.catalog] : [options.catalog]
  const input: ProbeInput = { access, protocol, model, catalog, catalogError, sender, searches }

  const attempt = await askInOrder(input, roots)
  const { root, result, outcome } = await judgeWithProvenBase(input, attempt, roots)
  if (outcome !== undefined) {
    if (sender?.keyHeader !== undefined && traitsOf(outcome)?.blames === 'key')
      throw errorFor(keyHeaderRejected(outcome, sender, protocol))
    const isUnserved = outcome.code === 'model-unknown' || outcome.code === 'model-not-allowed'
    throw errorFor(isUnserved && unservedHint ? { ...outcome, hint: unservedHint } : outcome)
  }

  const { body } = result as HttpAnswer
  const proof = proofIn(protocol, result as HttpAnswer)
  const isRepeated =
    proof.kind === 'streamed' && proof.flaws.some((one) => sender?.accepts?.repeats?.includes(one))
  return {
    root,
    notices: proof.kind === 'unstreamed' || isRepeated ? [notStreamed] : [],
    ...(sender?.safeguards && {
      answersSafeguards: sender.safeguards !== 'withheld' && answersSafeguards(body),
    }),
  }
}

/** The gateway may accept the key in another header, which this client does not use over this protocol. */
function keyHeaderRejected(
  { said = '' }: Outcome,
  { label, keyHeader }: Sender,
  protocol: Protocol,
): Outcome {
  return {
    code: 'protocol-unsupported',
    message: `${label} sends the key as ${keyHeader} over ${protocol}, and the gateway rejects it${said}`,
    hint: 'If the key is right, use another protocol: --protocol chat',
  }
}

const notStreamed: Finding = {
  code: 'not-streamed',
  message: 'The gateway does not stream its answers',
  hint: "The client works, but sends each request twice. Ask the gateway's operator to turn on streaming.",
}

/** Tries the first base URL, and the others only if no API answers there. */
async function askInOrder(input: ProbeInput, roots: readonly string[]): Promise<Attempt> {
  let first: Attempt | undefined
  for (const root of roots) {
    const attempt = await withCause(input, await askRoot(input, root))
    const { outcome } = attempt
    if (outcome === undefined) return attempt

    // The first base URL decides unless it may be the wrong one; another only if an API answers there.
    const isDecided = first === undefined ? !mayBeElsewhere(outcome) : provesAnApi(outcome)
    if (isDecided) return attempt
    first ??= attempt
  }
  return first!
}

async function askRoot(input: ProbeInput, root: string): Promise<Attempt> {
  const { access, sender } = input
  const form = formOf(input, {
    isLimited: true,
    ...(sender ? { carried: sender } : { tools: 'one' }),
  })
  const send = () => ask(access, requestAt(root, form), sender?.keyHeader)
  const result = await repeatAsClient(input, root, form, await sendWithRetry(input, send))
  return { root, result, outcome: outcomeOf(input, result) }
}

/** The longest wait for a gateway that is busy, in ms. Clients wait for a minute and more. */
const longestWaitMs = 5_000

/** Sends a request, and once more if the gateway is busy and the client would try again. */
async function sendWithRetry(
  input: ProbeInput,
  send: () => Promise<Attempt['result']>,
): Promise<Attempt['result']> {
  const result = await send()
  const wait = waitMs(result, input.sender?.accepts)
  const code = outcomeOf(input, result)?.code
  const isBusy = code === 'rate-limited' || code === 'gateway-fault'
  if (wait === undefined || !isBusy) return result
  await pause(wait)
  return send()
}

/** How long a client waits after a response. Undefined: it does not try again, or much later. */
function waitMs(result: Attempt['result'], accepts: Sender['accepts']): number | undefined {
  if (!('status' in result) || accepts === undefined) return undefined
  const told = /^\d{1,6}$/.exec(result.headers['retry-after'] ?? '')?.[0]
  const statuses = [...accepts.retries, ...(told ? (accepts.retriesIfTold ?? []) : [])]
  const wait = told === undefined ? 1_000 : Number(told) * 1_000
  return statuses.includes(result.status) && wait <= longestWaitMs ? wait : undefined
}

/** Repeats the request as the client does, each time without what the gateway rejects. */
async function repeatAsClient(
  input: ProbeInput,
  root: string,
  form: QuestionForm,
  result: Attempt['result'],
): Promise<Attempt['result']> {
  const outcome = outcomeOf(input, result)
  if (outcome === undefined || !('status' in result)) return result

  const { carried } = form
  const blamesSafeguards =
    carried !== undefined && isAboutRequest(result, outcome) && mayBlameSafeguards(carried, outcome)
  const again = blamesSafeguards
    ? { ...form, carried: { ...carried, safeguards: undefined } }
    : withoutRejectedPart(form, result)
  if (again === undefined) return result
  const answer = await ask(input.access, requestAt(root, again), input.sender?.keyHeader)
  return repeatAsClient(input, root, again, answer)
}

/**
 * Claude Code 2.1.331 omits its safeguards after a 400 or 422, whatever the words (2026-11-24). That cannot help if
 * the gateway rejects tools.
 */
function mayBlameSafeguards({ safeguards }: FirstRequest, outcome: Outcome): boolean {
  if (typeof safeguards !== 'object') return false
  const isNamed = ['safeguards', safeguards.beta].some((name) => outcome.message.includes(name))
  return isNamed || !speaksOfTools(outcome)
}

/** The request without the part that the gateway rejects, if the client repeats it so. */
function withoutRejectedPart(form: QuestionForm, refusal: HttpAnswer): QuestionForm | undefined {
  const { carried } = form
  if (refusesLimit(refusal) && !hasLimit(carried)) return { ...form, isLimited: false }
  const { words } = readErrorBody(refusal)
  const rule = carried?.retryWithout?.find(({ to }) => to.test(words))
  if (carried === undefined || rule === undefined) return undefined

  const { names = [], roles = [] } = rule
  const { messages, ...body } = carried.body
  const kept = listIn(messages).filter((one) => !roles.includes(String(asObject(one)?.['role'])))
  return {
    ...form,
    carried: {
      ...carried,
      body: { ...without(body, names), ...(messages !== undefined && { messages: kept }) },
      headers: without(carried.headers, names),
      retryWithout: carried.retryWithout!.filter((one) => one !== rule),
    },
  }
}

function without<Value>(
  members: Readonly<Record<string, Value>> = {},
  names: readonly string[],
): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}

function formOf(
  { protocol, model, sender }: ProbeInput,
  more: Partial<QuestionForm>,
): QuestionForm {
  const needsEnd = sender?.accepts?.rejects.includes('open') === true
  return { protocol, model, needsEnd, ...more }
}

function outcomeOf(
  { access, protocol, model, catalog, sender }: ProbeInput,
  result: Attempt['result'],
  proven: { readonly isBaseProven?: boolean; readonly isRouteProven?: boolean } = {},
): Outcome | undefined {
  const question = { asked: protocol, model, client: sender, ...proven }
  return judge(access, result, catalog === undefined ? question : { ...question, catalog })
}

/** A rejection by an API. */
interface Refusal extends Attempt {
  readonly result: HttpAnswer
  readonly outcome: Outcome
}

/** An attempt whose outcome names the cause, if a part of the client's request may be the cause. */
async function withCause(input: ProbeInput, attempt: Attempt): Promise<Attempt> {
  const { root, result, outcome } = attempt
  if (outcome === undefined || !('status' in result)) return attempt

  const { sender } = input
  const mayBeClients =
    sender !== undefined &&
    (refusedIn(result, sender).length > 0 || isAboutRequest(result, outcome))
  if (!speaksOfTools(outcome) && !mayBeClients) return attempt
  return { ...attempt, outcome: await searchCause(input, { root, result, outcome }) }
}

/**
 * Searches the cause of a rejection with smaller requests, as far as the limit allows. If the gateway serves
 * a minimal request, a part of the client's request is the cause: the part that the gateway names, else the
 * tools, else the tools of unusual types, else the other parts.
 */
async function searchCause(
  input: ProbeInput,
  { root, result: rejection, outcome }: Refusal,
): Promise<Outcome> {
  const { access, protocol, model, sender, searches } = input
  const isLimited = !refusesLimit(rejection)
  const serves = async (more: Partial<QuestionForm>) => {
    if (searches.left <= 0) return false
    searches.left--
    const form = formOf(input, { isLimited, ...more })
    const answer = await ask(access, requestAt(root, form), sender?.keyHeader)
    return outcomeOf(input, answer) === undefined
  }

  const servesMinimal = () => serves({})

  if (sender === undefined)
    return (await servesMinimal()) ? toolsUnsupported(outcome, model) : outcome
  const refused = refusedIn(rejection, sender)
  if (refused.some((name) => name !== 'tools'))
    return (await servesMinimal()) ? parameterUnsupported(outcome, model, sender, refused) : outcome

  const { functions, unusual } = splitTools(protocol, sender)
  const namesTools = speaksOfTools(outcome)
  const isAboutFunctions = namesTools && unusual.length === 0
  const tools = functions.length > 0 ? functions : 'one'
  if (isAboutFunctions || !(await serves({ tools })))
    return (await servesMinimal()) ? toolsUnsupported(outcome, model) : outcome

  const isAboutUnusual =
    namesTools ||
    (unusual.length > 0 && (await serves({ carried: withFunctionsOnly(protocol, sender) })))
  return isAboutUnusual
    ? toolTypesUnsupported(outcome, model, sender, unusual)
    : parameterUnsupported(outcome, model, sender, refused)
}

/** A rejection of the request as such. The judge blames the model or the gateway also if the words name neither. */
function isAboutRequest({ status }: HttpAnswer, outcome: Outcome): boolean {
  const blamed = traitsOf(outcome)?.blames
  return [400, 413, 422].includes(status) && (blamed === 'model' || blamed === 'gateway')
}

/** If another answer proves the base URL, a rejection of the address is about the protocol or the model. */
async function judgeWithProvenBase(
  input: ProbeInput,
  attempt: Attempt,
  roots: readonly string[],
): Promise<Attempt> {
  const { access, catalog, catalogError } = input
  const { root, result, outcome } = attempt
  if (outcome === undefined || !('status' in result) || !isAboutAddress(outcome)) return attempt

  const isApi =
    catalogError !== undefined &&
    provesAnApi(catalogError) &&
    traitsOf(catalogError)?.blames !== 'key'
  if (catalogError !== undefined && !isApi) throw noApiError(catalogError, input, roots)
  const isBaseProven = isApi || catalog !== undefined || (await servesCatalog(access))

  const known = outcomeOf(input, result, { isBaseProven })
  const mayLackRoute = known?.code === 'protocol-unsupported' && isUnlisted(input)
  if (!mayLackRoute || !(await hasRoute(input, root))) return { root, result, outcome: known }
  return { root, result, outcome: outcomeOf(input, result, { isBaseProven, isRouteProven: true }) }
}

/** The catalog's error, which is clearer than that of the route, if neither answers as an API. */
function noApiError(
  catalogError: UserError,
  { protocol }: ProbeInput,
  roots: readonly string[],
): UserError {
  if (!isAboutAddress(catalogError)) return catalogError
  const asked = roots.map((root) => placeOf(root, protocol))
  return withHint(catalogError, `No API answers at ${asked.join(', ')}.`)
}

/** Outcomes that mean something else once the address is known to be right. */
export function isAboutAddress({ code }: Pick<Outcome, 'code'>): boolean {
  return code === 'wrong-route' || code === 'not-an-api'
}

/** Some gateways answer an unknown path with a 400, and say that it is not supported. */
function mayBeElsewhere(outcome: Outcome): boolean {
  const { code, isUnexplained = false } = outcome
  return isAboutAddress(outcome) || (code === 'protocol-unsupported' && !isUnexplained)
}

/** Only an API rejects a request like this, so its words are the ones to show. */
export function provesAnApi(outcome: Pick<Outcome, 'code'>): boolean {
  return traitsOf(outcome)?.provesAnApi === true
}

/** Whether a route exists. A request that names no model costs nothing. */
async function hasRoute(input: ProbeInput, root: string): Promise<boolean> {
  const { access, protocol } = input
  const spec = requestAt(root, formOf(input, {}))
  const result = await ask(access, { ...spec, body: '{}' })
  const outcome = judge(access, result, { asked: protocol })
  return 'status' in result && outcome !== undefined && !isAboutAddress(outcome)
}

async function servesCatalog(access: GatewayAccess): Promise<boolean> {
  const result = await ask(access, catalogRequest(access.baseUrls.chat))
  return judge(access, result, { asked: 'catalog' }) === undefined
}
