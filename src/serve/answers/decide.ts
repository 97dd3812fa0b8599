import type { Protocol } from '../../protocols.ts'
import type { WholeAnswer } from '../codecs/answer.ts'
import { chat } from '../codecs/chat.ts'
import type { Codec } from '../codecs/codec.ts'
import type { GatewayFailure } from '../codecs/failure.ts'
import { failures } from '../codecs/failure.ts'
import { messages } from '../codecs/messages.ts'
import { responses } from '../codecs/responses.ts'
import { type ServedModels, servesProtocol } from '../model/catalog.ts'
import { buildAnswer, builtInAnswer } from '../model/model.ts'
import { asString, type JsonObject, parseJson, toObject } from '../requests/json.ts'
import { InvalidRequest, type RequestContext } from '../requests/model-request.ts'
import { Refusal } from '../requests/refusal.ts'
import type { Scope } from '../scopes.ts'
import { type Fault, type FaultName, faultFailure, group } from '../settings/faults.ts'
import type { RawReply } from '../settings/scenario.ts'
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

/** An answer that was recorded from a real gateway. */
interface RecordedAnswer {
  readonly raw: RawReply
}

export interface ModelAnswer {
  readonly codec: Codec
  readonly body: JsonObject
  /** For responses: the input with the earlier conversation. */
  readonly input: unknown
  readonly model: string
  readonly answer: WholeAnswer
  /** For messages: later requests can continue this answer. */
  readonly isInThread: boolean
}

/** Decides in the service's order of checks: rate limit, model, body, price, quota, upstream. Does no I/O. */
export async function decide(context: DecisionContext, inference: InferenceRequest) {
  const { protocol } = inference
  // The service does not read a body of another type, and then finds no model.
  const parsed = inference.isJson ? parseJson(inference.body) : {}
  const body = toObject(parsed)
  const modelAsked = asString(body['model'])
  const decision: Decision = {
    protocol,
    modelAsked,
    modelServed: undefined,
    isStream: body['stream'] === true,
    fault: context.scope.faults.nextFault({ route: protocol, model: modelAsked }, inference.body),
  }

  const result =
    failureAt(decision, 'before-model') ??
    (parsed === undefined
      ? failures.notJson()
      : await answerModel(context, { ...inference, json: body }, decision))

  return { result, ...decision }
}

/** The state of the decision while the checks run. */
interface Decision {
  readonly protocol: Protocol
  readonly modelAsked: string | undefined
  modelServed: string | undefined
  readonly isStream: boolean
  /** All faults for this request. An error in it becomes the result. */
  fault: Fault | undefined
}

interface ParsedRequest extends InferenceRequest {
  readonly json: JsonObject
}

async function answerModel(
  context: DecisionContext,
  inference: ParsedRequest,
  decision: Decision,
): Promise<ModelAnswer | RecordedAnswer | GatewayFailure> {
  const { catalog, scope, newCallId } = context
  const model = inference.json['model']
  const { modelAsked, protocol } = decision
  if (modelAsked === undefined && model !== undefined && model !== null)
    return failures.modelNotAString()
  if (!modelAsked) return failures.noModelNamed()

  const entry = catalog.resolve(modelAsked)
  if (catalog.find(modelAsked)?.isForbidden) return failures.modelForbidden(modelAsked)
  if (entry === undefined) return failures.unknownModel(modelAsked, group)
  const modelFailure = failureAt(decision, 'at-model')
  if (modelFailure !== undefined) return modelFailure

  decision.modelServed = entry.id
  const codec = codecs[protocol]
  const parsed = catchRefusal(() => readRequest(context, codec, inference))
  if (parsed instanceof InvalidRequest) return failures.invalidRequest(parsed.message)
  if (entry.hasNoPrice) return failures.noPrice(modelAsked)
  const lateFailure = failureAt(decision, 'after-body')
  if (lateFailure !== undefined) return lateFailure
  if (!servesProtocol(entry, protocol)) return failures.protocolUnsupported()
  if (entry.isNotForChat) return failures.notAChatModel()
  if (parsed instanceof Refusal) return failures.refused(parsed)

  const { request, ...facts } = parsed
  const played = await scope.play(request, protocol, inference.headers)
  if (played?.failure !== undefined) return played.failure
  if (played?.fault !== undefined) {
    decision.fault = { ...decision.fault, ...played.fault }
    const failure = faultResult(decision)
    if (failure !== undefined) return failure
  }
  if (played?.raw !== undefined) return { raw: played.raw }
  if (request.unsealed !== undefined) return failures.refused(request.unsealed)

  const script = played ?? catchRefusal(() => ({ utterances: builtInAnswer(request, entry.id) }))
  if (script instanceof Error) return failures.refused(script)
  const answer = buildAnswer(script, request, newCallId)
  return { codec, ...facts, model: entry.id, answer }
}

/** The failure that a fault causes at this check. */
function failureAt(decision: Decision, check: FailurePoint): GatewayFailure | undefined {
  const point = failurePoints[decision.fault?.error ?? 'upstream'] ?? 'after-body'
  return point === check ? faultResult(decision) : undefined
}

/** The failure that a fault causes, unless it occurs inside the stream. */
function faultResult({
  fault,
  isStream,
  protocol,
  modelAsked,
}: Decision): GatewayFailure | undefined {
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
  codec: Codec,
  { protocol, headers, json }: ParsedRequest,
) {
  const input = protocol === 'responses' ? responses.wholeInput(json) : undefined
  const thread = protocol === 'messages' ? threads.wholeRequest(json) : undefined
  const body = thread ?? json
  const { families } = scope
  const request = codec.readRequest(body, { input, headers, families })
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
