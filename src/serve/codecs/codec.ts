import type { ProtocolName } from '../../protocols.ts'
import type { JsonObject } from '../requests/read.ts'
import type { Beside, ModelRequest, Tool } from '../requests/request.ts'
import type { FinishReason, ModelEvent, Usage } from './events.ts'
import { tokensOf } from './tokens.ts'

/** What an answer carries beside the model's events. */
export interface AnswerFacts {
  /** Unique within the process; each protocol puts its own prefix before it. */
  readonly id: string
  /** The model that serves, in full. */
  readonly model: string
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly inputTokens: number
  /** Of the input: found in the vendor's cache. */
  readonly cachedTokens: number
}

/**
 * One protocol, as values: a body becomes a request, events become frames, a whole answer a document.
 * A codec holds no socket and writes nothing.
 */
export interface Codec {
  readonly protocol: ProtocolName
  /** @throws InvalidRequest, Refusal */
  readRequest(body: JsonObject, beside?: Beside): ModelRequest
  /** Frames for a stream. One encoder serves one answer. */
  encodeStream(body: JsonObject, facts: AnswerFacts): StreamEncoder
  /** The document of a whole answer. */
  fold(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object
}

export interface StreamEncoder {
  /** What stands before the model's first event. */
  open(): string
  /** Empty: the protocol says nothing about this event. */
  frames(event: ModelEvent): string
  /** What a failure in the middle of a stream looks like. The stream ends after it. */
  fail(failure: StreamFailure): string
}

export interface StreamFailure {
  readonly message: string
  readonly type: string
  readonly code: string | null
  readonly param?: string
}

/** The events of a stream: a text in as many deltas as it has tokens. */
export function inTokens(events: readonly ModelEvent[]): readonly ModelEvent[] {
  return events.flatMap((event): ModelEvent | ModelEvent[] => {
    const { type } = event
    return type === 'text-delta' || type === 'thinking-delta'
      ? tokensOf(event.text).map((text) => ({ type, text }))
      : event
  })
}

/** A part of an answer, as far as it was said. */
export type Block = { text: string; isCut: boolean } & (
  | { readonly type: 'thinking' }
  | { readonly type: 'text'; readonly isRefusal: boolean }
  /** `text` holds the arguments. */
  | { readonly type: 'call'; readonly id: string; readonly tool: Tool }
)

/** The blocks of an answer, made from its events. */
export class Blocks {
  readonly all: Block[] = []

  /** The one that was opened last. */
  get last(): Block {
    return this.all.at(-1)!
  }

  take(event: ModelEvent): void {
    switch (event.type) {
      case 'thinking-start':
        this.all.push({ type: 'thinking', text: '', isCut: false })
        break
      case 'text-start':
        this.all.push({ type: 'text', text: '', isCut: false, isRefusal: event.isRefusal === true })
        break
      case 'tool-call-start':
        this.all.push({ type: 'call', id: event.id, tool: event.tool, text: '', isCut: false })
        break
      case 'thinking-delta':
      case 'text-delta':
      case 'tool-call-delta':
        this.last.text += event.text
        break
      case 'thinking-end':
      case 'text-end':
      case 'tool-call-end':
        this.last.isCut = event.isCut === true
    }
  }
}

/** A complete answer. */
export interface WholeAnswer {
  readonly blocks: readonly Block[]
  readonly reason: FinishReason
  readonly usage: Usage
}

export function wholeOf(events: readonly ModelEvent[]): WholeAnswer {
  const blocks = new Blocks()
  for (const event of events) blocks.take(event)
  const finish = events.at(-1)
  if (finish?.type !== 'finish') throw new Error('the answer has no end')
  return { blocks: blocks.all, reason: finish.reason, usage: finish.usage }
}

/** Text of one server-sent event; without a name, as the chat protocol sends it, if `event` is absent. */
export function sseFrame(data: object, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  // JSON holds no line break.
  return `${name}data: ${JSON.stringify(data)}\n\n`
}

export const sseHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  'X-Accel-Buffering': 'no',
} as const
