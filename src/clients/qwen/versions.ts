/** What differs between versions of Qwen Code. An unknown version counts as the newest. */
import { isBefore, type Version } from '../program/tested.ts'

/** 0.8.2 silently exits with status 1, and deletes `selectedType` (2026-11-23). */
export const minVersion = '0.10.1'

/**
 * The oldest version that can use every protocol: 0.23.0 does not have `openai-responses`. 0.15.10 has a list of
 * Anthropic's models too, but sends Claude 5 a thinking budget above its own `max_tokens`, and every gateway
 * rejects that (2026-11-26).
 */
export const minVersionForProtocols = '0.23.4'

export function hasEveryProtocol(version: Version): boolean {
  return !isBefore(version, minVersionForProtocols)
}

/** Whether the limit of a request depends on the model. That of 0.15.10 does not (2026-11-23). */
export function hasLimitByModel(version: Version): boolean {
  return !isBefore(version, '0.16.0')
}
