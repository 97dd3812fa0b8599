import type { FileEdit, SettingChange } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { isOpencodeAuth } from '../files/auth-json.ts'
import { fileOf, parseKind } from '../files/parse-file.ts'
import { codexName } from '../names.ts'
import { editFile } from '../plan/edit-file.ts'
import { withoutForeignSettings } from '../plan/foreign-settings.ts'
import { headerChanges, queryChanges } from '../plan/headers.ts'
import { optionChange, settingOptionChanges } from '../plan/setting-options.ts'
import { readCodexAuth } from './auth.ts'
import { settingOptions } from './flags.ts'
import { withoutOffer } from './migrations.ts'
import { modelsFileChanges, planModelsFile } from './models-file.ts'
import { harmless, isBedrockName, vendorName } from './providers/provider.ts'
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
 */
export function plan(files: LoadedFiles, target: SetupTarget): readonly FileEdit[] {
  const auth = planAuth(files, target)
  const config = editFile({
    client: codexName,
    sensitiveSettings,
    file: fileOf(files, 'config'),
    changes: ourChanges(files, target),
    fixes: target.fixes,
  })
  const modelsFile = planModelsFile(files, target)

  if (modelsFile === undefined) return [auth, config]
  return modelsFile.after === null ? [auth, config, modelsFile] : [auth, modelsFile, config]
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
    // For old conversations: see `builtInAddressPath`.
    { path: ['openai_base_url'], value: target.baseUrl },
    ...withoutOffer(target.resolved.model),
    // Codex does not start with an empty name. A name that the user gave stays.
    ...(name && !isBedrockName(name) && name !== vendorName
      ? []
      : [{ path: [...providerPath, 'name'], value: 'Gateway' }]),
    { path: [...providerPath, 'base_url'], value: target.baseUrl },
    { path: [...providerPath, 'wire_api'], value: 'responses' },
    // Without it Codex sends no Authorization header.
    {
      path: [...providerPath, 'requires_openai_auth'],
      value: target.keyHeader === 'authorization',
    },
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
