import type { SettingChange, SettingPath } from '../../edits/types.ts'
import type { FileFix, Finding, Findings } from '../../finding.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
import type { FirstRequest, Safeguards } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import { isExported, proxyFindings, unsetCommand, variableFindings } from '../checks/environment.ts'
import {
  findingAt,
  missingKeyFinding,
  relativePathFindings,
  unreadFileFinding,
} from '../checks/findings.ts'
import { leftoverFindings } from '../checks/other-tools.ts'
import type { ClientContext } from '../contract/client.ts'
import type { DiskReader, LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { mayNeedNoKey, shownUrl, withoutTrailingSlash } from '../files/addresses.ts'
import { fileOf, type ParsedFile, parseFile, parseLayers } from '../files/parse-file.ts'
import { pathsOf } from '../files/paths.ts'
import { isTable, valueIn } from '../files/tables.ts'
import { claudeGptName, claudeName } from '../names.ts'
import { slots } from './flags.ts'
import {
  asksForSafeguards,
  type ClaudeSettings,
  disabledBySettings,
  hasLogin,
  inEnv,
  isCredentialLine,
  isMapping,
  isOn,
  linesOf,
  names,
  pinsIn,
  quietButDiscovering,
  readBeforeSettings,
  readRepairedSettings,
  readSettings,
  serviceAddresses,
  serviceSwitches,
  slotVariable,
} from './settings.ts'

// Auto mode.

/**
 * Claude Code's auto mode lets the gateway check each tool call (`safeguards`). The terminal UI of
 * 2.1.300 to 2.1.331 starts in it by default. If the gateway gives no verdict, the first command stops:
 * 2.1.327 to 2.1.331 show "Auto mode can't check actions", 2.1.300 and 2.1.301 a notice about billed
 * requests to their own classifier. All of them were run on 2026-11-24.
 */
const modePath = ['permissions', 'defaultMode'] as const

const switchPath = ['permissions', 'disableAutoMode'] as const

/**
 * The settings that start Claude Code in the default permission mode, which asks, and keep it there. With the mode
 * alone, 2.1.330 and 2.1.331 offer at their start to make auto mode the default, with Yes first. Both versions
 * accept the two settings.
 */
export const askingModeChanges: readonly SettingChange[] = [
  { path: modePath, value: 'default' },
  { path: switchPath, value: 'disable' },
]

/** The check that auto mode requests; 2.1.331 adds folders, rules and the state of git. */
const safeguards: Safeguards = {
  beta: 'dangerous-tool-use-2026-09-03',
  body: [
    {
      type: 'dangerous_tool_use',
      classifier_context: { v: 1, permission_mode: 'auto', platform: 'linux' },
    },
  ],
}

/**
 * The check that a version requests in auto mode.
 *
 * @param withoutBetas experimental betas are off: auto mode stays on, but requests no check
 */
export function safeguardsOf(
  version: string | undefined,
  withoutBetas: boolean,
): FirstRequest['safeguards'] {
  if (!asksForSafeguards(version)) return undefined
  return withoutBetas ? 'withheld' : safeguards
}

/**
 * Whether the user or an administrator chose a mode or switched auto mode off. A project's settings apply in
 * its folder only, so they are skipped unless `kinds` names them.
 */
export function isModeChosen(
  files: LoadedFiles,
  kinds: readonly LoadedFile['kind'][] = ['settings', 'managed'],
): boolean {
  return files
    .filter(({ kind }) => kinds.includes(kind))
    .map((file) => readSettings(file).root)
    .some((root) => {
      const places = [modePath, switchPath, ['disableAutoMode']]
      return places.some((path) => valueIn(root, path) !== undefined)
    })
}

/** Reports what a gateway that does not answer `safeguards` means for the setup. */
function* checkAutoMode(files: LoadedFiles, settings: ClaudeSettings): Findings {
  if (isModeChosen(files)) {
    if (valueIn(settings.root, modePath) !== 'auto') return
    yield findingAt(settings, [...modePath], {
      code: 'claude-auto-mode',
      message: 'the settings choose auto mode, and the gateway does not answer its safety check',
      hint: `Set permissions.defaultMode to "default", or ask the gateway's operator to forward \`safeguards\`.`,
      severity: 'warning',
    })
    return
  }

  yield {
    code: 'claude-auto-mode',
    message: `auto mode is turned off (permissions.defaultMode becomes "default"), because the gateway does not answer its safety check`,
    location: settings.path,
    hint: "Ask the gateway's operator to forward `safeguards`.",
    severity: 'warning',
  }
}

// Settings to remove.

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
    fix: settingsRepair(changeTo(path, value)),
    needsConsentTo: `Remove ${name} from ${settings.path}.`,
    severity: 'error',
    ...finding,
  }
}

interface Unwanted
  extends Pick<Finding, 'code' | 'message'>,
    Partial<Pick<Finding, 'hint' | 'needsConsentTo' | 'severity'>> {
  /** The new value. Undefined: the setting is removed. */
  readonly value?: string
}

function settingsRepair(...changes: readonly SettingChange[]): FileFix {
  return { fileKind: 'settings', changes }
}

const credentials = [names.apiKey, names.token, names.headers, 'apiKeyHelper']

/**
 * A change that masks a credential where it is shown. The plan adds the role that keeps a credential together
 * with its address in an undo (`editFile`).
 */
function changeTo(path: SettingPath, value: string | undefined): SettingChange {
  const isCredential = credentials.some((name) => name === path.at(-1))
  return { path, value, ...(isCredential ? { isSecret: true } : {}) }
}

/** The value that disables a variable: an empty value in the settings' `env` overrides the shell's. */
function withoutEffect(context: ClientContext, name: string): '' | undefined {
  return isExported(context, name) ? '' : undefined
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

/** Reports pins for another service. Next to a base URL, pins belong to its setup: see `hasPinsOfSetup`. */
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
      needsConsentTo: `Remove the second key in ${names.headers} from ${path}.`,
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
 * Reports the key that a login to the vendor's console leaves in the client's own state. An empty ANTHROPIC_API_KEY
 * in the settings does not disable it. `--bare` does.
 */
function* checkLoginKey(files: LoadedFiles): Findings {
  for (const state of parseLayers(files, 'state')) {
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
      needsConsentTo: `Unless you answer Yes when Claude Code asks whether to use the API key, ${otherwise}.`,
    }),
    severity: 'warning',
  }
}

/** The user's answer for a key. Claude Code records the last 20 characters of the key. */
function answerFor(
  files: LoadedFiles,
  key: string,
): { readonly list: 'approved' | 'rejected'; readonly place: string } | undefined {
  const [state] = parseLayers(files, 'state')
  for (const list of ['approved', 'rejected'] as const) {
    const path = ['customApiKeyResponses', list]
    const value = state?.get(path)
    if (state && Array.isArray(value) && value.includes(key.slice(-20)))
      return { list, place: state.place(path) }
  }

  return undefined
}

function carriesCredential(headers: string | undefined): boolean {
  return linesOf(headers).some(isCredentialLine)
}

// VS Code and Claude Desktop.

/**
 * What VS Code and Claude Desktop say about the gateway: from their documentation and issues, not run (2026-11-28).
 *
 * The VS Code extension reads `env` of settings.json, and two settings of VS Code. Variables there win. Without
 * `disableLoginPrompt` it asks for a login although the key is set (claude-code #8522 #20271 #72261 #84852).
 */
const variablesPath = ['claudeCode.environmentVariables'] as const
const promptPath = ['claudeCode.disableLoginPrompt'] as const

/** The folder of the settings of programs that are built with Electron. */
function appFolder(machine: Machine): string {
  const { join } = pathsOf(machine)
  const { os, home, env } = machine
  if (os === 'darwin') return join(home, 'Library', 'Application Support')
  if (os === 'win32') return env['APPDATA'] || join(home, 'AppData', 'Roaming')
  return env['XDG_CONFIG_HOME'] || join(home, '.config')
}

/** By kind of file: the folders of VS Code, of its Insiders, and of VSCodium. */
const codeFolders = {
  vscode: 'Code',
  'vscode-insiders': 'Code - Insiders',
  vscodium: 'VSCodium',
} as const

/** The user's settings.json of each of them. */
export function codeSettings(
  machine: Machine,
): readonly { readonly kind: string; readonly path: string }[] {
  const { join } = pathsOf(machine)
  return Object.entries(codeFolders).map(([kind, folder]) => {
    return { kind, path: join(appFolder(machine), folder, 'User', 'settings.json') }
  })
}

/** The profiles of Claude Desktop with the inference of another company. The manuals name the folder of macOS. */
export function desktopProfiles(machine: Machine, disk: DiskReader): readonly string[] {
  const { join } = pathsOf(machine)
  const folder = join(appFolder(machine), 'Claude-3p', 'configLibrary')
  const isProfile = (name: string) => name.endsWith('.json') && !name.startsWith('_')
  return disk
    .entries(folder)
    .filter(isProfile)
    .map((name) => join(folder, name))
}

type Variables = Readonly<Record<string, string | undefined>>

/** Reports what differs there from the gateway in Claude Code's own settings. */
function* checkDesktopPrograms(files: LoadedFiles, env: Variables, url: string): Findings {
  yield* checkCodeSettings(files, env, url)
  for (const file of files) if (file.kind === 'desktop') yield* checkDesktop(parseFile(file), url)
}

/** The same for VS Code, before a setup, which does not change these settings. */
function* codeNotes(files: LoadedFiles, env: Variables, url: string): Findings {
  for (const { code, message, location } of checkCodeSettings(files, env, url))
    yield {
      code,
      severity: 'note',
      message,
      location,
      hint: 'To change that afterwards: repoint doctor claude --fix',
    }
}

function* checkCodeSettings(files: LoadedFiles, env: Variables, url: string): Findings {
  for (const file of files)
    if (file.kind in codeFolders) yield* checkCode(parseFile(file), env, url)
}

function* checkCode(file: ParsedFile, env: Variables, url: string): Findings {
  const { kind: fileKind } = file
  const list = file.get(variablesPath)
  const elements = Array.isArray(list) ? list : []
  for (const element of elements) {
    if (!isTable(element)) continue
    const { name, value } = element
    if (typeof name !== 'string' || typeof value !== 'string') continue
    const effect = effectOf(name, value, env, url)
    if (effect === undefined) continue
    const path = [...variablesPath, { element: { name } }]
    const role = name === names.baseUrl ? 'address' : 'key'
    yield {
      code: 'claude-vscode-variable',
      severity: 'warning',
      message: `${variablesPath} of VS Code sets ${name}, so that the extension of Claude Code ${effect} (not tested)`,
      location: file.place(path),
      hint: 'Remove that element. The extension reads the settings of Claude Code too.',
      fix: { fileKind, changes: [{ path, value: undefined, isSecret: true, role }] },
      needsConsentTo: `Remove ${name} from ${variablesPath} in ${file.path}. repoint rollback restores it.`,
      topic: 'override',
    }
  }

  const usesExtension = Object.keys(file.root).some((name) => name.startsWith('claudeCode.'))
  if (usesExtension && file.get(promptPath) !== true)
    yield {
      code: 'claude-vscode-login',
      severity: 'warning',
      message: `The extension of Claude Code in VS Code asks for a login, although the key is set (not tested)`,
      location: file.get(promptPath) === undefined ? file.path : file.place(promptPath),
      hint: `Set "${promptPath}" to true in that file.`,
      fix: { fileKind, changes: [{ path: promptPath, value: true }] },
      needsConsentTo: `Set ${promptPath} to true in ${file.path}. repoint rollback restores it.`,
    }
}

/** What a variable of VS Code changes. Undefined: nothing. */
function effectOf(name: string, value: string, env: Variables, url: string): string | undefined {
  if (value === (env[name] ?? '')) return undefined
  if (name === names.baseUrl)
    return isSameButVersion(value, url)
      ? undefined
      : `may use ${shownUrl(value) || 'another address'}`
  if (name === names.token || name === names.apiKey) return 'may send another key'
  const isOfService = [...serviceSwitches, ...serviceAddresses].some((other) => other === name)
  return isOfService ? 'may use another service' : undefined
}

function* checkDesktop(file: ParsedFile, url: string): Findings {
  const address = file.get(['inferenceGatewayBaseUrl'])
  if (file.get(['inferenceProvider']) !== 'gateway' || typeof address !== 'string') return
  const isSame = isSameButVersion(address, url)
  yield {
    code: 'claude-desktop-gateway',
    severity: isSame ? 'ok' : 'warning',
    message: `Claude Desktop uses ${isSame ? 'the same gateway' : `another gateway: ${shownUrl(address)}`}`,
    location: file.place(['inferenceGatewayBaseUrl']),
    hint: 'repoint does not change it. What to enter there: repoint editor --for claude-desktop',
  }
}

// The checks.

/** Reports what would defeat the settings that a setup is about to write. */
export function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const file = fileOf(context.files, 'settings')
  const now = readSettings(file)
  // After a setup, Claude Code reads a file that it skips now, with all its settings.
  const settings = readRepairedSettings(file)

  // The plan rejects a skipped file that it cannot repair.
  if (now.isRepairable) yield* checkSkipped(now)
  yield* checkFolder(context)
  if (target.keyHeader === 'authorization') yield* checkApiKey(context, settings)
  else yield* checkKeyQuestion(context.files, target.key)
  yield* checkOtherCredentials(context, settings)
  yield* checkLoginKey(context.files)
  yield* checkModels(context, settings)
  yield* checkOldPins(context, settings, target)
  yield* checkShell(context, settings, target)
  yield* checkProxy(context, settings, target.baseUrl)
  if (target.safeguards === 'unanswered') yield* checkAutoMode(context.files, settings)
  yield* codeNotes(context.files, { ...settings.env, ...keyVariable(target) }, target.baseUrl)
}

/** The variable with the key that the setup writes. */
function keyVariable({ key, keyHeader }: SetupTarget): Readonly<Record<string, string>> {
  return { [keyHeader === 'authorization' ? names.token : names.apiKey]: key }
}

/** Reports what is wrong with the effective configuration of Claude Code. */
export function* checkNow(context: ClientContext): Findings {
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
  yield* checkDesktopPrograms(context.files, env, url)
}

function checkSkipped(file: ClaudeSettings): Findings {
  return unreadFileFinding(file, {
    code: 'claude-settings-skipped',
    effect: 'Claude Code ignores the whole file and asks you to log in',
    topic: 'broken',
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
    urlPlace: () => (url === undefined ? 'environment' : settings.place(inEnv(names.baseUrl))),
    key: key ?? machine.env[names.token],
    keyPlace: key === undefined ? 'environment' : settings.place(inEnv(names.token)),
  })
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
      hint: `Set it up again: repoint ${(isMapping(pinsIn(settings)) ? claudeGptName : claudeName).id}`,
      topic: 'key-missing',
    })
  }

  const hasKey = env[names.token] || apiKey || settings.root['apiKeyHelper'] !== undefined
  // Claude Code asks for a login even for a server of this machine.
  if (!hasKey && !hasLogin(context.files) && mayNeedNoKey(url, context))
    yield missingKeyFinding(
      claudeName,
      settings.place(inEnv(names.baseUrl)),
      `${names.baseUrl} is set without a token: Claude Code asks you to log in`,
    )

  if (isOn(env[names.discovery]) && env[names.quiet]) {
    yield findingAt(settings, inEnv(names.quiet), {
      code: 'claude-discovery-suppressed',
      message: `in some versions (2.1.197) ${names.quiet} turns off the discovery of models, with any value`,
      hint: `Set ${quietButDiscovering.join(', ')} instead.`,
      fix: settingsRepair(
        changeTo(inEnv(names.quiet), undefined),
        ...quietButDiscovering.map((name) => changeTo(inEnv(name), '1')),
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
  const filled = target?.resolved.slotModels ?? {}
  const usesApiKeyHeader = target
    ? target.keyHeader !== 'authorization'
    : !settings.env[names.token]
  const harmless = [
    usesApiKeyHeader ? names.apiKey : names.token,
    ...(carriesCredential(context.machine.env[names.headers]) ? [] : [names.headers]),
    ...slots.filter((slot) => filled[slot]).map(slotVariable),
    ...Object.keys(settings.env),
  ]

  const toDisable = disabledBySettings.filter(({ name }) => !harmless.includes(name))
  return variableFindings(context, [
    ...readBeforeSettings,
    ...toDisable.map((variable) => ({
      ...variable,
      fix: {
        ...settingsRepair(changeTo(inEnv(variable.name), '')),
        effect: `turns ${variable.name} off for Claude Code; your shell keeps it`,
      },
    })),
  ])
}

/** Claude Code uses a proxy for loopback addresses too, unless NO_PROXY exempts them. */
function checkProxy({ machine }: ClientContext, settings: ClaudeSettings, url: string): Findings {
  const env = { ...machine.env, ...settings.env }
  return proxyFindings(claudeName, url, env, {
    parts: ({ variable, exempt }) => ({
      location: settings.env[variable] === undefined ? 'environment' : settings.path,
      fix: {
        ...settingsRepair(...['NO_PROXY', 'no_proxy'].map((name) => changeTo(inEnv(name), exempt))),
        effect: 'adds this address to NO_PROXY for Claude Code',
      },
    }),
  })
}
