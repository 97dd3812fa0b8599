import type { FirstRequest } from '../../gateway/types.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import { recordedRequest } from '../program/recorded-request.ts'

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

/** GPT models that edit files by patches: 5.4 to 5.7, 6 and oss, but not 4.1, 5 and 5-mini (1.0.102, 2026-11-26). */
const patching = /^gpt-(?!4|5(?:\.1|-mini)?$)/

/** Over responses, their prompt has breakpoints for the cache: 5.6 and 6-sol, but not 5.5 and 5.7 (2026-11-26). */
const withBreakpoints = /^gpt-(?:5\.6|6-sol)/

const limitVariable = 'COPILOT_PROVIDER_MAX_OUTPUT_TOKENS'

/** What the model and the environment change in the recorded request: 1.0.102, run with 50 model IDs (2026-11-23). */
export function firstRequest(
  recordings: Recordings,
  _: unknown,
  { protocol, model, version, env, outputLimit }: FirstRequestInput,
): FirstRequest {
  const isReasoning = /^(?:gpt|claude|gemini|grok)-/.test(model) && !withoutEffort.test(model)
  const named = Number(env[limitVariable]) || undefined
  const limit = named ?? outputLimit ?? outputTokens.find(([ids]) => ids.test(model))?.[1]
  const recorded = (kind: string) => recordedRequest(recordings, { kind, protocol, version })
  const ofGpt = recorded('gpt')
  const ofOthers = recorded(isReasoning ? 'reasoning' : 'plain')
  const { headers, body } = withBreakpoints.test(model) ? ofGpt : ofOthers
  const { tools } = (patching.test(model) ? ofGpt : ofOthers).body
  const limitName = protocol === 'responses' ? 'max_output_tokens' : 'max_tokens'
  return {
    headers,
    body: {
      ...body,
      tools,
      [limitName]: limit,
      ...(model.startsWith('gemini-') && { tool_choice: 'validated' }),
    },
    hints: { [limitName]: `Set ${limitVariable} to a limit that the gateway accepts.` },
  }
}
