import type { Protocol } from '../../protocols.ts'
import type { Codec } from '../codecs/codec.ts'
import { failures } from '../codecs/failure.ts'
import { type FaultEffects, failureOf } from '../faults/faults.ts'
import { jsonType, type Reply, type TextResponse } from '../http/reply.ts'
import { vendorHeaders } from '../http/vendor-headers.ts'
import { answerIds } from '../ids.ts'
import { failureReason } from '../log/reasons.ts'
import type { ServedCatalog } from '../model/catalog.ts'
import type { Limits } from '../options.ts'
import type { StoredRoute } from '../routes.ts'
import type { Scope } from '../scopes.ts'
import { MessageThreads } from '../store/message-threads.ts'
import { StoredResponses } from '../store/stored-responses.ts'
import {
  countTokens,
  type Decision,
  decide,
  decideIfWritten,
  type ModelAnswer,
  type RecordedAnswer,
} from './decide.ts'

interface InferenceOptions {
  readonly catalog: ServedCatalog
  readonly limits: Limits
}

/** Answers inference requests, with written answers or with the built-in model. */
export class InferenceHandler {
  openStreams = 0
  readonly #options: InferenceOptions
  readonly #newAnswerId = answerIds()
  readonly #responses = new StoredResponses()
  readonly #threads = new MessageThreads()

  constructor(options: InferenceOptions) {
    this.#options = options
  }

  async answer(reply: Reply, protocol: Protocol, scope: Scope): Promise<void> {
    const decision = await decide(...this.#question(reply, protocol, scope))
    await this.#send(reply, decision, scope)
  }

  /** Answers with a recorded or written answer. Returns whether there was one. */
  async answerIfWritten(reply: Reply, protocol: Protocol, scope: Scope): Promise<boolean> {
    const decision = await decideIfWritten(...this.#question(reply, protocol, scope))
    if (decision !== undefined) await this.#send(reply, decision, scope)
    return decision !== undefined
  }

  async #send(reply: Reply, decision: Decision, scope: Scope): Promise<void> {
    const { entry } = reply
    const { catalog } = this.#options
    const type = reply.request.headers['content-type']

    const { result } = decision
    entry.modelAsked = decision.modelAsked
    entry.modelServed = decision.modelServed
    entry.stream = decision.isStream

    if (!(await reply.delayOrReplace(decision.effects))) return
    switch (result.kind) {
      case 'recorded':
        return this.#sendRecorded(reply, result, decision.effects, scope.fragment)
      case 'failure':
        return reply.fail(result, failureReason(result, entry, type, catalog))
      case 'answer':
        return this.#sendAnswer(reply, result, decision, scope.fragment)
    }
  }

  /** Answers how many tokens a request has. */
  sendCount(reply: Reply, protocol: Protocol, scope: Scope): void {
    const { entry } = reply
    const count = countTokens(...this.#question(reply, protocol, scope))
    if (count.kind === 'failure') {
      const type = reply.request.headers['content-type']
      reply.fail(count, failureReason(count, entry, type, this.#options.catalog))
    } else {
      const object = protocol === 'responses' ? { object: 'response.input_tokens' } : {}
      reply.json(JSON.stringify({ ...object, input_tokens: count.tokens }))
    }
  }

  #question(
    { request, entry }: Reply,
    protocol: Protocol,
    scope: Scope,
  ): Parameters<typeof decide> {
    const isJson = request.headers['content-type']?.startsWith('application/json') ?? false
    const callPrefix = protocol === 'messages' ? 'toolu_' : 'call_'
    const context = {
      catalog: this.#options.catalog,
      scope,
      responses: this.#responses,
      threads: this.#threads,
      newCallId: () => callPrefix + this.#newAnswerId(),
    }
    const { key, requestBody } = entry
    return [context, { protocol, key, body: requestBody, isJson, headers: request.headers }]
  }

  sendStored(reply: Reply, { action, id }: StoredRoute): void {
    const query = new URLSearchParams(reply.entry.path.split('?')[1])
    const actions = {
      read: () => this.#responses.find(id),
      'read-input': () => this.#responses.inputOf(id, query),
      delete: () => this.#responses.delete(id),
    }

    const answer = actions[action]()
    if (answer === undefined) reply.fail(failures.noSuchResponse(id))
    else reply.json(JSON.stringify(answer))
  }

  /** Sends the bytes of a recorded answer, as it arrived, or at once. */
  async #sendRecorded(
    reply: Reply,
    { raw, codec, model }: RecordedAnswer,
    effects: FaultEffects,
    fragment: Scope['fragment'],
  ): Promise<void> {
    const { status, type, body = '', events = [] } = raw
    const isAtOnce = fragment === 'off'
    const afterMs = isAtOnce ? 0 : raw.afterMs
    if (afterMs > 0 && (await reply.wait(afterMs)) === 'stopped') return
    if (events.length === 0) {
      sendWhole({ status, type, text: body }, { reply, effects })
      return
    }
    if (this.#refusesStream(reply)) return

    const { betweenMs = 0 } = effects
    const frames = endByFault(
      events.map(({ text }) => text),
      { codec, model, effects },
    )
    const ending = endingOf(effects)
    if (isAtOnce && betweenMs === 0)
      return this.#write(reply, { status, type, pieces: [frames.join('')], ending })
    const pauseMs = (index: number) => (isAtOnce ? 0 : (events[index]?.afterMs ?? 0))
    const delayMsBefore = (index: number) => betweenMs + pauseMs(index)
    this.#write(reply, { status, type, pieces: frames, delayMsBefore, ending })
  }

  /** Sends an answer of the model, and stores it if later requests can continue it. */
  #sendAnswer(
    reply: Reply,
    modelAnswer: ModelAnswer,
    { isStream, effects }: Decision,
    fragment: Scope['fragment'],
  ): void {
    if (isStream && this.#refusesStream(reply)) return

    const { entry } = reply
    const { codec, body, model, answer, isInThread } = modelAnswer
    entry.inputTokens = answer.usage.inputTokens
    entry.outputTokens = answer.usage.outputTokens
    const createdAt = Math.floor(entry.at.getTime() / 1000)
    const isBeta = new URLSearchParams(entry.path.split('?')[1]).get('beta') === 'true'
    const facts = { id: this.#newAnswerId(), model, createdAt, isBeta }

    const storedAnswer = { ...modelAnswer, facts, size: entry.requestBody.length }
    if (codec.protocol === 'responses' && body['store'] !== false) this.#responses.add(storedAnswer)
    if (isInThread) this.#threads.add(storedAnswer)

    const delivery = { reply, codec, model, effects, fragment }
    if (isStream) this.#sendFrames(codec.streamFrames(body, facts, answer), delivery)
    else {
      const text = JSON.stringify(codec.document(body, facts, answer))
      const headers = vendorHeaders(codec.protocol, entry)
      sendWhole({ type: jsonType, text, headers }, delivery)
    }
  }

  #sendFrames(allFrames: readonly string[], delivery: Delivery): void {
    const { reply, codec, effects, fragment } = delivery
    const headers = vendorHeaders(codec.protocol, reply.entry)
    const frames = endByFault(allFrames, delivery)
    const ending = endingOf(effects)
    const { betweenMs = 0 } = effects

    if (betweenMs > 0)
      this.#write(reply, { pieces: frames, delayMsBefore: () => betweenMs, ending, headers })
    else {
      const pieces = fragment === 'off' ? [frames.join('')] : splitStream(frames)
      this.#write(reply, { pieces, ending, headers })
    }
  }

  /** Whether too many streams are open, and this one fails. */
  #refusesStream(reply: Reply): boolean {
    if (this.openStreams < this.#options.limits.maxOpenStreams) return false
    reply.fail(failures.badVendorStatus(503, 'too many open streams'))
    return true
  }

  #write(reply: Reply, stream: Parameters<Reply['stream']>[0]): void {
    this.openStreams++
    reply.onEnd(() => this.openStreams--)
    reply.stream(stream).catch((error: unknown) => reply.crash(error))
  }
}

/** What decides how an answer of the model is sent, in addition to its contents. */
interface Delivery {
  readonly reply: Reply
  readonly codec: Codec
  readonly model: string
  readonly effects: FaultEffects
  readonly fragment: Scope['fragment']
}

/** Sends a whole answer. The faults that end a stream make it fail, or cut it in half. */
function sendWhole(
  answer: TextResponse,
  { reply, effects }: Pick<Delivery, 'reply' | 'effects'>,
): void {
  if (effects.errorAfter !== undefined) reply.fail(failures.badVendorStatus(500))
  else if (effects.cutAfter !== undefined) reply.sendHalf(answer)
  else reply.send(answer)
}

function endingOf({ cutAfter }: FaultEffects): 'end' | 'cut' {
  return cutAfter === undefined ? 'end' : 'cut'
}

/** The frames up to the point at which a fault ends the stream, and its error event, if it has one. */
function endByFault(
  allFrames: readonly string[],
  { codec, effects, model }: Pick<Delivery, 'codec' | 'effects' | 'model'>,
): readonly string[] {
  const { errorAfter = Infinity, cutAfter = Infinity } = effects
  const frames = allFrames.slice(0, Math.min(errorAfter, cutAfter))
  if (effects.errorAfter === undefined) return frames

  const { protocol } = codec
  const failure = failureOf(effects, { route: protocol, model }) ?? {
    message: 'upstream error',
    type: protocol === 'messages' ? 'api_error' : 'new_api_error',
    code: 'bad_response',
  }
  return [...frames, codec.failureFrame(failure, frames.length)]
}

/** A stream with more characters than this is written in three pieces, a shorter one in two. */
const longStream = 16 * 1024

/**
 * Splits a stream into pieces, as a network may deliver it. No piece except the last ends at the end of
 * a frame, and the first cut is inside a multi-byte character if there is one. A client that parses each
 * piece separately fails.
 */
function splitStream(frames: readonly string[]): readonly (string | Buffer)[] {
  const text = frames.join('')
  // Strings are faster to write than bytes, and ASCII characters cannot be split.
  const isAscii = Buffer.byteLength(text) === text.length
  const whole = isAscii ? text : Buffer.from(text)
  const count = whole.length > longStream ? 3 : 2

  const pieces: (string | Buffer)[] = []
  let start = 0
  for (let nth = 1; nth <= count; nth++) {
    const end =
      nth === count ? whole.length : findCut(whole, Math.trunc((whole.length * nth) / count))
    if (end <= start) continue
    pieces.push(typeof whole === 'string' ? whole.slice(start, end) : whole.subarray(start, end))
    start = end
  }

  return pieces
}

/** The first offset from `minOffset` on that is inside a character, or in ASCII, inside the data of a frame. */
function findCut(whole: string | Buffer, minOffset: number): number {
  if (typeof whole !== 'string') {
    const inside = whole.findIndex((byte, index) => index >= minOffset && isContinuation(byte))
    return inside === -1 ? whole.findLastIndex(isContinuation) : inside
  }
  const lineStart = whole.lastIndexOf('\n', minOffset - 1) + 1
  const isInData = minOffset > lineStart + dataStart.length
  if (whole.startsWith(dataStart, lineStart) && isInData) return minOffset
  return whole.indexOf(dataStart, minOffset) + dataStart.length + 1
}

const dataStart = 'data: '

/** Whether a byte is the second or a later one of a character in UTF-8. */
function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
