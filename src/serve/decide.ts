import { chat } from './codecs/chat.ts'
import type { Codec, JsonObject, ProtocolName } from './codecs/codec.ts'
import { InvalidRequest } from './codecs/codec.ts'
import type { ModelEvent, ModelRequest } from './codecs/events.ts'
import type { GatewayFailure } from './codecs/failure.ts'
import { failures } from './codecs/failure.ts'
import { messages } from './codecs/messages.ts'
import { isObject } from './codecs/read.ts'
import { responses } from './codecs/responses.ts'
import { isReachable, type ServedModels } from './model/catalog.ts'
import { builtInAnswer, eventsOf } from './model/model.ts'
import { type Fault, type FaultName, type FaultTarget, failureOf } from './settings/faults.ts'
import type { Played } from './settings/scenario.ts'

const codecs: Readonly<Record<ProtocolName, Codec>> = { chat, responses, messages }

/** What the decision depends on beside the request. */
export interface World {
  readonly catalog: ServedModels
  /** The group that the key belongs to; appears in messages. */
  readonly group: string
  strike(target: FaultTarget): Fault | undefined
  /** What a scenario says to this; undefined: nothing, the built-in model answers. */
  play(request: ModelRequest, protocol: ProtocolName): Played | undefined
  newCallId(protocol: ProtocolName): string
}

/** An inference request as it came. */
export interface Question {
  readonly protocol: ProtocolName
  readonly body: string
  /** Whether its Content-Type says so. */
  readonly isJson: boolean
}

/** What is to be answered to one inference request whose key is good. */
export interface Decision {
  readonly modelAsked: string | undefined
  readonly modelServed: string | undefined
  readonly isStream: boolean
  /** Everything that is to go wrong. An error in it has become `result` already. */
  readonly fault: Fault | undefined
  readonly result: ModelAnswer | GatewayFailure
}

export interface ModelAnswer {
  readonly codec: Codec
  readonly body: JsonObject
  readonly model: string
  readonly events: readonly ModelEvent[]
}

export function isModelAnswer(result: Decision['result']): result is ModelAnswer {
  return 'events' in result
}

/** Decides in the service's order: rate limit, model, body, price, quota, upstream. Does no I/O. */
export function decide(world: World, question: Question): Decision {
  const { body, failure } = parse(question)
  const model = body['model']
  const modelAsked = typeof model === 'string' ? model : undefined
  const fault = world.strike({ route: question.protocol, model: modelAsked })
  const decision: Undecided = {
    modelAsked,
    modelServed: undefined,
    isStream: body['stream'] === true,
    fault,
  }
  const result =
    forced(world, decision, 'before-model') ??
    failure ??
    resultOf(world, question.protocol, body, decision)
  return { ...decision, result }
}

type Undecided = { -readonly [Member in Exclude<keyof Decision, 'result'>]: Decision[Member] }

function resultOf(
  world: World,
  protocol: ProtocolName,
  body: JsonObject,
  decision: Undecided,
): Decision['result'] {
  const { modelAsked } = decision
  if (modelAsked === undefined && body['model'] !== undefined && body['model'] !== null)
    return failures.modelNotAString()
  if (!modelAsked) return failures.noModelNamed()

  const entry = world.catalog.resolve(modelAsked)
  if (world.catalog.find(modelAsked)?.isForbidden) return failures.modelForbidden(modelAsked)
  if (entry === undefined) return failures.unknownModel(modelAsked, world.group)
  const atModel = forced(world, decision, 'at-model')
  if (atModel !== undefined) return atModel

  decision.modelServed = entry.id
  const codec = codecs[protocol]
  const request = read(codec, body)
  if (!('messages' in request)) return request
  if (entry.hasNoPrice) return failures.noPrice(modelAsked)
  const late = forced(world, decision, 'after-body')
  if (late !== undefined) return late
  if (!isReachable(entry, protocol)) return failures.protocolUnsupported()
  if (entry.isNotForChat) return failures.notAChatModel()

  const played = world.play(request, protocol)
  if (played?.fault !== undefined) {
    decision.fault = { ...decision.fault, ...played.fault }
    const asked = failureOf(played.fault, modelAsked, world.group)
    if (asked !== undefined) return asked
  }
  const utterances = played?.utterances ?? builtInAnswer(request, entry.id)
  const events = eventsOf(utterances, request, () => world.newCallId(protocol))
  return { codec, body, model: entry.id, events }
}

/** The failure that a fault asks for, if this is the check at which it comes up. */
function forced(
  world: World,
  { fault, modelAsked }: Undecided,
  check: Check,
): GatewayFailure | undefined {
  if (fault === undefined || checkOf(fault.error) !== check) return undefined
  return failureOf(fault, modelAsked ?? '', world.group)
}

type Check = 'before-model' | 'at-model' | 'after-body'

function checkOf(name: FaultName | undefined): Check {
  switch (name) {
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

interface Parsed {
  readonly body: JsonObject
  readonly failure?: GatewayFailure
}

// The service leaves a body of another type unread and then misses the model.
function parse({ body, isJson }: Question): Parsed {
  if (!isJson) return { body: {} }
  try {
    const value: unknown = JSON.parse(body)
    if (isTooDeep(value)) return { body: {}, failure: failures.notJson() }
    return { body: isObject(value) ? value : {} }
  } catch {
    return { body: {}, failure: failures.notJson() }
  }
}

/**
 * Deeper than this no client nests, and writing it again would run out of stack. Go's decoder, which
 * the service uses, stops at 10,000.
 */
const maxDepth = 1000

function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth >= maxDepth || Object.values(value).some((inner) => isTooDeep(inner, depth + 1))
}

function read(codec: Codec, body: JsonObject): ModelRequest | GatewayFailure {
  try {
    return codec.readRequest(body)
  } catch (error) {
    if (error instanceof InvalidRequest) return failures.invalidRequest(error.message)
    throw error
  }
}
