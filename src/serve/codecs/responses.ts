import type { AnswerFacts, Codec, JsonObject, StreamEncoder } from './codec.ts'
import { InvalidRequest, sseFrame } from './codec.ts'
import type {
  FinishReason,
  Message,
  ModelEvent,
  ModelRequest,
  Part,
  Tool,
  ToolChoice,
  Usage,
} from './events.ts'
import { asLimit, asList, asString, isObject, textOf } from './read.ts'

/** POST /v1/responses. */
export const responses: Codec = { protocol: 'responses', readRequest, encodeStream, fold }

function readRequest(body: JsonObject): ModelRequest {
  const input = body['input']
  if (input === undefined || input === null) throw new InvalidRequest('input is required')
  const instructions = asString(body['instructions']) ?? ''
  const system: Message = { role: 'system', parts: [{ type: 'text', text: instructions }] }
  return {
    model: asString(body['model']) ?? '',
    stream: body['stream'] === true,
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
    const text = typeof output === 'string' ? output : textOf(output)
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

function readContent(content: unknown): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return asList(content)
    .filter(isObject)
    .map((block) => {
      const text = asString(block['text'])
      return text === undefined ? { type: 'media' } : { type: 'text', text }
    })
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

/** What one output item is while it is being built. */
type Item =
  | { kind: 'text'; id: string; text: string }
  | { kind: 'function' | 'custom'; id: string; callId: string; tool: Tool; text: string }

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** Builds the output items from the events; the stream and the folded answer share it. */
class Output {
  readonly items: Item[] = []
  readonly #id: string

  constructor(id: string) {
    this.#id = id
  }

  /** The item that was opened last: blocks do not overlap. */
  get last(): Item {
    return this.items.at(-1)!
  }

  /** Its place among them. */
  get index(): number {
    return this.items.length - 1
  }

  take(event: ModelEvent): void {
    const place = this.items.length
    if (event.type === 'text-start')
      this.items.push({ kind: 'text', id: `msg_${this.#id}${place}`, text: '' })
    else if (event.type === 'tool-call-start') {
      const { tool } = event
      const prefix = tool.kind === 'function' ? 'fc' : 'ctc'
      const id = `${prefix}_${this.#id}${place}`
      this.items.push({ kind: tool.kind, id, callId: event.id, tool, text: '' })
    } else if (event.type === 'text-delta' || event.type === 'tool-call-delta')
      this.last.text += event.text
  }
}

function encodeStream(body: JsonObject, facts: AnswerFacts): StreamEncoder {
  const output = new Output(facts.id)
  const document = documentOf(body, facts)
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
            item_id: output.last.id,
            output_index: output.index,
            content_index: 0,
            delta: event.text,
            logprobs: [],
          })
        case 'text-end': {
          const done = frame({
            type: 'response.output_text.done',
            sequence_number: sequence++,
            item_id: output.last.id,
            output_index: output.index,
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
            item_id: output.last.id,
            output_index: output.index,
            delta: event.text,
          })
        case 'tool-call-end': {
          const { kind, id, text } = output.last
          const done = frame({
            type: `response.${callEvent()}.done`,
            sequence_number: sequence++,
            item_id: id,
            output_index: output.index,
            ...(kind === 'function' ? { arguments: text } : { input: text }),
          })
          return done + itemFrame('done')
        }
        case 'finish': {
          const status = statusOf(event.reason)
          const response = document(status, output.items, event.usage)
          return frame({ type: `response.${status}`, sequence_number: sequence++, response })
        }
      }
    },
    fail: ({ message, code }) =>
      frame({ type: 'error', sequence_number: sequence++, code, message, param: null }),
  }

  function callEvent(): string {
    return output.last.kind === 'function' ? 'function_call_arguments' : 'custom_tool_call_input'
  }

  function itemFrame(stage: 'added' | 'done'): string {
    return frame({
      type: `response.output_item.${stage}`,
      sequence_number: sequence++,
      output_index: output.index,
      item: itemOf(output.last, stage === 'added' ? 'in_progress' : 'completed'),
    })
  }

  function partFrame(stage: 'added' | 'done'): string {
    return frame({
      type: `response.content_part.${stage}`,
      sequence_number: sequence++,
      item_id: output.last.id,
      output_index: output.index,
      content_index: 0,
      part: textPart(output.last.text),
    })
  }
}

function fold(body: JsonObject, facts: AnswerFacts, events: readonly ModelEvent[]): string {
  const output = new Output(facts.id)
  let reason: FinishReason = { type: 'stop' }
  let usage: Usage = { inputTokens: facts.inputTokens, outputTokens: 0 }
  for (const event of events) {
    output.take(event)
    if (event.type === 'finish') {
      reason = event.reason
      usage = event.usage
    }
  }
  return JSON.stringify(documentOf(body, facts)(statusOf(reason), output.items, usage))
}

function statusOf(reason: FinishReason): 'completed' | 'incomplete' {
  return reason.type === 'length' ? 'incomplete' : 'completed'
}

function textPart(text: string) {
  return { type: 'output_text', annotations: [], logprobs: [], text }
}

function itemOf(item: Item, status: ItemStatus) {
  switch (item.kind) {
    case 'text': {
      const content = status === 'in_progress' ? [] : [textPart(item.text)]
      return { id: item.id, type: 'message', status, content, role: 'assistant' }
    }
    case 'function':
      return {
        id: item.id,
        type: 'function_call',
        status,
        arguments: item.text,
        call_id: item.callId,
        ...nameOf(item.tool),
      }
    case 'custom':
      return {
        id: item.id,
        type: 'custom_tool_call',
        status,
        call_id: item.callId,
        input: item.text,
        ...nameOf(item.tool),
      }
  }
}

function nameOf({ name, namespace }: Tool) {
  return namespace === undefined ? { name } : { name, namespace }
}

/** Makes the document of an answer, which repeats what the request said. */
function documentOf(body: JsonObject, facts: AnswerFacts) {
  const echo = echoOf(body)

  return (status: ItemStatus, items: readonly Item[], usage: Usage | null) => ({
    id: `resp_${facts.id}`,
    object: 'response',
    created_at: facts.createdAt,
    status,
    background: false,
    completed_at: status === 'completed' ? facts.createdAt : null,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    model: facts.model,
    output: items.map((item) => itemOf(item, 'completed')),
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
