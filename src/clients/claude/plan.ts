import type { ConfigValue, SettingChange, SettingPath } from '../../edits/types.ts'
import type { ClientModule } from '../contract/client.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { valueIn } from '../files/tables.ts'
import { claudeName } from '../names.ts'
import { effectiveOptions, keepsModels } from '../options/chosen-options.ts'
import { planOneFile } from '../plan/edit-file.ts'
import { askingModeChanges, isModeChosen } from './checks/auto-mode.ts'
import { type Slot, settingOptions, slots } from './flags.ts'
import { customHeaders } from './headers.ts'
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
export function planAs(id: string): ClientModule['plan'] {
  return planOneFile({
    client: { ...claudeName, id },
    sensitiveSettings,
    kind: 'settings',
    read: readSettings,
    changes: (file, target, files) => [
      ...(target.safeguards === 'unanswered' && !isModeChosen(files) ? askingModeChanges : []),
      ...ourChanges(readRepairedSettings(file), target),
    ],
  })
}

/** The changes that a setup makes to the settings: the keys that it sets and the keys that it removes. */
export function ourChanges(now: ClaudeSettings, target: SetupTarget): readonly SettingChange[] {
  const variables = [
    ...trafficVariables(now, target),
    ...slots.flatMap((slot) => slotVariablesFor(slot, now, target)),
    ...mappingVariables(now, target),
    ...optionVariables(target),
  ]

  return [
    ...keyChanges(now, target),
    { path: inEnv(names.baseUrl), value: target.baseUrl },
    ...customHeaderChanges(now, target),
    // Another file that is already set may hold the authority of a proxy, which repoint does not know.
    ...(target.caFile && !now.env[names.authorities]
      ? [{ path: inEnv(names.authorities), value: target.caFile }]
      : []),
    ...variables.flatMap((variable) => variableChanges(variable, now, target)),
    ...modelChanges(now, target),
    ...permissionChanges(now, target),
  ]
}

/** A variable in the settings' `env`, as a setup wants it. */
interface Variable {
  readonly name: string
  readonly value?: string | undefined
  /** What happens to the present value if the setup wants none. */
  readonly otherwise: Otherwise
}

/** `before-…`: the variable gets the value that it had before the settings were in that state. */
type Otherwise = 'stays' | 'removed' | 'before-setup' | 'before-mapping' | 'before-discovery'

function isSetUp({ env }: ClaudeSettings): boolean {
  return env[names.baseUrl] !== undefined
}

function isMapped({ env }: ClaudeSettings): boolean {
  return env[names.baseUrl] !== undefined && slotVariables.some((name) => env[name])
}

export function isDiscovering({ env }: ClaudeSettings): boolean {
  return isOn(env[names.discovery]) && !env[names.quiet]
}

/** The states for the values of `Otherwise`. */
const statesToLeave = {
  'before-setup': isSetUp,
  'before-mapping': isMapped,
  'before-discovery': isDiscovering,
} as const

function variableChanges(
  { name, value, otherwise }: Variable,
  now: ClaudeSettings,
  target: SetupTarget,
): readonly SettingChange[] {
  const path = inEnv(name)
  if (value !== undefined) return [{ path, value }]
  if (now.env[name] === undefined) return []

  switch (otherwise) {
    case 'stays':
      return []
    case 'removed':
      return [{ path, value: undefined }]
    default:
      return [{ path, value: valueBefore(statesToLeave[otherwise], path, now, target) }]
  }
}

/** The value at `path` before the settings were in a state. Undefined: none, or the records cannot tell. */
function valueBefore(
  isInState: (settings: ClaudeSettings) => boolean,
  path: SettingPath,
  now: ClaudeSettings,
  { earlierVersionsOf }: SetupTarget,
): ConfigValue | undefined {
  for (const bytes of earlierVersionsOf?.('settings') ?? []) {
    const before = readSettings({ ...now, bytes })
    // Not from `env`: a number stays a number.
    if (!isInState(before)) return valueIn(before.root, path)
  }
  return undefined
}

function trafficVariables(now: ClaudeSettings, target: SetupTarget): readonly Variable[] {
  const discovers = effectiveOptions(target.input).isDiscovering
  const on = discovers ? '1' : undefined
  const quiet: Variable = {
    name: names.quiet,
    value: discovers ? undefined : '1',
    otherwise: 'removed',
  }
  const discovery: Variable = { name: names.discovery, value: on, otherwise: 'removed' }
  const others = quietButDiscovering.map(
    (name): Variable => ({
      name,
      value: on,
      otherwise: isDiscovering(now) ? 'before-discovery' : 'stays',
    }),
  )
  return discovers ? [discovery, ...others, quiet] : [quiet, discovery, ...others]
}

/**
 * A slot's model and its label. If the model stays, the user's label stays too.
 *
 * The file does not show who wrote a mapping, and repoint leaves no marker in it. The rule: next to a base
 * URL, a mapping belongs to the setup of that base URL and is removed with it. Without a base URL, the slots
 * are the user's own pins, and a finding names them. They are not restored, because nothing has proven their
 * models. Rollback restores everything that a setup removes.
 */
function slotVariablesFor(
  slot: Slot,
  now: ClaudeSettings,
  { resolved: { slotModels } }: SetupTarget,
): readonly Variable[] {
  const [id, label] = [slotVariable(slot), slotLabelVariable(slot)]
  const model = slotModels?.[slot]
  const written = asWritten(now.env[id], model)
  const isSame = written !== undefined && written === now.env[id]
  const otherwise = isMapped(now) ? 'removed' : 'stays'
  return [
    { name: id, value: written, otherwise },
    { name: label, value: (isSame && now.env[label]) || model, otherwise },
  ]
}

/** What a setup does with the mapping that the settings have now. */
function mappingChange(
  now: ClaudeSettings,
  { resolved: { slotModels = {} }, input: { resetToDefaults } }: SetupTarget,
): keyof typeof otherwiseNextToMapping {
  if (resetToDefaults) return isSetUp(now) ? 'reset' : 'none'
  if (!isMapped(now)) return 'none'
  return Object.keys(slotModels).length > 0 ? 'replaced' : 'removed'
}

/** What happens to the variables that belong to a mapping, in addition to its slots. */
const otherwiseNextToMapping = {
  reset: { subagent: 'before-setup', others: 'before-setup' },
  replaced: { subagent: 'before-mapping', others: 'stays' },
  removed: { subagent: 'before-mapping', others: 'before-mapping' },
  none: { subagent: 'stays', others: 'stays' },
} as const

/** The subagent, the context window and the attribution switch. */
function mappingVariables(now: ClaudeSettings, target: SetupTarget): readonly Variable[] {
  const { subagentModel, contextWindow } = target.resolved
  const otherwise = otherwiseNextToMapping[mappingChange(now, target)]

  return [
    {
      name: names.subagent,
      value: asWritten(now.env[names.subagent], subagentModel),
      otherwise: otherwise.subagent,
    },
    {
      name: names.contextTokens,
      value: contextWindow?.toString(),
      otherwise: otherwise.others,
    },
    attributionVariable(now, target, otherwise.others),
  ]
}

function attributionVariable(
  now: ClaudeSettings,
  { input }: SetupTarget,
  otherwise: Otherwise,
): Variable {
  const name = names.attribution
  const { hidesAttribution } = effectiveOptions(input)
  if (hidesAttribution) return { name, value: '0', otherwise }
  if (now.env[name] !== '0') return { name, otherwise: 'stays' }
  return { name, otherwise: hidesAttribution === false ? 'before-setup' : otherwise }
}

function optionVariables({ input }: SetupTarget): readonly Variable[] {
  const options = effectiveOptions(input)
  return settingOptions.map(({ option, path }) => ({
    name: String(path.at(-1)),
    value: options[option],
    otherwise: input.resetToDefaults ? 'before-setup' : 'stays',
  }))
}

/** Keeps the current spelling of a model if it differs only in the window suffix. */
function asWritten(current: string | undefined, model: string | undefined): string | undefined {
  return current !== undefined && withoutWindow(current) === model ? current : model
}

/** Sets the token or the API key, not both: with both, Claude Code sends the key twice. */
function keyChanges(
  now: ClaudeSettings,
  { key, keyHeader }: SetupTarget,
): readonly SettingChange[] {
  if (keyHeader === 'authorization')
    return [{ path: inEnv(names.token), value: key, isSecret: true }]

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

/**
 * Claude Code deletes `"model": "opus"` at its first start, because an absent model means opus. So a file
 * that was set up and has no model is right for that slot.
 */
function modelChanges(
  now: ClaudeSettings,
  { resolved: { start }, input }: SetupTarget,
): readonly SettingChange[] {
  if (start === 'opus' && isSetUp(now) && now.root['model'] === undefined) return []
  // Some versions write `opus[1m]` instead of `opus` (2.1.238 to .310).
  const { model } = now.root
  const meansStart =
    typeof model === 'string' && (slotOf(model) === start || withoutWindow(model) === start)
  const keepsSpelling = meansStart && (keepsModels(input) || /\[1m\]$/i.test(model))
  return [{ path: ['model'], value: keepsSpelling ? model : start }]
}

/**
 * The mode stays ours while the gateway needs it. If the gateway answers `safeguards`, the setup restores the
 * mode from before.
 */
function permissionChanges(now: ClaudeSettings, target: SetupTarget): readonly SettingChange[] {
  const present = askingModeChanges.filter(({ path, value }) => valueIn(now.root, path) === value)
  switch (target.safeguards) {
    case 'not-asked':
      return []
    case 'unanswered':
      return present
    case 'answered':
      return present.map(({ path }) => ({ path, value: valueBefore(isSetUp, path, now, target) }))
  }
}
