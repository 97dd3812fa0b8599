import { formatOf } from '../../edits/format.ts'
import {
  type FileEdit,
  isWholeFile,
  type SettingChange,
  type SettingPath,
  wholeFile,
} from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { Findings } from '../../finding.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
import { findingAt, missingKeyFinding } from '../checks/findings.ts'
import type { ClientContext } from '../contract/client.ts'
import type { GatewaySettings } from '../contract/config.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { ChosenOptions, OptionQuestion, SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { isOpencodeAuth } from '../files/auth-json.ts'
import { fileOf, type ParsedFile, parseFile, parseKind } from '../files/parse-file.ts'
import { gatewaySettingsIn } from '../files/sensitive-settings.ts'
import { readStrictly } from '../files/strict-json.ts'
import { type Table, textIn } from '../files/tables.ts'
import { codexName } from '../names.ts'
import { effectiveOptions } from '../options/chosen-options.ts'
import { editFile } from '../plan/edit-file.ts'
import { foreignSetting, withoutForeignSettings } from '../plan/foreign-settings.ts'
import { headerChanges, queryChanges } from '../plan/headers.ts'
import { planKeyFile } from '../plan/key-file.ts'
import { optionChange, settingOptionChanges } from '../plan/setting-options.ts'
import { isBefore, type Version } from '../program/tested.ts'
import {
  builtInAddressPath,
  commandFor,
  harmless,
  isBedrockName,
  isCommand,
  keyFileName,
  printsKeyFile,
  providerInUse,
  readCodexAuth,
  sensitiveSettings,
  vendorName,
  voiceAddressPath,
} from './config.ts'
import { settingOptions } from './flags.ts'
import {
  modelsFileChanges,
  modelsFilePath,
  planModelsFile,
  usesModelsFile,
  withoutOffer,
} from './models.ts'

// The key file.

/**
 * Versions before 0.118.0 do not know `auth`, and send the login to the gateway. From 0.122.0 to 0.142.5, Codex with a
 * login offers each model the tool `image_generation`, which only the vendor's server runs (0.105.0 to 0.171.0 run,
 * 2026-11-29).
 */
const minVersionForLogin = '0.143.0'

/** Whether the setup keeps the login, and writes the key into the key file. */
export function keepsLogin(input: ChosenOptions): boolean {
  return effectiveOptions(input).keepsLogin === true
}

/** @throws UserError `client-too-old` if this version would send the login to the gateway */
export function expectCommandSupport(input: ChosenOptions, version: Version): void {
  if (!keepsLogin(input) || !isBefore(version, minVersionForLogin)) return
  throw new UserError({
    code: 'client-too-old',
    message: tooOld(version),
    hint: 'Update Codex, or replace the login: {--no-keep-login}',
  })
}

function tooOld(version: Version): string {
  return `Codex ${version} cannot keep the login at a gateway: that needs ${minVersionForLogin} or newer`
}

/** The question whether to keep the login that a setup would replace. */
export function loginQuestion(
  { files, version }: ClientContext,
  { input, keyHeader }: SetupTarget,
): OptionQuestion | undefined {
  const { login } = readCodexAuth(fileOf(files, 'auth'))
  const isDecided = effectiveOptions(input).keepsLogin !== undefined
  const isPossible = keyHeader === 'authorization' && !isBefore(version, minVersionForLogin)
  if (login === undefined || isDecided || !isPossible) return undefined
  return {
    message: `Keep your ${login}?`,
    ifYes: { keepsLogin: true },
    ifNo: { keepsLogin: false },
  }
}

/** Whether auth.json has the key of this gateway, or of the one that Codex uses now. */
function hasGatewayKey(files: LoadedFiles, { key }: SetupTarget): boolean {
  const config = parseKind(files, 'config')
  const { usableKey } = readCodexAuth(fileOf(files, 'auth'))
  const { url, keySource } = providerInUse(config)
  const isAtGateway = keySource.kind === 'auth.json' && url !== undefined
  return usableKey !== undefined && (usableKey === key || isAtGateway)
}

/** auth.json with the login that a setup replaced by the key. */
function replacedLogin(auth: LoadedFile, { history }: SetupTarget): LoadedFile | undefined {
  for (const bytes of history?.earlierVersionsOf(auth.kind) ?? []) {
    const version = { ...auth, bytes }
    if (readCodexAuth(version).login !== undefined) return version
  }
  return undefined
}

/** Reports what a setup with `--keep-login` does with a key in auth.json. */
export function* checkKeyInAuth({ files }: ClientContext, target: SetupTarget): Findings {
  const auth = fileOf(files, 'auth')
  if (!hasGatewayKey(files, target)) return
  const login = replacedLogin(auth, target)
  const shared = { code: 'codex-kept-login', severity: 'note', location: auth.path } as const
  if (login !== undefined)
    yield {
      ...shared,
      message: `auth.json gets back the ${readCodexAuth(login).login} that an earlier setup replaced`,
    }
  else
    yield {
      ...shared,
      message: 'auth.json has no login to keep: the key moves into a separate file',
      hint: 'To log in: codex login',
    }
}

/**
 * The edit of the key file: it gets the key, or goes because the key is in auth.json. Undefined: there is none.
 *
 * @throws UserError `client-failed` if the gateway accepts the key only in a header of another name
 */
function planCodexKey(files: LoadedFiles, target: SetupTarget): FileEdit | undefined {
  const isKept = keepsLogin(target.input)
  if (isKept && target.keyHeader !== 'authorization')
    throw new UserError({
      code: 'client-failed',
      message: `The gateway accepts the key only in the header ${target.keyHeader}, and with --keep-login Codex sends it as Authorization`,
      hint: 'Replace the login by the key: {--no-keep-login}',
    })
  return planKeyFile(codexName, fileOf(files, 'key'), isKept ? target.key : undefined)
}

/** Where Codex takes its key from. It does not start if `auth` has another key next to it. */
function keyChanges(
  files: LoadedFiles,
  { path, table }: { readonly path: readonly string[]; readonly table: Table },
  target: SetupTarget,
): readonly SettingChange[] {
  const authPath = [...path, 'auth']
  if (keepsLogin(target.input))
    return [
      ...['requires_openai_auth', 'env_key', 'env_key_instructions', 'experimental_bearer_token']
        .filter((name) => table[name] !== undefined)
        .map((name) => ({ path: [...path, name], value: undefined })),
      { path: authPath, value: { ...commandFor(fileOf(files, 'key')) } },
    ]
  return [
    // Without it, or a command, Codex sends no Authorization header.
    { path: [...path, 'requires_openai_auth'], value: target.keyHeader === 'authorization' },
    ...(printsKeyFile(table['auth']) ? [{ path: authPath, value: undefined }] : []),
  ]
}

/** Reports why the command of the table in use does not print the key. */
export function* checkKeyFile(
  { files, version }: ClientContext,
  config: ParsedFile,
  { path, table }: { readonly path: SettingPath; readonly table: Table },
): Findings {
  const authPath = [...path, 'auth']
  const file = fileOf(files, 'key')
  const command = commandFor(file)
  if (isBefore(version, minVersionForLogin))
    yield findingAt(config, authPath, {
      code: 'codex-key-command',
      message: tooOld(version),
      hint: 'Update Codex, or replace the login: repoint codex --no-keep-login',
    })

  if (!isCommand(table['auth'], command))
    yield findingAt(config, authPath, {
      code: 'codex-key-command',
      message: 'Codex sends no key: its command to print it is for another system',
      hint: `Use ${[command.command, ...command.args].join(' ')}.`,
      becomes: { value: { ...command } },
      topic: 'key-missing',
    })

  const why = whyNoKey(file)
  if (why !== undefined) yield missingKeyFinding(codexName, file.path, `Codex sends no key: ${why}`)
}

function whyNoKey(file: LoadedFile): string | undefined {
  if (file.bytes === null) return `${keyFileName} does not exist`
  const key = parseFile(file).text(['key'])
  if (key === undefined) return `${keyFileName} is empty`
  return keyInFile(file) === undefined ? `${keyFileName} has more than one line` : undefined
}

export function keyInFile(file: LoadedFile): string | undefined {
  const key = parseFile(file).text(['key'])
  return key === undefined || /[\r\n]/.test(key) ? undefined : key
}

// The way back.

/**
 * The whole table of the provider in use. It also counts if `model_provider` names a table that is
 * missing: Codex does not start then. auth.json counts only if its key is sent to the gateway; a login in
 * it stays.
 */
export function gatewaySettings(files: LoadedFiles): GatewaySettings {
  const [config, file] = [parseKind(files, 'config'), fileOf(files, 'config')]
  const { id, isMissing, url, keySource } = providerInUse(config)
  if (url === undefined && !isMissing) return {}

  const ofModel = [['model_context_window']].filter((path) => config.get(path) !== undefined)
  // With it Codex deletes a ChatGPT login at its start (0.149.1 and 0.169.0, 2026-11-26).
  const isKeyForced = config.text(['forced_login_method']) === 'api'
  // `ollama launch codex-app` writes it. Newer versions of Codex do not start with it.
  const profile = config.text(['profile']) ?? ''
  const isOfProfile = id && config.text(['profiles', profile, 'model_provider']) === id
  const hasModelsFile = usesModelsFile(files, config)
  return {
    config: [
      ...gatewaySettingsIn(sensitiveSettings, file, id),
      ...ofModel,
      ...(hasModelsFile ? [modelsFilePath] : []),
      ...(isKeyForced ? [['forced_login_method']] : []),
      ...(isOfProfile ? [['profile']] : []),
    ],
    models: hasModelsFile && fileOf(files, 'models').bytes !== null ? [wholeFile] : [],
    key: keySource.kind === 'key-file' && fileOf(files, 'key').bytes !== null ? [wholeFile] : [],
    auth: keySource.kind === 'auth.json' ? keySettings(fileOf(files, 'auth')) : [],
  }
}

/**
 * The setting of the key that Codex sends: the whole file if nothing else is in it. None if Codex sends no
 * key from it.
 */
function keySettings(file: LoadedFile): readonly SettingPath[] {
  if (readCodexAuth(file).usableKey === undefined) return []
  const { root } = readStrictly(file)
  const ofKey = ['OPENAI_API_KEY', 'auth_mode'].filter((name) => root[name] !== undefined)
  const others = Object.keys(root).filter((name) => !ofKey.includes(name) && root[name] !== null)
  return others.length === 0 ? [wholeFile] : ofKey.map((name) => [name])
}

// Setup.

/**
 * A setup writes two files, and with `--catalog` a third one, in this order:
 *
 *     auth.json              { "OPENAI_API_KEY": "sk-…" }
 *     repoint-models.json    { "models": [ { "slug": "glm-5", … } ] }
 *     config.toml            model = "glm-5"
 *                            model_provider = "gateway"
 *                            openai_base_url = "https://…/v1"
 *                            model_catalog_json = "…/repoint-models.json"
 *
 *                            [model_providers.gateway]
 *                            name = "Gateway"
 *                            base_url = "https://…/v1"
 *                            wire_api = "responses"
 *                            requires_openai_auth = true
 *                            supports_websockets = false
 *
 * The key comes first, so that Codex never sends an earlier login to the gateway. Codex does not start if
 * config.toml names a models file that does not exist: a new one comes before config.toml, and an old one leaves
 * after it.
 *
 * With `--keep-login` the key is in another file, and old conversations of OpenAI's provider stay at OpenAI:
 *
 *     repoint-key            sk-…
 *     config.toml            [model_providers.gateway]
 *                            auth = { command = "cat", args = ["repoint-key"], cwd = "." }
 *     auth.json              unchanged, or as before the setup that replaced its login
 *
 * auth.json comes last there: the login returns once config.toml no longer sends it to the gateway.
 */
export function plan(files: LoadedFiles, target: SetupTarget): readonly FileEdit[] {
  const isLogin = keepsLogin(target.input)
  const auth = isLogin ? planLogin(files, target) : planAuth(files, target)
  const keyFile = planCodexKey(files, target)
  const config = editFile({
    client: codexName,
    sensitiveSettings,
    file: fileOf(files, 'config'),
    changes: ourChanges(files, target),
    fixes: target.fixes,
  })
  const modelsFile = planModelsFile(files, target)

  const others = [keyFile, modelsFile].filter((edit) => edit !== undefined)
  const isRemoved = ({ after }: FileEdit) => after === null
  return [
    ...(auth && !isLogin ? [auth] : []),
    ...others.filter((edit) => !isRemoved(edit)),
    config,
    ...others.filter(isRemoved),
    ...(auth && isLogin ? [auth] : []),
  ]
}

/**
 * Takes a gateway's key out of auth.json, and restores the login that a setup replaced by it. Undefined: the file has
 * no such key, and stays as it is.
 */
function planLogin(files: LoadedFiles, target: SetupTarget): FileEdit | undefined {
  const file = fileOf(files, 'auth')
  if (!hasGatewayKey(files, target)) return undefined

  const removed = keySettings(file).map((path) => ({ path, value: undefined }))
  const rest = removed.some(({ path }) => isWholeFile(path))
    ? null
    : formatOf(file.format).edit(file.bytes, removed, file.path)
  return authEdit(file, undefined, replacedLogin(file, target)?.bytes ?? rest)
}

/**
 * Replaces auth.json completely: with a ChatGPT login next to the key, Codex uses the login, and sends its
 * token to the gateway.
 *
 * @throws UserError `config-conflict` if it belongs to opencode
 */
function planAuth(files: LoadedFiles, target: SetupTarget): FileEdit {
  const file = fileOf(files, 'auth')
  if (isOpencodeAuth(file)) {
    throw new UserError({
      code: 'config-conflict',
      message: `${file.path} contains the logins of opencode, and Codex needs the whole file`,
      hint: 'CODEX_HOME is the folder of opencode. Set CODEX_HOME to another folder.',
    })
  }

  // 0.105.0 sends the key of the file even if a header holds the key, so the file is removed (0.169.0 does not;
  // 2026-11-22).
  if (target.keyHeader !== 'authorization') return authEdit(file, undefined, null)

  const text = `${JSON.stringify({ OPENAI_API_KEY: target.key }, null, 2)}\n`
  const isKeyCurrent = readCodexAuth(file).usableKey === target.key
  return authEdit(file, target.key, isKeyCurrent ? file.bytes : new TextEncoder().encode(text))
}

function authEdit(file: LoadedFile, key: string | undefined, after: FileEdit['after']): FileEdit {
  return {
    client: codexName.id,
    path: file.path,
    format: file.format,
    scope: file.scope,
    changes: [{ path: ['OPENAI_API_KEY'], value: key, isSecret: true, role: 'key' }],
    before: file.bytes,
    after,
    holdsSecret: true,
  }
}

/** The changes of a setup to config.toml. */
export function ourChanges(files: LoadedFiles, target: SetupTarget): readonly SettingChange[] {
  const config = parseKind(files, 'config')
  const { contextWindow } = target.resolved

  const providerPath = ['model_providers', target.providerId]
  const table = config.table(providerPath) ?? {}
  const headersPath = [...providerPath, 'http_headers']
  const queryPath = [...providerPath, 'query_params']
  const name = textIn(table, ['name'])
  const isOtherGateway = pointsElsewhere(textIn(table, ['base_url']), target.baseUrl)

  const changes: readonly SettingChange[] = [
    { path: ['model'], value: target.resolved.model },
    ...optionChange(config.root, ['model_context_window'], contextWindow, target.input),
    ...settingOptionChanges(settingOptions, config.root, target.input),
    ...modelsFileChanges(files, config, target),
    { path: ['model_provider'], value: target.providerId },
    ...builtInAddressChanges(config, target),
    ...(pointsElsewhere(config.text(voiceAddressPath), target.baseUrl)
      ? [{ path: voiceAddressPath, value: undefined, ...foreignSetting }]
      : []),
    ...withoutOffer(target.resolved.model),
    // Codex does not start with an empty name. A name that the user gave stays.
    ...(name && !isBedrockName(name) && name !== vendorName
      ? []
      : [{ path: [...providerPath, 'name'], value: 'Gateway' }]),
    { path: [...providerPath, 'base_url'], value: target.baseUrl },
    { path: [...providerPath, 'wire_api'], value: 'responses' },
    ...keyChanges(files, { path: providerPath, table }, target),
    // Otherwise Codex tries a WebSocket first and prints errors.
    { path: [...providerPath, 'supports_websockets'], value: false },
    // Not `env_http_headers`: the variable would have to be set in every shell.
    ...headerChanges(headersPath, table['http_headers'], target, isOtherGateway),
    ...queryChanges(queryPath, table['query_params'], target, isOtherGateway),
  ]
  const provider = { path: providerPath, now: table, isOtherGateway, harmless }
  return isOtherGateway ? withoutForeignSettings(changes, provider, target) : changes
}

/**
 * For old conversations: see `builtInAddressPath`. With a login in auth.json they stay at OpenAI: at the gateway, they
 * would send it the login.
 */
function builtInAddressChanges(config: ParsedFile, target: SetupTarget): readonly SettingChange[] {
  if (!keepsLogin(target.input)) return [{ path: builtInAddressPath, value: target.baseUrl }]
  const now = config.text(builtInAddressPath)
  const ofTable = textIn(providerInUse(config).table, ['base_url'])
  const isGateways = [target.baseUrl, ofTable].some(
    (url) => now !== undefined && url !== undefined && isSameButVersion(now, url),
  )
  return isGateways ? [{ path: builtInAddressPath, value: undefined }] : []
}
