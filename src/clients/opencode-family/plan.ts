import type { FileEdit, SettingChange } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { CatalogModel } from '../../gateway/types.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { OfferedModel, SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { isCodexAuth } from '../files/auth-json.ts'
import { fileOf, parseFile } from '../files/parse-file.ts'
import { type Table, textIn } from '../files/tables.ts'
import { editFile, editReadably } from '../plan/edit-file.ts'
import {
  type EntryMember,
  listChanges,
  withoutEmptyTable,
  writtenAbility,
} from '../plan/entries.ts'
import { withoutForeignSettings } from '../plan/foreign-settings.ts'
import { headerChanges } from '../plan/headers.ts'
import { settingOptionChanges } from '../plan/setting-options.ts'
import { mergedConfig, providerOf, readAuth } from './config.ts'
import { effortPath, entryOptions } from './flags.ts'
import type { Fork } from './fork.ts'
import { npmPath, packageOf, sdkBaseUrl, usualPackage } from './protocols.ts'
import { sensitiveSettings } from './sensitive-settings.ts'

/**
 * A setup writes two files, the key first:
 *
 *     auth.json        { "gateway": { "type": "api", "key": "sk-…" } }
 *     opencode.json    {
 *                        "$schema": "https://opencode.ai/config.json",
 *                        "provider": {
 *                          "gateway": {
 *                            "npm": "@ai-sdk/openai-compatible",
 *                            "name": "Gateway",
 *                            "options": { "baseURL": "https://…/v1" },
 *                            "models": {
 *                              "glm-5": { "limit": { "context": 200000, "output": 32000 }, "tool_call": true },
 *                              "gpt-5.6-sol": { "provider": { "npm": "@ai-sdk/openai" }, … }
 *                            }
 *                          }
 *                        },
 *                        "model": "gateway/glm-5",
 *                        "small_model": "gateway/glm-5"
 *                      }
 *
 * @throws UserError `config-invalid`, `config-conflict`
 */
export function plan(fork: Fork, files: LoadedFiles, target: SetupTarget): readonly FileEdit[] {
  const file = fileOf(files, 'config')
  return [
    planAuth(fork, files, target),
    editFile({
      client: fork,
      sensitiveSettings,
      file,
      changes: ourChanges(fork, files, target),
      fixes: target.fixes,
    }),
  ]
}

function planAuth(fork: Fork, files: LoadedFiles, target: SetupTarget): FileEdit {
  const file = fileOf(files, 'auth')
  if (isCodexAuth(file))
    throw new UserError({
      code: 'config-conflict',
      message: `${file.path} contains the login of Codex, and Codex needs the whole file`,
      hint: `XDG_DATA_HOME leads into the folder of Codex. Set XDG_DATA_HOME to another folder.`,
    })

  return editReadably({
    client: fork,
    sensitiveSettings,
    file,
    changes: authChanges(file, target),
    fixes: target.fixes,
    read: readAuth,
  })
}

/**
 * Other members of an entry with a key stay; a setup replaces an entry with another kind of login completely.
 */
function authChanges(
  file: LoadedFile,
  { key, keyHeader, providerId }: SetupTarget,
): readonly SettingChange[] {
  const now = parseFile(file)
  const hasEntry = now.get([providerId]) !== undefined
  const asKey = { isSecret: true, role: 'key' } as const
  // With an entry, the client sends `authorization: Bearer` too.
  if (keyHeader !== 'authorization')
    return hasEntry ? [{ path: [providerId], value: undefined, ...asKey }] : []

  const isOtherLogin = hasEntry && now.text([providerId, 'type']) !== 'api'
  if (isOtherLogin) return [{ path: [providerId], value: { type: 'api', key }, ...asKey }]
  return [
    { path: [providerId, 'type'], value: 'api' },
    { path: [providerId, 'key'], value: key, ...asKey },
  ]
}

export function ourChanges(
  { schema }: Fork,
  files: LoadedFiles,
  target: SetupTarget,
): readonly SettingChange[] {
  const file = fileOf(files, 'config')
  const now = parseFile(file)
  const { resolved, providerId } = target
  const baseUrl = sdkBaseUrl(target)
  const providerPath = ['provider', providerId]
  const urlPath = [...providerPath, 'options', 'baseURL']
  const headersPath = [...providerPath, 'options', 'headers']
  // A weaker file may hold the address.
  const { table, url = textIn(table, ['api']) } = providerOf(mergedConfig(files).value, providerId)
  const isOtherGateway = pointsElsewhere(url, baseUrl)
  const list = {
    pathOf: (id: string) => [...providerPath, 'models', id],
    now: new Map(now.members([...providerPath, 'models'])),
    isOtherGateway,
    hasOtherAddress: () => false,
    membersOf: (model: OfferedModel, entry?: Table) => membersOf(model, target, entry),
  }

  const isNamed = Boolean(now.text([...providerPath, 'name']))
  // A small model of this provider stays, unless the setup chooses one.
  const presentSmall = now.text(['small_model'])
  const small =
    resolved.smallModel === undefined && presentSmall?.startsWith(`${providerId}/`)
      ? presentSmall
      : `${providerId}/${resolved.smallModel ?? resolved.model}`

  const changes = [
    ...(now.text(['$schema']) === undefined ? [{ path: ['$schema'], value: schema }] : []),
    { path: [...providerPath, 'npm'], value: usualPackage },
    ...(isNamed ? [] : [{ path: [...providerPath, 'name'], value: 'Gateway' }]),
    { path: urlPath, value: baseUrl },
    ...headerChanges(headersPath, now.get(headersPath), target, isOtherGateway),
    ...listChanges(file, list, target),
    { path: ['model'], value: `${providerId}/${resolved.model}` },
    { path: ['small_model'], value: small },
  ]

  const [effortTable] = effortPath(resolved.protocol)
  const path = [...providerPath, 'models', resolved.model, effortTable]
  const ours = withoutEmptyTable(file, changes, { path, now: now.table(path) ?? {} }, target)
  const provider = { path: providerPath, now: now.table(providerPath) ?? {}, isOtherGateway }
  return withoutForeignSettings(ours, { ...provider, harmless }, target)
}

/**
 * The settings of a provider that opencode and Kilo only use themselves, and those that `firstRequest` adds to the
 * probe. Read in the schemas of 1.18.34 and Kilo 7.7.9, 2026-11-28.
 */
export const harmless: readonly string[] = [
  ...['npm', 'name', 'whitelist', 'blacklist', 'options.baseURL'],
  ...['options.timeout', 'options.headerTimeout', 'options.chunkTimeout'],
  ...['name', 'family', 'release_date', 'status', 'experimental', 'cost', 'limit'].map(ofModel),
  ...['attachment', 'reasoning', 'temperature', 'tool_call', 'modalities'].map(ofModel),
  ...['provider.npm', 'options.reasoningEffort', 'options.effort'].map(ofModel),
]

function ofModel(member: string): string {
  return `models.*.${member}`
}

/**
 * The members of a model's entry. The client sends no images to a model that it does not know (1.18.33).
 *
 * @param now the entry in the file, unless it is new
 */
function membersOf(model: OfferedModel, target: SetupTarget, now?: Table): readonly EntryMember[] {
  const { id, displayName } = model
  const { resolved, input } = target
  const images = writtenAbility('images', model, target)
  const inputs = images ? ['text', 'image'] : ['text']

  return [
    ...(now === undefined ? [{ path: ['name'], value: displayName || undefined }] : []),
    ...(id === resolved.model
      ? settingOptionChanges(entryOptions(resolved.protocol), now, input)
      : []),
    {
      path: ['limit'],
      value: limitOf(model, target),
      about: ['contextWindow', 'outputLimit'],
    },
    {
      path: ['modalities'],
      value: images === undefined ? undefined : { input: inputs, output: ['text'] },
      about: ['images'],
    },
    {
      path: ['reasoning'],
      value: writtenAbility('reasoning', model, target),
      about: ['reasoning'],
    },
    // Without it, opencode 2 offers no tools to a model with modalities; 1.18 ignores it (read in 767454d, 2026-11-28).
    // No option decides this: the user's value stays.
    { path: ['tool_call'], value: model.tools === false ? undefined : true, about: [] },
    { path: npmPath, value: packageOf(target, model), about: 'protocol' },
  ]
}

/**
 * The limit that the client sends if it knows none for a model, in tokens (seen in 1.18.33). A window
 * requires an output limit next to it; this one changes nothing.
 */
export const defaultOutputTokens = 32_000

/** If answers could fill the whole window, the client compacts endlessly (1.18.33). */
function limitOf(
  model: CatalogModel,
  { resolved }: SetupTarget,
): { readonly context: number; readonly output: number } | undefined {
  const context =
    (model.id === resolved.model ? resolved.contextWindow : undefined) ?? model.contextWindow
  if (context === undefined) return undefined
  const output = Math.min(model.outputLimit ?? defaultOutputTokens, Math.ceil(context / 2))
  return { context, output }
}
