import { asList, isObject, type JsonObject, toObject } from '../requests/read.ts'
import type { Usage } from '../requests/reading/turns.ts'
import { readResponsesRequest } from '../requests/responses.ts'
import { createSeal } from '../requests/seal.ts'
import type { Block, FinishReason, WholeAnswer } from './answer.ts'
import type { AnswerFacts, AnswerStream, Codec } from './codec.ts'
import { frameTemplate, sseFrame } from './codec.ts'
import { splitTokens } from './tokens.ts'

/** POST /v1/responses. */
export const responses: Codec = {
  protocol: 'responses',
  readRequest: readResponsesRequest,
  encodeStream: encodeResponsesStream,
  document: responseDocument,
}

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

function encodeResponsesStream(
  body: JsonObject,
  facts: AnswerFacts,
  answer: WholeAnswer,
): AnswerStream {
  const document = createDocument(body, facts)
  const thoughts = thoughtOptions(body)
  let sequence = 0
  /** The name of each event is the type of its data. */
  const frame = (type: string, members: object) =>
    sseFrame({ type, sequence_number: sequence++, ...members }, type)

  function* frames() {
    const response = document('in_progress', [], null)
    yield frame('response.created', { response })
    yield frame('response.in_progress', { response })

    for (const [index, block] of answer.blocks.entries()) {
      const started = outputItem(
        { facts, thoughts, block: { ...block, text: '' }, index },
        'in_progress',
      )
      yield frame('response.output_item.added', { output_index: index, item: started })
      yield* contentFrames(block, index)
      const item = outputItem({ facts, thoughts, block, index }, itemStatus(block))
      yield frame('response.output_item.done', { output_index: index, item })
    }

    const status = endStatus(answer.reason)
    yield frame(`response.${status}`, { response: document(status, answer.blocks, answer) })
  }

  /** The frames for the contents of an item, piece by piece. */
  function* contentFrames(block: Block, index: number) {
    const events = blockEvents(block, thoughts)
    if (events === undefined) return
    const { event, part, content_index, summary_index, logprobs, whole } = events
    const item_id = itemId(facts, block, index)
    const place = { item_id, output_index: index, content_index, summary_index }
    const placed = (name: string, members: object) =>
      frame(`response.${name}`, { ...place, ...members })

    if (part !== undefined)
      yield placed(`${part}.added`, { part: contentPart({ ...block, text: '' }) })
    const type = `response.${event}.delta`
    const data = { type, sequence_number: '<number>', ...place, delta: '<piece>', logprobs }
    const frameOf = frameTemplate(sseFrame(data, type), ['<number>', '<piece>'])
    for (const delta of splitTokens(block)) yield frameOf(sequence++, delta)

    yield placed(`${event}.done`, { ...whole, logprobs })
    if (part !== undefined) yield placed(`${part}.done`, { part: contentPart(block) })
  }

  return {
    frames: frames(),
    fail: ({ message, code, param = null }) => frame('error', { code, message, param }),
  }
}

/** The events for the contents of a block: their names, and their members except the pieces. */
interface BlockEvents {
  readonly event: string
  /** The name of the part, if the item has parts. */
  readonly part?: string
  readonly content_index?: number
  readonly summary_index?: number
  readonly logprobs?: readonly []
  /** The members that repeat the whole text in the last event. */
  readonly whole: object
}

/** @returns undefined if the client gets no events for the contents */
function blockEvents(block: Block, thoughts: ThoughtOptions): BlockEvents | undefined {
  const { type, text } = block
  if (type === 'call')
    return isFunction(block)
      ? { event: 'function_call_arguments', whole: { arguments: text } }
      : { event: 'custom_tool_call_input', whole: { input: text } }
  if (type === 'thinking') {
    const [event, part] = ['reasoning_summary_text', 'reasoning_summary_part']
    return thoughts.summary ? { event, part, summary_index: 0, whole: { text } } : undefined
  }

  const inItem = { part: 'content_part', content_index: 0 }
  return block.isRefusal
    ? { event: 'refusal', ...inItem, whole: { refusal: text } }
    : { event: 'output_text', ...inItem, logprobs: [], whole: { text } }
}

function responseDocument(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object {
  return createDocument(body, facts)(endStatus(answer.reason), answer.blocks, answer)
}

function endStatus({ type }: FinishReason): 'completed' | 'incomplete' {
  return type === 'length' || type === 'content-filter' ? 'incomplete' : 'completed'
}

function contentPart(block: Block) {
  const { text } = block
  if (block.type === 'thinking') return { type: 'summary_text', text }
  return block.type === 'text' && block.isRefusal
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', annotations: [], logprobs: [], text }
}

/** The status of a finished item. */
function itemStatus({ isCut }: Block): ItemStatus {
  return isCut ? 'incomplete' : 'completed'
}

function isFunction(block: Block): boolean {
  return block.type === 'call' && block.tool.kind === 'function'
}

/** The forms of thoughts that the client requests. */
interface ThoughtOptions {
  readonly summary: boolean
  readonly encrypted: boolean
}

function thoughtOptions(body: JsonObject): ThoughtOptions {
  const { summary } = toObject(body['reasoning'])
  return {
    summary: typeof summary === 'string',
    encrypted: asList(body['include']).includes('reasoning.encrypted_content'),
  }
}

/** The ID of an output item. It encodes the kind and the index. */
function itemId({ id }: AnswerFacts, block: Block, index: number): string {
  if (block.type === 'text') return `msg_${id}${index}`
  if (block.type === 'thinking') return `rs_${id}${index}`
  return `${isFunction(block) ? 'fc' : 'ctc'}_${id}${index}`
}

interface PlacedBlock {
  readonly facts: AnswerFacts
  readonly thoughts: ThoughtOptions
  readonly block: Block
  readonly index: number
}

function outputItem({ facts, thoughts, block, index }: PlacedBlock, status: ItemStatus) {
  const id = itemId(facts, block, index)
  const isOpen = status === 'in_progress'
  if (block.type === 'text') {
    const content = isOpen ? [] : [contentPart(block)]
    return { id, type: 'message', status, content, role: 'assistant' }
  }

  if (block.type === 'thinking') {
    const summary = thoughts.summary && !isOpen ? [contentPart(block)] : []
    const sealed = thoughts.encrypted
      ? { encrypted_content: isOpen ? '' : createSeal(block.text) }
      : {}
    return { id, type: 'reasoning', summary, ...sealed }
  }

  const { name, namespace } = block.tool
  const said = isFunction(block)
    ? { arguments: block.text, call_id: block.id }
    : { call_id: block.id, input: block.text }

  return {
    id,
    type: isFunction(block) ? 'function_call' : 'custom_tool_call',
    status,
    ...said,
    name,
    ...(namespace === undefined ? {} : { namespace }),
  }
}

/** Creates the document of an answer. It repeats members of the request. */
function createDocument(body: JsonObject, facts: AnswerFacts) {
  const echo = echoRequest(body)
  const thoughts = thoughtOptions(body)

  return (
    status: ItemStatus,
    blocks: readonly Block[],
    end: { readonly reason: FinishReason; readonly usage: Usage } | null,
  ) => ({
    id: `resp_${facts.id}`,
    object: 'response',
    created_at: facts.createdAt,
    status,
    background: false,
    completed_at: status === 'completed' ? facts.createdAt : null,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: incompleteReason(end?.reason) } : null,
    model: facts.model,
    output: blocks.map((block, index) =>
      outputItem({ facts, thoughts, block, index }, itemStatus(block)),
    ),
    usage: end && responseUsage(end.usage),
    ...echo,
  })
}

function incompleteReason(reason: FinishReason | undefined): string {
  return reason?.type === 'content-filter' ? 'content_filter' : 'max_output_tokens'
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
