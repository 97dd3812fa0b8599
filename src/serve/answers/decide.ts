/**
 * Decides the answer to an inference request. The checks run in the order of the imitated gateway, so
 * that a request with two mistakes fails for the same one here and there.
 */
import type { Protocol } from '../../protocols.ts'
import type { WholeAnswer } from '../codecs/answer.ts'
import { chat } from '../codecs/chat.ts'
import type { Codec } from '../codecs/codec.ts'
import { type Failure, failures } from '../codecs/failure.ts'
import { messages } from '../codecs/messages.ts'
import { responses } from '../codecs/responses.ts'
import { type FaultEffects, failureOf } from '../faults/faults.ts'
import { buildAnswer } from '../model/build-answer.ts'
import {
  type CatalogEntry,
  recordedModel,
  type ServedCatalog,
  servesProtocol,
} from '../model/catalog.ts'
import { builtInAnswer } from '../model/model.ts'
import {
  asString,
  isMissing,
  type JsonObject,
  parseJsonObject,
  readJson,
  toObject,
} from '../requests/json.ts'
import {
  countInputTokens,
  InvalidRequest,
  type ModelRequest,
  type RequestHeaders,
} from '../requests/model-request.ts'
import { RequestRejection } from '../requests/rejection.ts'
import type { RawReply } from '../scenarios/scenario.ts'
import type { ScriptedAnswer } from '../scenarios/scripted-answer.ts'
import type { Scope } from '../scopes.ts'
import type { MessageThreads } from '../store/message-threads.ts'
import type { StoredResponses } from '../store/stored-responses.ts'

const codecs: Readonly<Record<Protocol, Codec>> = { chat, responses, messages }

/** The state that the decision depends on in addition to the request. */
interface DecisionContext {
  readonly catalog: ServedCatalog
  readonly scope: Scope
  /** Earlier answers that requests can continue. */
  readonly responses: StoredResponses
  readonly threads: MessageThreads
  newCallId(): string
}

interface InferenceRequest {
  readonly protocol: Protocol
  /** The client's key. */
  readonly key: string
  readonly body: string
  /** Whether the Content-Type is JSON. */
  readonly isJson: boolean
  readonly headers: RequestHeaders
}

interface ParsedRequest extends InferenceRequest {
  readonly json: JsonObject
  readonly modelAsked: string | undefined
  readonly isStream: boolean
  /** The effects of all faults for this request. An error in it becomes the result. */
  readonly effects: FaultEffects
}

export interface Decision {
  readonly modelAsked: string | undefined
  readonly modelServed?: string
  readonly isStream: boolean
  /** The effects of the faults for the request, and of those of its written answer. */
  readonly effects: FaultEffects
  readonly result: ModelAnswer | RecordedAnswer | Failure
}

export interface RecordedAnswer extends Pick<ModelAnswer, 'codec' | 'model'> {
  readonly kind: 'recorded'
  readonly raw: RawReply
}

export interface ModelAnswer {
  readonly kind: 'answer'
  readonly codec: Codec
  readonly body: JsonObject
  /** For responses: the input with the earlier conversation. */
  readonly input: unknown
  readonly model: string
  readonly answer: WholeAnswer
  /** For messages: later requests can continue this answer. */
  readonly isInThread: boolean
}

/** Reads and checks a request as `decide` does, and counts its tokens instead of answering it. */
export function countTokens(
  context: DecisionContext,
  inference: InferenceRequest,
): { readonly kind: 'count'; readonly tokens: number } | Failure {
  const data = inference.isJson ? readJson(inference.body) : {}
  if (data === undefined) return failures.notJson()
  const json = toObject(data)
  const modelAsked = asString(json['model'])
  const parsed = { ...inference, json, modelAsked, isStream: false, effects: {} }

  const found = findModel(context, parsed)
  if (found.kind === 'failure') return found
  const request = checkRequest(context, parsed, found.entry)
  if (request.kind === 'failure') return request
  return { kind: 'count', tokens: countInputTokens(request.modelRequest) }
}

/** Decides in the order: rate limit, model, body, price, quota, vendor. Sends nothing. */
export async function decide(
  context: DecisionContext,
  inference: InferenceRequest,
): Promise<Decision> {
  const { protocol } = inference
  // The imitated gateway reads only JSON. In a body of a different type it finds no model.
  const data = inference.isJson ? readJson(inference.body) : {}
  const json = toObject(data)
  const modelAsked = asString(json['model'])
  const isStream = json['stream'] === true
  const target = { route: protocol, model: modelAsked }
  const effects = context.scope.faults.nextEffects(target, inference.body)
  const parsed = { ...inference, json, modelAsked, isStream, effects }

  const earlyFailure =
    failureAtCheck(parsed, 'before-model') ?? (data === undefined ? failures.notJson() : undefined)
  const recorded = earlyFailure ?? replay(context.scope, parsed)
  if (recorded?.kind === 'recorded')
    return { modelAsked, isStream, effects, result: failureBeforeStream(parsed) ?? recorded }

  const found = earlyFailure ?? findModel(context, parsed)
  if (found.kind === 'failure') return { modelAsked, isStream, effects, result: found }

  const { entry } = found
  const answer = await answerModel(context, parsed, entry)
  return { modelAsked, modelServed: entry.id, isStream, ...answer }
}

/**
 * Decides like `decide` if there is a recorded or a written answer. Undefined: an upstream decides, which may
 * know other models and accept other requests than this gateway.
 */
export async function decideIfWritten(
  context: DecisionContext,
  inference: InferenceRequest,
): Promise<Decision | undefined> {
  const json = parseJsonObject(inference.body)
  const modelAsked = asString(json?.['model'])
  if (json === undefined || modelAsked === undefined) return undefined
  const isStream = json['stream'] === true
  const parsed = { ...inference, json, modelAsked, isStream, effects: {} }
  const decision = { modelAsked, isStream, effects: {} }

  const recorded = replay(context.scope, parsed)
  if (recorded !== undefined) return { ...decision, result: recorded }
  if (!context.scope.hasAnswers) return undefined

  const entry = context.catalog.resolve(modelAsked) ?? recordedModel(modelAsked)
  const request = catchRejection(() => readRequest(context, parsed))
  if (request instanceof RequestRejection) return undefined
  const answer = await answerRead(context, parsed, request, entry)
  return answer && { ...decision, modelServed: entry.id, ...answer }
}

/** The recorded answer for a request. It does not depend on whether this gateway would accept the request. */
function replay(
  { recording }: Scope,
  { protocol, key, body, modelAsked }: ParsedRequest,
): RecordedAnswer | undefined {
  const raw = recording?.replay({ protocol, key, requestBody: body, modelAsked })
  return raw && { kind: 'recorded', raw, codec: codecs[protocol], model: modelAsked ?? '' }
}

/** Finds the model that the request names, if the key may use it. */
function findModel(
  { catalog, scope }: DecisionContext,
  parsed: ParsedRequest,
): { readonly kind: 'found'; readonly entry: CatalogEntry } | Failure {
  const { json, modelAsked } = parsed
  if (modelAsked === undefined && !isMissing(json['model'])) return failures.modelNotAString()
  if (!modelAsked) return failures.noModelNamed()

  const isRecorded = scope.recordedModels.includes(modelAsked)
  const entry = catalog.resolve(modelAsked) ?? (isRecorded ? recordedModel(modelAsked) : undefined)
  if (catalog.find(modelAsked)?.isForbidden) return failures.modelForbidden(modelAsked)
  if (entry === undefined) return failures.unknownModel(modelAsked)
  return failureAtCheck(parsed, 'at-model') ?? { kind: 'found', entry }
}

/** Answers with the written answer for the request, else with the built-in model. */
async function answerModel(
  context: DecisionContext,
  parsed: ParsedRequest,
  entry: CatalogEntry,
): Promise<Pick<Decision, 'result' | 'effects'>> {
  const request = checkRequest(context, parsed, entry)
  if (request.kind === 'failure') return { result: request, effects: parsed.effects }

  const written = await answerRead(context, parsed, request, entry)
  if (written !== undefined) return written
  const result =
    failureBeforeStream(parsed) ?? composeAnswer(context, { ...request, model: entry.id })
  return { result, effects: parsed.effects }
}

/** The written answer for a request. Undefined: there is none. */
async function answerRead(
  context: DecisionContext,
  parsed: ParsedRequest,
  request: ReadRequest,
  entry: CatalogEntry,
): Promise<Pick<Decision, 'result' | 'effects'> | undefined> {
  const { protocol, headers } = parsed
  const scriptedAnswer = await context.scope.play(request.modelRequest, protocol, headers)
  if (scriptedAnswer.kind === 'none') return undefined
  if (scriptedAnswer.kind === 'failure') return { result: scriptedAnswer, effects: parsed.effects }

  const effects = { ...parsed.effects, ...scriptedAnswer.effects }
  const result =
    failureBeforeStream({ ...parsed, effects }) ??
    composeAnswer(context, { ...request, model: entry.id }, scriptedAnswer)
  return { result, effects }
}

interface ReadRequest extends Pick<ModelAnswer, 'codec' | 'body' | 'input' | 'isInThread'> {
  readonly kind: 'read'
  readonly modelRequest: ModelRequest
}

/**
 * Reads and checks the request. The imitated gateway itself rejects an invalid body before it looks up the
 * price. The vendor gets the request, and may reject it, only after all checks of the imitated gateway.
 */
function checkRequest(
  context: DecisionContext,
  parsed: ParsedRequest,
  entry: CatalogEntry,
): ReadRequest | Failure {
  const request = catchRejection(() => readRequest(context, parsed))
  if (request instanceof InvalidRequest) return failures.invalidRequest(request.message)
  const failure = checkServedModel(entry, parsed)
  if (failure !== undefined) return failure
  return request instanceof RequestRejection ? failures.rejected(request) : request
}

/**
 * Reads a request together with the conversation that it continues.
 *
 * @throws InvalidRequest, RequestRejection
 */
function readRequest(
  { responses, threads, scope: { families } }: DecisionContext,
  { protocol, headers, json }: ParsedRequest,
): ReadRequest {
  const codec = codecs[protocol]
  const input = protocol === 'responses' ? responses.wholeInput(json) : undefined
  const thread = protocol === 'messages' ? threads.wholeRequest(json) : undefined
  const body = thread ?? json
  const modelRequest = codec.readRequest(body, { input, headers, families })
  return { kind: 'read', codec, modelRequest, body, input, isInThread: thread !== undefined }
}

/** Checks price, quota and protocol of a model. */
function checkServedModel(entry: CatalogEntry, parsed: ParsedRequest): Failure | undefined {
  if (entry.hasNoPrice) return failures.noPrice(parsed.modelAsked!)
  const failure = failureAtCheck(parsed, 'after-body')
  if (failure !== undefined) return failure
  if (!servesProtocol(entry, parsed.protocol)) return failures.protocolUnsupported()
  return entry.isNotForChat ? failures.notAChatModel() : undefined
}

/** The written answer, else that of the built-in model. */
function composeAnswer(
  { newCallId }: DecisionContext,
  { modelRequest, ...facts }: ReadRequest & { readonly model: string },
  scriptedAnswer?: ScriptedAnswer,
): ModelAnswer | RecordedAnswer | Failure {
  if (scriptedAnswer?.kind === 'recorded') {
    const { codec, model } = facts
    return { kind: 'recorded', raw: scriptedAnswer.raw, codec, model }
  }
  if (modelRequest.alteredThought !== undefined)
    return failures.rejected(modelRequest.alteredThought)

  const builtIn = () => ({ utterances: builtInAnswer(modelRequest, facts.model) })
  const script = scriptedAnswer?.kind === 'script' ? scriptedAnswer.script : catchRejection(builtIn)
  if (script instanceof RequestRejection) return failures.rejected(script)
  return { ...facts, kind: 'answer', answer: buildAnswer(script, modelRequest, newCallId) }
}

/** The failure that the fault causes at this check, if it causes one there. */
function failureAtCheck(parsed: ParsedRequest, check: GatewayCheck): Failure | undefined {
  return checkOf(parsed.effects) === check ? failureBeforeStream(parsed) : undefined
}

/** The failure that a fault causes, unless it occurs inside the stream. */
function failureBeforeStream({
  effects,
  isStream,
  protocol,
  modelAsked,
}: ParsedRequest): Failure | undefined {
  const isInStream = isStream && effects.errorAfter !== undefined
  return isInStream ? undefined : failureOf(effects, { route: protocol, model: modelAsked })
}

/** The check of the imitated gateway at which the error of a fault becomes the result. */
type GatewayCheck = 'before-model' | 'at-model' | 'after-body'

function checkOf({ error }: FaultEffects): GatewayCheck {
  switch (error) {
    case 'invalid-token':
    case 'rate-limited':
      return 'before-model'
    case 'model-forbidden':
    case 'model-unknown':
      return 'at-model'
    default:
      return 'after-body'
  }
}

/** Returns the result of `work`, or the `RequestRejection` that it throws. */
function catchRejection<Result>(work: () => Result): Result | RequestRejection {
  try {
    return work()
  } catch (error) {
    if (error instanceof RequestRejection) return error
    throw error
  }
}
