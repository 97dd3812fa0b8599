/**
 * What Qwen Code knows about models by their IDs: 0.24.4, 2026-11-23 and 2026-11-26, unless a comment says
 * otherwise.
 */
import { hasLimitByModel } from './versions.ts'

/** The families whose windows Qwen Code knows. The older version has the same but for new names. */
export function knowsWindow(id: string): boolean {
  return /^(?:.*\/)?(?:gpt-|o\d|claude-|gemini-|qwen|deepseek|glm|kimi|minimax)/i.test(id)
}

/** The families to which it sends images by default (0.15.10, 2026-11-23). */
export function knowsToSee(id: string): boolean {
  return /^(?:.*\/)?(?:gpt-|claude-|gemini-|qwen.*(?:vl|omni))/i.test(id)
}

/** In tokens: the most that it requests from a model by default. */
export const usualOutputTokens = 64_000
/** In tokens: what an older version requests from any model. */
const oldOutputTokens = 8000

/** In tokens: what it requests from a model that it does not know. */
const unknownOutputTokens = 32_000

/** In tokens: what it requests at most, by the start of the ID (read in its tokenLimits.ts). */
const outputTokens: readonly (readonly [RegExp, number])[] = [
  [/^claude-opus-(?:4[-.][678]|5)/, 128_000],
  [
    /^(?:gemini-3|gpt-5|o\d|claude-|qwen3\.\d|deepseek-(?:v4|flash|reasoner|r1)|glm-5)/,
    usualOutputTokens,
  ],
  [/^(?:minimax-m2\.5|kimi-k3)/, usualOutputTokens],
  [/^(?:qwen|kimi-k2\.5)/, 32_768],
  [/^(?:gpt-|glm-4\.7)/, 16_384],
  [/^(?:gemini-|deepseek-chat)/, 8192],
]

/** In tokens: the window of a model without one in its entry. Those that Qwen Code knows are not smaller. */
export const usualWindow = 200_000

/** In tokens: about the size of its first prompt, as it counts. */
const promptTokens = 22_400

/**
 * In tokens: the limit of its first request for a model without a limit in its entry. 0.24.4 leaves room for the
 * prompt in the window.
 */
export function outputTokensFor(id: string, version: string | undefined, window: number): number {
  if (!hasLimitByModel(version)) return oldOutputTokens
  const name = id.toLowerCase().replace(/^.*\//, '')
  const most = outputTokens.find(([start]) => start.test(name))?.[1] ?? unknownOutputTokens
  const remaining = window - promptTokens - Math.max(10_000, Math.round(0.05 * window))
  return Math.min(most, Math.max(4000, remaining))
}

/** In tokens: how long a model thinks over messages if it does not choose itself. */
export const thinkingBudget = 32_000

/** Over messages, Claude 4.6 and newer choose themselves how long they think. */
export function isAdaptive(id: string): boolean {
  return isClaudeSince(id, 6)
}

/** Over messages, Claude 4.8 and newer get no temperature. */
export function rejectsTemperature(id: string): boolean {
  return isClaudeSince(id, 8)
}

function isClaudeSince(id: string, minorOf4: number): boolean {
  const [, major = 0, minor = 0] =
    /claude-[a-z]+-(\d+)(?:[-.](\d{1,2})(?!\d))?/.exec(id)?.map((part = '') => Number(part)) ?? []
  return major > 4 || (major === 4 && minor >= minorOf4)
}
