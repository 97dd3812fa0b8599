import type { AnswerFacts, Codec, JsonObject, StreamEncoder, WholeAnswer } from './codec.ts'
import { InvalidRequest, sseFrame } from './codec.ts'
import type {
  FinishReason,
  Message,
  ModelRequest,
  Part,
  Tool,
  ToolChoice,
  Usage,
} from './events.ts'
import { asLimit, asList, asString, asStrings, contentText, isObject } from './read.ts'

/** POST /v1/messages. */
export const messages: Codec = { protocol: 'messages', readRequest, encodeStream, fold }

function readRequest(body: JsonObject): ModelRequest {
  const list = asList(body['messages'])
  if (list.length === 0) throw new InvalidRequest('field messages is required')
  const system = contentText(body['system'])
  return {
    model: asString(body['model']) ?? '',
    messages: [
      ...(system === ''
        ? []
        : [{ role: 'system', parts: [{ type: 'text', text: system }] } as const]),
      ...list.filter(isObject).map(readMessage),
    ],
    tools: asList(body['tools']).flatMap(readTool),
    toolChoice: readToolChoice(body['tool_choice']),
    maxOutputTokens: asLimit(body['max_tokens']),
    stopSequences: asStrings(body['stop_sequences']),
    outputSchema: readFormat(body['output_config']),
  }
}

function readMessage(message: JsonObject): Message {
  const content = message['content']
  const parts: readonly Part[] =
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : asList(content).filter(isObject).map(readBlock)
  // Claude Code 2.1.197 puts entries with the role "system" among the messages (2026-11-21).
  const role =
    message['role'] === 'assistant' || message['role'] === 'system' ? message['role'] : 'user'
  return { role, parts }
}

function readBlock(block: JsonObject): Part {
  switch (block['type']) {
    case 'text':
      return { type: 'text', text: asString(block['text']) ?? '' }
    case 'tool_use':
      return {
        type: 'tool-call',
        id: asString(block['id']) ?? '',
        name: asString(block['name']) ?? '',
      }
    case 'tool_result':
      return {
        type: 'tool-result',
        id: asString(block['tool_use_id']) ?? '',
        text: contentText(block['content']),
      }
    default:
      return { type: 'media' }
  }
}

function readTool(tool: unknown): Tool[] {
  const name = isObject(tool) ? asString(tool['name']) : undefined
  if (!isObject(tool) || name === undefined) return []
  return [{ name, kind: 'function', parameters: tool['input_schema'] }]
}

function readFormat(config: unknown): unknown {
  const format = isObject(config) ? config['format'] : undefined
  return isObject(format) ? (format['schema'] ?? {}) : undefined
}

function readToolChoice(choice: unknown): ToolChoice {
  if (!isObject(choice)) return 'auto'
  if (choice['type'] === 'none') return 'none'
  if (choice['type'] === 'any') return 'required'
  const name = choice['type'] === 'tool' ? asString(choice['name']) : undefined
  return name === undefined ? 'auto' : { name }
}

function encodeStream(_body: JsonObject, facts: AnswerFacts): StreamEncoder {
  let index = -1
  // Every event is called as its data says.
  const frame = (data: { readonly type: string; readonly [member: string]: unknown }) =>
    sseFrame(data, data.type)
  const startBlock = (block: object) =>
    frame({ type: 'content_block_start', index: ++index, content_block: block })
  const delta = (block: object) => frame({ type: 'content_block_delta', index, delta: block })

  return {
    open() {
      const usage = { inputTokens: facts.inputTokens, outputTokens: 1 }
      const message = messageOf(facts, [], null, usage)
      return frame({ type: 'message_start', message }) + frame({ type: 'ping' })
    },
    frames(event) {
      switch (event.type) {
        case 'text-start':
          return startBlock({ type: 'text', text: '' })
        case 'text-delta':
          return delta({ type: 'text_delta', text: event.text })
        case 'tool-call-start':
          return startBlock({ type: 'tool_use', id: event.id, name: event.tool.name, input: {} })
        case 'tool-call-delta':
          return delta({ type: 'input_json_delta', partial_json: event.text })
        case 'text-end':
        case 'tool-call-end':
          return frame({ type: 'content_block_stop', index })
        case 'finish': {
          const { reason, usage } = event
          const last = { stop_reason: stopReason(reason), stop_sequence: stopSequence(reason) }
          return (
            frame({ type: 'message_delta', delta: last, usage: tokenCounts(usage) }) +
            frame({ type: 'message_stop' })
          )
        }
      }
    },
    fail: ({ message }) => frame({ type: 'error', error: { type: 'api_error', message } }),
  }
}

function fold(_body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object {
  const content = answer.blocks.map((block) =>
    block.type === 'text'
      ? { type: 'text', text: block.text, citations: null }
      : {
          type: 'tool_use',
          id: block.id,
          name: block.tool.name,
          input: JSON.parse(block.text || '{}'),
        },
  )
  return messageOf(facts, content, answer.reason, answer.usage)
}

function messageOf(
  facts: AnswerFacts,
  content: readonly object[],
  reason: FinishReason | null,
  usage: Usage,
) {
  return {
    id: `msg_${facts.id}`,
    type: 'message',
    role: 'assistant',
    model: facts.model,
    content,
    stop_reason: reason && stopReason(reason),
    stop_sequence: reason && stopSequence(reason),
    usage: { ...tokenCounts(usage), service_tier: 'standard' },
  }
}

function stopReason(reason: FinishReason): string {
  switch (reason.type) {
    case 'stop':
      return 'end_turn'
    case 'tool-calls':
      return 'tool_use'
    case 'length':
      return 'max_tokens'
    case 'stop-sequence':
      return 'stop_sequence'
  }
}

function stopSequence(reason: FinishReason): string | null {
  return reason.type === 'stop-sequence' ? reason.sequence : null
}

function tokenCounts({ inputTokens, outputTokens }: Usage) {
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
  }
}
