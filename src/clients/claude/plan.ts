import type { ConfigValue, SettingChange, SettingPath } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import { includesHeader } from '../../gateway/input/header.ts'
import type { ClientModule } from '../contract/client.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { type LaunchSettings, launchKeyVariable, type ProcessToStart } from '../contract/program.ts'
import type { ChosenOptions, SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { fileOf, filesOfKind } from '../files/parse-file.ts'
import { overlaid, valueIn } from '../files/tables.ts'
import { claudeName } from '../names.ts'
import { effectiveOptions, keepsModels } from '../options/chosen-options.ts'
import { editFile, planOneFile } from '../plan/edit-file.ts'
import { foreignSetting } from '../plan/foreign-settings.ts'
import { isFromEarlierSetup } from '../plan/headers.ts'
import { expectUnset, typedFlag } from '../program/arguments.ts'
import { askingModeChanges, checkKeyQuestion, isModeChosen } from './checks.ts'
import { type Slot, settingOptions, slots } from './flags.ts'
import {
  type ClaudeSettings,
  customHeaders,
  hasDiscovery,
  inEnv,
  longWindow,
  names,
  pinsIn,
  quietButDiscovering,
  readCustomHeaders,
  readRepairedSettings,
  readSettings,
  requestVariables,
  sensitiveSettings,
  slotLabelVariable,
  slotOf,
  slotVariable,
  variables,
  withoutWindow,
} from './settings.ts'

// Setup.

/**
 * A setup with a mapping writes, for example:
 *
 *     {
 *       "env": {
 *         "ANTHROPIC_AUTH_TOKEN": "sk-…",
 *         "ANTHROPIC_BASE_URL": "https://…",
 *         "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
 *         "ANTHROPIC_DEFAULT_OPUS_MODEL": "gpt-5.6-sol",
 *         "ANTHROPIC_DEFAULT_OPUS_MODEL_NAME": "gpt-5.6-sol",
 *         … the same for the other slots …
 *         "CLAUDE_CODE_SUBAGENT_MODEL": "gpt-5.4-mini",
 *         "CLAUDE_CODE_MAX_CONTEXT_TOKENS": "400000"
 *       },
 *       "model": "sonnet"
 *     }
 *
 * @param id of the client of the family that is set up
 */
export function planAs(id: string): ClientModule['plan'] {
  return planOneFile({
    client: { ...claudeName, id },
    sensitiveSettings,
    kind: 'settings',
    read: readSettings,
    changes: (file, target, files) => {
      const now = readRepairedSettings(file)
      return [...modeChanges(files, now, target), ...ourChanges(now, target)]
    },
  })
}

/**
 * The changes to the permission mode. The asking mode stays while the gateway needs it. If the gateway answers
 * `safeguards`, the setup restores the mode from before.
 */
function modeChanges(
  files: LoadedFiles,
  now: ClaudeSettings,
  target: SetupTarget,
): readonly SettingChange[] {
  const present = askingModeChanges.filter(({ path, value }) => valueIn(now.root, path) === value)
  switch (target.safeguards) {
    case 'not-requested':
      return []
    case 'unanswered':
      return isModeChosen(files) ? present : askingModeChanges
    case 'answered':
      return present.flatMap(({ path }) => changesToValueBefore(isSetUp, path, now, target))
  }
}

/** The other changes of a setup, which `repoint run` makes too. */
function ourChanges(now: ClaudeSettings, target: SetupTarget): readonly SettingChange[] {
  const variables = [
    ...trafficVariables(target),
    ...slots.flatMap((slot) => pinVariables(slot, now, target)),
    ...variablesNextToPins(now, target),
    ...optionVariables(target),
  ]

  return [
    ...keyChanges(now, target),
    { path: inEnv(names.baseUrl), value: target.baseUrl },
    ...customHeaderChanges(now, target),
    ...requestChanges(now, target),
    // Another file that is already set may hold the authority of a proxy, which repoint does not know.
    ...(target.caFile && !now.env[names.authorities]
      ? [{ path: inEnv(names.authorities), value: target.caFile }]
      : []),
    ...variables.flatMap((variable) => variableChanges(variable, now, target)),
    ...modelChanges(now, target),
  ]
}

/** A variable in the settings' `env`, as a setup wants it. */
interface Variable {
  readonly name: string
  readonly value?: string
  /** What happens to the present value if the setup has none. `variablesNextToPins` has an example. */
  readonly ifNoValue: IfNoValue
}

/** `restore-before-…`: the variable gets the value that it had before the settings were in that state. */
type IfNoValue = 'keep' | 'remove' | keyof typeof states

const states = {
  'restore-before-setup': isSetUp,
  'restore-before-pins': hasPinsOfSetup,
  'restore-before-discovery': hasDiscovery,
} as const

function isSetUp({ env }: ClaudeSettings): boolean {
  return env[names.baseUrl] !== undefined
}

/**
 * Whether a setup wrote pins. The file does not show who wrote a pin, and repoint leaves no marker in it. The
 * rule: next to a base URL, pins belong to the setup of that base URL. Without a base URL, they are the user's
 * own, and a finding names them.
 */
function hasPinsOfSetup(settings: ClaudeSettings): boolean {
  return isSetUp(settings) && Object.keys(pinsIn(settings)).length > 0
}

function variableChanges(
  { name, value, ifNoValue }: Variable,
  now: ClaudeSettings,
  target: SetupTarget,
): readonly SettingChange[] {
  const path = inEnv(name)
  if (value !== undefined) return [{ path, value }]
  if (now.env[name] === undefined || ifNoValue === 'keep') return []
  if (ifNoValue === 'remove') return [{ path, value: undefined }]
  return changesToValueBefore(states[ifNoValue], path, now, target)
}

/**
 * Restores the value at `path` from before the settings were in a state. If they are not in it, the value
 * stays. If the records cannot tell, the value is removed.
 */
function changesToValueBefore(
  isInState: (settings: ClaudeSettings) => boolean,
  path: SettingPath,
  now: ClaudeSettings,
  { history }: SetupTarget,
): readonly SettingChange[] {
  if (!isInState(now)) return []
  for (const bytes of history?.earlierVersionsOf('settings') ?? []) {
    const before = readSettings({ ...now, bytes })
    // Not from `env`: a number stays a number.
    if (!isInState(before)) return [{ path, value: valueIn(before.root, path) }]
  }
  return [{ path, value: undefined }]
}

/** One variable turns off traffic to the vendor. With discovery, three others replace it. */
function trafficVariables({ input }: SetupTarget): readonly Variable[] {
  const discovers = effectiveOptions(input).isDiscovering
  const on = discovers ? '1' : undefined
  return [
    { name: names.quiet, value: discovers ? undefined : '1', ifNoValue: 'remove' },
    { name: names.discovery, value: on, ifNoValue: 'remove' },
    ...quietButDiscovering.map(
      (name): Variable => ({ name, value: on, ifNoValue: 'restore-before-discovery' }),
    ),
  ]
}

/**
 * A slot's pin and its label. If the pin stays, the user's label stays too. A setup removes earlier pins and
 * does not restore the user's, because nothing has proven their models. A rollback restores them.
 */
function pinVariables(
  slot: Slot,
  now: ClaudeSettings,
  { resolved: { slotModels } }: SetupTarget,
): readonly Variable[] {
  const [id, label] = [slotVariable(slot), slotLabelVariable(slot)]
  const model = slotModels?.[slot]
  const pin = keepSpelling(now.env[id], model)
  const isSame = pin !== undefined && pin === now.env[id]
  const ifNoValue = hasPinsOfSetup(now) ? 'remove' : 'keep'
  return [
    { name: id, value: pin, ifNoValue },
    { name: label, value: (isSame && now.env[label]) || model, ifNoValue },
  ]
}

/**
 * The model of subagents, the context window and the attribution switch, which fit the pins of one setup. For
 * example, the user's own model of subagents is `mine`, and two setups follow:
 *
 *     setup                        subagents       pin of opus    window
 *     none                         mine            -              -
 *     claude --subagent-model x    x               -              -
 *     claude-gpt                   gpt-5.4-mini    gpt-5.6-sol    400000
 *
 * A third setup names no model of subagents, and the gateway reports no window. Then `ifNoValue` decides:
 *
 *     third setup                  subagents                       window
 *     claude                       x (`restore-before-pins`)       - (`restore-before-pins`)
 *     claude --opus-model glm-5    x (`restore-before-pins`)       400000 (`keep`)
 *     claude --defaults            mine (`restore-before-setup`)   - (`restore-before-setup`)
 *
 * With new pins the window stays, because without one Claude Code assumes 1,000,000 tokens.
 */
function variablesNextToPins(
  now: ClaudeSettings,
  { resolved, input }: SetupTarget,
): readonly Variable[] {
  const { slotModels = {}, subagentModel, contextWindow } = resolved
  const hasNewPins = Object.keys(slotModels).length > 0
  const ofSubagents = input.resetToDefaults ? 'restore-before-setup' : 'restore-before-pins'
  const ofOthers = hasNewPins && !input.resetToDefaults ? 'keep' : ofSubagents

  return [
    {
      name: names.subagent,
      value: keepSpelling(now.env[names.subagent], subagentModel),
      ifNoValue: ofSubagents,
    },
    { name: names.contextTokens, value: contextWindow?.toString(), ifNoValue: ofOthers },
    attributionVariable(now, input, ofOthers),
  ]
}

/** Only "0" is a setup's value. Another one is the user's own, and stays. */
function attributionVariable(
  now: ClaudeSettings,
  input: ChosenOptions,
  ifUndecided: IfNoValue,
): Variable {
  const name = names.attribution
  const { hidesAttribution } = effectiveOptions(input)
  if (hidesAttribution) return { name, value: '0', ifNoValue: ifUndecided }
  if (now.env[name] !== '0') return { name, ifNoValue: 'keep' }
  return { name, ifNoValue: hidesAttribution === false ? 'remove' : ifUndecided }
}

function optionVariables({ input }: SetupTarget): readonly Variable[] {
  const options = effectiveOptions(input)
  const values = [
    ...settingOptions.map(({ option, path }) => [String(path.at(-1)), options[option]] as const),
    [names.withoutBetas, options.sendsNoBetas ? '1' : undefined] as const,
    [names.outputTokens, options.outputLimit?.toString()] as const,
  ]
  const ifNoValue = input.resetToDefaults ? 'restore-before-setup' : 'keep'
  return values.map(([name, value]) => ({ name, value, ifNoValue }))
}

/** Keeps the current spelling of a model if it differs only in the window suffix. */
function keepSpelling(current: string | undefined, model: string | undefined): string | undefined {
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
  const isOtherGateway = pointsElsewhere(now.env[names.baseUrl], target.baseUrl)
  const value = customHeaders(current, target, isOtherGateway)
  if (value === undefined && current === undefined) return []
  const isOurs = value !== current || (target.headers ?? []).length > 0
  const isForeign =
    isOtherGateway &&
    readCustomHeaders(current).some(
      (header) => !isFromEarlierSetup(header, target) && !includesHeader(header, target.headers),
    )
  return isOurs ? [{ path: inEnv(names.headers), value, isSecret: true, isForeign }] : []
}

/** Variables that Claude Code adds to every request. Those for another gateway are removed. */
function requestChanges(now: ClaudeSettings, target: SetupTarget): readonly SettingChange[] {
  if (!pointsElsewhere(now.env[names.baseUrl], target.baseUrl)) return []
  return requestVariables
    .filter((name) => now.env[name])
    .map((name) => ({ path: inEnv(name), value: undefined, ...foreignSetting }))
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
  const keepsSpelling = meansStart && (keepsModels(input) || longWindow.test(model))
  return [{ path: ['model'], value: keepsSpelling ? model : start }]
}

// One process.

/** Variables of a shell that would select another login, or be sent to another address. */
const shellVariables = [names.token, names.apiKey, names.baseUrl, names.headers]

/**
 * Uses `--settings`, which overrides the files of user and project; variables alone lose to `env` of
 * settings.json. Claude Code treats an empty value there as not set, and sends the helper's key in both
 * headers. Run with 2.1.330, UI and headless, 2026-11-22. With the helper, or with ANTHROPIC_API_KEY in the
 * environment, it does not send the `primaryApiKey` of an earlier login (2.1.197 and 2.1.330, headless, 2026-11-28).
 *
 * @throws UserError `usage`
 */
export function launchSettings(
  files: LoadedFiles,
  target: SetupTarget,
  { args, env }: ProcessToStart,
): LaunchSettings {
  expectUnset(
    typedFlag(args, ['--settings']),
    (flag) => `Claude Code accepts ${flag} only once, and repoint needs it for the gateway`,
  )

  const file = fileOf(files, 'settings')
  const settings = readRepairedSettings(file)
  const secrets = secretVariables(files, settings, target)

  // Every user of the machine can read the arguments, so the changes have no header and an empty key.
  const withoutSecrets = { ...target, headers: [], key: '', keyHeader: 'authorization' as const }
  const { changes } = editFile({
    client: claudeName,
    sensitiveSettings,
    file,
    changes: ourChanges(settings, withoutSecrets),
    fixes: target.fixes,
  })
  refuseManagedSettings(files, target)
  const disabled = variablesToDisable(files, changes, settings).map((name) => ({
    path: inEnv(name),
    value: '',
  }))
  // The `env` of the settings overrides the process's own.
  const exempt = ['NO_PROXY', 'no_proxy'].flatMap((name) =>
    settings.env[name] === undefined
      ? []
      : [{ path: inEnv(name), value: [settings.env[name], env[name]].filter(Boolean).join(',') }],
  )

  // `--settings` overrides every file except an administrator's, so a mode that one of them sets must stay.
  const needsMode =
    target.safeguards !== 'answered' && !isModeChosen(files, ['settings', 'project', 'managed'])
  const overlay: Readonly<Record<string, ConfigValue>> = overlaid({}, [
    ...[...changes, ...disabled, ...exempt].filter(({ path }) => !(String(path.at(-1)) in secrets)),
    ...(needsMode ? askingModeChanges : []),
    // Claude Code sends the helper's output as a bearer token too.
    {
      path: ['apiKeyHelper'],
      value: target.keyHeader === 'authorization' ? `printenv ${launchKeyVariable}` : '',
    },
  ])

  return {
    args: ['--settings', JSON.stringify(overlay), ...args],
    env: {
      ...env,
      ...Object.fromEntries(shellVariables.map((name) => [name, undefined])),
      ...secrets,
    },
  }
}

/**
 * The variables that need an empty value, because an overlay cannot remove what a file sets: those that a setup
 * removes, and those that would defeat it, also in a project's file.
 */
function variablesToDisable(
  files: LoadedFiles,
  changes: readonly SettingChange[],
  { env }: ClaudeSettings,
): readonly string[] {
  const removed = changes.flatMap(({ path: [parent, name], value }) =>
    value === undefined && parent === 'env' && typeof name === 'string' ? [name] : [],
  )
  const ofShell = shellVariables.filter((name) => name !== names.baseUrl && env[name] !== undefined)
  const inFiles = ['settings', 'project'].flatMap((kind) =>
    filesOfKind(files, kind).flatMap((file) => Object.keys(readRepairedSettings(file).env)),
  )
  const harmful = variables.harmful
    .map(({ name }) => name)
    .filter((name) => inFiles.includes(name))
    .filter((name) => !changes.some(({ path }) => path[0] === 'env' && path[1] === name))
  return [...new Set([...removed, ...ofShell, ...harmful])]
}

/**
 * An administrator's settings override `--settings`.
 *
 * @throws UserError `config-conflict` if they choose another service, address or model
 */
function refuseManagedSettings(files: LoadedFiles, { baseUrl }: SetupTarget): void {
  const harmful = variables.harmful.map(({ name }) => name)
  for (const file of filesOfKind(files, 'managed')) {
    const settings = readSettings(file)
    const [name] = Object.keys(settings.env).filter(
      (key) =>
        settings.env[key] &&
        (harmful.includes(key) ||
          (key === names.baseUrl && pointsElsewhere(settings.env[key], baseUrl))),
    )
    if (name === undefined) continue
    throw new UserError({
      code: 'config-conflict',
      message: `Claude Code would not use the gateway: the administrator's file sets ${name} (${settings.place(inEnv(name))})`,
      hint: 'Ask the administrator of this machine.',
    })
  }
}

/**
 * The secrets, which are in variables of the process.
 *
 * @throws UserError `usage` if the settings override them, or if Claude Code would send a login instead
 */
function secretVariables(
  files: LoadedFiles,
  settings: ClaudeSettings,
  target: SetupTarget,
): Readonly<Record<string, string>> {
  const { headers = [], key, keyHeader } = target
  // If the settings are for another gateway, repoint cannot tell which gateway a header line belongs to.
  const isOtherGateway = pointsElsewhere(settings.env[names.baseUrl], target.baseUrl)
  const current = isOtherGateway ? undefined : settings.env[names.headers]
  const lines = customHeaders(current, target, false)
  const required = {
    ...(headers.length > 0 && lines !== undefined ? { [names.headers]: lines } : {}),
    ...(keyHeader === 'authorization' ? {} : { [names.apiKey]: key }),
  }

  const refusal = (message: string) =>
    new UserError({
      code: 'usage',
      message,
      hint: 'Remove the flag, or point Claude Code at the gateway: repoint use NAME claude',
    })

  for (const [name, value] of Object.entries(required))
    if (settings.env[name] !== undefined && settings.env[name] !== value)
      throw refusal(`${name} in ${settings.path} overrides the value for this gateway`)

  const keyQuestions = keyHeader === 'authorization' ? [] : [...checkKeyQuestion(files, key)]
  if (keyQuestions.some(({ needsConsentTo }) => needsConsentTo !== undefined))
    throw refusal(
      'Claude Code would ask whether to use the key, and send your saved login if you answer No',
    )
  return required
}
