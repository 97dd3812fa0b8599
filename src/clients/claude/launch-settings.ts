import type { ConfigValue } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import {
  type LaunchSettings,
  type LoadedFiles,
  runKeyVariable,
  type SetupTarget,
} from '../client.ts'
import { editKeys } from '../fixes.ts'
import { expectUnsaid, ownFlag } from '../flags.ts'
import { fileOf, overlaid } from '../loaded-files.ts'
import { askingModeChanges, isModeChosen } from './auto-mode.ts'
import { asksForKey } from './check.ts'
import { customHeaders } from './headers.ts'
import { isElsewhere, ourKeys } from './plan.ts'
import { sensitiveSettings } from './sensitive-settings.ts'
import { type ClaudeSettings, names, readRepairedSettings } from './settings.ts'

/** Variables of a shell that would speak for another login, or go along to another address. */
const others = [names.token, names.apiKey, names.baseUrl, names.headers]

/**
 * By `--settings`, which wins over the files of user and project; variables alone lose to `env` of
 * settings.json. What is empty there counts as not set, and the helper's key goes out in both headers.
 * Run with 2.1.330, UI and headless, 2026-11-22.
 *
 * @throws UserError `usage`
 */
export function launchSettings(
  files: LoadedFiles,
  target: SetupTarget,
  { args, env }: LaunchSettings,
): LaunchSettings {
  expectUnsaid(
    ownFlag(args, ['--settings']),
    (flag) => `Claude Code takes ${flag} once, and needs it here for the gateway`,
  )

  const file = fileOf(files, 'settings')
  const settings = readRepairedSettings(file)
  const inVariables = secretVariables(files, settings, target)
  const isInVariable = (name: string) => name in inVariables

  // Arguments are seen by every user of the machine.
  const open = { ...target, headers: [], keyHeader: undefined }
  const { changes } = editKeys(
    { id: '', config: { sensitiveSettings } },
    file,
    ourKeys(settings, open),
    target.fixes,
  )
  const gone = changes.filter(({ value }) => value === undefined)
  const empty = [
    ...gone.flatMap(({ path: [parent, name] }) =>
      parent === 'env' && typeof name === 'string' ? [name] : [],
    ),
    ...others.filter((name) => name !== names.baseUrl && settings.env[name] !== undefined),
    names.token,
  ].filter((name) => !isInVariable(name))
  // `--settings` wins over every file but an administrator's, so a mode chosen in any of them stays.
  const needsMode =
    target.answersSafeguards !== true && !isModeChosen(files, ['settings', 'project', 'managed'])
  const overlay: Readonly<Record<string, ConfigValue>> = overlaid({}, [
    ...changes.filter(({ path }) => !isInVariable(String(path.at(-1)))),
    ...empty.map((name) => ({ path: ['env', name], value: '' })),
    ...(needsMode ? askingModeChanges : []),
    // What it prints goes out as Bearer too.
    {
      path: ['apiKeyHelper'],
      value: target.keyHeader === undefined ? `printenv ${runKeyVariable}` : '',
    },
  ])

  return {
    args: ['--settings', JSON.stringify(overlay), ...args],
    env: {
      ...env,
      ...Object.fromEntries(others.map((name) => [name, undefined])),
      ...inVariables,
    },
  }
}

/**
 * What is secret and stands in variables of the process.
 *
 * @throws UserError `usage` where the settings win over them, or a login would go out in their place
 */
function secretVariables(
  files: LoadedFiles,
  settings: ClaudeSettings,
  target: SetupTarget,
): Readonly<Record<string, string>> {
  const { headers = [], key, keyHeader } = target
  // Whose a line is that stands there for another address is not known here.
  const standing = isElsewhere(settings, target) ? undefined : settings.env[names.headers]
  const lines = customHeaders(standing, target, false)
  const wanted = {
    ...(headers.length > 0 && lines !== undefined ? { [names.headers]: lines } : {}),
    ...(keyHeader === undefined ? {} : { [names.apiKey]: key }),
  }

  const refuse = (message: string) =>
    new UserError({
      code: 'usage',
      message,
      hint: 'Point Claude Code at the gateway itself: repoint use NAME claude.',
    })

  for (const [name, value] of Object.entries(wanted))
    if (settings.env[name] !== undefined && settings.env[name] !== value)
      throw refuse(`${name} in ${settings.path} wins over what this gateway needs there`)
  const asks = keyHeader === undefined ? [] : [...asksForKey(files, key)]
  if (asks.some(({ consent }) => consent !== undefined))
    throw refuse('Claude Code would ask whether to use the key, and with No send your saved login')
  return wanted
}
