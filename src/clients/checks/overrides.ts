import type { ConfigValue } from '../../edits/types.ts'
import { samePath } from '../../edits/values/paths.ts'
import type { Finding, Severity } from '../../finding.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
import type { ClientModule, ClientName } from '../contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import { type ClientState, shownModel } from '../contract/state.ts'
import { shownUrl } from '../files/addresses.ts'
import { parseFile } from '../files/parse-file.ts'
import {
  type FoundSetting,
  placeIn,
  type SensitiveRole,
  settingsIn,
} from '../files/sensitive-settings.ts'
import { isBefore, type Version } from '../program/tested.ts'

/** The current setup of a client. A setting with the same value overrides nothing. */
export interface ConfiguredGateway {
  readonly baseUrl?: string
  readonly providerId?: string
  readonly model?: string
  /** `repoint run` points its process there. */
  readonly byRun?: true
}

/** @returns undefined if the client uses its own service */
export function configuredGateway(state: ClientState): ConfiguredGateway | undefined {
  const { baseUrl } = state.endpoint
  if (baseUrl === undefined) return undefined
  return { baseUrl, providerId: state.options.providerId, model: shownModel(state) }
}

/** Outside the user's own files, settings with these roles send the key to another address. */
const redirectingRoles: readonly SensitiveRole[] = ['address', 'key', 'provider', 'proxy', 'trust']

type ClientWithSettings = Pick<ClientName, 'family' | 'label'> & Pick<ClientModule, 'config'>

/**
 * The settings in other people's files that override the user's: files of the current folder, of the
 * administrator, and others that win. Setup, `use`, `key`, `run`, `status` and `doctor` report them.
 *
 * @param versionOf reads the version of the installed client, if a setting depends on it
 */
export function* overrideFindings(
  client: ClientWithSettings,
  files: LoadedFiles,
  configured: ConfiguredGateway,
  versionOf: () => Version = () => undefined,
): Generator<Finding, void> {
  const isRead = ({ before }: FoundSetting) => before === undefined || isBefore(versionOf(), before)
  for (const file of files) {
    if (file.use !== 'layer') continue
    const found = [...settingsIn(client, file, configured.providerId)]
    const setByRun = configured.byRun ? found.filter((setting) => setting.setByRun) : []
    const settings = found.filter(
      (setting) =>
        isRead(setting) &&
        !isSameAs(setting, client, configured) &&
        !setByRun.some(({ settingPath }) => samePath(settingPath, setting.settingPath)),
    )
    const redirecting = settings.filter((setting) => !setting.isUntested && isRedirecting(setting))
    const untested = settings.filter((setting) => setting.isUntested && isRedirecting(setting))
    const models = settings.filter(({ role }) => role === 'model')

    if (file.owner === 'folder') {
      yield* folderFindings(client, file, redirecting, whyUnknown(client, file))
      yield* folderFindings(client, file, untested)
      yield* folderFindings(client, file, models)
    } else if (file.isProfile) {
      yield* strongerFileFindings(client, file, settings, 'warning')
    } else {
      yield* strongerFileFindings(client, file, redirecting, 'error')
      yield* strongerFileFindings(client, file, untested, 'warning')
      yield* strongerFileFindings(client, file, models, 'warning')
    }
  }
}

function isRedirecting({ role }: FoundSetting): boolean {
  return redirectingRoles.includes(role)
}

/** Whether the client's own files set the same value. */
function isSameAs(
  { role, value }: FoundSetting,
  { config: { sensitiveSettings } }: ClientWithSettings,
  configured: ConfiguredGateway,
): boolean {
  if (typeof value !== 'string') return false
  const { baseUrl, providerId, model } = configured
  if (role === 'address') return baseUrl !== undefined && isSameButVersion(value, baseUrl)
  if (role !== 'model') return false
  const provider = providerId && (sensitiveSettings.providerTable?.(providerId) ?? providerId)
  return [model, provider, `${provider}/${model}`].includes(value)
}

/**
 * Why repoint cannot tell what a file of the folder sets: it is too large, broken, or its keys contain variables.
 * Undefined: it can.
 */
function whyUnknown(
  { config: { interpolation } }: ClientWithSettings,
  file: LoadedFile,
): string | undefined {
  const { bytes, content } = file
  if (bytes === null && content !== 'agent') return 'cannot be read'
  if (content !== 'settings') return undefined
  const { document, error } = parseFile(file)
  if (error !== undefined) return error.message
  const hasVariableNames =
    interpolation.isInSettingNames && hasNameLike(document?.root ?? null, interpolation.names)
  return hasVariableNames ? 'makes other keys' : undefined
}

function hasNameLike(value: ConfigValue, pattern: RegExp | null): boolean {
  if (pattern === null || typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([name, below]) => pattern.test(name) || hasNameLike(below, pattern),
  )
}

/** The end of a sentence about the client. */
const effects: Readonly<Record<SensitiveRole, (value: ConfigValue) => string>> = {
  address: (value) =>
    `sends your key to ${(typeof value === 'string' && shownUrl(value)) || 'another address'}`,
  key: () => 'sends your key to another address, or uses another key',
  provider: () => 'may send your key to another provider',
  proxy: () => "sends your key through the folder's proxy",
  trust: () => 'trusts a certificate that the folder chose, whose owner can read your key',
  model: () => 'uses another model than you chose',
}

/** Reports a file of the current folder that decides where the key is sent, or which model is used. */
function* folderFindings(
  { family, label, config }: ClientWithSettings,
  file: LoadedFile,
  found: readonly FoundSetting[],
  unknown?: string,
): Generator<Finding, void> {
  const [first] = found
  const role = first?.role ?? 'provider'
  if (first === undefined && unknown === undefined) return

  const isUntested = first !== undefined && isRedirecting(first) && first.isUntested === true
  const effect = isUntested
    ? `may change the ${role} (not tested)`
    : effects[role](first?.value ?? null)
  const what = `${label}, started in this folder, ${effect}`
  const isRedirected = redirectingRoles.includes(role) && !isUntested
  const keys = keysOf(found)

  yield {
    code: `${family}-project-${config.sensitiveSettings.codeWord}`,
    message: `${nameOf(file)} of this folder ${keys ? `sets ${keys}` : (unknown ?? 'is there')}: ${what}`,
    location: first ? placeIn(file, first) : file.path,
    hint: `If you do not trust this folder, start ${label} in another one. Or remove the setting from the file.`,
    ...(isRedirected && { needsConsentTo: `${what}, because of ${file.path}.` }),
    severity: isRedirected ? 'error' : 'warning',
    topic: isRedirected ? 'redirected-key' : isUntested ? 'untested-setting' : 'override',
  }
}

/** Reports a file of the administrator, or one of the user that a setup does not write. */
function* strongerFileFindings(
  { family, config }: ClientWithSettings,
  file: LoadedFile,
  found: readonly FoundSetting[],
  severity: Severity,
): Generator<Finding, void> {
  const [first] = found
  if (first === undefined) return
  const { codeWord } = config.sensitiveSettings
  const { name, hint } = strongerFile(file)

  yield {
    code: `${family}-${file.kind}${file.isProfile ? '' : `-${codeWord}`}`,
    message: `${name} sets ${keysOf(found)} and overrides your setting`,
    location: placeIn(file, first),
    hint,
    severity,
    topic: 'override',
  }
}

/** What a message calls a file that overrides the user's, and the hint. */
function strongerFile({ owner, isProfile }: LoadedFile) {
  if (isProfile) return { name: 'this profile', hint: 'Nothing to do unless you use that profile.' }
  if (owner === 'administrator')
    return { name: "the administrator's file", hint: 'Ask the administrator of this machine.' }
  return { name: 'this file', hint: 'Remove it from that file.' }
}

/** The names of the settings, for a message. A variable is shown without `env.`. */
function keysOf(found: readonly FoundSetting[]): string {
  const names = found.map(({ settingPath }) => settingPath.join('.').replace(/^env\./, ''))
  return [...new Set(names)].join(', ')
}

function nameOf({ path }: LoadedFile): string {
  return path.split(/[\\/]/).at(-1)!
}
