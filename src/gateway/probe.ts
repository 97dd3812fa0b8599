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

/** The input of one proof. */
interface Inquiry {
  readonly access: GatewayAccess
  readonly protocol: Protocol
  readonly model: string
  readonly catalog: Catalog | undefined
  /** Why there is no catalog, if it was requested. */
  readonly missing: UserError | undefined
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
  const [catalog, missing] =
    options.catalog instanceof UserError ? [undefined, options.catalog] : [options.catalog]
  const inquiry: Inquiry = { access, protocol, model, catalog, missing, sender, searches }

  const attempt = await askInTurn(inquiry, roots)
  const { root, result, outcome } = await withProvenBase(inquiry, attempt, roots)
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
async function askInTurn(inquiry: Inquiry, roots: readonly string[]): Promise<Attempt> {
  let first: Attempt | undefined
  for (const root of roots) {
    let attempt: Attempt = await askAt(inquiry, root)
    if (hasHiddenCause(inquiry, attempt))
      attempt = { ...attempt, outcome: await causeOf(inquiry, attempt) }

    const { outcome } = attempt
    if (outcome === undefined) return attempt
    if (first === undefined ? !mayBeElsewhere(outcome) : provesAnApi(outcome)) return attempt
    first ??= attempt
  }
  return first!
}

async function askAt(inquiry: Inquiry, root: string): Promise<Attempt> {
  const { access, sender } = inquiry
  const form = formOf(inquiry, {
    isLimited: true,
    ...(sender ? { carried: sender } : { tools: 'one' }),
  })
  const send = () => ask(access, requestAt(root, form), sender?.keyHeader)
  const result = await askedAgain(inquiry, root, form, await patiently(inquiry, send))
  return { root, result, outcome: judged(inquiry, result) }
}

/** The longest wait for a gateway that is busy, in ms. Clients wait for a minute and more. */
const longestWaitMs = 5_000

/** Repeats a request once if the gateway is busy and the client would try again. */
async function patiently(
  inquiry: Inquiry,
  send: () => Promise<Attempt['result']>,
): Promise<Attempt['result']> {
  const result = await send()
  const wait = waitMs(result, inquiry.sender?.accepts)
  const blamed = judged(inquiry, result)?.code
  const isBusy = blamed === 'rate-limited' || blamed === 'gateway-fault'
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
async function askedAgain(
  inquiry: Inquiry,
  root: string,
  form: QuestionForm,
  result: Attempt['result'],
): Promise<Attempt['result']> {
  const outcome = judged(inquiry, result)
  if (outcome === undefined || !('status' in result)) return result

  const { carried } = form
  const isSafeguards =
    carried !== undefined && isAboutRequest(result, outcome) && mayBlameSafeguards(carried, outcome)
  const again = isSafeguards
    ? { ...form, carried: { ...carried, safeguards: undefined } }
    : secondForm(form, result)
  if (again === undefined) return result
  const answer = await ask(inquiry.access, requestAt(root, again), inquiry.sender?.keyHeader)
  return askedAgain(inquiry, root, again, answer)
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

/** The next request, if the client would also do without the rejected part. */
function secondForm(form: QuestionForm, refusal: HttpAnswer): QuestionForm | undefined {
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

function formOf({ protocol, model, sender }: Inquiry, more: Partial<QuestionForm>): QuestionForm {
  const needsEnd = sender?.accepts?.rejects.includes('open') === true
  return { protocol, model, needsEnd, ...more }
}

function judged(
  { access, protocol, model, catalog, sender }: Inquiry,
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

/** Whether a part of the client's request may be the cause of a rejection. */
function hasHiddenCause({ sender }: Inquiry, attempt: Attempt): attempt is Refusal {
  const { result, outcome } = attempt
  if (outcome === undefined || !('status' in result)) return false
  if (speaksOfTools(outcome)) return true
  return (
    sender !== undefined &&
    (refusedIn(result, sender).length > 0 || isAboutRequest(result, outcome))
  )
}

/**
 * The cause of a rejection, by the requests that are left for that. If the gateway serves a minimal request, a part of the
 * client's request is the cause: the part that the gateway names, else its unusual tools, else the rest.
 */
async function causeOf(
  inquiry: Inquiry,
  { root, result: answer, outcome }: Refusal,
): Promise<Outcome> {
  const { access, protocol, model, sender, searches } = inquiry
  const refused = sender === undefined ? [] : refusedIn(answer, sender)
  const isOfTools = speaksOfTools(outcome)

  const isLimited = !refusesLimit(answer)
  const serves = async (more: Partial<QuestionForm>) => {
    if (searches.left <= 0) return false
    searches.left--
    const form = formOf(inquiry, { isLimited, ...more })
    const answer = await ask(access, requestAt(root, form), sender?.keyHeader)
    return judged(inquiry, answer) === undefined
  }

  if (sender === undefined) return (await serves({})) ? toolsUnsupported(outcome, model) : outcome
  if (refused.some((name) => name !== 'tools'))
    return (await serves({})) ? parameterUnsupported(outcome, model, sender, refused) : outcome

  const { functions, unusual } = splitTools(protocol, sender)
  const isAboutFunctions = isOfTools && unusual.length === 0
  const tools = functions.length > 0 ? functions : 'one'
  if (isAboutFunctions || !(await serves({ tools })))
    return (await serves({})) ? toolsUnsupported(outcome, model) : outcome

  const isOfUnusual =
    isOfTools ||
    (unusual.length > 0 && (await serves({ carried: withFunctionsOnly(protocol, sender) })))
  return isOfUnusual
    ? toolTypesUnsupported(outcome, model, sender, unusual)
    : parameterUnsupported(outcome, model, sender, refused)
}

/** The answer only rejects the request, or blames something that it does not name. */
function isAboutRequest({ status }: HttpAnswer, outcome: Outcome): boolean {
  const blamed = traitsOf(outcome)?.blames
  return [400, 413, 422].includes(status) && (blamed === 'model' || blamed === 'gateway')
}

/** A rejection of the address means something else if another answer proves the address. */
async function withProvenBase(
  inquiry: Inquiry,
  attempt: Attempt,
  roots: readonly string[],
): Promise<Attempt> {
  const { access, catalog, missing } = inquiry
  const { root, result, outcome } = attempt
  if (outcome === undefined || !('status' in result) || !isAboutAddress(outcome)) return attempt

  const isApi = missing !== undefined && provesAnApi(missing) && traitsOf(missing)?.blames !== 'key'
  if (missing !== undefined && !isApi) throw neither(missing, inquiry, roots)
  const isBaseProven = isApi || catalog !== undefined || (await servesCatalog(access))

  const known = judged(inquiry, result, { isBaseProven })
  const isOpen = known?.code === 'protocol-unsupported' && isUnlisted(inquiry)
  if (!isOpen || !(await hasRoute(inquiry, root))) return { root, result, outcome: known }
  return { root, result, outcome: judged(inquiry, result, { isBaseProven, isRouteProven: true }) }
}

/** Neither route answers as an API. The catalog's error is the better one to show. */
function neither(missing: UserError, { protocol }: Inquiry, roots: readonly string[]): UserError {
  if (!isAboutAddress(missing)) return missing
  const asked = roots.map((root) => placeOf(root, protocol))
  return withHint(missing, `No API answers at ${asked.join(', ')}.`)
}

/** Outcomes that mean something else once the address is known to be right. */
export function isAboutAddress({ code }: Pick<Outcome, 'code'>): boolean {
  return code === 'wrong-route' || code === 'not-an-api'
}

/** Some gateways answer an unknown path with a 400 and say that they do not support this. */
function mayBeElsewhere(outcome: Outcome): boolean {
  const { code, isUnexplained = false } = outcome
  return isAboutAddress(outcome) || (code === 'protocol-unsupported' && !isUnexplained)
}

/** Only an API rejects a request like this, so its words are the ones to show. */
export function provesAnApi(outcome: Pick<Outcome, 'code'>): boolean {
  return traitsOf(outcome)?.provesAnApi === true
}

/** Whether a route exists. A request that names no model costs nothing. */
async function hasRoute(inquiry: Inquiry, root: string): Promise<boolean> {
  const { access, protocol } = inquiry
  const spec = requestAt(root, formOf(inquiry, {}))
  const result = await ask(access, { ...spec, body: '{}' })
  const outcome = judge(access, result, { asked: protocol })
  return 'status' in result && outcome !== undefined && !isAboutAddress(outcome)
}

async function servesCatalog(access: GatewayAccess): Promise<boolean> {
  const result = await ask(access, catalogRequest(access.baseUrls.chat))
  return judge(access, result, { asked: 'catalog' }) === undefined
}
