import { readMessagesRequest } from '../requests/messages.ts'
import { isObject, type JsonObject } from '../requests/read.ts'
import type { Usage } from '../requests/reading/turns.ts'
import { createSeal } from '../requests/seal.ts'
import type { Block, FinishReason, WholeAnswer } from './answer.ts'
import type { AnswerFacts, AnswerStream, Codec } from './codec.ts'
import { frameTemplate, sseFrame } from './codec.ts'
import { splitTokens } from './tokens.ts'

/** POST /v1/messages. */
export const messages: Codec = {
  protocol: 'messages',
  readRequest: readMessagesRequest,
  encodeStream: encodeMessagesStream,
  document: messageDocument,
}

function encodeMessagesStream(
  body: JsonObject,
  facts: AnswerFacts,
  answer: WholeAnswer,
): AnswerStream {
  const { blocks, reason, usage } = answer
  const omitsText = omitsThoughts(body)

  function* frames() {
    const usageAtStart = { ...usage, outputTokens: 1, reasoningTokens: 0 }
    yield frame({ type: 'message_start', message: buildMessage(facts, [], null, usageAtStart) })
    yield frame({ type: 'ping' })

    for (const [index, block] of blocks.entries()) {
      const delta = (part: object) => frame({ type: 'content_block_delta', index, delta: part })
      yield frame({ type: 'content_block_start', index, content_block: beginningOf(block) })
      // The vendor begins arguments with an empty delta (recorded 2026-11-24).
      if (block.type === 'call') yield delta(deltaOf(block, ''))
      if (block.type !== 'thinking' || !omitsText) {
        const frameOf = frameTemplate(delta(deltaOf(block, '<piece>')), ['<piece>'])
        for (const piece of splitTokens(block)) yield frameOf(piece)
      }
      if (block.type === 'thinking')
        yield delta({ type: 'signature_delta', signature: createSeal(omitsText ? '' : block.text) })
      yield frame({ type: 'content_block_stop', index })
    }

    const last = {
      container: null,
      stop_details: null,
      stop_reason: stopReason(reason),
      stop_sequence: stopSequence(reason),
      ...safeguardResults(body, blocks),
    }
    yield frame({ type: 'message_delta', delta: last, usage: tokenCounts(usage) })
    yield frame({ type: 'message_stop' })
  }

  return {
    frames: frames(),
    fail: ({ message, type }) => frame({ type: 'error', error: { type, message } }),
  }
}

/** The name of an event is the `type` of its data. */
function frame(data: { readonly type: string; readonly [member: string]: unknown }): string {
  return sseFrame(data, data.type)
}

function beginningOf(block: Block): object {
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' }
  if (block.type === 'text') return { type: 'text', text: '' }
  return toolUse(block.id, block.tool.name, {})
}

function deltaOf({ type }: Block, piece: string): object {
  if (type === 'thinking') return { type: 'thinking_delta', thinking: piece }
  if (type === 'text') return { type: 'text_delta', text: piece }
  return { type: 'input_json_delta', partial_json: piece }
}

function messageDocument(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object {
  const omitsText = omitsThoughts(body)
  const content = answer.blocks.map((block) => contentBlock(block, omitsText))
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

function contentBlock(block: Block, omitsText: boolean): object {
  switch (block.type) {
    case 'thinking': {
      const thinking = omitsText ? '' : block.text
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
    stop_details: null,
    stop_reason: reason && stopReason(reason),
    stop_sequence: stopSequence(reason),
    usage: {
      ...tokenCounts(usage),
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

function stopSequence(reason: FinishReason | null): string | null {
  return reason?.type === 'stop-sequence' ? reason.sequence : null
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
    case 'refusal':
    case 'content-filter':
      return 'refusal'
  }
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
