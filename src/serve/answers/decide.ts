/**
 * Decides the answer to an inference request. The checks run in the order of the real gateway's, so that a
 * request with two mistakes fails for the same one here and there.
 */
import type { Protocol } from '../../protocols.ts'
import type { WholeAnswer } from '../codecs/answer.ts'
import { chat } from '../codecs/chat.ts'
import type { Codec } from '../codecs/codec.ts'
import { type Failure, failures } from '../codecs/failure.ts'
import { messages } from '../codecs/messages.ts'
import { responses } from '../codecs/responses.ts'
import { type Fault, type FaultName, faultFailure, group } from '../faults/faults.ts'
import { buildAnswer } from '../model/build-answer.ts'
import { type CatalogEntry, type ServedModels, servesProtocol } from '../model/catalog.ts'
import { builtInAnswer } from '../model/model.ts'
import { asString, isMissing, type JsonObject, readJson, toObject } from '../requests/json.ts'
import { InvalidRequest, type RequestContext } from '../requests/model-request.ts'
import { Refusal } from '../requests/refusal.ts'
import type { RawReply } from '../scenarios/scenario.ts'
import type { Scope } from '../scopes.ts'
import type { MessageThreads } from '../store/message-threads.ts'
import type { StoredResponses } from '../store/stored-responses.ts'

const codecs: Readonly<Record<Protocol, Codec>> = { chat, responses, messages }

/** The state that the decision depends on in addition to the request. */
interface DecisionContext {
  readonly catalog: ServedModels
  readonly scope: Scope
  /** Earlier answers that requests can continue. */
  readonly responses: StoredResponses
  readonly threads: MessageThreads
  newCallId(): string
}

/** An unparsed inference request. */
interface InferenceRequest {
  readonly protocol: Protocol
  readonly body: string
  /** Whether the Content-Type is JSON. */
  readonly isJson: boolean
  readonly headers: NonNullable<RequestContext['headers']>
}

interface ParsedRequest extends InferenceRequest {
  readonly json: JsonObject
}

/** An answer that was recorded from a real gateway. */
interface RecordedAnswer {
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

/** The state of the decision while the checks run. */
interface DecisionState {
  readonly protocol: Protocol
  readonly modelAsked: string | undefined
  modelServed: string | undefined
  readonly isStream: boolean
  /** All faults for this request. An error in it becomes the result. */
  fault: Fault | undefined
}

/** Decides in the order: rate limit, model, body, price, quota, upstream. Does no I/O. */
export async function decide(context: DecisionContext, inference: InferenceRequest) {
  const { protocol } = inference
  // The imitated gateway reads only JSON. In a body of a different type it finds no model.
  const parsed = inference.isJson ? readJson(inference.body) : {}
  const json = toObject(parsed)
  const modelAsked = asString(json['model'])
  const decision: DecisionState = {
    protocol,
    modelAsked,
    modelServed: undefined,
    isStream: json['stream'] === true,
    fault: context.scope.faults.nextFault({ route: protocol, model: modelAsked }, inference.body),
  }

  const earlyFailure = failureAt(decision, 'before-model')
  const result =
    earlyFailure ??
    (parsed === undefined
      ? failures.notJson()
      : await answerModel(context, { ...inference, json }, decision))
  return { result, ...decision }
}

/** Runs the checks of the imitated gateway after the body was parsed, and then lets the model answer. */
async function answerModel(
  context: DecisionContext,
  inference: ParsedRequest,
  decision: DecisionState,
): Promise<ModelAnswer | RecordedAnswer | Failure> {
  const found = findModel(context.catalog, inference, decision)
  if (found.kind === 'failure') return found
  const { entry } = found
  decision.modelServed = entry.id

  // The imitated gateway itself rejects an invalid body, before it looks up the price. A refusal is the
  // vendor's, which gets the request only after all checks of the gateway.
  const parsed = catchRefusal(() => readRequest(context, inference))
  if (parsed instanceof InvalidRequest) return failures.invalidRequest(parsed.message)
  const failure = checkServedModel(entry, decision)
  if (failure !== undefined) return failure
  if (parsed instanceof Refusal) return failures.refused(parsed)

  return answerRequest(context, { inference, parsed, model: entry.id }, decision)
}

/** Finds the model that the request names, if the key may use it. */
function findModel(
  catalog: ServedModels,
  { json }: ParsedRequest,
  decision: DecisionState,
): { readonly kind: 'found'; readonly entry: CatalogEntry } | Failure {
  const { modelAsked } = decision
  if (modelAsked === undefined && !isMissing(json['model'])) return failures.modelNotAString()
  if (!modelAsked) return failures.noModelNamed()

  const entry = catalog.resolve(modelAsked)
  if (catalog.find(modelAsked)?.isForbidden) return failures.modelForbidden(modelAsked)
  if (entry === undefined) return failures.unknownModel(modelAsked, group)
  return failureAt(decision, 'at-model') ?? { kind: 'found', entry }
}

/** Checks price, quota and protocol of a model. */
function checkServedModel(entry: CatalogEntry, decision: DecisionState): Failure | undefined {
  if (entry.hasNoPrice) return failures.noPrice(decision.modelAsked!)
  const failure = failureAt(decision, 'after-body')
  if (failure !== undefined) return failure
  if (!servesProtocol(entry, decision.protocol)) return failures.protocolUnsupported()
  return entry.isNotForChat ? failures.notAChatModel() : undefined
}

interface CheckedRequest {
  readonly inference: ParsedRequest
  readonly parsed: ReturnType<typeof readRequest>
  readonly model: string
}

/** Answers with the written answer for the request, else with the built-in model. */
async function answerRequest(
  { scope, newCallId }: DecisionContext,
  { inference, parsed, model }: CheckedRequest,
  decision: DecisionState,
): Promise<ModelAnswer | RecordedAnswer | Failure> {
  const { request, ...facts } = parsed
  const scripted = await scope.play(request, decision.protocol, inference.headers)
  if (scripted?.kind === 'failure') return scripted
  if (scripted?.fault !== undefined) {
    decision.fault = { ...decision.fault, ...scripted.fault }
    const failure = faultResult(decision)
    if (failure !== undefined) return failure
  }
  if (scripted?.kind === 'recorded') return { kind: 'recorded', raw: scripted.raw }
  if (request.unsealed !== undefined) return failures.refused(request.unsealed)

  const script =
    scripted?.script ?? catchRefusal(() => ({ utterances: builtInAnswer(request, model) }))
  if (script instanceof Error) return failures.refused(script)
  const answer = buildAnswer(script, request, newCallId)
  return { kind: 'answer', codec: codecs[decision.protocol], ...facts, model, answer }
}

/** The failure that a fault causes at this check. */
function failureAt(decision: DecisionState, check: FailurePoint): Failure | undefined {
  const point = failurePoints[decision.fault?.error ?? 'upstream'] ?? 'after-body'
  return point === check ? faultResult(decision) : undefined
}

/** The failure that a fault causes, unless it occurs inside the stream. */
function faultResult({
  fault,
  isStream,
  protocol,
  modelAsked,
}: DecisionState): Failure | undefined {
  const isInStream = isStream && fault?.errorAfter !== undefined
  if (fault === undefined || isInStream) return undefined
  return faultFailure(fault, { route: protocol, model: modelAsked })
}

type FailurePoint = 'before-model' | 'at-model' | 'after-body'

/** Faults that are not listed fail `after-body`. */
const failurePoints: Readonly<Partial<Record<FaultName, FailurePoint>>> = {
  'invalid-token': 'before-model',
  'rate-limited': 'before-model',
  'model-forbidden': 'at-model',
  'model-unknown': 'at-model',
}

/**
 * Reads a request together with the conversation that it continues.
 *
 * @throws InvalidRequest, Refusal
 */
function readRequest(
  { responses, threads, scope }: DecisionContext,
  { protocol, headers, json }: ParsedRequest,
) {
  const input = protocol === 'responses' ? responses.wholeInput(json) : undefined
  const thread = protocol === 'messages' ? threads.wholeRequest(json) : undefined
  const body = thread ?? json
  const { families } = scope
  const request = codecs[protocol].readRequest(body, { input, headers, families })
  return { request, body, input, isInThread: thread !== undefined }
}

/** Returns the result of `work`, or the `Refusal` that it throws. */
export function catchRefusal<Result>(work: () => Result): Result | Refusal {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
