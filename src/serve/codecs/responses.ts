import type { AnswerFacts, Block, Codec, JsonObject, StreamEncoder, WholeAnswer } from './codec.ts'
import { Blocks, InvalidRequest, sseFrame } from './codec.ts'
import type { FinishReason, Message, ModelRequest, Tool, ToolChoice, Usage } from './events.ts'
import { asLimit, asList, asString, contentText, isObject, readContent } from './read.ts'

/** POST /v1/responses. */
export const responses: Codec = { protocol: 'responses', readRequest, encodeStream, fold }

function readRequest(body: JsonObject): ModelRequest {
  const input = body['input']
  if (input === undefined || input === null) throw new InvalidRequest('input is required')
  const instructions = asString(body['instructions']) ?? ''
  const system: Message = { role: 'system', parts: [{ type: 'text', text: instructions }] }
  return {
    model: asString(body['model']) ?? '',
    messages: [...(instructions === '' ? [] : [system]), ...readInput(input)],
    tools: [...asList(body['tools']), ...additionalTools(input)].flatMap((tool) => readTool(tool)),
    toolChoice: readToolChoice(body['tool_choice']),
    maxOutputTokens: asLimit(body['max_output_tokens']),
    stopSequences: [],
    outputSchema: readFormat(body['text']),
  }
}

function readInput(input: unknown): readonly Message[] {
  if (typeof input === 'string') return [{ role: 'user', parts: [{ type: 'text', text: input }] }]
  return asList(input).filter(isObject).flatMap(readItem)
}

function readItem(item: JsonObject): Message[] {
  const type = asString(item['type']) ?? 'message'
  if (type === 'message') {
    const role = item['role']
    if (role === 'system' || role === 'developer')
      return [{ role: 'system', parts: readContent(item['content']) }]
    return [
      { role: role === 'assistant' ? 'assistant' : 'user', parts: readContent(item['content']) },
    ]
  }

  const id = asString(item['call_id']) ?? ''
  if (type.endsWith('_call_output')) {
    const output = item['output']
    const text = typeof output === 'string' ? output : contentText(output)
    return [{ role: 'tool', parts: [{ type: 'tool-result', id, text }] }]
  }

  if (type.endsWith('_call'))
    return [
      {
        role: 'assistant',
        parts: [{ type: 'tool-call', id, name: asString(item['name']) ?? type }],
      },
    ]
  // Reasoning items and whatever else a client hands back belong to the assistant and say nothing.
  return []
}

/**
 * Codex 0.169.0 puts the tools of some models (gpt-5.6-sol) into an input item instead of the member
 * `tools` (2026-11-21).
 */
function additionalTools(input: unknown): readonly unknown[] {
  return asList(input).flatMap((item) =>
    isObject(item) && item['type'] === 'additional_tools' ? asList(item['tools']) : [],
  )
}

function readTool(tool: unknown, namespace?: string): Tool[] {
  const name = isObject(tool) ? asString(tool['name']) : undefined
  if (!isObject(tool) || name === undefined) return []
  switch (tool['type']) {
    case 'function':
      return [{ name, kind: 'function', parameters: tool['parameters'], namespace }]
    case 'custom': {
      const nested = nestedTools(asString(tool['description']) ?? '')
      return [{ name, kind: 'custom', parameters: undefined, namespace, nested }]
    }
    case 'namespace':
      return namespace === undefined
        ? asList(tool['tools']).flatMap((inner) => readTool(inner, name))
        : []
    default:
      return []
  }
}

/** The tools that a script tool declares in its description, as Codex 0.169.0 does for `exec`. */
function nestedTools(description: string): readonly string[] {
  return [...description.matchAll(/^declare const tools: \{ (\w+)\(/gm)].map(([, name]) => name!)
}

function readFormat(text: unknown): unknown {
  const format = isObject(text) ? text['format'] : undefined
  if (!isObject(format)) return undefined
  if (format['type'] === 'json_object') return {}
  return format['type'] === 'json_schema' ? (format['schema'] ?? {}) : undefined
}

function readToolChoice(choice: unknown): ToolChoice {
  if (choice === 'none' || choice === 'required') return choice
  const name = isObject(choice) ? asString(choice['name']) : undefined
  return name === undefined ? 'auto' : { name }
}

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

function encodeStream(body: JsonObject, facts: AnswerFacts): StreamEncoder {
  const output = new Blocks()
  const document = documentOf(body, facts)
  const index = () => output.all.length - 1
  const itemId = () => itemIdOf(facts, output.last, index())
  let sequence = 0
  // Every event is called as its data says.
  const frame = (data: { readonly type: string; readonly [member: string]: unknown }) =>
    sseFrame(data, data.type)

  return {
    open() {
      const response = document('in_progress', [], null)
      return (
        frame({ type: 'response.created', sequence_number: sequence++, response }) +
        frame({ type: 'response.in_progress', sequence_number: sequence++, response })
      )
    },
    frames(event) {
      output.take(event)
      switch (event.type) {
        case 'text-start':
          return itemFrame('added') + partFrame('added')
        case 'text-delta':
          return frame({
            type: 'response.output_text.delta',
            sequence_number: sequence++,
            item_id: itemId(),
            output_index: index(),
            content_index: 0,
            delta: event.text,
            logprobs: [],
          })
        case 'text-end': {
          const done = frame({
            type: 'response.output_text.done',
            sequence_number: sequence++,
            item_id: itemId(),
            output_index: index(),
            content_index: 0,
            text: output.last.text,
            logprobs: [],
          })
          return done + partFrame('done') + itemFrame('done')
        }
        case 'tool-call-start':
          return itemFrame('added')
        case 'tool-call-delta':
          return frame({
            type: `response.${callEvent()}.delta`,
            sequence_number: sequence++,
            item_id: itemId(),
            output_index: index(),
            delta: event.text,
          })
        case 'tool-call-end': {
          const { last } = output
          const done = frame({
            type: `response.${callEvent()}.done`,
            sequence_number: sequence++,
            item_id: itemId(),
            output_index: index(),
            ...argumentsOf(last),
          })
          return done + itemFrame('done')
        }
        case 'finish': {
          const status = endStatus(event.reason)
          const response = document(status, output.all, event.usage)
          return frame({ type: `response.${status}`, sequence_number: sequence++, response })
        }
      }
    },
    fail: ({ message, code }) =>
      frame({ type: 'error', sequence_number: sequence++, code, message, param: null }),
  }

  function callEvent(): string {
    return isFunction(output.last) ? 'function_call_arguments' : 'custom_tool_call_input'
  }

  function itemFrame(stage: 'added' | 'done'): string {
    return frame({
      type: `response.output_item.${stage}`,
      sequence_number: sequence++,
      output_index: index(),
      item: itemOf(facts, output.last, index(), stage === 'added' ? 'in_progress' : 'completed'),
    })
  }

  function partFrame(stage: 'added' | 'done'): string {
    return frame({
      type: `response.content_part.${stage}`,
      sequence_number: sequence++,
      item_id: itemId(),
      output_index: index(),
      content_index: 0,
      part: textPart(output.last.text),
    })
  }
}

function fold(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object {
  return documentOf(body, facts)(endStatus(answer.reason), answer.blocks, answer.usage)
}

function endStatus(reason: FinishReason): 'completed' | 'incomplete' {
  return reason.type === 'length' ? 'incomplete' : 'completed'
}

function textPart(text: string) {
  return { type: 'output_text', annotations: [], logprobs: [], text }
}

function isFunction(block: Block): boolean {
  return block.type === 'call' && block.tool.kind === 'function'
}

/** The id of an output item, which tells its kind and its place. */
function itemIdOf({ id }: AnswerFacts, block: Block, index: number): string {
  if (block.type === 'text') return `msg_${id}${index}`
  return `${isFunction(block) ? 'fc' : 'ctc'}_${id}${index}`
}

function itemOf(facts: AnswerFacts, block: Block, index: number, status: ItemStatus) {
  const id = itemIdOf(facts, block, index)
  if (block.type === 'text') {
    const content = status === 'in_progress' ? [] : [textPart(block.text)]
    return { id, type: 'message', status, content, role: 'assistant' }
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

function argumentsOf(block: Block) {
  return isFunction(block) ? { arguments: block.text } : { input: block.text }
}

/** Makes the document of an answer, which repeats what the request said. */
function documentOf(body: JsonObject, facts: AnswerFacts) {
  const echo = echoOf(body)

  return (status: ItemStatus, blocks: readonly Block[], usage: Usage | null) => ({
    id: `resp_${facts.id}`,
    object: 'response',
    created_at: facts.createdAt,
    status,
    background: false,
    completed_at: status === 'completed' ? facts.createdAt : null,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    model: facts.model,
    output: blocks.map((block, index) => itemOf(facts, block, index, 'completed')),
    usage: usage && {
      input_tokens: usage.inputTokens,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
    ...echo,
  })
}

function echoOf(body: JsonObject) {
  const { summary, effort } = isObject(body['reasoning']) ? body['reasoning'] : {}
  const text = isObject(body['text']) ? body['text'] : {}
  return {
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    metadata: body['metadata'] ?? {},
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    reasoning: { effort: effort ?? null, summary: summary ?? null },
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: { format: { type: 'text' }, ...text },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: asList(body['tools']),
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
    ...(typeof body['user'] === 'string' ? { user: body['user'] } : {}),
  }
}
