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
  /** The vendor numbers all events of a stream, from 0. */
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

  function* itemStart(indexed: IndexedBlock): Generator<string> {
    const { block, index } = indexed
    const item = outputItem(indexed, context, 'start')
    yield frame('response.output_item.added', { output_index: index, item })

    const events = textEvents(block, context)
    deltaFrame = events && createDeltaFrame(events, blockPlace(indexed, events))
    if (events?.partName === undefined) return
    const place = blockPlace(indexed, events)
    yield frame(`response.${events.partName}.added`, { ...place, part: contentPart(block, '') })
  }

  function* itemEnd(indexed: IndexedBlock): Generator<string> {
    const { block, index } = indexed
    const events = textEvents(block, context)
    if (events !== undefined) yield* textEnd(indexed, events)

    const item = outputItem(indexed, context, 'end')
    yield frame('response.output_item.done', { output_index: index, item })
  }

  function* textEnd(indexed: IndexedBlock, events: TextEvents): Generator<string> {
    const { block } = indexed
    const { textName, partName, wholeTextMember, logprobs } = events
    const place = blockPlace(indexed, events)
    yield frame(`response.${textName}.done`, { ...place, [wholeTextMember]: block.text, logprobs })
    if (partName !== undefined)
      yield frame(`response.${partName}.done`, { ...place, part: contentPart(block, block.text) })
  }

  /** The members that say to which text an event belongs. JSON omits the index that an item lacks. */
  function blockPlace(indexed: IndexedBlock, { contentIndex, summaryIndex }: TextEvents): object {
    return {
      item_id: itemId(indexed, context),
      output_index: indexed.index,
      content_index: contentIndex,
      summary_index: summaryIndex,
    }
  }
}

function createDeltaFrame({ textName, logprobs }: TextEvents, place: object) {
  const type = `response.${textName}.delta`
  return frameTemplate((sequence_number: number, delta: string) => {
    return { type, sequence_number, ...place, delta, logprobs }
  })
}

/** The names and members of the events for the text of an item. */
interface TextEvents {
  /** The text arrives in `response.NAME.delta` and ends with `response.NAME.done`. */
  readonly textName: string
  /** The member of the last event that repeats the whole text. */
  readonly wholeTextMember: string
  readonly logprobs?: readonly []
  /** If the item has a part, `response.NAME.added` and `response.NAME.done` enclose the text. */
  readonly partName?: string
  /** The index of the part among the contents of the item, or among its summaries. */
  readonly contentIndex?: number
  readonly summaryIndex?: number
}

const functionEvents: TextEvents = {
  textName: 'function_call_arguments',
  wholeTextMember: 'arguments',
}
const customToolEvents: TextEvents = {
  textName: 'custom_tool_call_input',
  wholeTextMember: 'input',
}
const summaryEvents: TextEvents = {
  textName: 'reasoning_summary_text',
  wholeTextMember: 'text',
  partName: 'reasoning_summary_part',
  summaryIndex: 0,
}
const outputTextEvents: TextEvents = {
  textName: 'output_text',
  wholeTextMember: 'text',
  logprobs: [],
  partName: 'content_part',
  contentIndex: 0,
}
const refusalEvents: TextEvents = {
  textName: 'refusal',
  wholeTextMember: 'refusal',
  partName: 'content_part',
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
