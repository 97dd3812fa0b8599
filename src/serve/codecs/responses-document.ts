import { asList, isObject, type JsonObject, toObject } from '../requests/json.ts'
import type { Usage } from '../requests/turns/turns.ts'
import type { FinishReason, WholeAnswer } from './answer.ts'
import type { AnswerFacts } from './codec.ts'
import { itemContext, outputItem } from './responses-items.ts'

/**
 * The document of an answer. It repeats members of the request. Without `answer`, it is the document at
 * the start of a stream, when there is no output yet.
 */
export function responseDocument(body: JsonObject, facts: AnswerFacts, answer?: WholeAnswer) {
  const items = itemContext(body, facts)
  const blocks = answer?.blocks ?? []
  const incompleteReason = answer && incompleteReasons[answer.reason.type]
  const finalStatus = incompleteReason === undefined ? 'completed' : 'incomplete'
  const status = answer === undefined ? 'in_progress' : finalStatus

  return {
    id: `resp_${facts.id}`,
    object: 'response',
    access_programs: null,
    created_at: facts.createdAt,
    status,
    background: false,
    completed_at: status === 'completed' ? facts.createdAt : null,
    error: null,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    model: facts.model,
    output: blocks.map((block, index) => outputItem({ block, index }, items, 'end')),
    usage: answer === undefined ? null : responseUsage(answer.usage),
    ...echoRequest(body),
  }
}

/** Why the status of an answer is `incomplete`. Undefined: it is `completed`. */
const incompleteReasons: Readonly<Record<FinishReason['type'], string | undefined>> = {
  stop: undefined,
  'tool-calls': undefined,
  length: 'max_output_tokens',
  'stop-sequence': undefined,
  refusal: undefined,
  'content-filter': 'content_filter',
}

function responseUsage({ inputTokens, cachedTokens, outputTokens, reasoningTokens }: Usage) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  }
}

/** The usage of the vendor's own tools. None of them runs here. */
const noToolUsage = {
  image_gen: {
    input_tokens: 0,
    input_tokens_details: { image_tokens: 0, text_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { image_tokens: 0, text_tokens: 0 },
    total_tokens: 0,
  },
  web_search: { num_requests: 0 },
}

function echoRequest(body: JsonObject) {
  const { summary, effort } = toObject(body['reasoning'])
  return {
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    metadata: body['metadata'] ?? {},
    moderation: null,
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    presence_penalty: body['presence_penalty'] ?? 0,
    frequency_penalty: body['frequency_penalty'] ?? 0,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    prompt_cache_retention: body['prompt_cache_retention'] ?? null,
    reasoning: { effort: effort ?? null, summary: summary ?? null },
    safety_identifier: body['safety_identifier'] ?? null,
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: { format: { type: 'text' }, ...toObject(body['text']) },
    tool_choice: body['tool_choice'] ?? 'auto',
    tool_usage: noToolUsage,
    tools: asList(body['tools']).map(echoTool),
    top_logprobs: 0,
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
    user: body['user'] ?? null,
  }
}

function echoTool(tool: unknown): unknown {
  if (!isObject(tool) || tool['type'] !== 'function') return tool
  return {
    ...tool,
    description: tool['description'] ?? null,
    parameters: tool['parameters'] ?? null,
    strict: tool['strict'] ?? true,
  }
}
