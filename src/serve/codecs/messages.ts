import { readMessagesRequest } from '../requests/messages.ts'
import { isObject, type JsonObject } from '../requests/read.ts'
import { sealOf } from '../requests/seal.ts'
import type { AnswerFacts, Block, Codec, StreamEncoder, WholeAnswer } from './codec.ts'
import { sseFrame } from './codec.ts'
import type { FinishReason, Usage } from './events.ts'

/** POST /v1/messages. */
export const messages: Codec = {
  protocol: 'messages',
  readRequest: readMessagesRequest,
  encodeStream,
  fold,
}

function encodeStream(body: JsonObject, facts: AnswerFacts): StreamEncoder {
  const isOmitted = omitsThoughts(body)
  let index = -1
  let thought = ''
  // Every event is called as its data says.
  const frame = (data: { readonly type: string; readonly [member: string]: unknown }) =>
    sseFrame(data, data.type)
  const startBlock = (block: object) =>
    frame({ type: 'content_block_start', index: ++index, content_block: block })
  const delta = (block: object) => frame({ type: 'content_block_delta', index, delta: block })

  return {
    open() {
      const { inputTokens, cachedTokens } = facts
      const usage = { inputTokens, cachedTokens, outputTokens: 1, reasoningTokens: 0 }
      const message = messageOf(facts, [], null, usage)
      return frame({ type: 'message_start', message }) + frame({ type: 'ping' })
    },
    frames(event) {
      switch (event.type) {
        case 'thinking-start':
          thought = ''
          return startBlock({ type: 'thinking', thinking: '', signature: '' })
        case 'thinking-delta':
          if (isOmitted) return ''
          thought += event.text
          return delta({ type: 'thinking_delta', thinking: event.text })
        case 'thinking-end':
          return (
            delta({ type: 'signature_delta', signature: sealOf(thought) }) +
            frame({ type: 'content_block_stop', index })
          )
        case 'text-start':
          return startBlock({ type: 'text', text: '' })
        case 'text-delta':
          return delta({ type: 'text_delta', text: event.text })
        case 'tool-call-start':
          return startBlock(toolUse(event.id, event.tool.name, {}))
        case 'tool-call-delta':
          return delta({ type: 'input_json_delta', partial_json: event.text })
        case 'text-end':
        case 'tool-call-end':
          return frame({ type: 'content_block_stop', index })
        case 'finish': {
          const { reason, usage } = event
          const last = { container: null, stop_details: null, ...stopOf(reason) }
          return (
            frame({ type: 'message_delta', delta: last, usage: tokenCounts(usage) }) +
            frame({ type: 'message_stop' })
          )
        }
      }
    },
    fail: ({ message, type }) => frame({ type: 'error', error: { type, message } }),
  }
}

function fold(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object {
  const isOmitted = omitsThoughts(body)
  const content = answer.blocks.map((block) => contentOf(block, isOmitted))
  return messageOf(facts, content, answer.reason, answer.usage)
}

function contentOf(block: Block, isOmitted: boolean): object {
  switch (block.type) {
    case 'thinking': {
      const thinking = isOmitted ? '' : block.text
      return { type: 'thinking', thinking, signature: sealOf(thinking) }
    }
    // Without citations: null is more than some SDKs take (@ai-sdk/anthropic 3.0.138, 2026-11-22).
    case 'text':
      return { type: 'text', text: block.text }
    case 'call': {
      // What was cut is no JSON; the vendor hands over what it could read of it.
      const input = block.isCut ? {} : JSON.parse(block.text || '{}')
      return toolUse(block.id, block.tool.name, input)
    }
  }
}

/** Claude Code 2.1.329 asks for thoughts of which it sees the signature alone (2026-11-22). */
function omitsThoughts({ thinking }: JsonObject): boolean {
  return isObject(thinking) && thinking['display'] === 'omitted'
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
    container: null,
    diagnostics: null,
    stop_details: null,
    ...stopOf(reason),
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

function stopOf(reason: FinishReason | null): object {
  const sequence = reason?.type === 'stop-sequence' ? reason.sequence : null
  return { stop_reason: reason && stopReason(reason), stop_sequence: sequence }
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
    // Here, what came from the cache does not count as input.
    input_tokens: inputTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: outputTokens,
    output_tokens_details: reasoningTokens === 0 ? null : { thinking_tokens: reasoningTokens },
    server_tool_use: null,
  }
}
