import type { KeyPath } from '../../edits/plan.ts'
import { type Slot, slots } from '../client.ts'

/** Names in the settings' `env`, as Claude Code 2.1.197 and 2.1.329 know them (2026-11-21). */
export const names = {
  token: 'ANTHROPIC_AUTH_TOKEN',
  baseUrl: 'ANTHROPIC_BASE_URL',
  quiet: 'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC',
  discovery: 'CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY',
  attribution: 'CLAUDE_CODE_ATTRIBUTION_HEADER',
  subagent: 'CLAUDE_CODE_SUBAGENT_MODEL',
  contextTokens: 'CLAUDE_CODE_MAX_CONTEXT_TOKENS',
  apiKey: 'ANTHROPIC_API_KEY',
  model: 'ANTHROPIC_MODEL',
  smallFast: 'ANTHROPIC_SMALL_FAST_MODEL',
  headers: 'ANTHROPIC_CUSTOM_HEADERS',
  /** Not in `env`: names the folder of the settings themselves. */
  folder: 'CLAUDE_CONFIG_DIR',
} as const

/**
 * What stands in for `quiet` where discovery is wanted: 2.1.197 lets `quiet` suppress discovery
 * with any value, even "0".
 */
export const quietButDiscovering = [
  'DISABLE_TELEMETRY',
  'DISABLE_ERROR_REPORTING',
  'DISABLE_AUTOUPDATER',
] as const

/** Switches to another service; each was seen to take the client away from the gateway. */
export const serviceSwitches = [
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'CLAUDE_CODE_USE_MANTLE',
  'CLAUDE_CODE_USE_ANTHROPIC_AWS',
  'CLAUDE_CODE_USE_GATEWAY',
] as const

export function slotVariable(slot: Slot): string {
  return `ANTHROPIC_DEFAULT_${slot.toUpperCase()}_MODEL`
}

/** The label of a slot's model in the client's picker. */
export function slotLabelVariable(slot: Slot): string {
  return `${slotVariable(slot)}_NAME`
}

export const slotVariables: readonly string[] = slots.map(slotVariable)

export function inEnv(name: string): KeyPath {
  return ['env', name]
}
