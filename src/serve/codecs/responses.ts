import { asList, isObject, type JsonObject, parseJsonObject, toObject } from '../requests/json.ts'
import { readResponsesRequest } from '../requests/responses-request.ts'
import type { Usage } from '../requests/turns/turns.ts'
import type { Block, FinishReason, WholeAnswer } from './answer.ts'
import type { AnswerFacts, Codec } from './codec.ts'
import {
  contentPart,
  type IndexedBlock,
  type ItemContext,
  itemContext,
  itemId,
  outputItem,
} from './responses-items.ts'
import { frameTemplate, sseFrame } from './sse.ts'
import { splitTokens } from './tokens.ts'

/**
 * POST /v1/responses. The events of the answer in codec.ts, each with the name that `type` has. All names begin
 * with `response.`, and the number is the `output_index`:
 *
 *     created                         the response without output
 *     in_progress                     the same
 *     output_item.added            0  { type: 'reasoning', summary: [], … }
 *     reasoning_summary_part.added 0  if the client asked for a summary
 *     reasoning_summary_text.delta 0  'I'
 *     reasoning_summary_text.delta 0  ' look.'
 *     reasoning_summary_text.done  0  'I look.'
 *     reasoning_summary_part.done  0
 *     output_item.done             0  { type: 'reasoning', summary: […], … }
 *     output_item.added            1  { type: 'message', content: [], … }
 *     content_part.added           1
 *     output_text.delta            1  'One'
 *     …
 *     output_item.added            2  { type: 'function_call', name: 'read', arguments: '', … }
 *     function_call_arguments.delta 2 '{"path'
 *     …                               no part encloses the arguments of a call
 *     completed                       the response with all items and the usage
 */
export const responses: Codec = {
  protocol: 'responses',
  readRequest: readResponsesRequest,
  document: responseDocument,
  streamFrames: responseFrames,
  failureFrame: ({ message, code, param = null }, sentFrames) =>
    eventFrame('error', sentFrames, { code, message, param }),
}

function responseFrames(
  body: JsonObject,
  facts: AnswerFacts,
  answer: WholeAnswer,
): readonly string[] {
  const context = itemContext(body, facts)
  const frames: string[] = []

  const response = responseDocument(body, facts)
  addEvent('response.created', { response })
  addEvent('response.in_progress', { response })
  for (const [index, block] of answer.blocks.entries()) addItem({ block, index })
  const finalResponse = responseDocument(body, facts, answer)
  addEvent(`response.${finalResponse.status}`, { response: finalResponse })
  return frames

  function addEvent(type: string, members: object): void {
    frames.push(eventFrame(type, frames.length, members))
  }

  function addItem(indexed: IndexedBlock): void {
    const { block, index } = indexed
    const events = textEvents(block, context)
    const itemAt = (stage: 'start' | 'end') => outputItem(indexed, context, stage)

    addEvent('response.output_item.added', { output_index: index, item: itemAt('start') })
    if (block.type === 'call' && block.tool.vendorType === 'shell') addCommands(indexed)
    if (events !== undefined) addText(indexed, events)
    addEvent('response.output_item.done', { output_index: index, item: itemAt('end') })
  }

  function addCommands({ block, index }: IndexedBlock): void {
    const { commands } = parseJsonObject(block.text) ?? {}
    for (const [command_index, command] of asList(commands).entries()) {
      const place = { output_index: index, command_index }
      addEvent('response.shell_call_command.added', { ...place, command: '' })
      addEvent('response.shell_call_command.delta', { ...place, delta: command })
      addEvent('response.shell_call_command.done', { ...place, command })
    }
  }

  function addText(indexed: IndexedBlock, events: TextEvents): void {
    const { block, index } = indexed
    const { textName, wholeTextMember, logprobs, partName, partPlace } = events
    const place = { item_id: itemId(indexed, context), output_index: index, ...partPlace }

    if (partName !== undefined)
      addEvent(`response.${partName}.added`, { ...place, part: contentPart(block, '') })

    const deltaFrame = frameTemplate((sequence_number: number, delta: string) => {
      return { type: `response.${textName}.delta`, sequence_number, ...place, delta, logprobs }
    })
    for (const token of splitTokens(block)) frames.push(deltaFrame(frames.length, token))
    addEvent(`response.${textName}.done`, { ...place, [wholeTextMember]: block.text, logprobs })

    if (partName !== undefined)
      addEvent(`response.${partName}.done`, { ...place, part: contentPart(block, block.text) })
  }
}

/** The vendor numbers the events of a stream, from 0. */
function eventFrame(type: string, number: number, members: object): string {
  return sseFrame({ type, sequence_number: number, ...members })
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
  /** The index of the part in the item. */
  readonly partPlace?: { readonly content_index: 0 } | { readonly summary_index: 0 }
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
  partPlace: { summary_index: 0 },
}
const outputTextEvents: TextEvents = {
  textName: 'output_text',
  wholeTextMember: 'text',
  logprobs: [],
  partName: 'content_part',
  partPlace: { content_index: 0 },
}
const refusalEvents: TextEvents = {
  textName: 'refusal',
  wholeTextMember: 'refusal',
  partName: 'content_part',
  partPlace: { content_index: 0 },
}

/**
 * Undefined: the client gets no events for the text, because it requested no summary of the thoughts, or
 * because the vendor's own tool has none.
 */
function textEvents(block: Block, { sendsSummary }: ItemContext): TextEvents | undefined {
  switch (block.type) {
    case 'text':
      return block.isRefusal ? refusalEvents : outputTextEvents
    case 'thinking':
      return sendsSummary ? summaryEvents : undefined
    case 'call':
      if (block.tool.vendorType !== undefined) return undefined
      return block.tool.kind === 'function' ? functionEvents : customToolEvents
  }
}

/**
 * The document of an answer. It repeats members of the request. Without `answer`, it is the document at
 * the start of a stream, when there is no output yet.
 */
function responseDocument(body: JsonObject, facts: AnswerFacts, answer?: WholeAnswer) {
  const items = itemContext(body, facts)
  const blocks = answer?.blocks ?? []
  const incompleteReason = answer && incompleteReasons[answer.reason.type]
  const finalStatus = incompleteReason === undefined ? 'completed' : 'incomplete'
  const status = answer === undefined ? 'in_progress' : finalStatus

  return {
    id: `resp_${facts.id}`,
    object: 'response',
    access_programs: null,
    created_at: facts.createdAt,
    status,
    background: false,
    completed_at: status === 'completed' ? facts.createdAt : null,
    error: null,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    model: facts.model,
    output: blocks.map((block, index) => outputItem({ block, index }, items, 'end')),
    usage: answer === undefined ? null : responseUsage(answer.usage),
    ...echoRequest(body),
  }
}

/** Why the status of an answer is `incomplete`. Undefined: it is `completed`. */
const incompleteReasons: Readonly<Record<FinishReason['type'], string | undefined>> = {
  stop: undefined,
  'tool-calls': undefined,
  length: 'max_output_tokens',
  'stop-sequence': undefined,
  refusal: undefined,
  'content-filter': 'content_filter',
}

function responseUsage({ inputTokens, cachedTokens, outputTokens, reasoningTokens }: Usage) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  }
}

/** The usage of the vendor's own tools. None of them runs here. */
const noToolUsage = {
  image_gen: {
    input_tokens: 0,
    input_tokens_details: { image_tokens: 0, text_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { image_tokens: 0, text_tokens: 0 },
    total_tokens: 0,
  },
  web_search: { num_requests: 0 },
}

function echoRequest(body: JsonObject) {
  const { summary, effort } = toObject(body['reasoning'])
  return {
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    metadata: body['metadata'] ?? {},
    moderation: null,
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    presence_penalty: body['presence_penalty'] ?? 0,
    frequency_penalty: body['frequency_penalty'] ?? 0,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    prompt_cache_retention: body['prompt_cache_retention'] ?? null,
    reasoning: { effort: effort ?? null, summary: summary ?? null },
    safety_identifier: body['safety_identifier'] ?? null,
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: { format: { type: 'text' }, ...toObject(body['text']) },
    tool_choice: body['tool_choice'] ?? 'auto',
    tool_usage: noToolUsage,
    tools: asList(body['tools']).map(echoTool),
    top_logprobs: 0,
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
    user: body['user'] ?? null,
  }
}

function echoTool(tool: unknown): unknown {
  if (!isObject(tool) || tool['type'] !== 'function') return tool
  return {
    ...tool,
    description: tool['description'] ?? null,
    parameters: tool['parameters'] ?? null,
    strict: tool['strict'] ?? true,
  }
}
