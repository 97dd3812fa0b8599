import { isObject, type JsonObject } from '../requests/json.ts'
import { readMessagesRequest } from '../requests/messages-request.ts'
import { createSeal } from '../requests/seal.ts'
import type { Usage } from '../requests/turns/turns.ts'
import type { Block, FinishReason, WholeAnswer } from './answer.ts'
import type { AnswerFacts, Codec } from './codec.ts'
import { frameTemplate, type StreamEvent, sseFrame } from './sse.ts'
import { splitTokens } from './tokens.ts'

/**
 * POST /v1/messages. The events of the answer in codec.ts, each with the name that `type` has:
 *
 *     message_start          the message without content
 *     ping
 *     content_block_start    0  { type: 'thinking', thinking: '', signature: '' }
 *     content_block_delta    0  { type: 'thinking_delta', thinking: 'I' }
 *     content_block_delta    0  { type: 'thinking_delta', thinking: ' look.' }
 *     content_block_delta    0  { type: 'signature_delta', signature: … }
 *     content_block_stop     0
 *     content_block_start    1  { type: 'text', text: '' }
 *     content_block_delta    1  { type: 'text_delta', text: 'One' }
 *     …
 *     content_block_start    2  { type: 'tool_use', id: 'call_1', name: 'read', input: {}, … }
 *     content_block_delta    2  { type: 'input_json_delta', partial_json: '' }
 *     content_block_delta    2  { type: 'input_json_delta', partial_json: '{"path' }
 *     …
 *     message_delta          { stop_reason: 'tool_use', … } and the final usage
 *     message_stop
 */
export const messages: Codec = {
  protocol: 'messages',
  readRequest: readMessagesRequest,
  document: messageDocument,
  streamFrames: messageFrames,
  failureFrame: ({ message, type }) => sseFrame({ type: 'error', error: { type, message } }),
}

function messageFrames(
  body: JsonObject,
  facts: AnswerFacts,
  answer: WholeAnswer,
): readonly string[] {
  // As in the vendor's first event. `message_delta` has the final count.
  const usage = { ...answer.usage, outputTokens: 1, reasoningTokens: 0 }
  const frames = [
    sseFrame({ type: 'message_start', message: buildMessage(facts, [], null, usage) }),
    sseFrame({ type: 'ping' }),
  ]

  for (const [index, block] of answer.blocks.entries()) {
    const isOmitted = block.type === 'thinking' && omitsThoughts(body)
    const deltaFrame = frameTemplate((token: string) =>
      contentDelta(index, blockDelta(block, token)),
    )

    frames.push(sseFrame({ type: 'content_block_start', index, content_block: emptyBlock(block) }))
    // The vendor begins arguments with an empty delta (recorded 2026-11-24).
    if (block.type === 'call') frames.push(deltaFrame(''))
    if (!isOmitted) for (const token of splitTokens(block)) frames.push(deltaFrame(token))
    if (block.type === 'thinking')
      frames.push(sseFrame(contentDelta(index, signatureDelta(isOmitted ? '' : block.text))))
    frames.push(sseFrame({ type: 'content_block_stop', index }))
  }

  frames.push(sseFrame(messageDelta(body, facts, answer)), sseFrame({ type: 'message_stop' }))
  return frames
}

function emptyBlock(block: Block): object {
  switch (block.type) {
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'text':
      return { type: 'text', text: '' }
    case 'call':
      return toolUse(block.id, block.tool.name, {})
  }
}

function contentDelta(index: number, delta: object): StreamEvent {
  return { type: 'content_block_delta', index, delta }
}

function blockDelta(block: Block, token: string): object {
  switch (block.type) {
    case 'thinking':
      return { type: 'thinking_delta', thinking: token }
    case 'text':
      return { type: 'text_delta', text: token }
    case 'call':
      return { type: 'input_json_delta', partial_json: token }
  }
}

function signatureDelta(thought: string): object {
  return { type: 'signature_delta', signature: createSeal(thought) }
}

function messageDelta(
  body: JsonObject,
  { isBeta }: AnswerFacts,
  { blocks, reason, usage }: WholeAnswer,
): StreamEvent {
  const delta = { container: null, ...stopMembers(reason), ...safeguardResults(body, blocks) }
  return {
    type: 'message_delta',
    delta,
    ...(isBeta ? { context_management: null } : {}),
    usage: { ...tokenCounts(usage), ...(isBeta ? betaUsage : {}) },
  }
}

/** The client's beta.messages requires these members of the usage (@anthropic-ai/sdk 1.14.0). */
const betaUsage = { fallback_credit: null, iterations: null }

function messageDocument(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object {
  const content = answer.blocks.map((block) => contentBlock(block, body))
  const message = buildMessage(facts, content, answer.reason, answer.usage)
  return Object.assign(message, safeguardResults(body, answer.blocks))
}

/**
 * A verdict for each tool call, if the request asks for it, as Claude Code does in auto mode. This
 * gateway checks nothing: every call is `not_flagged`. Claude Code 2.1.331 accepts this shape (run
 * 2026-11-24), and LiteLLM documents it: https://docs.litellm.ai/docs/claude_code_auto_mode
 */
function safeguardResults({ safeguards }: JsonObject, blocks: readonly Block[]): object {
  if (!Array.isArray(safeguards) || safeguards.length === 0) return {}

  const verdict = { type: 'evaluated', outcome: 'not_flagged' }
  const calls = blocks.flatMap((block) => (block.type === 'call' ? [[block.id, verdict]] : []))
  const status = { type: 'available', tool_uses: Object.fromEntries(calls) }
  return { safeguard_results: [{ type: 'dangerous_tool_use', status }] }
}

function contentBlock(block: Block, body: JsonObject): object {
  switch (block.type) {
    case 'thinking': {
      const thinking = omitsThoughts(body) ? '' : block.text
      return { type: 'thinking', thinking, signature: createSeal(thinking) }
    }
    // No citations, because some SDKs reject null (@ai-sdk/anthropic 3.0.138, 2026-11-22).
    case 'text':
      return { type: 'text', text: block.text }
    case 'call': {
      // A cut text is not JSON. The vendor returns the part that it could parse.
      const input = block.isCut ? {} : JSON.parse(block.text || '{}')
      return toolUse(block.id, block.tool.name, input)
    }
  }
}

/** Whether the client wants only the signature of thoughts, as Claude Code 2.1.329 does (2026-11-22). */
function omitsThoughts({ thinking }: JsonObject): boolean {
  return isObject(thinking) && thinking['display'] === 'omitted'
}

function buildMessage(
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
    container: null,
    diagnostics: null,
    ...(facts.isBeta ? { context_management: null } : {}),
    ...stopMembers(reason),
    usage: {
      ...tokenCounts(usage),
      ...(facts.isBeta ? betaUsage : {}),
      cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
      inference_geo: null,
      service_tier: 'standard',
      speed: null,
    },
  }
}

function toolUse(id: string, name: string, input: unknown): object {
  return { type: 'tool_use', id, caller: { type: 'direct' }, name, input }
}

/** @param reason null: the answer has not ended */
function stopMembers(reason: FinishReason | null) {
  return {
    stop_details: null,
    stop_reason: reason && stopReasons[reason.type],
    stop_sequence: reason?.type === 'stop-sequence' ? reason.sequence : null,
  }
}

const stopReasons: Readonly<Record<FinishReason['type'], string>> = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'stop-sequence': 'stop_sequence',
  refusal: 'refusal',
  'content-filter': 'refusal',
}

function tokenCounts({ inputTokens, cachedTokens, outputTokens, reasoningTokens }: Usage) {
  return {
    // This protocol does not count cached tokens as input.
    input_tokens: inputTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: outputTokens,
    output_tokens_details: reasoningTokens === 0 ? null : { thinking_tokens: reasoningTokens },
    server_tool_use: null,
  }
}
