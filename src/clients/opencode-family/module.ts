/**
 * The module that opencode and its forks share: plan, checks, first request, launch. Facts: as in config.ts.
 *
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
 */
import {
  addToList,
  type ConfigValue,
  type FileEdit,
  removeFromList,
  type SettingChange,
  type SettingPath,
} from '../../edits/types.ts'
import { showPath } from '../../edits/values/paths.ts'
import { errorFrom, ifPossible, UserError } from '../../errors.ts'
import type { Findings } from '../../finding.ts'
import { asObject } from '../../gateway/foreign-text.ts'
import { nativeProtocol, smallModel } from '../../gateway/models/rules.ts'
import {
  type CatalogModel,
  type FirstRequest,
  otherKeyHeaders,
  type Protocol,
  protocols,
} from '../../gateway/types.ts'
import { listWords } from '../../text.ts'
import { proxyFindings, variableFindings } from '../checks/environment.ts'
import {
  findingAt,
  formerProviderFinding,
  missingKeyFinding,
  missingVersionFinding,
  otherAddressFinding,
  relativePathFindings,
  unreadFileFinding,
} from '../checks/findings.ts'
import { leftoverFindings, placeholderOf } from '../checks/other-tools.ts'
import type { ClientContext, ClientModule, ClientName, ClientWorld } from '../contract/client.ts'
import type { SensitiveSetting } from '../contract/config.ts'
import type { EditedFiles, LoadedFile, LoadedFiles } from '../contract/files.ts'
import { defaultProviderId } from '../contract/options.ts'
import {
  type FirstRequestInput,
  type LaunchSettings,
  launchKeyVariable,
  type ProcessToStart,
} from '../contract/program.ts'
import {
  catalogIn,
  type OfferedModel,
  type ResolvedOptions,
  type ResolveInput,
  type SetupTarget,
} from '../contract/setup.ts'
import {
  isOwnAddress,
  mayNeedNoKey,
  pointsElsewhere,
  withoutTrailingSlash,
} from '../files/addresses.ts'
import { isCodexAuth } from '../files/auth-json.ts'
import { fileOf, filesOfKind, parseFile, parseKind, parseLayers } from '../files/parse-file.ts'
import { pathsOf } from '../files/paths.ts'
import {
  isTable,
  numberIn,
  overlaid,
  type Table,
  tableIn,
  textIn,
  valueIn,
} from '../files/tables.ts'
import { resolveWithPicker } from '../models/picker.ts'
import { protocolsForKey } from '../models/protocols.ts'
import { effectiveOptions, keepsModels } from '../options/chosen-options.ts'
import { effortCure, noReasoningCure, outputLimitCures } from '../options/flags.ts'
import { editFile, editReadably, removal } from '../plan/edit-file.ts'
import {
  type EntryMember,
  listChanges,
  withoutEmptyTable,
  writtenAbility,
} from '../plan/entries.ts'
import { hasForeignSettings, withoutForeignSettings } from '../plan/foreign-settings.ts'
import { headerChanges, readHeaders } from '../plan/headers.ts'
import { planKeyFile } from '../plan/key-file.ts'
import { settingOptionChanges } from '../plan/setting-options.ts'
import { clientFlagValues } from '../program/arguments.ts'
import { recordedRequest, withBetas } from '../program/recorded-request.ts'
import { isBefore, testedVersions, type Version } from '../program/tested.ts'
import {
  defaultOutputTokens,
  effortPath,
  entryOptions,
  type Fork,
  filesOf,
  gatewaySettings,
  harmfulVariables,
  harmless,
  npmPath,
  type OpencodeProvider,
  type OwnConfig,
  packages,
  providerIn,
  read,
  readAuth,
  readConfig,
  sensitiveSettings,
  usualPackage,
  xdgFolder,
} from './config.ts'

/** opencode 2 replaces opencode 1 under the same command (since 2026-09-11). It is not on npm, and was not run. */
function isNextMajor(version: Version): boolean {
  return version !== undefined && !isBefore(version, '2.0.0')
}

// Plan.

/** The options with the model for titles: the user's, or that of a rule, if the client's picker offers it. */
function withSmallModel(input: ResolveInput, resolved: ResolvedOptions): ResolvedOptions {
  const catalog = catalogIn(input.gatewayInfo)
  const { smallModel: chosen } = effectiveOptions(input)
  // The chosen one may belong to another provider, about which this catalog says nothing.
  if (keepsModels(input) && chosen !== undefined) return resolved

  const byRule = chosen === undefined && catalog ? smallModel(catalog) : undefined
  const id = chosen ?? byRule?.id
  const isOffered = resolved.offered.some((model) => model.id === id)
  // Without a small model, the client would request titles from a model that it considers small.
  if (id === undefined || !isOffered) return { ...resolved, smallModel: resolved.model }
  const uses = [...resolved.uses, ...(byRule ? [{ ...byRule, purpose: 'small' }] : [])]
  return { ...resolved, uses, smallModel: id }
}

/** @throws UserError `config-invalid`, `config-conflict` */
function planAuth(client: ClientName, files: LoadedFiles, target: SetupTarget): FileEdit {
  const file = fileOf(files, 'auth')
  if (isCodexAuth(file))
    throw new UserError({
      code: 'config-conflict',
      message: `${file.path} contains the login of Codex, and Codex needs the whole file`,
      hint: `XDG_DATA_HOME leads into the folder of Codex. Set XDG_DATA_HOME to another folder.`,
    })

  return editReadably({
    client,
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
  { key, keyHeader, providerId, resolved }: SetupTarget,
): readonly SettingChange[] {
  const now = parseFile(file)
  const hasEntry = now.get([providerId]) !== undefined
  const asKey = { isSecret: true, role: 'key' } as const
  // With an entry, the client sends `authorization: Bearer` too.
  if (keyHeader !== 'authorization' || resolved.usesKeyFile)
    return hasEntry ? [{ path: [providerId], value: undefined, ...asKey }] : []

  const isOtherLogin = hasEntry && now.text([providerId, 'type']) !== 'api'
  if (isOtherLogin) return [{ path: [providerId], value: { type: 'api', key }, ...asKey }]
  return [
    { path: [providerId, 'type'], value: 'api' },
    { path: [providerId, 'key'], value: key, ...asKey },
  ]
}

function configChanges(
  { schema }: Fork,
  files: LoadedFiles,
  target: SetupTarget,
): readonly SettingChange[] {
  const config = readConfig(files)
  const { file: now } = config
  const { resolved, providerId } = target
  const baseUrl = sdkBaseUrl(target)
  const providerPath = ['provider', providerId]
  const urlPath = [...providerPath, 'options', 'baseURL']
  const headersPath = [...providerPath, 'options', 'headers']
  // A weaker file may hold the address.
  const { table, url = textIn(table, ['api']) } = providerIn(config, providerId)
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
    ...keyReferenceChanges(config, target),
    ...headerChanges(headersPath, now.get(headersPath), target, isOtherGateway),
    ...listChanges(fileOf(files, 'config'), list, target),
    { path: ['model'], value: `${providerId}/${resolved.model}` },
    { path: ['small_model'], value: small },
  ]

  const [effortTable] = effortPath(resolved.protocol)
  const path = [...providerPath, 'models', resolved.model, effortTable]
  const ours = withoutEmptyTable(
    fileOf(files, 'config'),
    changes,
    { path, now: now.table(path) ?? {} },
    target,
  )
  const provider = { path: providerPath, now: now.table(providerPath) ?? {}, isOtherGateway }
  return withoutForeignSettings(ours, { ...provider, harmless }, target)
}

/** The reference to the key file: a setup writes it, or removes that of an earlier one. */
function keyReferenceChanges(
  { keyReference, file }: OwnConfig,
  target: SetupTarget,
): readonly SettingChange[] {
  if (keyReference === undefined) return []
  const path = ['provider', target.providerId, 'options', 'apiKey']
  if (keyForFile(target) !== undefined) return [{ path, value: keyReference }]
  return file.get(path) === keyReference ? [{ path, value: undefined }] : []
}

/** The key that a setup writes into the key file. Undefined: it is in auth.json, or in a header of its own. */
function keyForFile({ key, keyHeader, resolved }: SetupTarget): string | undefined {
  return resolved.usesKeyFile && keyHeader === 'authorization' ? key : undefined
}

/** The provider's `baseURL` for the model that the client starts with. */
function sdkBaseUrl({ baseUrl, resolved }: SetupTarget): string {
  return resolved.protocol === 'messages' ? `${baseUrl}/v1` : baseUrl
}

/**
 * The package of a model. Undefined if the provider's is right, and either the model was made for it or the
 * client used it so far without a name.
 */
function packageOf(
  { input: { earlier } }: SetupTarget,
  { id, protocol }: OfferedModel,
): string | undefined {
  const wasUnnamed =
    earlier?.unsetOptions?.includes('protocol') && earlier.options.protocol === protocol
  const isUnnamed = protocol === 'chat' && (nativeProtocol(id) === 'chat' || wasUnnamed)
  return isUnnamed ? undefined : packages[protocol]
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

// Checks.

/** The client, its configuration, and the provider that a check is about. */
interface OpencodeView extends Fork {
  readonly context: ClientContext
  readonly config: OwnConfig
  readonly providerId: string
  readonly provider: OpencodeProvider
}

/** @param wanted the provider of a setup. Absent: the one in use */
function viewOf(fork: Fork, context: ClientContext, wanted?: string): OpencodeView {
  const config = readConfig(context.files)
  const providerId = wanted ?? config.providerId ?? defaultProviderId
  return { ...fork, context, config, providerId, provider: providerIn(config, providerId) }
}

function* checkSetup(fork: Fork, context: ClientContext, target: SetupTarget): Findings {
  const { model, smallModel = model } = target.resolved
  const view = viewOf(fork, context, target.providerId)
  const { config, providerId, provider } = view
  yield* checkSurroundings(view)
  yield* checkOtherKey(view, target)
  yield* checkLists(view, [model, smallModel])

  yield* otherAddressFinding(context, target, {
    code: `${fork.id}-provider-conflict`,
    what: `the provider ${providerId}`,
    url: provider.url,
    location: config.file.place(addressPath(providerId)),
  })
  yield* checkInlineKeys(view)
  yield* checkWeakerFiles(view, target)
  yield* checkFormerProviders(view, target)
  yield* checkOverridden(view)
  yield* checkProxy(view, target.baseUrl)
}

function* checkNow(fork: Fork, context: ClientContext): Findings {
  const view = viewOf(fork, context)
  const { config, providerId, provider } = view
  const { url, login, sent } = provider
  yield* checkSurroundings(view)

  // With a provider that the client ships, the user may configure it freely.
  const isCustom = url !== undefined && !fork.reservedProviderIds.includes(providerId)
  if (isCustom || config.providerId !== undefined) {
    const inUse = ['model', 'small_model'].flatMap((name) => {
      const model = textIn(config.merged, [name])
      return model?.startsWith(`${providerId}/`) ? [model.slice(providerId.length + 1)] : []
    })
    yield* checkLists(view, inUse)
  }
  if (!isCustom) return

  yield* checkProxy(view, url)
  if (login !== undefined) yield* checkInlineKeys(view)
  yield* missingVersionFinding(fork, context, config.file, {
    url,
    // The client appends `/messages` to the same base URL.
    protocol: 'chat',
    path: addressPath(providerId),
    name: `baseURL of ${providerId}`,
    effect: `, and ${fork.label} retries forever`,
  })
  if (config.providerId === providerId) {
    yield* checkModel(view)
    yield* checkMissingKey(view)
    yield* leftoverFindings(fork, context, {
      url,
      urlPlace: () => config.file.place(addressPath(providerId)),
      key: sent?.key,
      keyPlace: sent?.keyPath ?? '',
    })
  }
  yield* checkOverridden(view)
}

function addressPath(providerId: string): readonly string[] {
  return ['provider', providerId, 'options', 'baseURL']
}

/**
 * At a dead proxy both wait without end. They obey HTTP_PROXY and http_proxy, also for 127.0.0.1, and not ALL_PROXY
 * (opencode 1.18.34, Kilo 7.7.9, 2026-11-29).
 */
function checkProxy(view: OpencodeView, url: string): Findings {
  return proxyFindings(view, url, view.context.machine.env)
}

/** Reports files that the client does not read or find. */
function* checkSurroundings(view: OpencodeView): Findings {
  const { id, label, variables, context, config } = view
  yield* checkReadable(view, config)
  yield* checkNewProviders(view)
  yield* relativePathFindings(view, context.machine, {
    names: ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', `${variables}_CONFIG`],
  })
  yield* unreadFileFinding(config.auth, {
    code: `${id}-auth-unreadable`,
    effect: `${label} ignores auth.json and every login in it`,
    topic: 'key-missing',
  })
}

/**
 * opencode 2 uses an entry of `providers` instead of ours of the same name, with its whole content (reported for 2.0.16;
 * not run).
 */
function* checkNewProviders({ id, label, context, config, providerId }: OpencodeView): Findings {
  if (!isNextMajor(context.version)) return
  const path = ['providers', providerId]
  for (const file of config.userFiles) {
    if (file.get(path) === undefined) continue
    yield findingAt(file, path, {
      code: `${id}-provider-replaced`,
      message: `${label} 2 uses ${showPath(path)} instead of what a setup writes`,
      hint: `Remove it, or choose another ID: {--provider-id ID}`,
    })
  }
}

/** Reports what keeps the client from starting, whatever variables it gets. */
function* checkReadable(
  { id, label, refusesPermissionsAs }: Fork,
  { userFiles }: OwnConfig,
): Findings {
  for (const file of userFiles) {
    if (file.error !== undefined)
      yield {
        code: `${id}-config-invalid`,
        message: `${label} does not start, and prints the whole file: ${file.error.message}`,
        location: file.path,
        hint: 'Fix the file.',
        severity: 'error',
        topic: 'broken',
      }

    if (refusesPermissionsAs && file.get(['permissions']) !== undefined)
      yield findingAt(file, ['permissions'], {
        code: `${id}-newer-keys`,
        message: `"permissions" is for another major version: ${refusesPermissionsAs} does not start with it`,
        hint: 'Remove it, or rename it to "permission".',
        topic: 'broken',
      })
  }
}

function* checkOtherKey(view: OpencodeView, target: SetupTarget): Findings {
  const { id, context, config, providerId, provider } = view
  const { login: entry, url } = provider
  if (!isTable(entry) || entry['key'] === target.key) return

  const isKey = entry['type'] === 'api'
  const isPlaceholder = typeof entry['key'] === 'string' && placeholderOf(entry['key'])
  if (isKey && (isOwnAddress(url, context, target) || isPlaceholder)) return

  const kind = isKey ? 'API key' : 'login'
  yield findingAt(config.auth, [providerId], {
    code: `${id}-other-key`,
    message: `auth.json contains an entry for ${providerId} that repoint did not write`,
    hint: 'To keep it, choose another ID: {--provider-id ID}',
    needsConsentTo: `Replace the ${kind} for ${providerId} in auth.json. repoint rollback restores it.`,
    severity: 'warning',
  })
}

/** Reports lists that hide a provider or a model. In each, the stronger file's list replaces the weaker's. */
function* checkLists(
  { id, label, config, providerId }: OpencodeView,
  models: readonly string[],
): Findings {
  const lists = [
    { path: ['enabled_providers'], mustContain: true, ids: [providerId] },
    { path: ['disabled_providers'], mustContain: false, ids: [providerId] },
    { path: ['provider', providerId, 'whitelist'], mustContain: true, ids: models },
    { path: ['provider', providerId, 'blacklist'], mustContain: false, ids: models },
  ]

  for (const { path, mustContain, ids } of lists) {
    const list = valueIn(config.merged, path)
    if (!Array.isArray(list)) continue
    const hidden = [...new Set(ids)].filter((id) => list.includes(id) !== mustContain)
    if (hidden.length === 0) continue

    const name = path.at(-1)
    const file = config.userFiles.findLast((own) => own.get(path) !== undefined)
    const fixed = mustContain ? [...list, ...hidden] : list.filter((id) => !hidden.includes(id))
    const changes =
      file === config.file
        ? hidden.map((id) => (mustContain ? addToList : removeFromList)(path, id))
        : [{ path, value: fixed }]
    yield findingAt(file ?? config.file, path, {
      code: `${id}-hidden`,
      message: `${name} hides ${hidden.join(', ')} from ${label}`,
      hint: mustContain ? `Add it to ${name}.` : `Remove it from ${name}.`,
      fix: { fileKind: 'config', changes },
    })
  }
}

/** Reports what overrides the files, or bypasses them. An agent that sets a model does not use the default model. */
function* checkOverridden(view: OpencodeView): Findings {
  const { id, context, config, providerId } = view
  const agents = config.userFiles.flatMap((file) =>
    ['agent', 'mode'].flatMap((kind) =>
      file.members([kind]).map(([name, agent]) => ({
        name,
        model: textIn(agent, ['model']),
        place: file.place([kind, name, 'model']),
      })),
    ),
  )
  for (const { name, model, place: location } of agents) {
    if (model === undefined || model.startsWith(`${providerId}/`)) continue
    yield {
      code: `${id}-agent-model`,
      message: `the agent ${name} uses its own model, ${model}, and not the gateway`,
      location,
      hint: 'To use the gateway for that agent, remove its model.',
      severity: 'warning',
    }
  }

  yield* variableFindings(context, harmfulVariables(view))
}

/** The client merges the provider of a weaker file into ours. repoint does not write such a file. */
function* checkWeakerFiles(
  { id, label, context, providerId, provider }: OpencodeView,
  target: SetupTarget,
): Findings {
  const path = ['provider', providerId]
  const isOtherGateway = pointsElsewhere(provider.url, sdkBaseUrl(target))
  for (const file of parseLayers(context.files, 'lower')) {
    const now = file.table(path) ?? {}
    const taken = { path, now, isOtherGateway, harmless: [...harmless, 'options.apiKey'] }
    const [foreign] = withoutForeignSettings([], taken, target)
    if (foreign === undefined) continue
    yield findingAt(file, foreign.path, {
      code: `${id}-weaker-file`,
      message: `${showPath(foreign.path)} may belong to another gateway, and ${label} would use it for this one`,
      hint: 'Remove it from that file.',
    })
  }
}

function* checkInlineKeys({ id, config, providerId }: OpencodeView): Findings {
  const { keyReference } = config
  const path = ['provider', providerId, 'options', 'apiKey']
  for (const file of config.userFiles) {
    const value = file.get(path)
    if (value === undefined || value === keyReference) continue

    const keyRemoval = removal(file, `options.apiKey of ${providerId}`, { path, isSecret: true })
    yield findingAt(file, path, {
      code: `${id}-api-key`,
      message: `options.apiKey of ${providerId} overrides auth.json${value === '' ? ', although it is empty' : ''}`,
      // repoint does not write a weaker file.
      ...(file === config.file ? keyRemoval : { hint: keyRemoval.hint }),
    })
  }
}

function* checkModel({ id, label, config, providerId }: OpencodeView): Findings {
  const model = String(config.merged['model']).slice(providerId.length + 1)
  const path = ['provider', providerId, 'models', model]
  if (config.userFiles.some((file) => file.table(path))) return

  yield findingAt(config.file, ['model'], {
    code: `${id}-model-unlisted`,
    message: `the model ${model} is not in the models of ${providerId}: ${label} does not find it`,
    // Only the gateway could tell whether an entry for the model would help.
    hint: `Add the models of the gateway: repoint ${id}`,
  })
}

function* checkMissingKey(view: OpencodeView): Findings {
  const { label, context, config, providerId, provider } = view
  if (mayNeedNoKey(provider.url, context) || hasKeyFromOutside(provider, context)) return
  if (provider.sent !== undefined || config.auth.whyIgnored !== undefined) return

  const message = `auth.json contains no key for ${providerId}: ${label} sends none`
  yield missingKeyFinding(view, config.auth.path, message)
}

/** Whether the key comes from a variable that is set, from another file or from a header. */
function hasKeyFromOutside(
  { table, options }: OpencodeProvider,
  { machine }: ClientContext,
): boolean {
  const { apiKey: inline, headers } = options
  if (typeof inline === 'string' && inline !== '') {
    const variable = /^\{env:(.*)\}$/.exec(inline)
    return variable === null || Boolean(machine.env[variable[1]!])
  }
  const variables = Array.isArray(table['env']) ? table['env'] : []
  if (inline === undefined && variables.some((name) => machine.env[String(name)])) return true
  return isTable(headers) && Object.keys(headers).some((name) => /^authorization$/i.test(name))
}

/** Reports providers of earlier setups, and their keys. */
function* checkFormerProviders(view: OpencodeView, target: SetupTarget): Findings {
  const { id: client, context, config, providerId } = view
  const auth = parseKind(context.files, 'auth')
  for (const [id, table] of config.file.members(['provider'])) {
    const url = textIn(table, ['options', 'baseURL'])
    const isAsWeWrite = textIn(table, ['npm']) === usualPackage
    if (id === providerId || !isAsWeWrite) continue
    if (url === undefined || !context.writtenBaseUrls.includes(withoutTrailingSlash(url))) continue

    const hasKey = auth.text([id, 'type']) === 'api'
    const provider = formerProviderFinding(view, target, config.file, {
      providerId: id,
      url,
      change: { path: ['provider', id], role: 'address' },
      hasKey,
      otherPlace: `its entry in ${auth.path}`,
    })
    yield provider
    if (provider.fix === undefined || !hasKey) continue

    yield findingAt(auth, [id], {
      code: `${client}-former-key`,
      message: `an earlier setup left the key of the provider ${id}`,
      hint: 'Remove it.',
      becomes: { value: undefined, isSecret: true, role: 'key' },
      severity: 'warning',
    })
  }
}

// First request and launch.

/** What the entry of the model changes in the recorded request. */
async function firstRequest(
  { id, asksForNoLimit, loadRecordings }: Fork,
  files: LoadedFiles,
  { model, protocol, version }: FirstRequestInput,
): Promise<FirstRequest> {
  const recordings = await loadRecordings()
  const config = readConfig(files)
  const { table } = providerIn(config, config.providerId)
  const entry = tableIn(table, ['models', model])
  const addedHeaders = readHeaders(entry['headers']).headers
  const largest = numberIn(entry, ['limit', 'output']) || defaultOutputTokens
  const limit = Math.min(largest, defaultOutputTokens)
  const effort = textIn(entry, effortPath(protocol))

  const kind = kindOf(protocol, model)
  const { headers, body } = recordedRequest(recordings, { kind, protocol, version })
  const isReasoning = kind === 'gpt' && !/gpt-5-(?:chat|pro)/i.test(model)
  const usual = kind === 'gpt' && !isReasoning ? withoutReasoning(body) : body

  const options = tableIn(entry, ['options'])
  const { added, removalCures } = addedByOptions(id, options, protocol)

  if (protocol === 'responses') {
    const ofGpt = recordedRequest(recordings, { kind: 'gpt', protocol, version }).body['reasoning']
    const reasoning = effort ? { ...asObject(ofGpt), effort } : usual['reasoning']
    return {
      headers,
      addedHeaders,
      body: withMembers({ ...usual, max_output_tokens: limit, reasoning }, added),
      hints: { ...removalCures, ...outputLimitCures, reasoning: noReasoningCure },
    }
  }

  if (protocol === 'messages')
    return {
      headers: options['speed'] === 'fast' ? withBetas(headers, fastMode) : headers,
      addedHeaders,
      body: withMembers(
        { ...usual, max_tokens: limit, ...(effort && { output_config: { effort } }) },
        added,
      ),
      hints: {
        ...removalCures,
        ...outputLimitCures,
        ...(effort && { output_config: effortCure }),
        thinking: `Add "options": {"thinking": {"type": "disabled"}} to the model in the config of ${id}, then run the command again.`,
      },
    }

  // The older Kilo sends a limit to every model.
  const isUnlimited = asksForNoLimit?.test(model) && usual['max_tokens'] === undefined
  return {
    headers,
    addedHeaders,
    body: {
      ...withMembers(usual, added),
      max_tokens: isUnlimited ? undefined : limit,
      reasoning_effort: effort ?? usual['reasoning_effort'],
    },
    hints: {
      ...removalCures,
      ...outputLimitCures,
      ...(effort && { reasoning_effort: effortCure }),
    },
  }
}

/**
 * The members of the body that the options of a model become (1.18.34, 2026-11-28). Over chat, every other option is
 * sent under its own name, and over the other protocols it is ignored. The effort of a reasoning model is not here.
 */
const membersOfOptions: Readonly<Record<Protocol, Readonly<Record<string, SettingPath>>>> = {
  chat: { textVerbosity: ['verbosity'] },
  responses: {
    maxToolCalls: ['max_tool_calls'],
    metadata: ['metadata'],
    parallelToolCalls: ['parallel_tool_calls'],
    promptCacheKey: ['prompt_cache_key'],
    promptCacheRetention: ['prompt_cache_retention'],
    reasoningSummary: ['reasoning', 'summary'],
    safetyIdentifier: ['safety_identifier'],
    serviceTier: ['service_tier'],
    store: ['store'],
    textVerbosity: ['text', 'verbosity'],
    truncation: ['truncation'],
    user: ['user'],
  },
  messages: {
    cacheControl: ['cache_control'],
    speed: ['speed'],
    thinking: ['thinking'],
  },
}

/** What `"speed": "fast"` adds to the header. */
const fastMode = 'fast-mode-2026-02-01'

/** What the user's own options of a model add to the body, and the cure if the gateway rejects one. */
function addedByOptions(id: string, options: Table, protocol: Protocol) {
  const known = membersOfOptions[protocol]
  const added = Object.entries(options).flatMap(([name, value]): readonly SettingChange[] => {
    if (name === 'reasoningEffort') return []
    const path = known[name] ?? (protocol === 'chat' ? [name] : undefined)
    return path === undefined ? [] : [{ path, value: inSnakeCase(value, protocol) }]
  })
  const cureFor = (name: string) =>
    `Remove the option for ${name} from the model in the config of ${id}, then run the command again.`
  const names = added.map(({ path: [name] }) => String(name))
  return {
    added,
    removalCures: Object.fromEntries(names.map((name) => [name, cureFor(name)])),
  }
}

/** The budget of `thinking` has another name in the request. */
function inSnakeCase(value: ConfigValue, protocol: Protocol): ConfigValue {
  if (protocol !== 'messages' || !isTable(value)) return value
  const { budgetTokens, ...others } = value
  return budgetTokens === undefined ? value : { ...others, budget_tokens: budgetTokens }
}

function withMembers(
  body: FirstRequest['body'],
  added: readonly SettingChange[],
): FirstRequest['body'] {
  return overlaid(body as Table, added)
}

/** opencode chooses tools and reasoning by the vendor of the model (1.2.27 to 1.18.34, 2026-11-26). */
function kindOf(protocol: Protocol, model: string): string {
  if (protocol === 'messages') {
    if (/claude-[a-z]+-5/.test(model)) return 'thinking'
    return model.includes('claude') ? 'claude' : 'other'
  }

  return /gpt-(?!4)/i.test(model) && !/oss/i.test(model) ? 'gpt' : 'other'
}

function withoutReasoning(body: FirstRequest['body']): FirstRequest['body'] {
  const { reasoning, reasoning_effort, reasoningSummary, verbosity, text, ...others } = body
  return others
}

const runProviderId = 'repoint-run'

/**
 * Uses `OPENCODE_CONFIG_CONTENT` or the like, which overrides all files, including those of projects; its `apiKey`
 * overrides auth.json.
 *
 * @throws UserError for a file with which the client does not start; `usage`
 */
function launchSettings(
  fork: Fork,
  files: LoadedFiles,
  target: SetupTarget,
  { args, env }: ProcessToStart,
): LaunchSettings {
  const config = readConfig(files)
  for (const finding of checkReadable(fork, config)) throw errorFrom(finding)

  // The client would send an entry of auth.json as a bearer token in addition to a key in another header.
  const hasOtherKeyHeader = target.keyHeader !== 'authorization'
  // The client would send a provider's headers to the new address too, for example: in that case the run uses a
  // separate provider.
  const { table, options, url } = providerIn(config, target.providerId)
  const isForeign = hasForeignSettings(
    {
      now: table,
      isOtherGateway: pointsElsewhere(url, sdkBaseUrl(target)),
      harmless: [...harmless, 'options.apiKey'],
    },
    target,
  )
  const hasHeaders = options['headers'] !== undefined
  const providerId =
    hasOtherKeyHeader || hasHeaders || isForeign ? runProviderId : target.providerId
  const apiKey = ['provider', providerId, 'options', 'apiKey']
  const { enabled_providers: enabled, disabled_providers: disabled } = config.merged

  const changes = [
    ...configChanges(fork, files, { ...target, providerId }),
    ...(hasOtherKeyHeader ? [] : [{ path: apiKey, value: `{env:${launchKeyVariable}}` }]),
    ...(Array.isArray(enabled)
      ? [{ path: ['enabled_providers'], value: [...enabled, providerId] }]
      : []),
    ...(Array.isArray(disabled)
      ? [{ path: ['disabled_providers'], value: disabled.filter((id) => id !== providerId) }]
      : []),
  ]

  const contentVariable = `${fork.variables}_CONFIG_CONTENT`
  const content = overlaid(readContent(contentVariable, env[contentVariable]), changes)
  return {
    args,
    env: { ...env, [contentVariable]: JSON.stringify(content) },
    resumeKeeps: providerId === runProviderId ? 'gateway and model' : 'model',
  }
}

/** @throws UserError `usage` */
function readContent(variable: string, text: string | undefined): Table {
  const content = ifPossible((): ConfigValue => JSON.parse(text || '{}'))
  if (isTable(content)) return content

  throw new UserError({
    code: 'usage',
    message: `${variable} is set, and is not a JSON object that repoint can extend`,
    hint: `Unset it for this run: env -u ${variable} repoint run …`,
  })
}

// Module.

/**
 * The npm packages for responses and messages send nothing if the provider has no key (opencode 1.18.34,
 * 2026-11-26).
 */
const sends: ClientModule['sends'] = {
  headers: true,
  otherKeyHeaders: { chat: otherKeyHeaders },
  fixedKeyHeader: { messages: 'x-api-key' },
}

/**
 * Reports recorded conversations that do not continue: each keeps its provider and model, and the client finds the
 * model no more. `opencode run -c` says "Unexpected server error" then (1.18.34, 2026-11-29).
 */
export function* conversationFindings(
  { id, label, folder }: Fork,
  { files, machine }: Pick<ClientWorld, 'files' | 'machine'>,
  { before, after }: Pick<EditedFiles, 'before' | 'after'>,
): Findings {
  const database = pathsOf(machine).join(xdgFolder(machine, 'DATA'), folder, `${folder}.db`)
  if (ifPossible(() => files.stat(database)) === undefined) return

  const now = configuredModels(after)
  const lost = configuredModels(before).filter((model) => !now.includes(model))
  if (lost.length === 0) return

  const names = lost.length > 3 ? `one of ${lost.length} models` : listWords(lost, 'or')
  const next = textIn(readConfig(after).merged, ['model']) ?? 'PROVIDER/MODEL'
  yield {
    code: `${id}-conversations-lost`,
    severity: 'note',
    message: `A recorded conversation of ${label} with ${names} does not continue by itself: its model is gone`,
    hint: `To continue it with another model: ${id} run -c -m ${next}`,
  }
}

/** The models of all configured providers, as `-m` names them. */
function configuredModels(files: LoadedFiles): readonly string[] {
  const providers = Object.entries(tableIn(readConfig(files).merged, ['provider']))
  return providers.flatMap(([id, provider]) =>
    isTable(provider)
      ? Object.keys(tableIn(provider, ['models'])).map((model) => `${id}/${model}`)
      : [],
  )
}

export function clientOf(fork: Fork): ClientModule {
  const { id, label, reservedProviderIds, variables, window, keyFile } = fork
  const isItsOwn = ({ fileKinds }: SensitiveSetting) => keyFile || !fileKinds.includes('key')
  return {
    program: {
      command: id,
      testedVersions: testedVersions(fork.tested),
      // The client's screen takes a folder as a positional argument.
      foldersIn: (args) => [...args, ...clientFlagValues(args, ['--dir'])],
      ...fork.program,
      restartAdvice: `Close every running ${label} and start it again.`,
      // Run with 1.18.34 and Kilo 7.7.9, 2026-11-23.
      resume: {
        command: `${id} run -c`,
        keeps: 'provider and model',
      },
    },
    protocols,
    sends,
    config: {
      sensitiveSettings: { ...sensitiveSettings, rows: sensitiveSettings.rows.filter(isItsOwn) },
      folderFiles: fork.folderFiles,
      // opencode replaces these texts anywhere in its configuration. Kilo reports a fault if its list contains
      // `constructor` (7.7.9, 2026-11-23).
      interpolation: {
        names: /\{(?:env|file):|^constructor$/,
        values: /\{(?:env|file):/,
        isInSettingNames: true,
      },
      reservedProviderIds,
      gatewayVariables: {
        addresses: [`${variables}_CONFIG_CONTENT`],
        others: [`${variables}_AUTH_CONTENT`],
      },
      variables: {
        families: [`${variables}_`],
        harmful: harmfulVariables(fork),
        // For its own service, its server and its list of models (names in 1.18.34 and Kilo 7.7.9, 2026-11-28; not
        // run).
        harmless: ['API_KEY', 'SERVER_PASSWORD', 'MODELS_URL', 'EXPERIMENTAL_OUTPUT_TOKEN_MAX'].map(
          (name) => `${variables}_${name}`,
        ),
      },
    },

    files: (machine, disk) => filesOf(fork, machine, disk),

    read,
    checkNow: (context) => checkNow(fork, context),

    resolve(input, { version } = {}) {
      const usable = protocolsForKey({ label, protocols, sends }, input)
      // One `baseURL` serves all protocols: the packages append `/chat/completions` and `/messages` to it.
      const resolved = resolveWithPicker(
        input,
        usable,
        window,
        ({ chat, messages }) => chat === `${messages}/v1`,
      )
      const usesKeyFile = keyFile !== undefined && isNextMajor(version)
      return { ...withSmallModel(input, resolved), usesKeyFile }
    },

    plan(files, target) {
      const keyEdits = filesOfKind(files, 'key').map((file) =>
        planKeyFile(fork, file, keyForFile(target)),
      )
      const needsAuth = !target.resolved.usesKeyFile || fileOf(files, 'auth').bytes !== null
      return [
        ...keyEdits.filter((edit) => edit !== undefined),
        ...(needsAuth ? [planAuth(fork, files, target)] : []),
        editFile({
          client: fork,
          sensitiveSettings,
          file: fileOf(files, 'config'),
          changes: configChanges(fork, files, target),
          fixes: target.fixes,
        }),
      ]
    },
    checkSetup: (context, target) => checkSetup(fork, context, target),
    firstRequest: (files, input) => firstRequest(fork, files, input),
    launchSettings: (files, target, process) => launchSettings(fork, files, target, process),
    gatewaySettings: (files) => gatewaySettings(fork, files),
  }
}
