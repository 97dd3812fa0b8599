import { isBefore, type Version } from '../program/tested.ts'

/**
 * What differs between versions of OpenClaw.
 *
 * Before 2026.5.2 it includes no file from another folder: 2026.4.29 ignores `OPENCLAW_INCLUDE_ROOTS`
 * (2026-11-24).
 */
export const minVersionForLaunch = '2026.5.2'

/** Whether it has `agent exec`: 2026.7.35 does not (2026-11-24). An unknown version counts as the newest. */
export function hasAgentExec(version: Version): boolean {
  return !isBefore(version, '2026.8.1')
}
