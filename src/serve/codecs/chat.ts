import { isLegacy, readChatRequest } from '../requests/chat.ts'
import { isObject, type JsonObject } from '../requests/read.ts'
import type { Usage } from '../requests/reading/turns.ts'
import type { Tool } from '../requests/request.ts'
import type { Block, FinishReason, WholeAnswer } from './answer.ts'
import type { AnswerFacts, AnswerStream, Codec } from './codec.ts'
import { frameTemplate, sseFrame } from './codec.ts'
import { splitTokens } from './tokens.ts'

/** POST /v1/chat/completions. */
export const chat: Codec = {
  protocol: 'chat',
  readRequest: readChatRequest,
  encodeStream: encodeChatStream,
  document: chatDocument,
}

/** What recorded answers say about the service. The fingerprint is made up. */
const serviceMembers = { service_tier: 'default', system_fingerprint: 'fp_0123456789' }

function encodeChatStream(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): AnswerStream {
  const options = body['stream_options']
  const includesUsage = isObject(options) && options['include_usage'] === true
  const isLegacyRequest = isLegacy(body)

  const chunk = (choices: readonly object[], usage: Usage | null = null) =>
    sseFrame({
      id: `chatcmpl-${facts.id}`,
      object: 'chat.completion.chunk',
      created: facts.createdAt,
      model: facts.model,
      ...serviceMembers,
      choices,
      ...(includesUsage ? { usage: usage && chatUsage(usage) } : {}),
    })
  const deltaChunk = (delta: object, reason: string | null = null) =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason: reason }])

  function* frames() {
    let index = -1
    yield deltaChunk({ role: 'assistant', content: '', refusal: null })

    for (const block of answer.blocks) {
      if (block.type === 'call') {
        index++
        const { id, tool } = block
        yield deltaChunk(
          isLegacyRequest
            ? { function_call: { name: tool.name, arguments: '' } }
            : { tool_calls: [{ index, ...chatCall(id, tool, '') }] },
        )
      }
      const frameOf = frameTemplate(deltaChunk(deltaOf(block, '<piece>', index)), ['<piece>'])
      for (const piece of splitTokens(block)) yield frameOf(piece)
    }

    yield deltaChunk({}, finishReason(answer.reason, isLegacyRequest))
    if (includesUsage) yield chunk([], answer.usage)
    yield 'data: [DONE]\n\n'
  }

  function deltaOf(block: Block, piece: string, index: number): object {
    if (block.type === 'thinking') return { reasoning_content: piece }
    if (block.type === 'text') return block.isRefusal ? { refusal: piece } : { content: piece }
    if (isLegacyRequest) return { function_call: { arguments: piece } }
    const { kind } = block.tool
    const added = kind === 'function' ? { arguments: piece } : { input: piece }
    return { tool_calls: [{ index, [kind]: added }] }
  }

  return {
    frames: frames(),
    fail: ({ message, type, param = '', code }) =>
      sseFrame({ error: { message, type, param, code } }),
  }
}

function chatDocument(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object {
  const texts: string[] = []
  const thoughts: string[] = []
  const refusals: string[] = []
  const toolCalls: object[] = []
  for (const block of answer.blocks)
    if (block.type === 'thinking') thoughts.push(block.text)
    else if (block.type === 'text') (block.isRefusal ? refusals : texts).push(block.text)
    else toolCalls.push(chatCall(block.id, block.tool, block.text))

  const isLegacyRequest = isLegacy(body)
  const calls = isLegacyRequest
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
  const finish_reason = finishReason(answer.reason, isLegacyRequest)

  return {
    id: `chatcmpl-${facts.id}`,
    object: 'chat.completion',
    created: facts.createdAt,
    model: facts.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: chatUsage(answer.usage),
    ...serviceMembers,
  }
}

function chatCall(id: string, { name, kind }: Tool, input: string) {
  return kind === 'function'
    ? { id, type: 'function', function: { name, arguments: input } }
    : { id, type: 'custom', custom: { name, input } }
}

function finishReason(reason: FinishReason, isLegacyRequest: boolean): string {
  switch (reason.type) {
    case 'tool-calls':
      return isLegacyRequest ? 'function_call' : 'tool_calls'
    case 'length':
      return 'length'
    case 'content-filter':
      return 'content_filter'
    default:
      return 'stop'
  }
}

function chatUsage({ inputTokens, cachedTokens, outputTokens, reasoningTokens }: Usage) {
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
