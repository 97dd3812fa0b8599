import type { Findings } from '../../finding.ts'
import { proxyFindings, unsetCommand, variableFindings } from '../checks/environment.ts'
import {
  findingAt,
  missingKeyFinding,
  relativePathFindings,
  unreadFileFinding,
} from '../checks/findings.ts'
import { leftoverFindings } from '../checks/other-tools.ts'
import type { ClientContext } from '../contract/client.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { mayNeedNoKey, withoutTrailingSlash } from '../files/addresses.ts'
import { fileOf } from '../files/parse-file.ts'
import { claudeGptName, claudeName } from '../names.ts'
import { checkAutoMode } from './checks/auto-mode.ts'
import {
  answerFor,
  carriesCredential,
  checkApiKey,
  checkKeyQuestion,
  checkLoginKey,
  checkOtherCredentials,
} from './checks/check-credentials.ts'
import { checkModelDefault, checkModels, checkOldPins } from './checks/check-models.ts'
import { checkDesktopPrograms } from './checks/desktop-programs.ts'
import { changeTo, settingsRepair } from './checks/unwanted-settings.ts'
import { slots } from './flags.ts'
import {
  type ClaudeSettings,
  hasLogin,
  inEnv,
  isMapping,
  isOn,
  names,
  pinsIn,
  quietButDiscovering,
  readRepairedSettings,
  readSettings,
  slotVariable,
} from './settings.ts'
import { disabledBySettings, readBeforeSettings } from './variables.ts'

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
  yield* checkDesktopPrograms(context.files, settings, url)
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
