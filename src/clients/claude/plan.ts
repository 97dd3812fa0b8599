import type { ConfigValue, FileEdit, SettingChange, SettingPath } from '../../edits/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { defaultSlot, type Slot, slots } from '../contract/options.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { fileOf } from '../files/parse-file.ts'
import { valueIn } from '../files/tables.ts'
import { effectiveOptions, keepsModels } from '../options/chosen-options.ts'
import { editReadably } from '../plan/edit-file.ts'
import { askingModeChanges } from './checks/auto-mode.ts'
import { customHeaders } from './headers.ts'
import { claudeName } from './name.ts'
import { sensitiveSettings } from './sensitive-settings.ts'
import {
  type ClaudeSettings,
  inEnv,
  isOn,
  names,
  quietButDiscovering,
  readRepairedSettings,
  readSettings,
  slotLabelVariable,
  slotOf,
  slotVariable,
  slotVariables,
  withoutWindow,
} from './settings.ts'

/** @param id of the client of the family that is set up */
export function plan(id: string, files: LoadedFiles, target: SetupTarget): readonly FileEdit[] {
  const file = fileOf(files, 'settings')
  const edit = editReadably({
    client: { ...claudeName, id },
    sensitiveSettings,
    file,
    changes: ourChanges(readRepairedSettings(file), target),
    fixes: target.fixes,
    read: readSettings,
  })
  return [edit]
}

/** The changes that a setup makes to the settings: the keys that it sets and the keys that it removes. */
export function ourChanges(now: ClaudeSettings, target: SetupTarget): readonly SettingChange[] {
  const set = (name: string, value: ConfigValue | undefined): SettingChange => ({
    path: inEnv(name),
    value,
  })

  return [
    ...keyChanges(now, target),
    set(names.baseUrl, target.baseUrl),
    ...customHeaderChanges(now, target),
    // Another file that is already set may hold the authority of a proxy, which repoint does not know.
    ...(target.caFile && !now.env[names.authorities]
      ? [set(names.authorities, target.caFile)]
      : []),
    ...trafficChanges(now, target).map(([name, value]) => set(name, value)),
    ...mappingChanges(now, target).map(([name, value]) => set(name, value)),
    ...effortChanges(now, target).map(([name, value]) => set(name, value)),
    ...modelChanges(now, target),
    ...permissionChanges(now, target),
  ]
}

/**
 * The mode stays ours while the gateway needs it. If the gateway answers `safeguards`, the setup restores the
 * mode from before.
 */
function permissionChanges(now: ClaudeSettings, target: SetupTarget): readonly SettingChange[] {
  const present = askingModeChanges.filter(({ path, value }) => valueIn(now.root, path) === value)
  if (target.answersSafeguards === false) return present
  if (target.answersSafeguards === undefined) return []
  return present.flatMap(({ path }) => restoredAt(now, target, isSetUpByUs, path))
}

/** Sets the token or the API key, not both: with both, Claude Code sends the key twice. */
function keyChanges(
  now: ClaudeSettings,
  { key, keyHeader }: SetupTarget,
): readonly SettingChange[] {
  if (keyHeader === undefined) return [{ path: inEnv(names.token), value: key, isSecret: true }]

  const apiKey = { path: inEnv(names.apiKey), value: key, isSecret: true }
  if (now.env[names.token] === undefined) return [apiKey]
  return [apiKey, { path: inEnv(names.token), value: undefined, isSecret: true }]
}

function customHeaderChanges(now: ClaudeSettings, target: SetupTarget): readonly SettingChange[] {
  const current = now.env[names.headers]
  const value = customHeaders(current, target, isOtherGateway(now, target))
  if (value === undefined && current === undefined) return []
  const isOurs = value !== current || (target.headers ?? []).length > 0
  return isOurs ? [{ path: inEnv(names.headers), value, isSecret: true }] : []
}

/** Whether the settings are for another address than the target. */
export function isOtherGateway({ env }: ClaudeSettings, { baseUrl }: SetupTarget): boolean {
  return pointsElsewhere(env[names.baseUrl], baseUrl)
}

type Variable = readonly [name: string, value: ConfigValue | undefined]

function trafficChanges(now: ClaudeSettings, target: SetupTarget): readonly Variable[] {
  if (effectiveOptions(target.input).discoverModels) {
    return [
      [names.discovery, '1'],
      ...quietButDiscovering.map((name): Variable => [name, '1']),
      ...removed(now, names.quiet),
    ]
  }

  return [
    [names.quiet, '1'],
    ...removed(now, names.discovery),
    ...(isDiscovering(now)
      ? quietButDiscovering.flatMap((name) => restored(now, target, isDiscovering, name))
      : []),
  ]
}

export function isDiscovering({ env }: ClaudeSettings): boolean {
  return isOn(env[names.discovery]) && !env[names.quiet]
}

/**
 * Fills the slots of the target, clears the other slots, and changes the settings that belong to them.
 *
 * The file does not show who wrote a mapping, and repoint leaves no marker in it. The rule: next to a base
 * URL, a mapping belongs to the setup of that base URL and is removed with it, including the subagent, the
 * context window and the attribution switch. For these three, the value from before the mapping is restored.
 * Without a base URL, the slots are the user's own pins, and a finding names them: they are not restored,
 * because nothing has proven their models. Rollback restores everything that a setup removes.
 */
function mappingChanges(now: ClaudeSettings, target: SetupTarget): readonly Variable[] {
  const { slotModels = {}, subagentModel, contextWindow } = target.resolved
  const fillsSlots = Object.keys(slotModels).length > 0
  const subagent = asWritten(now.env[names.subagent], subagentModel)
  const window = contextWindow === undefined ? undefined : String(contextWindow)
  // Next to a mapping, an earlier window stays until the window is known or the user resets all options.
  const isWindowLeft = window === undefined && fillsSlots && !target.input.resetToDefaults

  return [
    ...slots.flatMap((slot) => slotChanges(now, slot, slotModels[slot])),
    ...setOrRestored(now, target, names.subagent, subagent),
    ...(isWindowLeft ? [] : setOrRestored(now, target, names.contextTokens, window)),
    ...attributionChanges(now, target, isMapped(now) && !fillsSlots),
  ]
}

/** A slot's model and its label. If the model stays, the user's label stays too. */
function slotChanges(
  now: ClaudeSettings,
  slot: Slot,
  model: string | undefined,
): readonly Variable[] {
  const [id, label] = [slotVariable(slot), slotLabelVariable(slot)]
  const written = asWritten(now.env[id], model)
  const isSame = written !== undefined && written === now.env[id]
  return [
    ...setOrRemoved(now, id, written),
    ...setOrRemoved(now, label, (isSame && now.env[label]) || model),
  ]
}

/** Keeps the current spelling of a model if it differs only in the window suffix. */
function asWritten(current: string | undefined, model: string | undefined): string | undefined {
  return current !== undefined && withoutWindow(current) === model ? current : model
}

function effortChanges(now: ClaudeSettings, target: SetupTarget): readonly Variable[] {
  const effort = effectiveOptions(target.input).reasoningEffort
  if (effort !== undefined) return [[names.effort, effort]]
  return target.input.resetToDefaults ? restored(now, target, isSetUpByUs, names.effort) : []
}

function attributionChanges(
  now: ClaudeSettings,
  target: SetupTarget,
  isMappingGone: boolean,
): readonly Variable[] {
  const { disableAttribution } = effectiveOptions(target.input)
  if (disableAttribution) return [[names.attribution, '0']]
  if (now.env[names.attribution] !== '0') return []
  if (isMappingGone) return restored(now, target, isMapped, names.attribution)

  const isUndone = disableAttribution === false || target.input.resetToDefaults
  return isUndone ? restored(now, target, isSetUpByUs, names.attribution) : []
}

function isSetUpByUs({ env }: ClaudeSettings): boolean {
  return env[names.baseUrl] !== undefined
}

function isMapped({ env }: ClaudeSettings): boolean {
  return env[names.baseUrl] !== undefined && slotVariables.some((name) => env[name])
}

/** Sets a variable. Without a value, removes it if it belongs to a mapping. */
function setOrRemoved(
  now: ClaudeSettings,
  name: string,
  value: string | undefined,
): readonly Variable[] {
  if (value !== undefined) return [[name, value]]
  return isMapped(now) ? removed(now, name) : []
}

/**
 * Sets a variable. Without a value, restores the value from before the mapping. With `resetToDefaults`,
 * restores the value from before the setup.
 */
function setOrRestored(
  now: ClaudeSettings,
  target: SetupTarget,
  name: string,
  value: string | undefined,
): readonly Variable[] {
  if (value !== undefined) return [[name, value]]
  const isInState = target.input.resetToDefaults ? isSetUpByUs : isMapped
  return isInState(now) ? restored(now, target, isInState, name) : []
}

/** Gives a variable the value that it had before a state of the settings, as far as the records tell. */
function restored(
  now: ClaudeSettings,
  target: SetupTarget,
  isInState: (settings: ClaudeSettings) => boolean,
  name: string,
): readonly Variable[] {
  const changes = restoredAt(now, target, isInState, inEnv(name))
  return changes.map(({ value }): Variable => [name, value])
}

function restoredAt(
  now: ClaudeSettings,
  { earlier }: SetupTarget,
  isInState: (settings: ClaudeSettings) => boolean,
  path: SettingPath,
): readonly SettingChange[] {
  if (valueIn(now.root, path) === undefined) return []
  for (const bytes of earlier?.('settings') ?? []) {
    const before = readSettings({ ...now, bytes })
    // Keeps the type of the value: a number stays a number.
    if (!isInState(before)) return [{ path, value: valueIn(before.root, path) }]
  }

  return [{ path, value: undefined }]
}

function removed(now: ClaudeSettings, name: string): readonly Variable[] {
  return now.env[name] === undefined ? [] : [[name, undefined]]
}

/**
 * Claude Code deletes `"model": "opus"` at its first start, because an absent model means opus. So a file
 * that was set up and has no model is right for that slot.
 */
function modelChanges(
  now: ClaudeSettings,
  { resolved, input }: SetupTarget,
): readonly SettingChange[] {
  const start = resolved.startModel ?? resolved.slot ?? defaultSlot
  if (start === 'opus' && isSetUpByUs(now) && now.root['model'] === undefined) return []
  // Some versions write `opus[1m]` instead of `opus` (2.1.238 to .310).
  const { model } = now.root
  const meansStart =
    typeof model === 'string' && (slotOf(model) === start || withoutWindow(model) === start)
  const keepsSpelling = meansStart && (keepsModels(input) || /\[1m\]$/i.test(model))
  return [{ path: ['model'], value: keepsSpelling ? model : start }]
}
