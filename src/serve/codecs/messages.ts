import type { AnswerFacts, Codec, JsonObject, StreamEncoder } from './codec.ts'
import { InvalidRequest } from './codec.ts'
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
import { asLimit, asList, asString, asStrings, isObject, textOf } from './read.ts'
import { sseFrame } from './sse.ts'

/** POST /v1/messages. */
export const messages: Codec = { protocol: 'messages', readRequest, encodeStream, fold }

function readRequest(body: JsonObject): ModelRequest {
  const list = asList(body['messages'])
  if (list.length === 0) throw new InvalidRequest('field messages is required')
  const system = textOf(body['system'])
  return {
    model: asString(body['model']) ?? '',
    stream: body['stream'] === true,
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
        text: textOf(block['content']),
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
  let beforeText = ''
  const stop = () =>
    sseFrame('content_block_stop', `{"type":"content_block_stop","index":${index}}`)

  return {
    open: () =>
      sseFrame(
        'message_start',
        JSON.stringify({
          type: 'message_start',
          message: messageOf(facts, [], null, { inputTokens: facts.inputTokens, outputTokens: 1 }),
        }),
      ) + sseFrame('ping', '{"type":"ping"}'),
    aroundText: () => [`${beforeText}"`, '"}}\n\n'],
    frames(event) {
      switch (event.type) {
        case 'text-start':
          index++
          beforeText = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":`
          return sseFrame(
            'content_block_start',
            `{"type":"content_block_start","index":${index},"content_block":{"type":"text","text":""}}`,
          )
        case 'text-delta':
          return `${beforeText}${JSON.stringify(event.text)}}}\n\n`
        case 'tool-call-start':
          index++
          return sseFrame(
            'content_block_start',
            `{"type":"content_block_start","index":${index},"content_block":{"type":"tool_use","id":${JSON.stringify(event.id)},"name":${JSON.stringify(event.tool.name)},"input":{}}}`,
          )
        case 'tool-call-delta':
          return sseFrame(
            'content_block_delta',
            `{"type":"content_block_delta","index":${index},"delta":{"type":"input_json_delta","partial_json":${JSON.stringify(event.text)}}}`,
          )
        case 'text-end':
        case 'tool-call-end':
          return stop()
        case 'finish':
          return (
            sseFrame(
              'message_delta',
              JSON.stringify({
                type: 'message_delta',
                delta: {
                  stop_reason: stopReason(event.reason),
                  stop_sequence: stopSequence(event.reason),
                },
                usage: tokensOf(event.usage),
              }),
            ) + sseFrame('message_stop', '{"type":"message_stop"}')
          )
      }
    },
    fail: ({ message }) =>
      sseFrame('error', JSON.stringify({ type: 'error', error: { type: 'api_error', message } })),
  }
}

type Block =
  | { type: 'text'; text: string; citations: null }
  | { type: 'tool_use'; id: string; name: string; input: unknown }

function fold(_body: JsonObject, facts: AnswerFacts, events: readonly ModelEvent[]): string {
  const content: Block[] = []
  let argumentsText = ''
  let reason: FinishReason | null = null
  let usage: Usage = { inputTokens: facts.inputTokens, outputTokens: 0 }
  for (const event of events) {
    const block = content.at(-1)
    switch (event.type) {
      case 'text-start':
        content.push({ type: 'text', text: '', citations: null })
        break
      case 'text-delta':
        if (block?.type === 'text') block.text += event.text
        break
      case 'tool-call-start':
        argumentsText = ''
        content.push({ type: 'tool_use', id: event.id, name: event.tool.name, input: {} })
        break
      case 'tool-call-delta':
        argumentsText += event.text
        break
      case 'tool-call-end':
        if (block?.type === 'tool_use') block.input = JSON.parse(argumentsText || '{}')
        break
      case 'finish':
        reason = event.reason
        usage = event.usage
    }
  }
  return JSON.stringify(messageOf(facts, content, reason, usage))
}

function messageOf(
  facts: AnswerFacts,
  content: readonly Block[],
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
    usage: usageOf(usage),
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

function usageOf(usage: Usage) {
  return { ...tokensOf(usage), service_tier: 'standard' }
}

function tokensOf({ inputTokens, outputTokens }: Usage) {
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
  }
}
