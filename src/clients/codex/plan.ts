import { formatOf } from '../../edits/format.ts'
import { type FileEdit, isWholeFile, type SettingChange } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { isOpencodeAuth } from '../files/auth-json.ts'
import { fileOf, type ParsedFile, parseKind } from '../files/parse-file.ts'
import { textIn } from '../files/tables.ts'
import { codexName } from '../names.ts'
import { editFile } from '../plan/edit-file.ts'
import { foreignSetting, withoutForeignSettings } from '../plan/foreign-settings.ts'
import { headerChanges, queryChanges } from '../plan/headers.ts'
import { optionChange, settingOptionChanges } from '../plan/setting-options.ts'
import { readCodexAuth } from './auth.ts'
import { settingOptions } from './flags.ts'
import { keySettings } from './gateway-settings.ts'
import {
  hasGatewayKey,
  keepsLogin,
  keyCommandChanges,
  planCodexKey,
  replacedLogin,
} from './key-file.ts'
import { withoutOffer } from './migrations.ts'
import { modelsFileChanges, planModelsFile } from './models-file.ts'
import {
  builtInAddressPath,
  harmless,
  isBedrockName,
  providerInUse,
  vendorName,
  voiceAddressPath,
} from './providers/provider.ts'
import { sensitiveSettings } from './sensitive-settings.ts'

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
  const auth = keepsLogin(target.input) ? planLogin(files, target) : planAuth(files, target)
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
  const isLogin = keepsLogin(target.input)
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
  return {
    client: codexName.id,
    path: file.path,
    format: file.format,
    scope: file.scope,
    changes: [{ path: ['OPENAI_API_KEY'], value: undefined, isSecret: true, role: 'key' }],
    before: file.bytes,
    after: replacedLogin(file, target)?.bytes ?? rest,
    holdsSecret: true,
  }
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

  const isKeyCurrent = readCodexAuth(file).usableKey === target.key
  const edit = {
    client: codexName.id,
    path: file.path,
    format: 'json',
    scope: 'whole',
    before: file.bytes,
    holdsSecret: true,
  } as const
  const change = { path: ['OPENAI_API_KEY'], isSecret: true, role: 'key' } as const
  // 0.105.0 sends the key of the file even if a header holds the key, so the file is removed (0.169.0 does not;
  // 2026-11-22).
  if (target.keyHeader !== 'authorization')
    return { ...edit, changes: [{ ...change, value: undefined }], after: null }

  const text = `${JSON.stringify({ OPENAI_API_KEY: target.key }, null, 2)}\n`
  const after = isKeyCurrent ? file.bytes : new TextEncoder().encode(text)
  return { ...edit, changes: [{ ...change, value: target.key }], after }
}

function ourChanges(files: LoadedFiles, target: SetupTarget): readonly SettingChange[] {
  const config = parseKind(files, 'config')
  const now = config.table([])
  const { contextWindow } = target.resolved

  const providerPath = ['model_providers', target.providerId]
  const headersPath = [...providerPath, 'http_headers']
  const queryPath = [...providerPath, 'query_params']
  const name = config.text([...providerPath, 'name'])
  const isOtherGateway = pointsElsewhere(config.text([...providerPath, 'base_url']), target.baseUrl)

  const changes: readonly SettingChange[] = [
    { path: ['model'], value: target.resolved.model },
    ...optionChange(now, ['model_context_window'], contextWindow, target.input),
    ...settingOptionChanges(settingOptions, now, target.input),
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
    // Without it, or a command, Codex sends no Authorization header.
    ...(keepsLogin(target.input)
      ? []
      : [
          {
            path: [...providerPath, 'requires_openai_auth'],
            value: target.keyHeader === 'authorization',
          },
        ]),
    ...keyCommandChanges(files, { path: providerPath, table: config.table(providerPath) }, target),
    // Otherwise Codex tries a WebSocket first and prints errors.
    { path: [...providerPath, 'supports_websockets'], value: false },
    // Not `env_http_headers`: the variable would have to be set in every shell.
    ...headerChanges(headersPath, config.get(headersPath), target, isOtherGateway),
    ...queryChanges(queryPath, config.get(queryPath), target, isOtherGateway),
  ]
  const provider = { path: providerPath, now: config.table(providerPath) ?? {} }
  return isOtherGateway
    ? withoutForeignSettings(changes, { ...provider, isOtherGateway, harmless }, target)
    : changes
}

/**
 * For old conversations: see `builtInAddressPath`. With a login in auth.json they stay at OpenAI: at the gateway, they
 * would send it the login.
 */
function builtInAddressChanges(config: ParsedFile, target: SetupTarget): readonly SettingChange[] {
  if (!keepsLogin(target.input)) return [{ path: builtInAddressPath, value: target.baseUrl }]
  const now = config.text(builtInAddressPath)
  const ofTable = textIn(providerInUse(config)?.table, ['base_url'])
  const isGateways = [target.baseUrl, ofTable].some(
    (url) => now !== undefined && url !== undefined && isSameButVersion(now, url),
  )
  return isGateways ? [{ path: builtInAddressPath, value: undefined }] : []
}
