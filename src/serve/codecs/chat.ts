import { isLegacy, readChatRequest } from '../requests/chat.ts'
import { isObject, type JsonObject } from '../requests/read.ts'
import type { Tool } from '../requests/request.ts'
import type { AnswerFacts, Codec, StreamEncoder, WholeAnswer } from './codec.ts'
import { sseFrame } from './codec.ts'
import type { FinishReason, Usage } from './events.ts'

/** POST /v1/chat/completions. */
export const chat: Codec = { protocol: 'chat', readRequest: readChatRequest, encodeStream, fold }

function encodeStream(body: JsonObject, facts: AnswerFacts): StreamEncoder {
  const options = body['stream_options']
  const includesUsage = isObject(options) && options['include_usage'] === true
  const hasFunctions = isLegacy(body)
  let toolCalls = 0
  let input = 'arguments'
  let isRefusal = false

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
        case 'thinking-delta':
          return deltaChunk({ reasoning_content: event.text })
        case 'text-start':
          isRefusal = event.isRefusal === true
          return ''
        case 'text-delta':
          return deltaChunk(isRefusal ? { refusal: event.text } : { content: event.text })
        case 'tool-call-start': {
          const { id, tool } = event
          if (hasFunctions) return deltaChunk({ function_call: { name: tool.name, arguments: '' } })
          input = tool.kind === 'function' ? 'arguments' : 'input'
          return deltaChunk({ tool_calls: [{ index: toolCalls++, ...callOf(id, tool, '') }] })
        }
        case 'tool-call-delta': {
          if (hasFunctions) return deltaChunk({ function_call: { arguments: event.text } })
          const kind = input === 'arguments' ? 'function' : 'custom'
          const piece = { index: toolCalls - 1, [kind]: { [input]: event.text } }
          return deltaChunk({ tool_calls: [piece] })
        }
        case 'finish': {
          const usage = includesUsage ? chunk([], event.usage) : ''
          return `${deltaChunk({}, finishReason(event.reason, hasFunctions))}${usage}data: [DONE]\n\n`
        }
        default:
          return ''
      }
    },
    fail: ({ message, type, param = '', code }) =>
      sseFrame({ error: { message, type, param, code } }),
  }
}

function fold(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object {
  const texts: string[] = []
  const thoughts: string[] = []
  const refusals: string[] = []
  const toolCalls: object[] = []
  for (const block of answer.blocks)
    if (block.type === 'thinking') thoughts.push(block.text)
    else if (block.type === 'text') (block.isRefusal ? refusals : texts).push(block.text)
    else toolCalls.push(callOf(block.id, block.tool, block.text))

  const hasFunctions = isLegacy(body)
  const calls = hasFunctions
    ? { function_call: (toolCalls[0] as { function: object } | undefined)?.function }
    : { tool_calls: toolCalls }
  const message = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join('\n') }),
    ...(toolCalls.length === 0 ? {} : calls),
    refusal: refusals.length === 0 ? null : refusals.join(''),
    annotations: [],
  }
  const finish_reason = finishReason(answer.reason, hasFunctions)
  return {
    id: `chatcmpl-${facts.id}`,
    object: 'chat.completion',
    created: facts.createdAt,
    model: facts.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: usageOf(answer.usage),
  }
}

function callOf(id: string, { name, kind }: Tool, input: string) {
  return kind === 'function'
    ? { id, type: 'function', function: { name, arguments: input } }
    : { id, type: 'custom', custom: { name, input } }
}

function finishReason(reason: FinishReason, hasFunctions: boolean): string {
  switch (reason.type) {
    case 'tool-calls':
      return hasFunctions ? 'function_call' : 'tool_calls'
    case 'length':
      return 'length'
    case 'content-filter':
      return 'content_filter'
    default:
      return 'stop'
  }
}

function usageOf({ inputTokens, cachedTokens, outputTokens, reasoningTokens }: Usage) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
