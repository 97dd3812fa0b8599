import type { FirstRequest } from '../../gateway/types.ts'
import type { FirstRequestInput } from '../client.ts'

/** Models to which it sends no effort, although it sends one to the other models of these vendors. */
const withoutEffort = /^(?:gpt-4\.1|claude-sonnet-4|claude-(?:sonnet|opus|haiku)-4\.5)$/

/** The limit that it sends for models that it knows, in tokens. For any other model it sends no limit. */
const outputTokens: readonly (readonly [RegExp, number])[] = [
  [/^gpt-(?:5\.[2-6]|6-sol)/, 128_000],
  [
    /^gpt-5(?:\.1|-mini)$|^claude-(?:haiku-4\.5|(?:sonnet|opus)-4\.[6-8]|(?:sonnet|fable)-5)$/,
    64_000,
  ],
  [/^claude-(?:sonnet|opus)-4\.5$/, 32_000],
  [/^gpt-4\.1$/, 16_384],
]

const limitVariable = 'COPILOT_PROVIDER_MAX_OUTPUT_TOKENS'

/**
 * Follows 1.0.102, run with 50 model IDs. It does not retry: it exits if a gateway rejects one of these
 * members (2026-11-23).
 */
export function carries(_: unknown, { protocol, model, env }: FirstRequestInput): FirstRequest {
  const reasons = /^(?:gpt|claude|gemini|grok)-/.test(model) && !withoutEffort.test(model)
  const named = Number(env[limitVariable]) || undefined
  const limit = named ?? outputTokens.find(([ids]) => ids.test(model))?.[1]
  const cure = `Set ${limitVariable} to a limit that the gateway accepts.`
  const hints = { max_tokens: cure, max_output_tokens: cure }

  if (protocol === 'responses')
    return {
      body: {
        reasoning: { effort: reasons ? 'medium' : undefined, summary: 'auto' },
        include: ['reasoning.encrypted_content'],
        parallel_tool_calls: true,
        prompt_cache_key: 'repoint',
        max_output_tokens: limit,
      },
      hints,
    }

  const coolly = { temperature: 0, top_p: 0.95, frequency_penalty: 0, presence_penalty: 0 }
  return {
    body: {
      ...(reasons ? { reasoning_effort: 'medium', temperature: 1 } : coolly),
      max_tokens: limit,
      stream_options: { include_usage: true },
      tool_choice: model.startsWith('gemini-') ? 'validated' : undefined,
    },
    hints,
  }
}
