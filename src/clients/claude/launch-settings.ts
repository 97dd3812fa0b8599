import type { ConfigValue, SettingChange } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { type LaunchSettings, launchKeyVariable, type ProcessToStart } from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { fileOf, filesOfKind } from '../files/parse-file.ts'
import { overlaid } from '../files/tables.ts'
import { claudeName } from '../names.ts'
import { editFile } from '../plan/edit-file.ts'
import { expectUnset, typedFlag } from '../program/arguments.ts'
import { askingModeChanges, isModeChosen } from './checks/auto-mode.ts'
import { checkKeyQuestion } from './checks/check-credentials.ts'
import { customHeaders } from './headers.ts'
import { ourChanges } from './plan.ts'
import { sensitiveSettings } from './sensitive-settings.ts'
import {
  type ClaudeSettings,
  inEnv,
  names,
  readRepairedSettings,
  readSettings,
} from './settings.ts'
import { variables } from './variables.ts'

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
