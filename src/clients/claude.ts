import type { ConfigValue, FileEdit, KeyChange } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import type { Machine } from '../platform/platform.ts'
import {
  inEnv,
  names,
  quietButDiscovering,
  slotLabelVariable,
  slotVariable,
  slotVariables,
} from './claude-keys.ts'
import { chooseMapped, chooseSlots } from './claude-models.ts'
import { claudeObstacles } from './claude-obstacles.ts'
import { type ClaudeSettings, readSettings } from './claude-settings.ts'
import {
  type Choice,
  type Client,
  type ConfigFile,
  type FileTexts,
  type Look,
  type Origins,
  type Settings,
  type SetupOptions,
  type Slot,
  slots,
} from './client.ts'
import { pathsOf } from './paths.ts'
import { editKeys } from './repairs.ts'
import { brokenText, compact, fileOf, layersOf, originOf, readFile, rootOf } from './texts.ts'

/** The messages client. Facts: run against Claude Code 2.1.197 and 2.1.329, 2026-11-21. */
const shared = {
  family: 'claude',
  binary: {
    command: 'claude',
    versionArgs: ['--version'],
    testedVersions: ['2.1.197', '2.1.329'],
    pingArgs: (prompt: string) => [
      '--bare',
      '-p',
      prompt,
      '--output-format',
      'json',
      '--no-session-persistence',
    ],
    pingEnv: { CLAUDE_CODE_MAX_RETRIES: '0' },
  },
  protocol: 'messages',
  restartAdvice: 'Close every running Claude Code and start it again.',
  files: claudeFiles,
  readBack: readBackClaude,
  origins: originsOfClaude,
  asConfigured: optionsOf,
  obstacles: claudeObstacles,
} as const

/** With its own models: the slots keep their meaning. */
export const claude: Client = {
  ...shared,
  id: 'claude',
  label: 'Claude Code',
  choose: chooseSlots,
  plan: (texts, choice) => planClaude('claude', texts, choice),
}

/** With GPT models in its slots. */
export const claudeGpt: Client = {
  ...shared,
  id: 'claude-gpt',
  label: 'Claude Code with GPT models',
  choose: chooseMapped,
  plan: (texts, choice) => planClaude('claude-gpt', texts, choice),
}

function claudeFiles(machine: Machine, look: Look): readonly ConfigFile[] {
  const { join, named } = pathsOf(machine)
  const own = named(names.folder)
  const home = own ?? join(machine.home, '.claude')
  const settings = join(home, 'settings.json')
  // Only the working folder's own settings count, not those of folders above it.
  const project = join(machine.cwd, '.claude')
  const managed = managedFolder(machine)
  const drops = join(managed, 'managed-settings.d')
  const layers = [
    { role: 'credentials', path: join(home, '.credentials.json') },
    { role: 'state', path: join(own ?? machine.home, '.claude.json') },
    { role: 'project', path: join(project, 'settings.json') },
    { role: 'project', path: join(project, 'settings.local.json') },
    { role: 'managed', path: join(managed, 'managed-settings.json') },
    ...look
      .entries(drops)
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .map((name) => ({ role: 'managed', path: join(drops, name) })),
  ]
  return [
    { role: 'settings', path: settings, format: 'json', holdsSecret: true, use: 'target' },
    ...layers
      .filter(({ path }) => path !== settings && look.exists(path))
      .map((layer) => ({ ...layer, format: 'json', holdsSecret: true, use: 'layer' }) as const),
  ]
}

/** Linux: seen in both versions, 2026-11-21. The others: code.claude.com/docs/en/settings. */
function managedFolder(machine: Machine): string {
  if (machine.os === 'darwin') return '/Library/Application Support/ClaudeCode'
  if (machine.os === 'win32') return 'C:\\Program Files\\ClaudeCode'
  return '/etc/claude-code'
}

function planClaude(
  id: 'claude' | 'claude-gpt',
  texts: FileTexts,
  choice: Choice,
): readonly FileEdit[] {
  const file = fileOf(texts, 'settings')
  const changes = ourKeys(readSettings(file), choice)
  const edit = editKeys(id, file, changes, choice.repairs)
  const after = readSettings({ ...file, bytes: edit.after })
  if (after.skipped !== undefined) {
    throw new UserError({
      code: 'config-invalid',
      message: `Claude Code would skip the file without a word: ${brokenText(file.path, after.skipped)}`,
      hint: 'Correct the file, or let repoint take comments and trailing commas out of it.',
    })
  }
  return [edit]
}

function ourKeys(now: ClaudeSettings, choice: Choice): readonly KeyChange[] {
  const { models } = choice
  const set = (name: string, value: ConfigValue | undefined): KeyChange => ({
    path: inEnv(name),
    value,
  })
  return [
    { ...set(names.token, choice.key), isSecret: true, isBound: true },
    { ...set(names.baseUrl, choice.baseUrl), isBound: true },
    ...trafficKeys(now, choice).map(([name, value]) => set(name, value)),
    ...mappingKeys(now, choice).map(([name, value]) => set(name, value)),
    ...rootModel(now, models.slot ?? 'sonnet'),
  ]
}

type Variable = readonly [name: string, value: ConfigValue | undefined]

function trafficKeys(now: ClaudeSettings, choice: Choice): readonly Variable[] {
  if (choice.options.enableDiscovery) {
    return [
      [names.discovery, '1'],
      ...quietButDiscovering.map((name): Variable => [name, '1']),
      ...removal(now, names.quiet),
    ]
  }
  return [
    [names.quiet, '1'],
    ...removal(now, names.discovery),
    ...(isDiscovering(now) ? takenBack(now, choice, isDiscovering, quietButDiscovering) : []),
  ]
}

function isDiscovering({ env }: ClaudeSettings): boolean {
  return isOn(env[names.discovery]) && env[names.quiet] === undefined
}

/**
 * The slots that the choice fills, and the removal of those that it does not.
 *
 * Whose a mapping is cannot be seen in the file, and no marker is left in it. The rule: beside a
 * base URL, a mapping belongs to the setup of that base URL and goes with it, the subagent, the
 * context window and the attribution switch included; of these three, what stood there before the
 * mapping comes back. Without a base URL the slots are pins of the user's own, which an obstacle
 * names: they do not come back, since nothing has proven their models. What a setup takes away,
 * rollback brings back.
 */
function mappingKeys(now: ClaudeSettings, choice: Choice): readonly Variable[] {
  const { models, options } = choice
  const wasMapped = isMapped(now)
  const orGone = (value: string | undefined, name: string): readonly Variable[] => {
    if (value !== undefined) return [[name, value]]
    return wasMapped ? removal(now, name) : []
  }
  const orAsBefore = (value: string | undefined, name: string): readonly Variable[] => {
    if (value !== undefined) return [[name, value]]
    return wasMapped ? takenBack(now, choice, isMapped, [name]) : []
  }
  const window = models.contextWindow === undefined ? undefined : String(models.contextWindow)
  const fillsSlots = Object.keys(models.slotModels ?? {}).length > 0
  return [
    ...slots.flatMap((slot) => {
      const model = models.slotModels?.[slot]
      return [...orGone(model, slotVariable(slot)), ...orGone(model, slotLabelVariable(slot))]
    }),
    ...orAsBefore(models.subagentModel, names.subagent),
    // Beside a mapping, a window that was given once stays until it is known anew.
    ...(window === undefined && fillsSlots ? [] : orAsBefore(window, names.contextTokens)),
    ...(options.disableAttribution
      ? [[names.attribution, '0'] as const]
      : wasMapped && !fillsSlots && now.env[names.attribution] === '0'
        ? takenBack(now, choice, isMapped, [names.attribution])
        : []),
  ]
}

function isMapped({ env }: ClaudeSettings): boolean {
  return env[names.baseUrl] !== undefined && slotVariables.some((name) => env[name])
}

/**
 * Takes away what came with a state of the settings; what stood there before that state comes back,
 * as far as the records tell.
 */
function takenBack(
  now: ClaudeSettings,
  { earlier }: Choice,
  isStill: (settings: ClaudeSettings) => boolean,
  taken: readonly string[],
): readonly Variable[] {
  if (taken.every((name) => now.env[name] === undefined)) return []
  for (const bytes of earlier?.('settings') ?? []) {
    const before = readSettings({ path: now.path, bytes })
    if (!isStill(before))
      return taken.flatMap((name): readonly Variable[] => {
        // As it was spelled: a number stays one.
        const value = (before.root['env'] as Record<string, ConfigValue> | undefined)?.[name]
        return value === undefined ? removal(now, name) : [[name, value]]
      })
  }
  return taken.flatMap((name) => removal(now, name))
}

function removal(now: ClaudeSettings, name: string): readonly Variable[] {
  return now.env[name] === undefined ? [] : [[name, undefined]]
}

/**
 * The client itself deletes `"model": "opus"` when it first starts, because an absent model means
 * opus: a settled file without a model is right for that slot.
 */
function rootModel(now: ClaudeSettings, slot: Slot): readonly KeyChange[] {
  const isSettled = now.env[names.baseUrl] !== undefined
  if (slot === 'opus' && isSettled && now.root['model'] === undefined) return []
  return [{ path: ['model'], value: slot }]
}

/** `opusplan` counts as sonnet; any other name that is no slot goes out as it stands. */
function optionsOf({ model, slotModels, subagentModel }: Settings): SetupOptions {
  const slot = model === 'opusplan' ? 'sonnet' : slots.find((name) => name === model)
  return { ...(slot === undefined ? { model } : { slot }), slotModels, subagentModel }
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}

function originsOfClaude(texts: FileTexts): Origins {
  const settings = readFile(fileOf(texts, 'settings'))
  const model = originOf([settings], inEnv(names.model)) ?? originOf([settings], ['model'])
  return compact({
    baseUrl: originOf([settings], inEnv(names.baseUrl)),
    model,
    smallModel: originOf([settings], inEnv(names.smallFast)),
  })
}

function readBackClaude(texts: FileTexts): Settings {
  const file = fileOf(texts, 'settings')
  const { root, env, skipped } = readSettings(file)
  const url = env[names.baseUrl] || undefined
  // Without a token Claude Code sends the API key, as x-api-key.
  const key = env[names.token] || env[names.apiKey] || undefined
  const slotModels = Object.fromEntries(
    slots.flatMap((slot) => {
      const model = env[slotVariable(slot)]
      return model ? [[slot, model]] : []
    }),
  )
  const hasLogin = layersOf(texts, 'credentials').some((layer) => layer.bytes !== null)
  return {
    ...(url === undefined ? {} : { configuredUrl: url, baseUrl: rootOf(url) }),
    model: env[names.model] || (typeof root['model'] === 'string' ? root['model'] : 'opus'),
    ...(key === undefined ? {} : { key, keyPath: file.path }),
    ...(Object.keys(slotModels).length === 0 ? {} : { slotModels }),
    ...(env[names.subagent] ? { subagentModel: env[names.subagent] } : {}),
    ...(env[names.smallFast] ? { smallModel: env[names.smallFast] } : {}),
    ...(key === undefined && hasLogin ? { login: 'a saved login' } : {}),
    ...(skipped === undefined ? {} : { broken: brokenText(file.path, skipped) }),
  }
}
