import type { SettingChange, SettingPath } from '../../edits/types.ts'
import type { FileFix, Finding, Findings } from '../../finding.ts'
import { isExported, proxyFindings, unsetCommand, variableFindings } from '../checks/environment.ts'
import { findingAt, relativePathFindings, unreadFileFinding } from '../checks/findings.ts'
import { leftoverFindings } from '../checks/other-tools.ts'
import type { ClientContext } from '../contract/client.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { slots } from '../contract/options.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { withoutTrailingSlash } from '../files/addresses.ts'
import { fileOf, readLayers } from '../files/read-file.ts'
import { checkAutoMode } from './auto-mode.ts'
import { isCredentialLine, linesOf } from './headers.ts'
import { claudeGptName, claudeName } from './name.ts'
import {
  type ClaudeSettings,
  hasLogin,
  inEnv,
  isMapping,
  isOn,
  names,
  quietButDiscovering,
  readRepairedSettings,
  readSettings,
  serviceSwitches,
  slotModelsIn,
  slotVariable,
} from './settings.ts'

/** Reports what would defeat the setup of `target`. Without a target, reports what is wrong now. */
export function check(context: ClientContext, target?: SetupTarget): Findings {
  return target ? checkSetup(context, target) : checkNow(context)
}

/**
 * Reports what would defeat the settings that a setup is about to write (run with 2.1.197 and 2.1.329,
 * 2026-11-21).
 */
function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const file = fileOf(context.files, 'settings')
  const now = readSettings(file)
  // After a setup, Claude Code reads a file that it skips now, with all its settings.
  const settings = readRepairedSettings(file)

  // The plan rejects a skipped file that it cannot repair.
  if (now.isRepairable) yield* checkSkipped(now)
  yield* checkFolder(context)
  if (target.keyHeader === undefined) yield* checkApiKey(context, settings)
  else yield* checkKeyQuestion(context.files, target.key)
  yield* checkOtherCredentials(context, settings)
  yield* checkLoginKey(context.files)
  yield* checkModels(context, settings)
  yield* checkOldPins(context, settings, target)
  yield* checkShell(context, settings, target)
  yield* checkProxy(context, settings, target.baseUrl)
  if (target.answersSafeguards === false) yield* checkAutoMode(context.files, settings)
}

/** Reports what is wrong with the effective configuration of Claude Code. */
function* checkNow(context: ClientContext): Findings {
  const settings = readSettings(fileOf(context.files, 'settings'))
  const { env } = settings
  const url = env[names.baseUrl]

  yield* checkSkipped(settings)
  yield* checkFolder(context)
  yield* checkLeftovers(context, settings)
  // Without a gateway, Claude Code uses its own service, and the user may configure it freely.
  if (!url) return

  if (env[names.token]) yield* checkApiKey(context, settings)
  yield* checkOtherCredentials(context, settings)
  yield* checkLoginKey(context.files)
  yield* checkModels(context, settings)
  yield* checkModelDefault(settings)
  yield* checkAddress(context, settings, url)
  yield* checkShell(context, settings)
  yield* checkProxy(context, settings, url)
}

function checkSkipped(file: ClaudeSettings): Findings {
  return unreadFileFinding(file, {
    code: 'claude-settings-skipped',
    effect: 'Claude Code ignores the whole file and asks you to log in',
    cause: 'broken',
  })
}

/**
 * Checks the folder of the settings: if its variable is empty, Claude Code uses the folder where it starts.
 */
function* checkFolder({ machine }: ClientContext): Findings {
  yield* relativePathFindings(claudeName, machine, { names: [names.folder] })
  if (machine.env[names.folder] !== '') return

  yield {
    code: 'claude-empty-folder',
    message: `${names.folder} is empty: Claude Code reads settings.json of the folder in which it starts`,
    location: 'environment',
    hint: unsetCommand(machine, names.folder),
    severity: 'error',
  }
}

function checkLeftovers(context: ClientContext, settings: ClaudeSettings): Findings {
  const { machine } = context
  const url = settings.env[names.baseUrl]
  const key = settings.env[names.token]
  return leftoverFindings(claudeName, context, {
    url: url ?? machine.env[names.baseUrl],
    urlPlace: url === undefined ? 'environment' : settings.place(inEnv(names.baseUrl)),
    key: key ?? machine.env[names.token],
    keyPlace: key === undefined ? 'environment' : settings.place(inEnv(names.token)),
  })
}

/** A setting that a setup removes or replaces if the file has it and the user agrees. */
function* checkUnwantedSettings(
  settings: ClaudeSettings,
  path: SettingPath,
  { value, ...finding }: Unwanted,
): Findings {
  const { env, root } = settings
  const name = String(path.at(-1))
  if (path.length === 1 ? root[name] === undefined : !env[name]) return

  yield {
    location: settings.place(path),
    hint: 'Remove it.',
    fix: settingsRepair(change(path, value)),
    consent: `Remove ${name} from ${settings.path}.`,
    severity: 'error',
    ...finding,
  }
}

interface Unwanted
  extends Pick<Finding, 'code' | 'message'>,
    Partial<Pick<Finding, 'hint' | 'consent' | 'severity'>> {
  /** The new value. Undefined: the setting is removed. */
  readonly value?: string | undefined
}

function settingsRepair(...changes: readonly SettingChange[]): FileFix {
  return { fileKind: 'settings', changes }
}

/** Undo restores a credential together with address and token: alone it would be sent to the gateway. */
function change(path: SettingPath, value: string | undefined): SettingChange {
  const isCredential = credentials.some((name) => name === path.at(-1))
  return { path, value, ...(isCredential ? { isSecret: true } : {}) }
}

const credentials = [names.apiKey, names.token, names.headers, 'apiKeyHelper']

/** The value that disables a variable: an empty value in the settings' `env` overrides the shell's. */
function withoutEffect(context: ClientContext, name: string): '' | undefined {
  return isExported(context, name) ? '' : undefined
}

function checkApiKey(context: ClientContext, settings: ClaudeSettings): Findings {
  return checkUnwantedSettings(settings, inEnv(names.apiKey), {
    code: 'claude-api-key',
    message: `${names.apiKey} overrides your gateway key`,
    value: withoutEffect(context, names.apiKey),
  })
}

/** Reports credentials next to the token, and services that Claude Code uses instead of the gateway. */
function* checkOtherCredentials(context: ClientContext, settings: ClaudeSettings): Findings {
  const { env, path } = settings
  yield* checkUnwantedSettings(settings, ['apiKeyHelper'], {
    code: 'claude-api-key-helper',
    message: 'apiKeyHelper sends a second key',
  })

  const headers = env[names.headers]
  if (carriesCredential(headers)) {
    yield* checkUnwantedSettings(settings, inEnv(names.headers), {
      code: 'claude-custom-headers',
      message: `${names.headers} sends a second key`,
      value: withoutCredential(headers),
      consent: `Remove the second key in ${names.headers} from ${path}.`,
    })
  }

  for (const name of serviceSwitches) {
    yield* checkUnwantedSettings(settings, inEnv(name), {
      code: 'claude-service-switch',
      message: `${name} makes Claude Code use another service than the gateway`,
      value: withoutEffect(context, name),
    })
  }
}

/**
 * Reports the key that a login to the vendor's console leaves in the client's own state. An empty
 * ANTHROPIC_API_KEY in the settings does not disable it. `--bare` does. Run with 2.1.197 and 2.1.329,
 * 2026-11-21.
 */
function* checkLoginKey(files: LoadedFiles): Findings {
  for (const state of readLayers(files, 'state')) {
    if (!state.text(['primaryApiKey'])) continue
    yield findingAt(state, ['primaryApiKey'], {
      code: 'claude-login-key',
      message: 'primaryApiKey, left by a login, overrides your gateway key',
      hint: 'Log out: claude auth logout',
    })
  }
}

function withoutCredential(headers: string | undefined): string | undefined {
  const lines = linesOf(headers).filter((line) => !isCredentialLine(line))
  return lines.join('\n') || undefined
}

/**
 * The UI of Claude Code asks once whether to use an API key, and No is the default answer. After No it uses
 * its other credentials: it sends a saved login to the gateway. Headless it does not ask. Run with 2.1.197
 * and 2.1.330, 2026-11-22.
 */
export function* checkKeyQuestion(files: LoadedFiles, key: string): Findings {
  const answer = answerFor(files, key)
  if (answer?.list === 'approved') return

  const isLoggedIn = hasLogin(files)
  const otherwise = isLoggedIn ? 'it sends your saved login to the gateway' : 'it has no key'

  yield {
    code: 'claude-asks-for-key',
    message:
      answer === undefined
        ? `the gateway accepts the key only as x-api-key, so Claude Code gets it as ${names.apiKey} and asks once whether to use it`
        : `you told Claude Code not to use this key as ${names.apiKey}: ${otherwise}`,
    location: answer?.place ?? 'at its next start',
    hint:
      answer === undefined
        ? `Answer Yes. If you answer No, ${otherwise}.`
        : 'Remove the entry from that list.',
    ...(isLoggedIn && {
      consent: `Unless you answer Yes when Claude Code asks whether to use the API key, ${otherwise}.`,
    }),
    severity: 'warning',
  }
}

/** The user's answer for a key. Claude Code records the last 20 characters of the key. */
function answerFor(
  files: LoadedFiles,
  key: string,
): { readonly list: 'approved' | 'rejected'; readonly place: string } | undefined {
  const [state] = readLayers(files, 'state')
  for (const list of ['approved', 'rejected'] as const) {
    const path = ['customApiKeyResponses', list]
    const value = state?.get(path)
    if (state && Array.isArray(value) && value.includes(key.slice(-20)))
      return { list, place: state.place(path) }
  }

  return undefined
}

function* checkModels(context: ClientContext, settings: ClaudeSettings): Findings {
  yield* checkUnwantedSettings(settings, inEnv(names.model), {
    code: 'claude-environment-model',
    message: `${names.model} overrides the chosen model`,
    value: withoutEffect(context, names.model),
  })
  yield* checkUnwantedSettings(settings, inEnv(names.smallFast), {
    code: 'claude-small-fast-model',
    message: `${names.smallFast} overrides the model of the haiku slot for background work`,
    value: withoutEffect(context, names.smallFast),
    severity: 'warning',
  })
}

function* checkModelDefault(settings: ClaudeSettings): Findings {
  if (settings.root['model'] !== 'default') return

  yield findingAt(settings, ['model'], {
    code: 'claude-model-default',
    message: 'Claude Code sends "model": "default" to the gateway, and no model has this name',
    hint: 'Name a slot, such as "sonnet".',
    becomes: { value: 'sonnet' },
  })
}

/** Reports slots that someone pinned for another service. Slots next to a base URL belong to its setup. */
function* checkOldPins(
  context: ClientContext,
  settings: ClaudeSettings,
  { resolved }: SetupTarget,
): Findings {
  const { env } = settings
  if (env[names.baseUrl] !== undefined) return

  for (const slot of slots.filter((name) => !resolved.slotModels?.[name])) {
    const name = slotVariable(slot)
    yield* checkUnwantedSettings(settings, inEnv(name), {
      code: 'claude-old-pin',
      message: `${name} sets the model of the slot ${slot} to ${JSON.stringify(env[name])}`,
      value: withoutEffect(context, name),
      hint: 'If the gateway does not have that model, remove the line.',
      severity: 'warning',
    })
  }
}

function* checkAddress(context: ClientContext, settings: ClaudeSettings, url: string): Findings {
  const { env } = settings
  if (/\/v1\/*$/.test(url) && !context.writtenBaseUrls.includes(withoutTrailingSlash(url))) {
    yield findingAt(settings, inEnv(names.baseUrl), {
      code: 'claude-base-url-version',
      message: `${names.baseUrl} ends in /v1, and Claude Code adds /v1 itself: every request fails`,
      hint: 'Remove /v1 from the end.',
      becomes: { value: url.replace(/\/v1\/*$/, '') },
    })
  }

  const apiKey = env[names.apiKey]
  const isApproved = apiKey !== undefined && answerFor(context.files, apiKey)?.list === 'approved'
  if (!env[names.token] && !isApproved && hasLogin(context.files)) {
    yield findingAt(settings, inEnv(names.baseUrl), {
      code: 'claude-login-leak',
      message: `${names.baseUrl} is set without a token: Claude Code sends your saved login to the gateway`,
      hint: `Set it up again: repoint ${(isMapping(slotModelsIn(settings)) ? claudeGptName : claudeName).id}`,
      cause: 'key-missing',
    })
  }

  if (isOn(env[names.discovery]) && env[names.quiet]) {
    yield findingAt(settings, inEnv(names.quiet), {
      code: 'claude-discovery-suppressed',
      message: `in some versions (2.1.197) ${names.quiet} turns off the discovery of models, with any value`,
      hint: `Set ${quietButDiscovering.join(', ')} instead.`,
      fix: settingsRepair(
        change(inEnv(names.quiet), undefined),
        ...quietButDiscovering.map((name) => change(inEnv(name), '1')),
      ),
      severity: 'warning',
    })
  }
}

/** The settings' `env` overrides the shell's, and an empty value there disables a variable. */
function checkShell(
  context: ClientContext,
  settings: ClaudeSettings,
  target?: SetupTarget,
): Findings {
  const { machine } = context
  const filled = target?.resolved.slotModels ?? {}
  const usesApiKeyHeader = target ? target.keyHeader !== undefined : !settings.env[names.token]
  const effects: readonly (readonly [name: string, effect: string])[] = [
    usesApiKeyHeader
      ? [names.token, 'Claude Code sends a second key, which the gateway rejects']
      : [names.apiKey, 'it overrides your gateway key'],
    ...serviceSwitches.map(
      (name) => [name, 'Claude Code uses another service than the gateway'] as const,
    ),
    [names.model, 'it overrides the chosen model'],
    [names.smallFast, 'it overrides the model of the haiku slot for background work'],
    ...slots
      .filter((slot) => !filled[slot])
      .map((slot) => [slotVariable(slot), `it overrides the model of the slot ${slot}`] as const),
    ...(carriesCredential(machine.env[names.headers])
      ? [[names.headers, 'it sends a second key'] as const]
      : []),
  ]

  return variableFindings(
    context,
    effects
      .filter(([name]) => settings.env[name] === undefined)
      .map(([name, effect]) => ({
        name,
        code: 'claude-shell-variable',
        effect,
        severity: name === names.smallFast ? 'warning' : 'error',
        fix: {
          ...settingsRepair(change(inEnv(name), '')),
          effect: `turns ${name} off for Claude Code; your shell keeps it`,
        },
      })),
  )
}

/** Claude Code uses a proxy for loopback addresses too, unless NO_PROXY exempts them. */
function checkProxy({ machine }: ClientContext, settings: ClaudeSettings, url: string): Findings {
  const env = { ...machine.env, ...settings.env }
  return proxyFindings(claudeName, url, env, ({ variable, exempt }) => ({
    location: settings.env[variable] === undefined ? 'environment' : settings.path,
    fix: {
      ...settingsRepair(...['NO_PROXY', 'no_proxy'].map((name) => change(inEnv(name), exempt))),
      effect: 'adds this address to NO_PROXY for Claude Code',
    },
  }))
}

function carriesCredential(headers: string | undefined): boolean {
  return linesOf(headers).some(isCredentialLine)
}
