/**
 * pi: facts, reader, plan, checks, first request, launch, module. Facts: run with 0.60.0, 0.73.1 and 0.87.1,
 * 2026-11-22, unless a comment says otherwise. Set up and prompted in 0.51.0 and 1.5.2, 2026-11-23.
 *
 * A setup writes two files, here for a model over chat:
 *
 *     models.json      {
 *                        "providers": {
 *                          "gateway": {
 *                            "name": "Gateway",
 *                            "baseUrl": "https://…/v1",
 *                            "api": "openai-completions",
 *                            "apiKey": "sk-…",
 *                            "models": [ { "id": "glm-5", "contextWindow": 200000 } ]
 *                          }
 *                        }
 *                      }
 *     settings.json    { "defaultProvider": "gateway", "defaultModel": "glm-5" }
 *
 * It does not write auth.json, but a fix may remove an earlier login from it.
 */
import { compact } from '../../compact.ts'
import { addToList, type Bytes, type ConfigValue, type SettingChange } from '../../edits/types.ts'
import type { Findings } from '../../finding.ts'
import { type FirstRequest, otherKeyHeaders, protocols } from '../../gateway/types.ts'
import { isExported, proxyFindings, unsetCommand } from '../checks/environment.ts'
import { findingAt, relativePathFindings, unreadFileFinding } from '../checks/findings.ts'
import type { ClientContext, ClientModule } from '../contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import { type FirstRequestInput, launchKeyVariable, type Recordings } from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { emptyState, type SentKey } from '../contract/state.ts'
import {
  asPlanned,
  brokenText,
  fileOf,
  filesOfKind,
  originOf,
  parseFile,
  unreadable,
  withoutValues,
  wordsIn,
} from '../files/parse-file.ts'
import { editableFile, layersThere, pathsOf } from '../files/paths.ts'
import { gatewaySettingsIn, row } from '../files/sensitive-settings.ts'
import { expectRead, readStrictly, type StrictFile } from '../files/strict-json.ts'
import {
  isTable,
  numberIn,
  plainName,
  type Table,
  tableIn,
  textIn,
  valueIn,
} from '../files/tables.ts'
import { offeredIn, resolveWithPicker } from '../models/picker.ts'
import { piName } from '../names.ts'
import { noReasoningCure, outputLimitCures } from '../options/flags.ts'
import {
  apiOf,
  checkFormerProviders,
  checkProviderForSetup,
  checkProviderNow,
  effectiveSettings,
  harmlessInBoth,
  hasSetVariables,
  headersOfModel,
  membersOf,
  modelOf,
  type PiProvider,
  type ProviderFormat,
  type ProviderView,
  providerChanges,
  providerOf,
  providerPath,
  usesMessages,
} from '../pi-family/providers.ts'
import { editFile } from '../plan/edit-file.ts'
import { newEntry } from '../plan/entries.ts'
import { requiredHeaders } from '../plan/headers.ts'
import { expectUnset, typedFlag } from '../program/arguments.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { isBefore, ofNode, testedVersions, type Version } from '../program/tested.ts'
import responses from './responses.json' with { type: 'json' }
import tested from './tested.json' with { type: 'json' }

// Facts.

const program: ClientModule['program'] = {
  command: 'pi',
  packages: ['@mariozechner/pi-coding-agent', '@earendil-works/pi-coding-agent'],
  testedVersions: testedVersions(tested),
  // 0.50.3 and 0.50.7 find no model (2026-11-23).
  minVersion: '0.51.0',
  // Records no conversation (0.73.1 and 0.87.1, 2026-11-29).
  pingArgs: (prompt) => ['--no-session', '-p', prompt],
  caFileVariables: ['NODE_EXTRA_CA_CERTS'],
  certificateStores: ofNode,
  accepts: responses.protocols,
  tokens: { firstRequest: 1_600, oneWord: 1_600 },
  pingEnv: { PI_OFFLINE: '1' },
  // `/model` reads models.json again; only `/reload` reads settings.json again.
  restartAdvice: 'Close every running pi and start it again.',
  // 0.87.1 and 1.5.2, 2026-11-23.
  resume: { command: 'pi -c', keeps: 'provider and model' },
}

/** From 0.79 on pi reads a folder's settings only if the user trusts it; it reads no providers there. */
const tried = '0.60.0 to 0.87.1, 2026-11-22'

/**
 * The texts in a key or in the value of a header that pi interprets. Up to 0.76 it first looks for a variable with that
 * name; from 0.77 on `$NAME` and `${NAME}` are variables. In both, `!` starts a command.
 */
const interpretedValue = /^!|\$|^[A-Z][A-Z0-9]*_[A-Z0-9_]*$/

/**
 * The IDs of the providers that pi ships: those of 0.60.0, 0.73.1 and 0.87.1. pi merges its own settings for an ID with
 * the configured ones.
 */
const reservedIds = wordsIn(`
  amazon-bedrock ant-ling anthropic azure-openai-responses baseten cerebras cloudflare-ai-gateway
  cloudflare-workers-ai deepseek fireworks github-copilot google google-antigravity
  google-gemini-cli google-vertex groq huggingface kimi-coding meta minimax minimax-cn mistral
  moonshotai moonshotai-cn nvidia openai openai-codex opencode opencode-go openrouter
  qwen-token-plan qwen-token-plan-cn qwen-token-plan-individual radius together vercel-ai-gateway
  xai xiaomi xiaomi-token-plan-ams xiaomi-token-plan-cn xiaomi-token-plan-sgp zai zai-coding-cn`)

const config: ClientModule['config'] = {
  sensitiveSettings: {
    codeWord: 'settings',
    rows: [
      row('providers.:provider.baseUrl', 'address', ['models'], tried),
      row('providers.:provider.models.*.baseUrl', 'address', ['models'], tried),
      row('providers.:provider.apiKey', 'key', ['models'], tried),
      row('providers.:provider.authHeader', 'key', ['models'], tried),
      row('providers.:provider.api', 'provider', ['models'], tried),
      row('defaultProvider', 'model', ['settings', 'project'], tried),
      row('defaultModel', 'model', ['settings', 'project'], tried),
      row('enabledModels', 'model', ['settings', 'project'], tried),
    ],
  },
  folderFiles: [
    { patterns: ['.pi/**'], reach: 'folder', source: 'system calls of 0.87.1, 2026-11-24' },
  ],
  interpolation: { names: null, values: interpretedValue },
  // Of its login, its installer and its pages (names in 0.87.1, 2026-11-28; not run).
  variables: {
    families: ['PI_'],
    harmful: [],
    harmless: ['PI_OAUTH_CALLBACK_HOST', 'PI_INSTALLER_*', 'PI_SHARE_VIEWER_URL'],
  },
  reservedProviderIds: reservedIds,
}

/**
 * pi sends its instructions to a reasoning model with the role `developer`, which only OpenAI's models know (0.73.1).
 * It also gives each one a reasoning budget, which Claude's newer models reject (run on 0.87.1, 2026-11-23).
 */
const format: ProviderFormat = {
  client: piName,
  path: ['providers'],
  always: {},
  namesModels: false,
  harmless: [
    ...harmlessInBoth,
    ...['compat.requires*', 'compat.forceAdaptiveThinking'].flatMap((member) => [
      member,
      `models.*.${member}`,
    ]),
    ...['models.*.inputLimits', 'models.*.promptCache'],
  ],
  unlisted: ': pi starts with the first that it has a key for',
  compat: {
    chat: () => ({ supportsDeveloperRole: false }),
    messages: (id) =>
      /claude-[a-z]+-(?:4[-.][6-9]|[5-9])\b/.test(id) ? { forceAdaptiveThinking: true } : undefined,
  },
}

/** The settings of which a provider without models must have one. */
const essentialSettings = [
  ...['baseUrl', 'headers', 'compat', 'modelOverrides'],
  ...['apiKey', 'oauth', 'authHeader'],
]

/** In tokens: the limit that pi sends for a model without one. */
const usualOutputTokens = 16_384
/** In tokens: the most that an older version sends, which leaves no room for the prompt. */
const mostOutputTokens = 32_000
/** In tokens: about the size of its first prompt. */
const promptTokens = 5_498

/** pi knows what these hosts do not accept (`detectCompat` of 0.73.1), so repoint predicts nothing for them. */
const knownHosts =
  /api\.z\.ai|api\.moonshot\.|cloudflare\.com|cerebras\.ai|api\.x\.ai|chutes\.ai|deepseek\.com|opencode\.ai|openrouter\.ai/

// Reader.

/** `PI_CODING_AGENT_DIR` may begin with `~`. In a project pi reads only the folder where it starts. */
const files: ClientModule['files'] = (machine, disk) => {
  const { join, namedFromHome } = pathsOf(machine)
  const { home, cwd } = machine
  const folder = namedFromHome('PI_CODING_AGENT_DIR') ?? join(home, '.pi', 'agent')
  const auth = join(folder, 'auth.json')
  const settings = join(folder, 'settings.json')
  const login = { ...editableFile('auth', auth), content: 'credentials' } as const

  return [
    // An earlier login must be removed before the address changes: pi would send it there.
    ...(disk.exists(auth) ? [login] : []),
    editableFile('models', join(folder, 'models.json')),
    { ...editableFile('settings', settings), holdsSecret: false },
    ...layersThere(disk, settings, [
      { kind: 'project', owner: 'folder', paths: [join(cwd, '.pi', 'settings.json')] },
    ]),
  ]
}

interface PiFiles {
  readonly models: StrictFile
  /** Plain JSON. If pi cannot read it, it reports that and uses the first model that it has a key for. */
  readonly settings: StrictFile
  /**
   * Plain JSON, if it exists: pi creates it at its first start. Its entry for a provider overrides that provider's key
   * in models.json. If pi cannot read it, 0.60.0 and 0.73.1 continue without it, and 0.87.1 finds no key at all.
   */
  readonly auth?: StrictFile
  /** The provider and the model that pi starts with. Undefined: the first model that it has a key for. */
  readonly providerId?: string
  readonly model?: string
}

function readFiles(files: LoadedFiles): PiFiles {
  // An empty file counts as missing.
  const readPlain = (file: LoadedFile) => readPi(file, file.bytes?.length === 0 ? null : file.bytes)
  const settings = readPlain(fileOf(files, 'settings'))
  const [auth] = filesOfKind(files, 'auth').map(readPlain)
  const found = { models: readModels(fileOf(files, 'models')), settings, auth }

  const providerId = textIn(settings.root, ['defaultProvider'])
  const model = textIn(settings.root, ['defaultModel'])
  return providerId === undefined || model === undefined ? found : { ...found, providerId, model }
}

/**
 * Reads models.json. From 0.73.1 on pi accepts `//` comments and trailing commas, but no block comments, and a byte
 * order mark only in 0.87.1. With one wrong type anywhere, pi ignores the whole file, and `pi -p` does not report that.
 */
function readModels(file: LoadedFile): StrictFile {
  const models = readPi(file, file.bytes && withoutLeniencies(file.bytes))
  if (file.bytes === null || (models.whyIgnored !== undefined && !models.isRepairable))
    return models
  const whyIgnored = problemOfModels(models.root)
  return whyIgnored === undefined
    ? models
    : { ...withoutValues(models), whyIgnored, isRepairable: false }
}

/**
 * Reads a file as pi does. If pi cannot read it, the values are those that it would read after a repair.
 *
 * @param accepted the bytes that pi parses as JSON, after its own changes to the file's bytes
 */
function readPi(file: LoadedFile, accepted: Bytes | null): StrictFile {
  const { whyIgnored } = readStrictly({ ...file, bytes: accepted })
  const read = parseFile(file)
  if (whyIgnored === undefined) return { ...read, isRepairable: false }
  const { isRepairable } = readStrictly(file)
  return { ...(isRepairable ? read : withoutValues(read)), whyIgnored, isRepairable }
}

/** Follows pi: dist/core/model-registry.js of 0.73.1, dist/utils/json.js of 0.87.1. */
function withoutLeniencies(bytes: Bytes): Bytes {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const isText = (match: string) => match.startsWith('"')
  const plain = text
    .replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*/g, (match) => (isText(match) ? match : ''))
    .replace(/"(?:\\.|[^"\\])*"|,(\s*[}\]])/g, (match, end) => end ?? (isText(match) ? match : ''))
  return new TextEncoder().encode(plain)
}

/** The first value with a type that pi's schema does not allow. Rarer keys of the schema are not checked. */
function problemOfModels({ providers }: Table): string | undefined {
  if (!isTable(providers)) return 'providers is not an object'
  for (const [id, provider] of Object.entries(providers)) {
    const at = `providers.${id}`
    if (!isTable(provider)) return `${at} is not an object`
    const problem = problemOfProvider(at, provider)
    if (problem !== undefined) return problem
  }
  return undefined
}

function problemOfProvider(at: string, provider: Table): string | undefined {
  const { headers, authHeader, models } = provider
  const wrong = ['name', 'baseUrl', 'apiKey', 'api'].find((name) => !isTextOrAbsent(provider[name]))
  if (wrong !== undefined) return `${at}.${wrong} is not text`
  if (!isHeaders(headers)) return `${at}.headers contains a value that is not text`
  if (authHeader !== undefined && typeof authHeader !== 'boolean')
    return `${at}.authHeader is neither true nor false`

  if (models === undefined) return undefined
  if (!Array.isArray(models)) return `${at}.models is not a list`
  for (const model of models as readonly ConfigValue[]) {
    if (!isTable(model) || typeof model['id'] !== 'string' || model['id'] === '')
      return `a model of ${at} has no id`
    const name = `the model ${model['id']} of ${at}`
    const text = ['name', 'api', 'baseUrl'].find((key) => !isTextOrAbsent(model[key]))
    if (text !== undefined) return `${text} of ${name} is not text`
    const size = ['contextWindow', 'maxTokens'].find((key) => !isSizeOrAbsent(model[key]))
    if (size !== undefined) return `${size} of ${name} is not a number above 0`
    if (!isHeaders(model['headers'])) return `headers of ${name} contain a value that is not text`
  }
  return undefined
}

/** Where pi requires a text, it also rejects an empty one. */
function isTextOrAbsent(value: ConfigValue | undefined): boolean {
  return value === undefined || (typeof value === 'string' && value !== '')
}

function isSizeOrAbsent(value: ConfigValue | undefined): boolean {
  return value === undefined || (typeof value === 'number' && value > 0)
}

function isHeaders(value: ConfigValue | undefined): boolean {
  if (value === undefined) return true
  return isTable(value) && Object.values(value).every((member) => typeof member === 'string')
}

/**
 * Why pi rejects a provider, as shown to the user: 0.73.1 then ignores the whole models.json, 0.87.1 only this
 * provider. Faults that only one of them rejects are left out.
 *
 * @param except the provider that a setup is about to write
 */
function incompleteProvider({ root }: StrictFile, except?: string): string | undefined {
  for (const [id, provider] of Object.entries(tableIn(root, ['providers']))) {
    if (id === except || reservedIds.includes(id) || !isTable(provider)) continue

    const models = Array.isArray(provider['models']) ? provider['models'].filter(isTable) : []
    if (models.length === 0 && essentialSettings.every((name) => provider[name] === undefined))
      return `the provider ${id} says nothing`
    const lacking = ['baseUrl', 'api'].find(
      (name) => !provider[name] && models.some((model) => !model[name]),
    )
    if (lacking !== undefined) return `the provider ${id} has models and no ${lacking}`
  }
  return undefined
}

interface UsedProvider extends PiProvider {
  /** Its entry in auth.json. */
  readonly login?: Table
  /** The key that pi would send, and the file that holds it, as far as the files tell. */
  readonly sent?: SentKey
}

function providerIn({ models, auth }: PiFiles, id: string): UsedProvider {
  const provider = providerOf(format, models, id)
  const entry = valueIn(auth?.root, [id])
  const login = isTable(entry) ? entry : undefined
  const key = login === undefined ? provider.table['apiKey'] : login['key']
  if (typeof key !== 'string' || interpretedValue.test(key)) return { ...provider, login }
  const { path: keyPath } = login === undefined ? models : auth!
  return { ...provider, login, sent: { key, keyPath } }
}

const read: ClientModule['read'] = (files) => {
  const found = readFiles(files)
  const { models, settings, providerId, model } = found
  const [broken] = [models, settings].flatMap(({ path, whyIgnored }) =>
    whyIgnored === undefined ? [] : [brokenText(path, whyIgnored)],
  )
  if (broken !== undefined) return { ...emptyState, findings: unreadable(broken) }

  const lack = incompleteProvider(models)
  const findings = unreadable(lack && brokenText(models.path, lack))
  if (providerId === undefined) return { ...emptyState, findings }

  const provider = providerIn(found, providerId)
  const { login, sent } = provider
  const isOther = login !== undefined && login['type'] !== 'api_key'
  const { endpoint, options } = effectiveSettings(provider, model)
  return {
    endpoint: { ...endpoint, key: sent?.key },
    options: { ...options, providerId },
    offered: provider.models.map(({ id }) => plainName(id)),
    origins: {
      baseUrl: originOf([models], [...providerPath(format, providerId), 'baseUrl']),
      model: settings.path,
      key: sent?.keyPath,
    },
    login: isOther ? `the login for ${providerId} in auth.json` : undefined,
    findings,
  }
}

/** A vendor's login stays if pi ships the provider and only its address was changed. */
const gatewaySettings: ClientModule['gatewaySettings'] = (files) => {
  const { endpoint, options } = read(files)
  const { providerId } = options
  if (endpoint.baseUrl === undefined || providerId === undefined) return {}

  const { login } = providerIn(readFiles(files), providerId)
  const isVendors = reservedIds.includes(providerId) && login?.['type'] !== 'api_key'
  return {
    auth: login === undefined || isVendors ? [] : [[providerId]],
    models: gatewaySettingsIn(config.sensitiveSettings, fileOf(files, 'models'), providerId),
    settings: [['defaultProvider'], ['defaultModel']],
  }
}

// Plan.

const plan: ClientModule['plan'] = (files, target) => {
  const { providerId, resolved, fixes } = target
  const { root } = readFiles(files).models
  const path = providerPath(format, providerId)
  const isNamed = providerOf(format, { root }, providerId).table['name'] !== undefined

  const changesByFile: Readonly<Record<string, readonly SettingChange[]>> = {
    auth: [],
    models: [
      ...(isNamed ? [] : [{ path: [...path, 'name'], value: 'Gateway' }]),
      ...providerChanges(format, { ...fileOf(files, 'models'), root }, target),
    ],
    settings: [
      { path: ['defaultProvider'], value: providerId },
      { path: ['defaultModel'], value: resolved.model },
    ],
  }
  const { sensitiveSettings } = config
  const edits = Object.entries(changesByFile).flatMap(([kind, changes]) =>
    filesOfKind(files, kind).map((file) =>
      editFile({ client: piName, sensitiveSettings, file, changes, fixes }),
    ),
  )

  const { auth, models, settings } = readFiles(asPlanned(files, edits))
  for (const file of [auth, models, settings])
    if (file !== undefined) expectRead(piName.label, file)
  return edits
}

// Checks.

interface PiView extends ProviderView {
  readonly provider: UsedProvider
  readonly settings: StrictFile
}

function viewOf(context: ClientContext, found: PiFiles, providerId: string, model: string): PiView {
  const { models, settings } = found
  const provider = providerIn(found, providerId)
  const configuredKey = textIn(provider.table, ['apiKey']) ?? ''
  return {
    context,
    format,
    models,
    settings,
    providerId,
    provider,
    model,
    modelPlace: settings.place(['defaultModel']),
    sent: provider.sent ?? {},
    isKeyElsewhere:
      configuredKey.startsWith('!') || hasSetVariables(configuredKey, context.machine.env),
  }
}

function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const { providerId, resolved, key, baseUrl } = target
  const { machine } = context
  const found = readFiles(context.files)
  const view = viewOf(context, found, providerId, resolved.model)
  yield* checkSurroundings(context, found)

  // Up to 0.76 pi takes a key for a variable if a variable has the same name.
  if (/^\w+$/.test(key) && isExported(context, key))
    yield {
      code: 'pi-key-is-variable',
      message: 'a variable has the key as its name: pi up to 0.76 would send its value',
      location: 'environment',
      hint: unsetCommand(machine, 'the variable'),
      severity: 'warning',
    }

  yield* proxyFindings(piName, baseUrl, machine.env)
  yield* checkOtherLogin(view, found)
  yield* checkProviderForSetup(view, target)

  const lack = incompleteProvider(found.models, providerId)
  if (lack !== undefined)
    yield {
      code: 'pi-provider-incomplete',
      message: `${lack}: older versions of pi ignore every provider`,
      location: found.models.path,
      hint: 'Complete it, or remove it.',
      severity: 'warning',
    }

  yield* checkFormerProviders(view, target)
  yield* checkModelLists(view)
}

function* checkNow(context: ClientContext): Findings {
  const found = readFiles(context.files)
  yield* checkSurroundings(context, found)
  const { providerId, model } = found
  if (providerId === undefined || model === undefined) return

  const view = viewOf(context, found, providerId, model)
  const { url } = view.provider
  // With a provider that pi ships, the user may configure it freely.
  if (url === undefined) return

  yield* proxyFindings(piName, url, context.machine.env)
  yield* checkOtherLogin(view, found)
  yield* checkProviderNow(view, url)
  yield* checkModelLists(view)
}

function* checkSurroundings(
  { machine }: ClientContext,
  { auth, models, settings }: PiFiles,
): Findings {
  const topic = 'broken'
  if (auth !== undefined)
    yield* unreadFileFinding(auth, {
      code: 'pi-auth-unreadable',
      effect: 'pi 0.87 finds no key, and older versions find no login',
      topic,
    })
  yield* unreadFileFinding(models, {
    code: 'pi-models-invalid',
    effect: 'pi ignores every provider of the file',
    topic,
  })
  yield* unreadFileFinding(settings, {
    code: 'pi-settings-invalid',
    effect: 'pi ignores the file, and starts with the first model that it has a key for',
    topic,
  })

  const names = ['PI_CODING_AGENT_DIR']
  yield* relativePathFindings(piName, machine, { names, takesTilde: true })
}

function* checkOtherLogin({ provider, providerId }: PiView, { auth }: PiFiles): Findings {
  if (auth === undefined || provider.login === undefined) return

  yield findingAt(auth, [providerId], {
    code: 'pi-other-key',
    message: `the login for ${providerId} in auth.json overrides the key in models.json`,
    hint: 'Remove it.',
    becomes: { value: undefined, isSecret: true, role: 'key' },
    needsConsentTo: `Remove the login for ${providerId} from auth.json. repoint rollback restores it.`,
  })
}

/** If the list contains only other models, pi starts with the first of them. */
function* checkModelLists({ settings, providerId, model }: PiView): Findings {
  const full = `${providerId}/${model}`
  const path = ['enabledModels']
  const list = settings.root['enabledModels']
  if (!Array.isArray(list) || list.length === 0) return

  const isInList = list.some((entry: ConfigValue) => {
    if (typeof entry !== 'string') return false
    const pattern = entry.replace(/:(?:off|minimal|low|medium|high|xhigh|max)$/, '')
    return [full, model].some((name) => matches(pattern, name))
  })
  if (isInList) return

  yield findingAt(settings, path, {
    code: 'pi-enabled-models',
    message: `enabledModels does not contain ${model}: pi starts with another model`,
    hint: 'Add it to enabledModels.',
    fix: { fileKind: 'settings', changes: [addToList(path, full)] },
  })
}

/** `*` matches any text without a slash, `?` one character of it. */
function matches(pattern: string, name: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*?/g, '[^/]*')
    .replace(/\?/g, '[^/]')
  return new RegExp(`^${source}$`, 'i').test(name)
}

// First request and launch.

/** The hint to configure what the gateway rejects, in the entry of the provider. */
function compatCure(member: string): string {
  return `Add "compat": {${member}} to the provider in models.json, then run the command again.`
}

const hints = {
  ...outputLimitCures,
  max_completion_tokens:
    'Name a limit that the gateway accepts: {--output-limit TOKENS}. If the gateway rejects the name of the limit, add "compat": {"maxTokensField": "max_tokens"} to the provider in models.json.',
  stream_options: compatCure('"supportsUsageInStreaming": false'),
  store: compatCure('"supportsStore": false'),
  reasoning_effort: noReasoningCure,
  reasoning: noReasoningCure,
  include: noReasoningCure,
  thinking: noReasoningCure,
}

/**
 * What the entries of the model and its provider change in the recorded request. 0.73.1 and 0.87.1 were run with each
 * of the fixes (2026-11-23).
 */
const firstRequest: ClientModule['firstRequest'] = async (files, input) => {
  const { default: recordings } = await import('./first-requests.json', {
    with: { type: 'json' },
  })
  const { models, settings, providerId = '' } = readFiles(files)
  const provider = providerOf(format, models, providerId)
  const addedHeaders = headersOfModel(provider, input.model)
  // The recordings have only the usual level.
  const isUsualLevel = (textIn(settings.root, ['defaultThinkingLevel']) ?? 'medium') === 'medium'
  return { ...requestOf(recordings, provider, isUsualLevel, input), addedHeaders }
}

function requestOf(
  recordings: Recordings,
  provider: PiProvider,
  isUsualLevel: boolean,
  { protocol, model, version }: FirstRequestInput,
): FirstRequest {
  const recorded = (kind: 'plain' | 'reasoning') =>
    recordedRequest(recordings, { kind, protocol, version })

  if (knownHosts.test(provider.url ?? '')) {
    const { messages, input, system, tools, stream } = recorded('plain').body
    return { body: compact({ messages, input, system, tools, stream }) }
  }

  const entry = modelOf(provider, model) ?? {}
  const compat = { ...tableIn(provider.table, ['compat']), ...tableIn(entry, ['compat']) }
  const isReasoning = entry['reasoning'] === true && isUsualLevel

  // From 0.87.1 on the limit leaves room for the prompt in the window (2026-11-26).
  const window = numberIn(entry, ['contextWindow']) ?? Number.POSITIVE_INFINITY
  const most = isBefore(version, '0.87.1') ? mostOutputTokens : window - promptTokens
  const limit = Math.min(numberIn(entry, ['maxTokens']) ?? usualOutputTokens, most)

  if (protocol === 'messages') {
    const isAdaptive = compat['forceAdaptiveThinking'] === true
    const thinking = isAdaptive ? thinkingOfAdaptive(model, version) : 'budget'
    const usual = recorded(isReasoning && thinking === 'adaptive' ? 'reasoning' : 'plain')
    const thinksInBudget = isReasoning && thinking === 'budget'
    const beta = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' }
    const budget = { type: 'enabled', budget_tokens: 8192, display: 'summarized' }
    return {
      ...usual,
      headers: { ...usual.headers, ...(thinksInBudget && beta) },
      body: { ...usual.body, max_tokens: limit, ...(thinksInBudget && { thinking: budget }) },
      hints,
    }
  }

  const { headers, body } = recorded(isReasoning ? 'reasoning' : 'plain')
  if (protocol === 'responses')
    return { headers, body: { ...body, max_output_tokens: limit }, hints }

  const { max_completion_tokens: _, ...usual } = body
  const lacks = (member: string) => compat[member] === false
  return {
    headers,
    body: {
      ...usual,
      [textIn(compat, ['maxTokensField']) ?? 'max_completion_tokens']: limit,
      ...(lacks('supportsUsageInStreaming') && { stream_options: undefined }),
      ...(lacks('supportsStore') && { store: undefined }),
      ...(lacks('supportsReasoningEffort') && { reasoning_effort: undefined }),
    },
    hints,
  }
}

/**
 * How a model thinks whose entry says `forceAdaptiveThinking`: 0.73.1 ignores that, and decides by IDs that it knows;
 * 0.87.1 reads it (2026-11-23). `unclear`: the probe sends a request without thinking.
 */
function thinkingOfAdaptive(model: string, version: Version): 'adaptive' | 'budget' | 'unclear' {
  if (!isBefore(version, '0.87.1')) return 'adaptive'
  // Such a version does not know Claude 5. It may know the older models. Which version began to read it was not tested.
  return isBefore(version, '0.74.0') && /-5/.test(model) ? 'budget' : 'unclear'
}

/** Holds the values of a run. The extension does not contain them, so its text is the same for every run. */
const providerVariable = 'REPOINT_RUN_PI'

/** Replaces the provider of models.json for one process. */
const extension = `export default (pi) => {
  const { id, ...provider } = JSON.parse(process.env.${providerVariable})
  pi.registerProvider(id, { ...provider, apiKey: process.env.${launchKeyVariable} })
}
`

/** These commands do not start pi: they manage its packages. */
const commands = ['install', 'remove', 'uninstall', 'update', 'list', 'config']

/**
 * Uses an extension, because no variable or argument sets an address. settings.json stays unchanged: its model and its
 * `enabledModels` lose to the arguments (0.73.1 and 0.87.1, 2026-11-28).
 *
 * @throws UserError `usage`
 */
const launchSettings: ClientModule['launchSettings'] = (files, target, process) => {
  const { args, env, tempFolder } = process
  if (commands.some((command) => command === args[0])) return process
  // pi 0.73.1 and 0.87.1 do not know these flags with a value after `=` (2026-11-23).
  expectUnset(
    typedFlag(args, ['--provider', '--api-key']),
    (flag) => `${flag} chooses another provider, and repoint needs the one with the gateway`,
  )

  // pi would use a login, headers and overrides of models in its files at the new address too.
  const { table, models, login } = providerIn(readFiles(files), target.providerId)
  const hasHeaders = [table, ...models].some(({ headers }) => headers !== undefined)
  const hasOverrides = table['modelOverrides'] !== undefined
  const isFree = !hasHeaders && !hasOverrides && login === undefined
  const id = isFree ? target.providerId : 'repoint-run'

  // An extension must set all that models.json may leave out. The values are the defaults of pi.
  const { resolved } = target
  const provider = {
    id,
    baseUrl: target.baseUrl,
    api: apiOf[resolved.protocol],
    authHeader: usesMessages(resolved),
    models: offeredIn(resolved).map((model) => ({
      name: model.id,
      reasoning: false,
      input: ['text'],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 128_000,
      maxTokens: 16_384,
      ...newEntry(membersOf(format, model, target)),
    })),
    headers: Object.fromEntries(requiredHeaders(target).map(({ name, value }) => [name, value])),
  }

  const fileName = 'pi-gateway.mjs'
  return {
    args: ['-e', `${tempFolder}/${fileName}`, '--provider', id, '--model', resolved.model, ...args],
    env: { ...env, [providerVariable]: JSON.stringify(provider) },
    files: { [fileName]: extension },
  }
}

// Module.

export const pi: ClientModule = {
  program,
  protocols,
  // pi sends the key as a bearer token in addition to them.
  sends: {
    headers: true,
    otherKeyHeaders: {
      chat: otherKeyHeaders,
      responses: otherKeyHeaders,
      messages: otherKeyHeaders,
    },
  },
  config,
  files,
  read,
  checkNow,
  resolve: (input) =>
    resolveWithPicker(input, protocols, { ifUnknown: 'pi assumes 128,000 tokens' }),
  plan,
  checkSetup,
  firstRequest,
  launchSettings,
  gatewaySettings,
}
