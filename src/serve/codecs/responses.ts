import type { JsonObject } from '../requests/json.ts'
import { readResponsesRequest } from '../requests/responses-request.ts'
import type { Block } from './answer.ts'
import type { AnswerFacts, Codec, StreamEncoder } from './codec.ts'
import { responseDocument } from './responses-document.ts'
import {
  contentPart,
  type ItemContext,
  itemContext,
  itemId,
  outputItem,
} from './responses-items.ts'
import { frameTemplate, sseFrame } from './sse.ts'
import type { IndexedBlock } from './stream-parts.ts'

/** POST /v1/responses. */
export const responses: Codec = {
  protocol: 'responses',
  readRequest: readResponsesRequest,
  createEncoder: createResponsesEncoder,
  document: responseDocument,
}

function createResponsesEncoder(body: JsonObject, facts: AnswerFacts): StreamEncoder {
  const context = itemContext(body, facts)
  /** The service numbers all events of a stream, from 0. */
  let nextNumber = 0
  /** The frame for a piece of the current block. Undefined: the client gets no pieces of it. */
  let deltaFrame: ((number: number, piece: string) => string) | undefined

  return {
    *encode(part) {
      switch (part.type) {
        case 'answer-start': {
          const response = responseDocument(body, facts)
          yield frame('response.created', { response })
          yield frame('response.in_progress', { response })
          break
        }
        case 'block-start':
          yield* itemStart(part)
          break
        case 'block-delta':
          if (deltaFrame !== undefined) yield deltaFrame(nextNumber++, part.delta)
          break
        case 'block-end':
          yield* itemEnd(part)
          break
        case 'answer-end': {
          const response = responseDocument(body, facts, part.answer)
          yield frame(`response.${response.status}`, { response })
        }
      }
    },
    encodeFailure: ({ message, code, param = null }) => frame('error', { code, message, param }),
  }

  function frame(type: string, members: object): string {
    return sseFrame({ type, sequence_number: nextNumber++, ...members })
  }

  function* itemStart(part: IndexedBlock): Generator<string> {
    const { block, index } = part
    const item = outputItem(part, context, 'start')
    yield frame('response.output_item.added', { output_index: index, item })

    const events = textEvents(block, context)
    deltaFrame = events && createDeltaFrame(events, placeOf(part, events))
    if (events?.part !== undefined)
      yield frame(`response.${events.part}.added`, {
        ...placeOf(part, events),
        part: contentPart(block, ''),
      })
  }

  function* itemEnd(part: IndexedBlock): Generator<string> {
    const { block, index } = part
    const { text } = block

    const events = textEvents(block, context)
    if (events !== undefined) {
      const { wholeText, logprobs } = events
      const place = placeOf(part, events)
      yield frame(`response.${events.text}.done`, { ...place, [wholeText]: text, logprobs })
      if (events.part !== undefined)
        yield frame(`response.${events.part}.done`, { ...place, part: contentPart(block, text) })
    }

    const item = outputItem(part, context, 'end')
    yield frame('response.output_item.done', { output_index: index, item })
  }

  /** The members that say to which text an event belongs. JSON omits the index that an item lacks. */
  function placeOf(part: IndexedBlock, { contentIndex, summaryIndex }: TextEvents): object {
    return {
      item_id: itemId(part, context),
      output_index: part.index,
      content_index: contentIndex,
      summary_index: summaryIndex,
    }
  }
}

function createDeltaFrame({ text, logprobs }: TextEvents, place: object) {
  const type = `response.${text}.delta`
  return frameTemplate((sequence_number: number, delta: string) => {
    return { type, sequence_number, ...place, delta, logprobs }
  })
}

/** The names and members of the events for the text of an item. */
interface TextEvents {
  /** The text arrives in `response.TEXT.delta` and ends with `response.TEXT.done`. */
  readonly text: string
  /** The member of the last event that repeats the whole text. */
  readonly wholeText: string
  readonly logprobs?: readonly []
  /** If the item has a part, `response.PART.added` and `response.PART.done` enclose the text. */
  readonly part?: string
  /** The index of the part among the contents of the item, or among its summaries. */
  readonly contentIndex?: number
  readonly summaryIndex?: number
}

const functionEvents: TextEvents = { text: 'function_call_arguments', wholeText: 'arguments' }
const customToolEvents: TextEvents = { text: 'custom_tool_call_input', wholeText: 'input' }
const summaryEvents: TextEvents = {
  text: 'reasoning_summary_text',
  wholeText: 'text',
  part: 'reasoning_summary_part',
  summaryIndex: 0,
}
const outputTextEvents: TextEvents = {
  text: 'output_text',
  wholeText: 'text',
  logprobs: [],
  part: 'content_part',
  contentIndex: 0,
}
const refusalEvents: TextEvents = {
  text: 'refusal',
  wholeText: 'refusal',
  part: 'content_part',
  contentIndex: 0,
}

/** Undefined: the client gets no events for the text. */
function textEvents(block: Block, { thoughts }: ItemContext): TextEvents | undefined {
  switch (block.type) {
    case 'text':
      return block.isRefusal ? refusalEvents : outputTextEvents
    case 'thinking':
      return thoughts.summary ? summaryEvents : undefined
    case 'call':
      return block.tool.kind === 'function' ? functionEvents : customToolEvents
  }
}
