import { compact } from '../compact.ts'
import { UserError } from '../errors.ts'
import type { Notice } from '../notice.ts'
import { ask, errorFor, judge, withHint } from './ask.ts'
import { catalogRequest } from './catalog.ts'
import { cleanForeignText } from './foreign-text.ts'
import type { RequestSpec } from './http/request.ts'
import { type HttpAnswer, maxAnswerBytes, type Outcome } from './judge/answer.ts'
import { isUnlisted } from './judge/outcomes.ts'
import { isComplete, proofIn } from './judge/proof.ts'
import { traitsOf } from './judge/traits.ts'
import { rootOf } from './roots.ts'
import type { Catalog, GatewayAccess, ProtocolName } from './types.ts'

/** The gateway serves the model over the protocol to the key. */
export interface ProbeResult {
  /** Where. */
  readonly root: string
  readonly notices: readonly Notice[]
}

export interface ProbeOptions {
  /** Where it was asked for already: names the nearest models, and spares asking again. */
  readonly catalog?: Catalog | UserError | undefined
  /** In place of the usual hint where the gateway does not serve the model to this key. */
  readonly unservedHint?: string | undefined
  /**
   * Where it may be served, the likeliest first: the next is asked where what answers is not the API.
   * Absent: at the root of the access alone.
   */
  readonly roots?: readonly string[] | undefined
}

/** Reads like work: filters of gateways refuse a bare `ping` as a test of the key (2026-11-23). */
const prompt = 'In one word: which type does this JavaScript have? const total = 1 + 1'

/** Most tokens to ask for. The responses protocol refuses fewer than 16. */
const maxTokens = 16

/**
 * One small inference, asked as the client asks: streamed, with the key as Bearer, and with a tool,
 * since the clients always offer some. Streamed, because all the clients stream, and because a gateway
 * (or a proxy before it) that answers in one piece passes every other check and leaves a client waiting for ever.
 *
 * A limit of tokens that the gateway does not bear is left out in a second try: not all know one,
 * and the clients can do without. Where a refusal speaks of tools, one more question without any tells
 * whether they are its cause.
 *
 * @throws UserError from the closed set of gateway failures
 */
export async function probe(
  access: GatewayAccess,
  protocol: ProtocolName,
  model: string,
  options: ProbeOptions = {},
): Promise<ProbeResult> {
  const [catalog, missing] =
    options.catalog instanceof UserError ? [undefined, options.catalog] : [options.catalog]
  const question = compact({ asked: protocol, model, catalog })
  const askAt = async (at: string) => {
    const spec = { at, protocol, model, isLimited: true, hasTool: true }
    let result = await ask(access, requestFor(spec))
    if ('status' in result && refusesLimit(result)) {
      spec.isLimited = false
      result = await ask(access, requestFor(spec))
    }

    const outcome = judge(access, result, question)
    if (outcome === undefined || !speaksOfTools(outcome)) return { root: at, result, outcome }
    const without = await ask(access, requestFor({ ...spec, hasTool: false }))
    const isServed = judge(access, without, question) === undefined
    return { root: at, result, outcome: isServed ? withoutTools(outcome, model) : outcome }
  }

  const [usual = rootOf(access, protocol), ...others] = options.roots ?? []
  let { root, result, outcome } = await askAt(usual)
  if (outcome !== undefined && mayBeElsewhere(outcome))
    for (const other of others) {
      const asked = await askAt(other)
      if (asked.outcome !== undefined && !provesAnApi(asked.outcome)) continue
      ;({ root, result, outcome } = asked)
      break
    }
  if (outcome !== undefined && 'status' in result && isAboutAddress(outcome)) {
    const isApi =
      missing !== undefined && provesAnApi(missing) && traitsOf(missing)?.blames !== 'key'
    if (missing !== undefined && !isApi) throw neither(missing, [usual, ...others], protocol)
    const isBaseProven = isApi || catalog !== undefined || (await servesCatalog(access))
    const proven = { ...question, isBaseProven }
    outcome = judge(access, result, proven)
    const isOpen = outcome?.code === 'protocol-unsupported' && isUnlisted(question)
    if (isOpen && (await hasRoute(access, root, protocol)))
      outcome = judge(access, result, { ...proven, isRouteProven: true })
  }
  if (outcome !== undefined) throw errorFor({ ...outcome, ...cureOf(outcome, options) })

  const { kind } = proofIn(protocol, (result as HttpAnswer).body)
  return { root, notices: kind === 'unstreamed' ? [notStreamed] : [] }
}

/** Neither route answers as an API: the words about the list are the better ones. */
function neither(missing: UserError, roots: readonly string[], protocol: ProtocolName): UserError {
  if (!isAboutAddress(missing)) return missing
  const asked = roots.map((root) => root + requests[protocol]('', false).route.split('?')[0])
  return withHint(missing, `No API answers at ${asked.join(', ')}.`)
}

function cureOf({ code }: Outcome, { unservedHint }: ProbeOptions): Partial<Outcome> {
  const isUnserved = code === 'model-unknown' || code === 'model-not-allowed'
  return isUnserved && unservedHint !== undefined ? { hint: unservedHint } : {}
}

const notStreamed: Notice = {
  code: 'not-streamed',
  message: 'The gateway answered in one piece although a stream was asked for',
  hint: 'The client asks twice then: it works, but slower. Ask whoever runs the gateway about streaming.',
}

interface WordRequest {
  /** The root. */
  readonly at: string
  readonly protocol: ProtocolName
  readonly model: string
  readonly isLimited: boolean
  readonly hasTool: boolean
}

function requestFor({ at, protocol, model, isLimited, hasTool }: WordRequest): RequestSpec {
  const { route, headers, body } = requests[protocol](model, isLimited)
  const tools = hasTool ? { tools: [emptyTools[protocol]] } : {}
  return {
    method: 'POST',
    url: at + route,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      ...headers,
    },
    body: JSON.stringify({ ...body, ...tools }),
    maxBytes: maxAnswerBytes,
    isEnough: (text) => isComplete(protocol, text),
  }
}

interface ProtocolRequest {
  /** Behind the root of its protocol. */
  readonly route: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

const requests: Readonly<
  Record<ProtocolName, (model: string, isLimited: boolean) => ProtocolRequest>
> = {
  chat: (model, isLimited) => ({
    route: '/chat/completions',
    body: {
      model,
      messages: [{ role: 'user', content: prompt }],
      stream: true,
      ...(isLimited ? { max_tokens: maxTokens } : {}),
    },
  }),
  responses: (model, isLimited) => ({
    route: '/responses',
    body: {
      model,
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] }],
      stream: true,
      store: false,
      ...(isLimited ? { max_output_tokens: maxTokens } : {}),
    },
  }),
  messages: (model) => ({
    // As Claude Code 2.1.197 and 2.1.329 ask (2026-11-21).
    route: '/v1/messages?beta=true',
    headers: { 'anthropic-version': '2023-06-01' },
    body: {
      model,
      max_tokens: maxTokens,
      messages: [{ role: 'user', content: prompt }],
      stream: true,
    },
  }),
}

const tool = { name: 'noop', description: 'Does nothing.' }
const noParameters = { type: 'object', properties: {} }

/** A tool that nobody needs, as each protocol describes one. */
const emptyTools: Readonly<Record<ProtocolName, object>> = {
  chat: { type: 'function', function: { ...tool, parameters: noParameters } },
  responses: { type: 'function', ...tool, parameters: noParameters, strict: false },
  messages: { ...tool, input_schema: noParameters },
}

/** vLLM, OpenRouter, Ollama (2026-11-23): a refusal of tools names them. */
function speaksOfTools({ message }: Outcome): boolean {
  return /\btools?\b|\bfunctions?\b|工具|函数/i.test(message)
}

/** The model is served without tools, and the clients always offer some. */
function withoutTools({ message, ...outcome }: Outcome, model: string): Outcome {
  return {
    ...outcome,
    code: 'tools-unsupported',
    message: `${cleanForeignText(model)} answers, but not where tools are offered, as every client does. Asked with one: ${message}`,
    hint: 'Choose a model that can use tools, with --model ID; or have tools turned on for it (vLLM: --enable-auto-tool-choice and --tool-call-parser).',
  }
}

/** A refusal of our limit names the parameter, in whatever language. */
function refusesLimit(answer: HttpAnswer): boolean {
  return (
    (answer.status === 400 || answer.status === 422) &&
    /max_(?:output_|completion_)?tokens/.test(answer.body)
  )
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
async function hasRoute(
  access: GatewayAccess,
  root: string,
  protocol: ProtocolName,
): Promise<boolean> {
  const spec = requestFor({ at: root, protocol, model: '', isLimited: true, hasTool: true })
  const result = await ask(access, { ...spec, body: '{}' })
  const outcome = judge(access, result, { asked: protocol })
  return 'status' in result && outcome !== undefined && !isAboutAddress(outcome)
}

async function servesCatalog(access: GatewayAccess): Promise<boolean> {
  const result = await ask(access, catalogRequest(access.roots.chat))
  return judge(access, result, { asked: 'catalog' }) === undefined
}
