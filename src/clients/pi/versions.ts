import { isBefore, type Version } from '../program/tested.ts'

/** What differs between versions of pi. An unknown version counts as the newest. */
/** 0.50.3 and 0.50.7 find no model (2026-11-23). */
export const minVersion = '0.51.0'

/** Whether the limit of a request leaves room for the prompt in the window (0.87.1, 2026-11-26). */
export function leavesRoomForPrompt(version: Version): boolean {
  return !isBefore(version, '0.87.1')
}

/**
 * Whether it reads `forceAdaptiveThinking` of a model's entry: 0.73.1 ignores it, and decides by IDs that it
 * knows; 0.87.1 reads it (2026-11-23). `unknown`: which version began to read it was not tested.
 */
export function readsAdaptiveThinking(version: Version): 'yes' | 'no' | 'unknown' {
  if (!isBefore(version, '0.87.1')) return 'yes'
  return isBefore(version, '0.74.0') ? 'no' : 'unknown'
}
