import { asList, asObject, isObject, type JsonObject } from '../requests/read.ts'
import { readResponsesRequest } from '../requests/responses.ts'
import { sealOf } from '../requests/seal.ts'
import type { AnswerFacts, Block, Codec, StreamEncoder, WholeAnswer } from './codec.ts'
import { Blocks, sseFrame } from './codec.ts'
import type { FinishReason, Usage } from './events.ts'

/** POST /v1/responses. */
export const responses: Codec = {
  protocol: 'responses',
  readRequest: readResponsesRequest,
  encodeStream,
  fold,
}

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

function encodeStream(body: JsonObject, facts: AnswerFacts): StreamEncoder {
  const output = new Blocks()
  const document = documentOf(body, facts)
  const told = toldOf(body)
  const index = () => output.all.length - 1
  const itemId = () => itemIdOf(facts, output.last, index())
  let sequence = 0
  /** Every event is called as its data says. */
  const frame = (type: string, members: object) =>
    sseFrame({ type, sequence_number: sequence++, ...members }, type)

  return {
    open() {
      const response = document('in_progress', [], null)
      return frame('response.created', { response }) + frame('response.in_progress', { response })
    },
    frames(event) {
      output.take(event)
      switch (event.type) {
        case 'thinking-start':
          return itemFrame('added') + (told.summary ? summaryFrame('added') : '')
        case 'text-start':
          return itemFrame('added') + partFrame('added')
        case 'tool-call-start':
          return itemFrame('added')
        case 'thinking-delta':
          return told.summary ? placed('reasoning_summary_text.delta', { delta: event.text }) : ''
        case 'text-delta':
          if (isRefusal(output.last)) return placed('refusal.delta', { delta: event.text })
          return textFrame(event.text)
        case 'tool-call-delta':
          return placed(`${callEvent()}.delta`, { delta: event.text })
        case 'thinking-end': {
          if (!told.summary) return itemFrame('done')
          const done = placed('reasoning_summary_text.done', { text: output.last.text })
          return done + summaryFrame('done') + itemFrame('done')
        }
        case 'text-end': {
          const { text } = output.last
          const done = isRefusal(output.last)
            ? placed('refusal.done', { refusal: text })
            : placed('output_text.done', { text, logprobs: [] })
          return done + partFrame('done') + itemFrame('done')
        }
        case 'tool-call-end':
          return placed(`${callEvent()}.done`, argumentsOf(output.last)) + itemFrame('done')
        case 'finish': {
          const status = endStatus(event.reason)
          const response = document(status, output.all, event)
          return frame(`response.${status}`, { response })
        }
      }
    },
    fail: ({ message, code, param = null }) => frame('error', { code, message, param }),
  }

  function callEvent(): string {
    return isFunction(output.last) ? 'function_call_arguments' : 'custom_tool_call_input'
  }

  /** Of the block that is being said, with its place within the item too, where that has several. */
  function placed(name: string, members: object): string {
    const { type } = output.last
    return frame(`response.${name}`, {
      item_id: itemId(),
      output_index: index(),
      ...(type === 'text' ? { content_index: 0 } : {}),
      ...(type === 'thinking' ? { summary_index: 0 } : {}),
      ...members,
    })
  }

  /** The most frequent one by far: written out, it takes half of the time. */
  function textFrame(delta: string): string {
    const type = 'response.output_text.delta'
    const data = {
      type,
      sequence_number: sequence++,
      item_id: itemId(),
      output_index: index(),
      content_index: 0,
      delta,
      logprobs: [],
    }
    return sseFrame(data, type)
  }

  function itemFrame(stage: 'added' | 'done'): string {
    const { last: block } = output
    const status = stage === 'added' ? 'in_progress' : endOf(block)
    const item = itemOf({ facts, told, block, index: index() }, status)
    return frame(`response.output_item.${stage}`, { output_index: index(), item })
  }

  function partFrame(stage: 'added' | 'done'): string {
    return placed(`content_part.${stage}`, { part: textPart(output.last) })
  }

  function summaryFrame(stage: 'added' | 'done'): string {
    return placed(`reasoning_summary_part.${stage}`, { part: summaryPart(output.last) })
  }
}

function fold(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object {
  return documentOf(body, facts)(endStatus(answer.reason), answer.blocks, answer)
}

function endStatus({ type }: FinishReason): 'completed' | 'incomplete' {
  return type === 'length' || type === 'content-filter' ? 'incomplete' : 'completed'
}

function textPart(block: Block) {
  return isRefusal(block)
    ? { type: 'refusal', refusal: block.text }
    : { type: 'output_text', annotations: [], logprobs: [], text: block.text }
}

function summaryPart({ text }: Block) {
  return { type: 'summary_text', text }
}

/** The status of an item that is no longer open. */
function endOf({ isCut }: Block): ItemStatus {
  return isCut ? 'incomplete' : 'completed'
}

function isFunction(block: Block): boolean {
  return block.type === 'call' && block.tool.kind === 'function'
}

function isRefusal(block: Block): boolean {
  return block.type === 'text' && block.isRefusal
}

/** What a client wants to hear of thoughts. */
interface Told {
  readonly summary: boolean
  readonly encrypted: boolean
}

function toldOf(body: JsonObject): Told {
  const { summary } = asObject(body['reasoning'])
  return {
    summary: typeof summary === 'string',
    encrypted: asList(body['include']).includes('reasoning.encrypted_content'),
  }
}

/** The id of an output item, which tells its kind and its place. */
function itemIdOf({ id }: AnswerFacts, block: Block, index: number): string {
  if (block.type === 'text') return `msg_${id}${index}`
  if (block.type === 'thinking') return `rs_${id}${index}`
  return `${isFunction(block) ? 'fc' : 'ctc'}_${id}${index}`
}

interface PlacedBlock {
  readonly facts: AnswerFacts
  readonly told: Told
  readonly block: Block
  readonly index: number
}

function itemOf({ facts, told, block, index }: PlacedBlock, status: ItemStatus) {
  const id = itemIdOf(facts, block, index)
  const isOpen = status === 'in_progress'
  if (block.type === 'text') {
    const content = isOpen ? [] : [textPart(block)]
    return { id, type: 'message', status, content, role: 'assistant' }
  }
  if (block.type === 'thinking') {
    const summary = told.summary && !isOpen ? [summaryPart(block)] : []
    const sealed = told.encrypted ? { encrypted_content: isOpen ? '' : sealOf(block.text) } : {}
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

function argumentsOf(block: Block): object {
  if (block.type !== 'call') return {}
  return isFunction(block)
    ? { name: block.tool.name, arguments: block.text }
    : { input: block.text }
}

/** Makes the document of an answer, which repeats what the request said. */
function documentOf(body: JsonObject, facts: AnswerFacts) {
  const echo = echoOf(body)
  const told = toldOf(body)

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
    output: blocks.map((block, index) => itemOf({ facts, told, block, index }, endOf(block))),
    usage: end && usageOf(end.usage),
    ...echo,
  })
}

function incompleteReason(reason: FinishReason | undefined): string {
  return reason?.type === 'content-filter' ? 'content_filter' : 'max_output_tokens'
}

function usageOf({ inputTokens, cachedTokens, outputTokens, reasoningTokens }: Usage) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  }
}

function echoOf(body: JsonObject) {
  const { summary, effort } = asObject(body['reasoning'])
  return {
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    metadata: body['metadata'] ?? {},
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    presence_penalty: body['presence_penalty'] ?? 0,
    frequency_penalty: body['frequency_penalty'] ?? 0,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: { effort: effort ?? null, summary: summary ?? null },
    safety_identifier: body['safety_identifier'] ?? null,
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: { format: { type: 'text' }, ...asObject(body['text']) },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: asList(body['tools']).map(toolEcho),
    top_logprobs: 0,
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
    ...(typeof body['user'] === 'string' ? { user: body['user'] } : {}),
  }
}

function toolEcho(tool: unknown): unknown {
  if (!isObject(tool) || tool['type'] !== 'function') return tool
  return {
    ...tool,
    description: tool['description'] ?? null,
    parameters: tool['parameters'] ?? null,
    strict: tool['strict'] ?? true,
  }
}
