import { isLegacy, readChatRequest } from '../requests/chat-request.ts'
import { type JsonObject, toObject } from '../requests/json.ts'
import type { Tool } from '../requests/model-request.ts'
import type { Usage } from '../requests/turns/turns.ts'
import type { Block, FinishReason, WholeAnswer } from './answer.ts'
import type { AnswerFacts, Codec } from './codec.ts'
import { frameTemplate, sseFrame } from './sse.ts'
import { splitTokens } from './tokens.ts'

/**
 * POST /v1/chat/completions. Each frame is a chunk with one `delta`, without an event name. The deltas of the
 * answer in codec.ts:
 *
 *     { role: 'assistant', content: '', refusal: null }
 *     { reasoning_content: 'I' }
 *     { reasoning_content: ' look.' }
 *     { content: 'One' }
 *     { content: ' moment.' }
 *     { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'read', arguments: '' } }] }
 *     { tool_calls: [{ index: 0, function: { arguments: '{"path' } }] }
 *     …
 *     {}                                     with finish_reason: 'tool_calls'
 *     a chunk without a delta, with usage    if the client asked for it: stream_options.include_usage
 *     [DONE]                                 not a chunk
 *
 * A legacy request declares `functions` instead of `tools`. Its answer has `function_call` and no `tool_calls`.
 */
export const chat: Codec = {
  protocol: 'chat',
  readRequest: readChatRequest,
  document: chatDocument,
  streamFrames: chatFrames,
  failureFrame: ({ message, type, param = '', code }) =>
    sseFrame({ error: { message, type, param, code } }),
}

/** As in recorded answers. The fingerprint is made up. */
const serviceTier = 'default'
const fingerprint = 'fp_0123456789'

function chatFrames(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): readonly string[] {
  const includesUsage = toObject(body['stream_options'])['include_usage'] === true
  const isLegacyRequest = isLegacy(body)
  /** The index of the latest call among the calls. */
  let callIndex = -1
  const frames = [sseFrame(deltaChunk({ role: 'assistant', content: '', refusal: null }))]

  for (const block of answer.blocks) {
    if (block.type === 'call') {
      callIndex++
      frames.push(sseFrame(deltaChunk(callStart(block))))
    }
    const deltaFrame = frameTemplate((token: string) => deltaChunk(blockDelta(block, token)))
    for (const token of splitTokens(block)) frames.push(deltaFrame(token))
  }

  frames.push(sseFrame(deltaChunk({}, finishReason(answer.reason, body))))
  if (includesUsage) frames.push(sseFrame(chunk([], chatUsage(answer.usage))))
  frames.push(sseFrame('[DONE]'))
  return frames

  function deltaChunk(delta: object, finish_reason: string | null = null) {
    return chunk([{ index: 0, delta, logprobs: null, finish_reason }])
  }

  function chunk(choices: readonly object[], usage: object | null = null) {
    return {
      id: `chatcmpl-${facts.id}`,
      object: 'chat.completion.chunk',
      created: facts.createdAt,
      model: facts.model,
      service_tier: serviceTier,
      system_fingerprint: fingerprint,
      choices,
      usage: includesUsage ? usage : undefined,
    }
  }

  function callStart({ id, tool }: CallBlock): object {
    return isLegacyRequest
      ? { function_call: { name: tool.name, arguments: '' } }
      : { tool_calls: [{ index: callIndex, ...chatCall(id, tool, '') }] }
  }

  function blockDelta(block: Block, token: string): object {
    if (block.type === 'thinking') return { reasoning_content: token }
    if (block.type === 'text') return block.isRefusal ? { refusal: token } : { content: token }
    if (isLegacyRequest) return { function_call: { arguments: token } }

    const { kind } = block.tool
    const input = kind === 'function' ? { arguments: token } : { input: token }
    return { tool_calls: [{ index: callIndex, [kind]: input }] }
  }
}

type CallBlock = Extract<Block, { type: 'call' }>

function chatDocument(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object {
  const texts: string[] = []
  const thoughts: string[] = []
  const refusals: string[] = []
  const calls: ChatCall[] = []
  for (const block of answer.blocks)
    if (block.type === 'thinking') thoughts.push(block.text)
    else if (block.type === 'call') calls.push(chatCall(block.id, block.tool, block.text))
    else if (block.isRefusal) refusals.push(block.text)
    else texts.push(block.text)

  const callMembers = isLegacy(body) ? { function_call: calls[0]?.function } : { tool_calls: calls }
  const message = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join('\n') }),
    ...(calls.length === 0 ? {} : callMembers),
    refusal: refusals.length === 0 ? null : refusals.join(''),
    annotations: [],
  }
  const finish_reason = finishReason(answer.reason, body)

  return {
    id: `chatcmpl-${facts.id}`,
    object: 'chat.completion',
    created: facts.createdAt,
    model: facts.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: chatUsage(answer.usage),
    service_tier: serviceTier,
    system_fingerprint: fingerprint,
  }
}

interface ChatCall {
  readonly id: string
  readonly type: Tool['kind']
  readonly function?: object
  readonly custom?: object
}

function chatCall(id: string, { name, kind }: Tool, input: string): ChatCall {
  return kind === 'function'
    ? { id, type: 'function', function: { name, arguments: input } }
    : { id, type: 'custom', custom: { name, input } }
}

const finishReasons: Readonly<Record<FinishReason['type'], string>> = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'stop-sequence': 'stop',
  refusal: 'stop',
  'content-filter': 'content_filter',
}

function finishReason({ type }: FinishReason, body: JsonObject): string {
  return type === 'tool-calls' && isLegacy(body) ? 'function_call' : finishReasons[type]
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
