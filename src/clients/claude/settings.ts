import type { SettingPath } from '../../edits/types.ts'
import { classifyHeader } from '../../gateway/input/header.ts'
import { removeVendor } from '../../gateway/models/ids.ts'
import type { ExtraHeader } from '../../gateway/types.ts'
import type {
  GatewaySettings,
  HarmfulVariable,
  KnownVariables,
  SensitiveSettings,
} from '../contract/config.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { fileOf, filesOfKind } from '../files/parse-file.ts'
import { gatewaySettingsIn } from '../files/sensitive-settings.ts'
import {
  readStrictly,
  removeSyntax,
  type StrictFile,
  syntaxToRemove,
} from '../files/strict-json.ts'
import { isTable, plainName, type Table, tableIn } from '../files/tables.ts'
import { isFromEarlierSetup } from '../plan/headers.ts'
import { isBefore, testedVersions, type Version } from '../program/tested.ts'
import { type Slot, slots } from './flags.ts'
import tested from './tested.json' with { type: 'json' }

/**
 * What differs between versions of Claude Code: run, or looked up in its packages, on Linux, 2026-11-22, unless a
 * comment says otherwise. An unknown version counts as the newest.
 */

/**
 * The IDs that Claude Code sends for a slot without a pin, each with the first version that sends it, oldest first.
 * Each boundary was found between adjacent published versions.
 */
export const sentIds: Readonly<
  Record<Slot, readonly { readonly since: string; readonly id: string }[]>
> = {
  opus: [
    { since: '2.1.45', id: 'claude-opus-4-6' },
    { since: '2.1.111', id: 'claude-opus-4-7' },
    { since: '2.1.154', id: 'claude-opus-4-8' },
    { since: '2.1.219', id: 'claude-opus-5' },
    { since: '2.1.280', id: 'claude-opus-5-5' },
  ],
  sonnet: [
    { since: '2.1.45', id: 'claude-sonnet-4-6' },
    { since: '2.1.197', id: 'claude-sonnet-5' },
    { since: '2.1.284', id: 'claude-sonnet-5-5' },
  ],
  haiku: [
    { since: '2.1.45', id: 'claude-haiku-4-5-20251001' },
    { since: '2.1.293', id: 'claude-haiku-5-5' },
  ],
  fable: [
    { since: '2.1.170', id: 'claude-fable-5' },
    { since: '2.1.257', id: 'claude-fable-5-1' },
    { since: '2.1.321', id: 'claude-fable-5-2' },
  ],
}

/**
 * The versions that the table covers; `npm run check-releases` runs them. What older ones send depends on whether
 * they were started before: at its first start 2.1.34 removes `model` from its settings and requests sonnet, and
 * later it requests the slot that a setup wrote there. 2.1.19 and 2.1.20 do so too; 2.1.39 and 2.1.44 always
 * request the slot (2026-11-27).
 */
export const tableVersions = {
  oldest: sentIds.sonnet[0]!.since,
  newest: testedVersions(tested).at(-1)!,
}

/** Whether the table covers a version. For a `newer` one, the newest IDs are the best guess. */
export function placeInTable(version: Version): 'covered' | 'newer' | 'older' | 'unknown' {
  if (version === undefined) return 'unknown'
  if (isBefore(version, tableVersions.oldest)) return 'older'
  return isBefore(tableVersions.newest, version) ? 'newer' : 'covered'
}

/** The first ID that a version sends if its settings name this slot and pin no model. */
export function sentFirst(version: Version, slot: Slot): string {
  const latest = sentIds[slot].findLast(({ since }) => !isBefore(version, since))
  return latest?.id ?? slot
}

/**
 * Whether a version knows the slot. A version that does not sends the slot's name unchanged, pinned or not (fable
 * on 2.1.150).
 */
export function hasSlot(version: Version, slot: Slot): boolean {
  const { since } = sentIds[slot][0]!
  // Versions older than the table have the slots with which it begins.
  return since === tableVersions.oldest || !isBefore(version, since)
}

/** The slot that a version starts with if no setting names a model (run on 2.1.54, 2.1.110 and 2.1.150). */
export function slotWithoutModel(version: Version): Slot {
  return isBefore(version, '2.1.141') ? 'sonnet' : 'opus'
}

/** Whether some version sends an ID, or a newer one could: no vendor, no dots, no date. */
export function isOwnId(id: string): boolean {
  const isSent = Object.values(sentIds).some((ids) => ids.some((sent) => sent.id === id))
  return isSent || /^claude-(?:opus|sonnet|haiku|fable)-\d+(?:-\d{1,2})?$/.test(id)
}

/**
 * Whether a version knows a model and its context window: the models that it sends itself and older ones, also with
 * a date or a vendor's name (2.1.329).
 */
export function knowsModel(version: Version, id: string): boolean {
  const name = withoutDate(removeVendor(id))
  const sent = Object.values(sentIds).flat()
  const known = sent.find(({ id: sentId }) => withoutDate(sentId) === name)
  if (known !== undefined) return !isBefore(version, known.since)
  return /^claude-(?:3|opus-4|sonnet-4|haiku-4)\b/.test(name)
}

export function withoutDate(id: string): string {
  return id.replace(/-\d{8}$/, '')
}

// The options of the command line: Claude Code exits if it does not know one.

/** `--bare` */
export function hasBareMode(version: Version): boolean {
  return !isBefore(version, '2.1.81')
}

/** `--no-session-persistence` */
export function canForgetSession(version: Version): boolean {
  return !isBefore(version, '2.1.1')
}

/**
 * Whether auto mode sends `safeguards`, according to docs.litellm.ai/docs/claude_code_auto_mode
 * (2026-10-14).
 */
export function asksForSafeguards(version: Version): boolean {
  return !isBefore(version, '2.1.278')
}

// settings.json.

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

// Headers.

/**
 * The new value of ANTHROPIC_CUSTOM_HEADERS: one line for each header, `name: value`. Lines of the user for this
 * gateway stay unchanged. Undefined: no line is left. Run with 2.1.197 and 2.1.330, 2026-11-22.
 *
 * @param isOtherGateway the current settings are for another gateway
 */
export function customHeaders(
  now: string | undefined,
  target: SetupTarget,
  isOtherGateway: boolean,
): string | undefined {
  const { headers = [] } = target
  const lines = linesOf(now)

  const keptLines = lines.filter((line) => {
    const { name, value } = headerIn(line)
    const required = headers.find((header) => header.name === name)
    if (required !== undefined) return required.value === value
    return (
      !isOtherGateway && !isCredentialLine(line) && !isFromEarlierSetup({ name, value }, target)
    )
  })

  const added = headers.filter(({ name }) =>
    keptLines.every((line) => headerIn(line).name !== name),
  )
  if (keptLines.length === lines.length && added.length === 0) return now
  return (
    [...keptLines, ...added.map(({ name, value }) => `${name}: ${value}`)].join('\n') || undefined
  )
}

/** The headers that Claude Code sends in addition to the usual ones. */
export function readCustomHeaders(text: string | undefined): readonly ExtraHeader[] {
  return linesOf(text).flatMap((line) => {
    const { name, value } = headerIn(line)
    return name === '' || value === '' ? [] : [classifyHeader(name, value)]
  })
}

/** Whether a line holds a credential, which is sent alongside the key and may override it. */
export function isCredentialLine(line: string): boolean {
  return /^\s*(?:x-api-key|authorization)\s*:/i.test(line)
}

export function linesOf(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split('\n').filter((line) => line.trim() !== '')
}

function headerIn(line: string): Pick<ExtraHeader, 'name' | 'value'> {
  const colon = line.indexOf(':')
  if (colon === -1) return { name: '', value: '' }
  return { name: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1).trim() }
}

// Where each setting may be, and what it decides.

const tried = '2.1.197 to 2.1.330, 2026-11-23'
/** The program of 2.1.330 contains the name. */
const read = { source: 'read in 2.1.330, 2026-11-23', isUntested: true } as const

/** The program of 2.1.331 contains the name. */
const named = { source: 'read in 2.1.331, 2026-11-24', isUntested: true } as const

const user = ['settings']
/** Files that override the user's own. */
const stronger = ['project', 'managed']
const all = [...user, ...stronger]
const folder = ['project']
const agents = ['project-agent']

// In a project none of 52 variables `*_URL` sends a request elsewhere without a provider switch, nor do
// CLAUDE_CODE_HTTP_PROXY, _HTTPS_PROXY, _PROXY_URL and ANTHROPIC_UNIX_SOCKET (2.1.332, 2026-11-28).
export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'settings',
  rows: [
    {
      path: 'env.ANTHROPIC_BASE_URL',
      role: 'address',
      fileKinds: all,
      setByRun: true,
      source: tried,
    },
    // Without the switches of the services, which `repoint run` turns off, they have no effect (2.1.330, 2026-11-28).
    ...serviceAddresses.map((name) => ({
      path: `env.${name}`,
      role: 'address' as const,
      fileKinds: stronger,
      setByRun: true as const,
      source: tried,
    })),
    { path: 'env.ANTHROPIC_*_URL', role: 'address', fileKinds: stronger, source: tried },
    { path: 'env.ANTHROPIC_*_RESOURCE', role: 'address', fileKinds: folder, ...read },
    { path: 'env.ANTHROPIC_*_HOST', role: 'address', fileKinds: folder, ...read },
    {
      path: 'env.ANTHROPIC_AUTH_TOKEN',
      role: 'key',
      fileKinds: all,
      setByRun: true,
      source: tried,
    },
    { path: 'env.ANTHROPIC_API_KEY', role: 'key', fileKinds: all, setByRun: true, source: tried },
    {
      path: 'env.ANTHROPIC_CUSTOM_HEADERS',
      role: 'key',
      fileKinds: all,
      setByRun: true,
      source: tried,
    },
    { path: 'env.CLAUDE_CODE_*_TOKEN', role: 'key', fileKinds: folder, ...read },
    { path: 'apiKeyHelper', role: 'key', fileKinds: all, setByRun: true, source: tried },
    ...serviceSwitches.map((name) => ({
      path: `env.${name}`,
      role: 'provider' as const,
      fileKinds: stronger,
      setByRun: true as const,
      source: tried,
    })),
    {
      path: 'env.CLAUDE_CODE_USE_ANTHROPIC_*',
      role: 'provider',
      fileKinds: stronger,
      source: tried,
    },
    { path: 'env.*HTTP*_PROXY', role: 'proxy', fileKinds: folder, source: tried },
    { path: 'env.ALL_PROXY', role: 'proxy', fileKinds: folder, ...read },
    { path: 'env.CLAUDE_CODE_PROXY_HOST', role: 'proxy', fileKinds: folder, ...read },
    { path: 'env.NODE_TLS_REJECT_UNAUTHORIZED', role: 'trust', fileKinds: folder, source: tried },
    { path: 'env.NODE_EXTRA_CA_CERTS', role: 'trust', fileKinds: folder, source: tried },
    { path: 'env.SSL_CERT_*', role: 'trust', fileKinds: folder, ...read },
    { path: 'env.CLAUDE_CODE_CLIENT_*', role: 'trust', fileKinds: folder, ...read },
    { path: 'env.ANTHROPIC_*MODEL', role: 'model', fileKinds: all, source: tried },
    { path: 'env.CLAUDE_CODE_SUBAGENT_MODEL', role: 'model', fileKinds: all, source: tried },
    {
      path: 'env.ANTHROPIC_CUSTOM_MODEL_OPTION*',
      role: 'model',
      fileKinds: [...user, ...folder],
      ...named,
    },
    {
      path: 'env.CLAUDE_CODE_MODEL_CATALOG*',
      role: 'model',
      fileKinds: [...user, ...folder],
      ...named,
    },
    {
      path: 'env.CLAUDE_CODE_SUBAGENT_MODEL_FORCE',
      role: 'model',
      fileKinds: all,
      ...named,
    },
    { path: 'env.CLAUDE_CODE_AUTO_MODE_MODEL', role: 'model', fileKinds: all, ...named },
    { path: 'model', role: 'model', fileKinds: [...all, ...agents], source: tried },
    {
      path: 'env.CLAUDE_CODE_ENABLE_PROXY_AUTH_HELPER',
      role: 'proxy',
      fileKinds: folder,
      ...named,
    },
    { path: 'proxyAuthHelper', role: 'proxy', fileKinds: folder, ...named },
  ],
}

// Variables of the environment.

const harmful = (name: string, effect: string): HarmfulVariable => ({
  name,
  code: 'claude-shell-variable',
  effect,
  severity: 'error',
})

/** The client works, with another model. */
const warned = (name: string, effect: string): HarmfulVariable => ({
  ...harmful(name, effect),
  severity: 'warning',
})

/** The `env` of settings.json overrides each of them in the environment, and an empty value there disables it. */
export const disabledBySettings: readonly HarmfulVariable[] = [
  harmful(names.apiKey, 'it overrides your gateway key'),
  harmful(names.token, 'Claude Code sends a second key, which the gateway rejects'),
  harmful(names.headers, 'it sends a second key'),
  ...serviceSwitches.map((name) =>
    harmful(name, 'Claude Code uses another service than the gateway'),
  ),
  warned(names.model, 'it overrides the chosen model'),
  warned(names.smallFast, 'it overrides the model of the haiku slot for background work'),
  ...slots.map((slot) => warned(slotVariable(slot), `it overrides the model of the slot ${slot}`)),
  // Exits with status 1 (2.1.330 and 2.1.332, 2026-11-28).
  harmful('CLAUDE_CODE_CLIENT_DATA_URL', 'Claude Code does not start'),
]

/** Nothing in settings.json changes them: Claude Code says "Not logged in" (2.1.330, 2026-11-28). */
export const readBeforeSettings: readonly HarmfulVariable[] = [
  'ANTHROPIC_UNIX_SOCKET',
  'CLAUDE_CODE_HOST_AUTH_ENV_VAR',
].map((name) => harmful(name, 'Claude Code does not use your key'))

export const variables: KnownVariables = {
  families: ['CLAUDE_', 'ANTHROPIC_'],
  harmful: [...disabledBySettings, ...readBeforeSettings],
  // Each name of 2.1.330 with such a word was set next to the settings of a setup: the gateway got the key, and
  // nobody else a request (2026-11-28). These are set for Claude Code, its own service, or services that a switch
  // selects; a user never set the others.
  harmless: [
    names.baseUrl,
    'ANTHROPIC_AWS_*',
    'ANTHROPIC_BEDROCK_*',
    'ANTHROPIC_FOUNDRY_*',
    'ANTHROPIC_GOOGLE_CLOUD_*',
    'ANTHROPIC_VERTEX_*',
    'ANTHROPIC_API_HOST',
    'CLAUDE_API_KEY',
    'CLAUDE_CODE_OAUTH_*',
    'CLAUDE_CODE_SKIP_*',
    'CLAUDE_CODE_API_KEY_HELPER_TTL_MS',
    'CLAUDE_CODE_MODEL_CATALOG_URL',
    'CLAUDE_CODE_SESSION_ACCESS_TOKEN',
    'CLAUDE_CODE_MESSAGING_*',
  ],
}

/**
 * The slots with their labels, and the settings about the gateway's models. A top-level `model` that names a
 * slot stays: Claude Code's own service has the slots too.
 */
export function gatewaySettings(files: LoadedFiles): GatewaySettings {
  const file = fileOf(files, 'settings')
  // A file that Claude Code skips counts too: somebody may remove its comments tomorrow.
  const { env, root } = readRepairedSettings(file)
  if (!env[names.baseUrl]) return {}

  const isSlot = typeof root['model'] === 'string' && slotOf(root['model']) !== undefined
  const known = gatewaySettingsIn(sensitiveSettings, file)
  const ofModels = Object.keys(env).filter(
    (name) =>
      name === names.contextTokens ||
      name === names.discovery ||
      slotVariables.some((slot) => name.startsWith(`${slot}_`)),
  )
  return {
    settings: [
      ...known.filter(([name]) => name !== 'model' || !isSlot),
      ...ofModels.map((name) => inEnv(name)),
    ],
  }
}
