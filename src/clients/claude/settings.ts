import type { SettingPath } from '../../edits/types.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import { filesOfKind } from '../files/parse-file.ts'
import {
  readStrictly,
  removeSyntax,
  type StrictFile,
  syntaxToRemove,
} from '../files/strict-json.ts'
import { isTable, plainName, type Table, tableIn } from '../files/tables.ts'
import { type Slot, slots } from './flags.ts'

/** Names in the settings' `env` that Claude Code knows. */
export const names = {
  token: 'ANTHROPIC_AUTH_TOKEN',
  baseUrl: 'ANTHROPIC_BASE_URL',
  quiet: 'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC',
  discovery: 'CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY',
  attribution: 'CLAUDE_CODE_ATTRIBUTION_HEADER',
  subagent: 'CLAUDE_CODE_SUBAGENT_MODEL',
  contextTokens: 'CLAUDE_CODE_MAX_CONTEXT_TOKENS',
  outputTokens: 'CLAUDE_CODE_MAX_OUTPUT_TOKENS',
  withoutBetas: 'CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS',
  apiKey: 'ANTHROPIC_API_KEY',
  model: 'ANTHROPIC_MODEL',
  smallFast: 'ANTHROPIC_SMALL_FAST_MODEL',
  headers: 'ANTHROPIC_CUSTOM_HEADERS',
  authorities: 'NODE_EXTRA_CA_CERTS',
  /** Not in `env`: it names the folder of the settings themselves. */
  folder: 'CLAUDE_CONFIG_DIR',
} as const

/**
 * The variables that replace `quiet` if the user wants discovery: in 2.1.197 any value of `quiet` disables
 * discovery, even "0".
 */
export const quietButDiscovering = [
  'DISABLE_TELEMETRY',
  'DISABLE_ERROR_REPORTING',
  'DISABLE_AUTOUPDATER',
] as const

/** Variables that add members and headers to every request (in the program of 2.1.330, 2026-11-28). */
export const requestVariables = [
  'CLAUDE_CODE_EXTRA_BODY',
  'CLAUDE_CODE_EXTRA_METADATA',
  'ANTHROPIC_BETAS',
] as const

/** Switches to another service; each was seen to divert the client from the gateway. */
export const serviceSwitches = [
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'CLAUDE_CODE_USE_MANTLE',
  'CLAUDE_CODE_USE_ANTHROPIC_AWS',
  'CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD',
  'CLAUDE_CODE_USE_GATEWAY',
] as const

/** The variables with the addresses of those services. */
export const serviceAddresses = [
  'ANTHROPIC_BEDROCK_BASE_URL',
  'ANTHROPIC_BEDROCK_MANTLE_BASE_URL',
  'ANTHROPIC_VERTEX_BASE_URL',
  'ANTHROPIC_FOUNDRY_BASE_URL',
  'ANTHROPIC_FOUNDRY_RESOURCE',
  'ANTHROPIC_AWS_BASE_URL',
  'ANTHROPIC_GOOGLE_CLOUD_BASE_URL',
] as const

/** The variable with the slot's pin. */
export function slotVariable(slot: Slot): string {
  return `ANTHROPIC_DEFAULT_${slot.toUpperCase()}_MODEL`
}

/** The variable with the pin's label in the client's picker. */
export function slotLabelVariable(slot: Slot): string {
  return `${slotVariable(slot)}_NAME`
}

export const slotVariables: readonly string[] = slots.map(slotVariable)

/**
 * Whether a switch is on: only four words switch it on, in any case and with any blanks around them.
 * Discovery was run with each of them on 2.1.197, 2.1.238 and 2.1.330, 2026-11-22.
 */
export function isOn(value: string | undefined): boolean {
  return ['1', 'true', 'yes', 'on'].includes(value?.trim().toLowerCase() ?? '')
}

/** The pins of the slots that have one. */
export type Pins = Readonly<Partial<Record<Slot, string>>>

export function pinsIn({ env }: Pick<ClaudeSettings, 'env'>): Pins {
  return Object.fromEntries(
    slots.flatMap((slot) => {
      const model = env[slotVariable(slot)]
      return model ? [[slot, model]] : []
    }),
  )
}

/** Whether the pins are a mapping. With Claude models only, they are those of `repoint claude`. */
export function isMapping(pins: Pins): boolean {
  const isClaude = (id: string | undefined) => slots.some((slot) => id?.includes(slot))
  return (
    slots.every((slot) => pins[slot] !== undefined) && slots.some((slot) => !isClaude(pins[slot]))
  )
}

/**
 * The suffix for a model's window, as in `claude-opus-5-5[1m]`: Claude Code sends it as a beta header. It sends any
 * other bracket as part of the name (2.1.329).
 */
export const windowSuffix = /\[[12]m\]$/i

export function withoutWindow(model: string): string {
  return model.replace(windowSuffix, '')
}

/** The only `windowSuffix` that the name of a slot can have: `sonnet[2m]` requests a model `sonnet`. */
export const longWindow = /\[1m\]$/i

/**
 * The slot that a top-level `model` names, in any case. Undefined: it names a model. `opusplan` starts as sonnet.
 * Run on 2.1.150 to 2.1.329, 2026-11-22.
 */
export function slotOf(model: string): Slot | undefined {
  const word = model.replace(longWindow, '').toLowerCase()
  return word === 'opusplan' ? 'sonnet' : slots.find((slot) => slot === word)
}

export function hasDiscovery({ env }: ClaudeSettings): boolean {
  return isOn(env[names.discovery]) && !env[names.quiet]
}

export function inEnv(name: string): SettingPath {
  return ['env', name]
}

/** A settings file as Claude Code reads it: it silently ignores a whole file that it cannot read. */
export interface ClaudeSettings extends StrictFile {
  /** The settings' `env`, with all values as text. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Reads a settings file as Claude Code does: strictly, and completely or not at all. It accepts a byte order mark,
 * and converts values of `env` to text.
 */
export function readSettings(file: Pick<LoadedFile, 'kind' | 'path' | 'bytes'>): ClaudeSettings {
  const read = readStrictly(file, { allowsBom: true, problemIn: wrongType })
  const env = Object.entries(tableIn(read.root, ['env']))
  return { ...read, env: Object.fromEntries(env.map(([name, value]) => [name, plainName(value)])) }
}

/**
 * Like `readSettings`, but after a setup has removed comments and trailing commas. Lines are those of the
 * file now.
 */
export function readRepairedSettings(file: LoadedFile): ClaudeSettings {
  const settings = readSettings(file)
  if (!settings.isRepairable || file.bytes === null) return settings
  const syntax = syntaxToRemove(settings.reader)
  const repaired = readSettings({ ...file, bytes: removeSyntax(file.bytes, file.path, syntax) })
  return { ...repaired, place: settings.place }
}

function wrongType(root: Table): string | undefined {
  const { model, env, permissions } = root
  if (model !== undefined && typeof model !== 'string') return '"model" is not text'
  if (env !== undefined && !isTable(env)) return '"env" is not an object'
  if (permissions !== undefined) {
    if (!isTable(permissions)) return '"permissions" is not an object'
    for (const list of ['allow', 'deny', 'ask']) {
      const value = permissions[list]
      if (value !== undefined && !Array.isArray(value)) {
        return `"permissions.${list}" is not a list`
      }
    }
  }

  return undefined
}

/** Whether Claude Code has a saved login of its vendor. */
export function hasLogin(files: LoadedFiles): boolean {
  return filesOfKind(files, 'credentials').some(({ bytes }) => bytes !== null)
}
