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
import { asLimit, asList, asString, asStrings, contentText, isObject, readContent } from './read.ts'

/** POST /v1/chat/completions. */
export const chat: Codec = { protocol: 'chat', readRequest, encodeStream, fold }

function readRequest(body: JsonObject): ModelRequest {
  const messages = asList(body['messages'])
  if (messages.length === 0) throw new InvalidRequest('field messages is required')
  return {
    model: asString(body['model']) ?? '',
    messages: messages.filter(isObject).map(readMessage),
    tools: asList(body['tools']).flatMap(readTool),
    toolChoice: readToolChoice(body['tool_choice']),
    maxOutputTokens: asLimit(body['max_completion_tokens']) ?? asLimit(body['max_tokens']),
    stopSequences: asStrings(body['stop']),
    outputSchema: readFormat(body['response_format']),
  }
}

function readMessage(message: JsonObject): Message {
  const content = message['content']
  switch (message['role']) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: [{ type: 'text', text: contentText(content) }] }
    case 'tool':
    case 'function': {
      const id = asString(message['tool_call_id']) ?? ''
      return { role: 'tool', parts: [{ type: 'tool-result', id, text: contentText(content) }] }
    }
    case 'assistant':
      return {
        role: 'assistant',
        parts: [...readContent(content), ...asList(message['tool_calls']).flatMap(readToolCall)],
      }
    default:
      return { role: 'user', parts: readContent(content) }
  }
}

function readToolCall(call: unknown): Part[] {
  if (!isObject(call)) return []
  const details = call['function']
  const name = isObject(details) ? asString(details['name']) : undefined
  return [{ type: 'tool-call', id: asString(call['id']) ?? '', name: name ?? '' }]
}

function readTool(tool: unknown): Tool[] {
  const details = isObject(tool) ? tool['function'] : undefined
  if (!isObject(details)) return []
  const name = asString(details['name'])
  if (name === undefined) return []
  return [{ name, kind: 'function', parameters: details['parameters'] }]
}

function readFormat(format: unknown): unknown {
  if (!isObject(format)) return undefined
  if (format['type'] === 'json_object') return {}
  const details = format['json_schema']
  return isObject(details) ? (details['schema'] ?? {}) : undefined
}

function readToolChoice(choice: unknown): ToolChoice {
  if (choice === 'none' || choice === 'required') return choice
  const details = isObject(choice) ? choice['function'] : undefined
  const name = isObject(details) ? asString(details['name']) : undefined
  return name === undefined ? 'auto' : { name }
}

function encodeStream(body: JsonObject, facts: AnswerFacts): StreamEncoder {
  const options = body['stream_options']
  const includesUsage = isObject(options) && options['include_usage'] === true
  let toolCalls = 0

  const chunk = (choices: readonly object[], usage: Usage | null = null) =>
    sseFrame({
      id: `chatcmpl-${facts.id}`,
      object: 'chat.completion.chunk',
      created: facts.createdAt,
      model: facts.model,
      choices,
      ...(includesUsage ? { usage: usage && usageOf(usage) } : {}),
    })
  const deltaChunk = (delta: object, reason: string | null = null) =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason: reason }])

  return {
    open: () => deltaChunk({ role: 'assistant', content: '', refusal: null }),
    frames(event) {
      switch (event.type) {
        case 'text-delta':
          return deltaChunk({ content: event.text })
        case 'tool-call-start': {
          const { id, tool } = event
          const called = { name: tool.name, arguments: '' }
          return deltaChunk({
            tool_calls: [{ index: toolCalls++, id, type: 'function', function: called }],
          })
        }
        case 'tool-call-delta':
          return deltaChunk({
            tool_calls: [{ index: toolCalls - 1, function: { arguments: event.text } }],
          })
        case 'finish': {
          const usage = includesUsage ? chunk([], event.usage) : ''
          return `${deltaChunk({}, finishReason(event.reason))}${usage}data: [DONE]\n\n`
        }
        default:
          return ''
      }
    },
    fail: ({ message, code }) =>
      sseFrame({ error: { message, type: 'new_api_error', param: '', code } }),
  }
}

function fold(_body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object {
  const texts: string[] = []
  const toolCalls: object[] = []
  for (const block of answer.blocks)
    if (block.type === 'text') texts.push(block.text)
    else {
      const called = { name: block.tool.name, arguments: block.text }
      toolCalls.push({ id: block.id, type: 'function', function: called })
    }

  const message = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    refusal: null,
    annotations: [],
  }
  return {
    id: `chatcmpl-${facts.id}`,
    object: 'chat.completion',
    created: facts.createdAt,
    model: facts.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(answer.reason) }],
    usage: usageOf(answer.usage),
  }
}

function finishReason(reason: FinishReason): string {
  switch (reason.type) {
    case 'tool-calls':
      return 'tool_calls'
    case 'length':
      return 'length'
    default:
      return 'stop'
  }
}

function usageOf({ inputTokens, outputTokens }: Usage) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
