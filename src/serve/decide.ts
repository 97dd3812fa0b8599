import { chat } from './codecs/chat.ts'
import type { Codec, JsonObject, ProtocolName } from './codecs/codec.ts'
import { InvalidRequest } from './codecs/codec.ts'
import type { ModelEvent, ModelRequest } from './codecs/events.ts'
import type { GatewayFailure } from './codecs/failure.ts'
import { failures } from './codecs/failure.ts'
import { isTooDeep } from './codecs/json-depth.ts'
import { messages } from './codecs/messages.ts'
import { isObject } from './codecs/read.ts'
import { responses } from './codecs/responses.ts'
import type { Catalog } from './model/catalog.ts'
import { isReachable } from './model/catalog.ts'
import type { Reply } from './model/model.ts'
import { builtInReplies, eventsOf } from './model/model.ts'
import type { Fault, FaultName, FaultTarget } from './settings/faults.ts'
import { failureOf } from './settings/faults.ts'

const codecs: Readonly<Record<ProtocolName, Codec>> = { chat, responses, messages }

/** What the decision depends on beside the request. */
export interface World {
  readonly catalog: Catalog
  /** The group that the key belongs to; appears in messages. */
  readonly group: string
  strike(target: FaultTarget): Fault | undefined
  /** What a scenario says to this; undefined: nothing, the built-in model answers. */
  play(request: ModelRequest, protocol: ProtocolName): Played | undefined
  newCallId(protocol: ProtocolName): string
}

/** One answer of a scenario. */
export interface Played {
  readonly replies: readonly Reply[]
  readonly fault: Fault | undefined
}

/** What is to be answered to one inference request whose key is good. */
export interface Decision {
  readonly modelAsked: string | undefined
  readonly modelServed: string | undefined
  readonly isStream: boolean
  /** Everything that is to go wrong. An error in it has become `result` already. */
  readonly fault: Fault | undefined
  readonly result: Answer | GatewayFailure
}

export interface Answer {
  readonly codec: Codec
  readonly body: JsonObject
  readonly model: string
  readonly events: readonly ModelEvent[]
}

export function isAnswer(result: Decision['result']): result is Answer {
  return 'events' in result
}

/** Decides in the service's order: rate limit, model, body, price, quota, upstream. Does no I/O. */
export function decide(
  world: World,
  protocol: ProtocolName,
  text: string,
  isJson: boolean,
): Decision {
  const parsed = parse(text, isJson)
  const { body } = parsed
  const model = body['model']
  const named = typeof model === 'string' ? model : undefined
  const struck = world.strike({ route: protocol, model: named })
  const decision: Undecided = {
    modelAsked: named,
    modelServed: undefined,
    isStream: body['stream'] === true,
    fault: struck,
  }
  const result = resultOf(world, protocol, parsed, named, decision)
  const { modelServed, isStream, fault } = decision
  return { modelAsked: named, modelServed, isStream, fault, result }
}

type Undecided = { -readonly [Key in Exclude<keyof Decision, 'result'>]: Decision[Key] }

function resultOf(
  world: World,
  protocol: ProtocolName,
  { body, failure: notJson }: Parsed,
  named: string | undefined,
  decision: Undecided,
): Decision['result'] {
  const struck = decision.fault
  const early = forced(world, struck, 'before-model', named)
  if (early !== undefined) return early
  if (notJson !== undefined) return notJson
  if (named === undefined && body['model'] !== undefined && body['model'] !== null)
    return failures.modelNotAString()
  if (named === undefined || named === '') return failures.noModelNamed()

  const entry = world.catalog.resolve(named)
  if (world.catalog.find(named)?.isForbidden) return failures.modelForbidden(named)
  if (entry === undefined) return failures.unknownModel(named, world.group)
  const atModel = forced(world, struck, 'at-model', named)
  if (atModel !== undefined) return atModel

  decision.modelServed = entry.id
  const codec = codecs[protocol]
  const request = read(codec, body)
  if (!('messages' in request)) return request
  if (entry.hasNoPrice) return failures.noPrice(named)
  const late = forced(world, struck, 'after-body', named)
  if (late !== undefined) return late
  if (!isReachable(entry, protocol)) return failures.protocolUnsupported()
  if (entry.isNotForChat) return failures.notAChatModel()

  const played = world.play(request, protocol)
  if (played?.fault !== undefined) {
    decision.fault = { ...struck, ...played.fault }
    const asked = failureOf(played.fault, named, world.group)
    if (asked !== undefined) return asked
  }
  const replies = played?.replies ?? builtInReplies(request, entry.id)
  const events = eventsOf(replies, request, () => world.newCallId(protocol))
  return { codec, body, model: entry.id, events }
}

/** The failure that a fault asks for, if this is the check at which it comes up. */
function forced(
  world: World,
  fault: Fault | undefined,
  stage: Stage,
  named: string | undefined,
): GatewayFailure | undefined {
  if (fault === undefined || stageOf(fault.error) !== stage) return undefined
  return failureOf(fault, named ?? '', world.group)
}

type Stage = 'before-model' | 'at-model' | 'after-body'

function stageOf(name: FaultName | undefined): Stage {
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
function parse(text: string, isJson: boolean): Parsed {
  if (!isJson) return { body: {} }
  if (isTooDeep(text)) return { body: {}, failure: failures.notJson() }
  try {
    const value: unknown = JSON.parse(text)
    return { body: isObject(value) ? value : {} }
  } catch {
    return { body: {}, failure: failures.notJson() }
  }
}

function read(codec: Codec, body: JsonObject): ModelRequest | GatewayFailure {
  try {
    return codec.readRequest(body)
  } catch (error) {
    if (error instanceof InvalidRequest) return failures.invalidRequest(error.message)
    throw error
  }
}
