import type { KeyPath } from '../../edits/plan.ts'
import type { Machine } from '../../platform/platform.ts'
import type { ObstacleContext, Repair } from '../client.ts'
import { inEnv } from './keys.ts'
import type { ClaudeSettings } from './settings.ts'

/** What the obstacles of Claude Code are judged by. */
export interface Scene {
  readonly settings: ClaudeSettings
  readonly machine: Machine
  readonly context: ObstacleContext
  /** `file:line` of a key. */
  readonly place: (path: KeyPath) => string
}

export function setEnv(name: string, value: string | undefined): Repair {
  return { role: 'settings', changes: [{ path: inEnv(name), value }] }
}

export function carriesCredential(headers: string | undefined): boolean {
  return headers !== undefined && /^\s*(?:x-api-key|authorization)\s*:/im.test(headers)
}
