/** The facts that Qwen Code has about models, by their IDs. */

/** The families whose windows Qwen Code knows (0.24.4; the older version has the same but for new names). */
export function knowsWindow(id: string): boolean {
  return /^(?:.*\/)?(?:gpt-|o\d|claude-|gemini-|qwen|deepseek|glm|kimi|minimax)/i.test(id)
}

/** The families to which it sends images by default (0.15.10, 2026-11-23). */
export function knowsToSee(id: string): boolean {
  return /^(?:.*\/)?(?:gpt-|claude-|gemini-|qwen.*(?:vl|omni))/i.test(id)
}

/** In tokens: the most that it requests from a model by default (0.24.4; 0.15.10 always 8000, 2026-11-23). */
export const usualOutputTokens = 64_000
export const oldOutputTokens = 8000

/** In tokens: what 0.24.4 requests from Claude Opus 4.6 and newer over messages (2026-11-26). */
export const opusOutputTokens = 128_000

/** Opus with the larger limit (as 0.24.4). */
export function isLargeOpus(id: string): boolean {
  return /^claude-opus-(?:4-[678]|5)/.test(id)
}

/** In tokens: how long a model thinks over messages if it does not choose itself (0.24.4, 2026-11-26). */
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
