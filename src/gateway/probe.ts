import { UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import { ask, errorFor, judge, withHint } from './ask.ts'
import { catalogRequest } from './catalog.ts'
import type { HttpAnswer, NetworkFailure, Outcome } from './judge/answer.ts'
import {
  parameterUnsupported,
  refusedIn,
  refusesLimit,
  speaksOfTools,
  toolsUnsupported,
} from './judge/carried.ts'
import { readErrorBody } from './judge/error-body.ts'
import { isUnlisted } from './judge/outcomes.ts'
import { answersSafeguards, proofIn } from './judge/proof.ts'
import { traitsOf } from './judge/traits.ts'
import { hasLimit, placeOf, type QuestionForm, requestAt } from './question.ts'
import { rootOf } from './roots.ts'
import type { Catalog, GatewayAccess, Protocol, Sender } from './types.ts'

/** The gateway serves the model over the protocol to the key. */
export interface ProbeResult {
  /** Where. */
  readonly root: string
  readonly notices: readonly Finding[]
  /** Whether the gateway answers the client's `safeguards`. Absent: the client does not send them. */
  readonly answersSafeguards?: boolean
}

export interface ProbeOptions {
  /** Where it was asked for already: names the nearest models, and spares asking again. */
  readonly catalog?: Catalog | UserError | undefined
  /** In place of the usual hint where the gateway does not serve the model to this key. */
  readonly unservedHint?: string | undefined
  /** The client that is to be served. Absent: any. */
  readonly sender?: Sender | undefined
  /**
   * Where it may be served, the likeliest first: the next is asked where what answers is not the API.
   * Absent: at the root of the access alone.
   */
  readonly roots?: readonly string[] | undefined
}

/** All that one proof is about. */
interface Inquiry {
  readonly access: GatewayAccess
  readonly protocol: Protocol
  readonly model: string
  readonly catalog: Catalog | undefined
  /** Why there is no list, where it was asked for. */
  readonly missing: UserError | undefined
  readonly sender: Sender | undefined
}

/** What came of it at one root. */
interface Attempt {
  readonly root: string
  readonly result: HttpAnswer | NetworkFailure
  /** Undefined: served. */
  readonly outcome: Outcome | undefined
}

/**
 * One small inference, asked as the client asks: streamed, with the key as Bearer, with a tool, since
 * the clients always offer some, and with all that the client sends along. Streamed, because all the
 * clients stream, and because a gateway (or a proxy before it) that answers in one piece passes every
 * other check and leaves a client waiting for ever.
 *
 * A limit of tokens of our own that the gateway does not bear is left out in a second try: not all know
 * one, and the client sends none. Where a refusal may be about the request, the bare question tells
 * whether it is.
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
  const [catalog, missing] =
    options.catalog instanceof UserError ? [undefined, options.catalog] : [options.catalog]
  const inquiry: Inquiry = { access, protocol, model, catalog, missing, sender }

  const attempt = await askInTurn(inquiry, roots)
  const { root, result, outcome } = await withProvenBase(inquiry, attempt, roots)
  if (outcome !== undefined) {
    if (sender?.keyHeader !== undefined && traitsOf(outcome)?.blames === 'key')
      throw errorFor(keyHeaderRejected(outcome, sender, protocol))
    const isUnserved = outcome.code === 'model-unknown' || outcome.code === 'model-not-allowed'
    throw errorFor(isUnserved && unservedHint ? { ...outcome, hint: unservedHint } : outcome)
  }

  const { body } = result as HttpAnswer
  const { kind } = proofIn(protocol, body)
  return {
    root,
    notices: kind === 'unstreamed' ? [notStreamed] : [],
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
    hint: 'If the key is right, use another protocol: --protocol chat.',
  }
}

const notStreamed: Finding = {
  code: 'not-streamed',
  message: 'The gateway answered in one piece although a stream was asked for',
  hint: 'The client asks twice then: it works, but slower. Ask whoever runs the gateway about streaming.',
}

/** At the first root, and where no API answers there, at the others. */
async function askInTurn(inquiry: Inquiry, roots: readonly string[]): Promise<Attempt> {
  const [usual, ...others] = roots
  const first = await askAt(inquiry, usual!)
  if (first.outcome === undefined || !mayBeElsewhere(first.outcome)) return first

  for (const root of others) {
    const attempt = await askAt(inquiry, root)
    if (attempt.outcome === undefined || provesAnApi(attempt.outcome)) return attempt
  }
  return first
}

async function askAt(inquiry: Inquiry, root: string): Promise<Attempt> {
  const { access, sender } = inquiry
  const form = formOf(inquiry, { isLimited: true, hasTool: true, carried: sender })
  const first = await ask(access, requestAt(root, form), sender?.keyHeader)
  const result = await askedAgain(inquiry, root, form, first)

  const outcome = judged(inquiry, result)
  if (outcome === undefined || !('status' in result)) return { root, result, outcome }
  return { root, result, outcome: await causeOf(inquiry, { root, answer: result, outcome }) }
}

/** Asks again as the client does, each time without what the gateway rejects. */
async function askedAgain(
  inquiry: Inquiry,
  root: string,
  form: QuestionForm,
  result: Attempt['result'],
): Promise<Attempt['result']> {
  const outcome = judged(inquiry, result)
  if (outcome === undefined || !('status' in result)) return result

  // Claude Code 2.1.331 leaves its safeguards out after a 400 or 422, whatever the words (2026-11-24).
  const { carried } = form
  const isSafeguards = typeof carried?.safeguards === 'object' && isAboutRequest(result, outcome)
  const again = isSafeguards
    ? { ...form, carried: { ...carried, safeguards: undefined } }
    : secondForm(form, result)
  if (again === undefined) return result
  const answer = await ask(inquiry.access, requestAt(root, again), inquiry.sender?.keyHeader)
  return askedAgain(inquiry, root, again, answer)
}

/** How the question is asked once more where the client would do without what is refused, too. */
function secondForm(form: QuestionForm, refusal: HttpAnswer): QuestionForm | undefined {
  const { carried } = form
  if (refusesLimit(refusal) && !hasLimit(carried)) return { ...form, isLimited: false }
  if (carried?.retryWithout?.to.test(readErrorBody(refusal).words) !== true) return undefined

  const { names } = carried.retryWithout
  return {
    ...form,
    carried: { body: without(carried.body, names), headers: without(carried.headers, names) },
  }
}

function without<Value>(
  members: Readonly<Record<string, Value>> = {},
  names: readonly string[],
): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}

function formOf({ protocol, model }: Inquiry, more: Partial<QuestionForm>): QuestionForm {
  return { protocol, model, ...more }
}

function judged(
  { access, protocol, model, catalog }: Inquiry,
  result: Attempt['result'],
  proven: { readonly isBaseProven?: boolean; readonly isRouteProven?: boolean } = {},
): Outcome | undefined {
  const question = { asked: protocol, model, ...proven }
  return judge(access, result, catalog === undefined ? question : { ...question, catalog })
}

interface Refusal {
  readonly root: string
  readonly answer: HttpAnswer
  readonly outcome: Outcome
}

/** A refusal of the whole question: where the bare one is served, what was sent along is its cause. */
async function causeOf(inquiry: Inquiry, { root, answer, outcome }: Refusal): Promise<Outcome> {
  const { access, model, sender } = inquiry
  const refused = sender === undefined ? [] : refusedIn(answer, sender)
  const isOfTools = speaksOfTools(outcome)
  const isSilent = sender !== undefined && isAboutRequest(answer, outcome)
  if (refused.length === 0 && !isOfTools && !isSilent) return outcome

  const isLimited = !refusesLimit(answer)
  const serves = async (more: Partial<QuestionForm>) => {
    const form = formOf(inquiry, { isLimited, ...more })
    const answer = await ask(access, requestAt(root, form), sender?.keyHeader)
    return judged(inquiry, answer) === undefined
  }

  if (!(await serves({}))) return outcome
  if (
    sender !== undefined &&
    (refused.length > 0 || (!isOfTools && (await serves({ hasTool: true }))))
  )
    return parameterUnsupported(outcome, model, sender, refused)
  return toolsUnsupported(outcome, model)
}

/** What says no more than that it refuses the request, or blames what it does not name. */
function isAboutRequest({ status }: HttpAnswer, outcome: Outcome): boolean {
  const blamed = traitsOf(outcome)?.blames
  return [400, 413, 422].includes(status) && (blamed === 'model' || blamed === 'gateway')
}

/** What seems to be about the address reads differently where that is proven by other means. */
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

/** Neither route answers as an API: the words about the list are the better ones. */
function neither(missing: UserError, { protocol }: Inquiry, roots: readonly string[]): UserError {
  if (!isAboutAddress(missing)) return missing
  const asked = roots.map((root) => placeOf(root, protocol))
  return withHint(missing, `No API answers at ${asked.join(', ')}.`)
}

/** Outcomes that read differently once the address is known to be right. */
export function isAboutAddress({ code }: Pick<Outcome, 'code'>): boolean {
  return code === 'wrong-route' || code === 'not-an-api'
}

/** Some gateways say of an unknown path that they cannot do this, with a 400. */
function mayBeElsewhere(outcome: Outcome): boolean {
  return isAboutAddress(outcome) || outcome.code === 'protocol-unsupported'
}

/** Refusals that only an API gives: it is there, and what it says is to be told. */
export function provesAnApi(outcome: Pick<Outcome, 'code'>): boolean {
  return traitsOf(outcome)?.provesAnApi === true
}

/** Whether a route is there at all: a request that names no model costs nothing. */
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
