/**
 * Kimi Code: facts, reader, plan, checks, first request, launch, module. Facts: run with 2.1.0, 2026-11-29,
 * unless a comment says otherwise.
 *
 * A setup writes, for example:
 *
 *     default_model = "gateway/glm-5"
 *
 *     [providers.gateway]
 *     type = "openai"
 *     base_url = "https://…/v1"
 *     api_key = "sk-…"
 *
 *     [models."gateway/glm-5"]
 *     provider = "gateway"
 *     model = "glm-5"
 *     max_context_size = 200000
 *     max_output_size = 16384
 *
 *     [models."gateway/claude-sonnet-5-5"]
 *     provider = "gateway"
 *     model = "claude-sonnet-5-5"
 *     protocol = "anthropic"
 *     …
 *
 * The provider is always for chat. A model over another protocol names that, and its base URL if it is another one.
 *
 * Kimi Code writes the file only when the user logs in or changes its settings; comments, line endings and mode stay
 * in a run with a prompt. A recorded conversation names the model's table: continued, it uses the file of that time.
 */
import type { SettingChange, SettingPath } from '../../edits/types.ts'
import type { Findings } from '../../finding.ts'
import { isSameButVersion, sideOf } from '../../gateway/base-urls.ts'
import { otherKeyHeaders, type Protocol, protocols } from '../../gateway/types.ts'
import { variableFindings } from '../checks/environment.ts'
import {
  findingAt,
  formerProviderFindings,
  missingKeyFinding,
  otherAddressFinding,
  relativePathFindings,
  unreadFileFinding,
} from '../checks/findings.ts'
import { addressFindings } from '../checks/other-tools.ts'
import type { ClientContext, ClientModule } from '../contract/client.ts'
import type { LoadedFile } from '../contract/files.ts'
import { launchKeyVariable } from '../contract/program.ts'
import type { OfferedModel, SetupTarget } from '../contract/setup.ts'
import { emptyState } from '../contract/state.ts'
import { mayNeedNoKey, pointsElsewhere, withoutTrailingSlash } from '../files/addresses.ts'
import { brokenText, fileOf, originsIn, unreadable } from '../files/parse-file.ts'
import { editableFile, pathsOf } from '../files/paths.ts'
import { row } from '../files/sensitive-settings.ts'
import { readStrictly, type StrictFile } from '../files/strict-json.ts'
import { numberIn, type Table, tableIn, textIn } from '../files/tables.ts'
import { offeredIn, resolveWithPicker } from '../models/picker.ts'
import { protocolsForKey } from '../models/protocols.ts'
import { kimiName } from '../names.ts'
import { outputLimitCures } from '../options/flags.ts'
import { planOneFile, removal } from '../plan/edit-file.ts'
import { type EntryMember, writtenAbility } from '../plan/entries.ts'
import { withoutForeignSettings } from '../plan/foreign-settings.ts'
import { headerChanges, headersInVariables, readHeaders } from '../plan/headers.ts'
import {
  type ModelTable,
  modelTableChanges,
  modelTablesIn,
  tableFor,
} from '../plan/model-tables.ts'
import { expectUnset } from '../program/arguments.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { ofNode, testedVersions } from '../program/tested.ts'
import responses from './responses.json' with { type: 'json' }
import tested from './tested.json' with { type: 'json' }

// Facts.

const program: ClientModule['program'] = {
  command: 'kimi',
  packages: ['@moonshot-ai/kimi-code'],
  testedVersions: testedVersions(tested),
  // After a rejected key it exits with status 1 at once. It requests a model that is not served for more than a minute.
  pingArgs: (prompt) => ['-p', prompt],
  caFileVariables: ['NODE_EXTRA_CA_CERTS'],
  certificateStores: ofNode,
  accepts: responses.protocols,
  tokens: { firstRequest: 23_700, oneWord: 23_700 },
  pingEnv: { KIMI_CODE_NO_AUTO_UPDATE: '1' },
  restartAdvice: 'Close every running Kimi Code and start it again.',
  resume: { command: 'kimi -c', keeps: 'provider and model' },
}

/** Without an api_key Kimi Code stops, so it sends that too. */
const sends: ClientModule['sends'] = {
  headers: true,
  otherKeyHeaders: { chat: otherKeyHeaders, responses: otherKeyHeaders, messages: ['x-api-key'] },
  fixedKeyHeader: { messages: 'x-api-key' },
}

const run = '2.1.0, 2026-11-29'
const inProgram = 'read in 2.1.0, not run, 2026-11-29'

/** With this variable, a model of the environment replaces the default model, with its own address and key. */
const modelVariable = 'KIMI_MODEL_NAME'

const config: ClientModule['config'] = {
  sensitiveSettings: {
    codeWord: 'config',
    rows: [
      row('providers.:provider.base_url', 'address', ['config'], run),
      row('models.*.base_url', 'address', ['config'], run),
      row('providers.:provider.api_key', 'key', ['config'], run),
      row('providers.:provider.api_key_env', 'key', ['config'], inProgram),
      row('providers.:provider.oauth', 'key', ['config'], run),
      row('providers.:provider.env', 'key', ['config'], inProgram),
      row('providers.:provider.custom_headers', 'key', ['config'], run),
      row('providers.:provider.type', 'provider', ['config'], run),
      row('models.*.provider', 'provider', ['config'], run),
      row('models.*.protocol', 'provider', ['config'], run),
      row('default_model', 'model', ['config'], run),
    ],
  },
  // None of them changes address, key or model.
  folderFiles: [
    {
      patterns: ['.mcp.json', '.kimi-code/**', '.agents/**'],
      reach: 'repository',
      source: 'system calls of 2.1.0, 2026-11-29',
    },
  ],
  interpolation: { names: null, values: null },
  gatewayVariables: {
    addresses: ['KIMI_MODEL_BASE_URL'],
    others: [modelVariable, 'KIMI_MODEL_API_KEY'],
  },
  variables: {
    families: ['KIMI_'],
    harmful: [
      {
        name: modelVariable,
        code: 'kimi-environment-model',
        effect: 'Kimi Code uses this model, with the address and key of other variables',
        severity: 'error',
        isLeftToLaunch: true,
      },
    ],
    // Each without KIMI_MODEL_NAME. Those with a `*` are of other services (names in 2.1.0, not run).
    harmless: [
      ...['KIMI_MODEL_BASE_URL', 'KIMI_MODEL_API_KEY', 'KIMI_BASE_URL', 'KIMI_API_KEY'],
      ...['KIMI_CODE_BASE_URL', 'KIMI_CODE_OAUTH_HOST', 'KIMI_OAUTH_HOST'],
      ...['KIMI_WEB_*', 'KIMI_REGISTRY_*', 'KIMI_CODE_PLUGIN_*', 'KIMI_CODE_REMOTE_*'],
      ...['KIMI_CODE_PASSWORD', 'KIMI_CODE_*HOST*', 'KIMI_DISABLE_OAUTH_LOCK'],
    ],
  },
}

/** The `type` of a provider, and the `protocol` of a model. Kimi Code knows more types. */
const typeOf: Readonly<Record<Protocol, string>> = {
  chat: 'openai',
  responses: 'openai_responses',
  messages: 'anthropic',
}

/**
 * The settings of a provider and of a model that Kimi Code only uses itself, and the limit that `firstRequest` adds to
 * the probe. Read in the schema of 2.1.0.
 */
const harmlessInProvider = ['default_model']
const harmlessInModel = [
  ...['provider', 'model', 'display_name', 'capabilities'],
  ...['max_context_size', 'max_input_size', 'max_output_size'],
]

/** In tokens. A model without a window stops Kimi Code, so one whose window nobody knows gets this one. */
const assumedWindow = 128_000

/** In tokens. Without a limit Kimi Code asks for the whole window; only of Claude it knows the limits. */
const defaultOutputTokens = 16_384

/** The models of the vendor's own service, which a login writes. */
const ownProviderPattern = /^managed:/

// What Kimi Code knows about Claude by the ID of a model: anthropic-profile.ts in 2.1.0.

const claudePattern =
  /(?<family>opus|sonnet|haiku|fable|mythos)[-._](?<major>\d{1,2})(?!\d)(?:[-._](?<minor>\d{1,2})(?!\d))?/

/**
 * How a Claude model thinks: as much as it wants, or within a budget. `unknown`: it has a version that Kimi Code does
 * not know, so that it thinks only over messages, as the newest do. Undefined: it is no Claude model.
 */
function claudeKind(model: string): 'adaptive' | 'budget' | 'unknown' | undefined {
  const id = model.toLowerCase()
  if (/mythos[-._]preview/.test(id)) return 'adaptive'

  const { family = '', major = '', minor = '0' } = claudePattern.exec(id)?.groups ?? {}
  const version = Number(major) * 100 + Number(minor)
  // An older ID has its version in front: claude-3-5-haiku.
  if (family === '' && /\d{1,2}[-._](?:opus|sonnet|haiku)/.test(id)) return 'budget'
  const newest: Readonly<Record<string, number>> = { opus: 408, sonnet: 599, haiku: 405 }
  const isKnown = version <= (newest[family] ?? 599) && version !== 0
  if (isKnown && version >= 406) return 'adaptive'
  if (isKnown && family in newest) return 'budget'
  return /claude|\b(?:opus|sonnet|haiku|fable|mythos)\b/.test(id) ? 'unknown' : undefined
}

// Reader.

const files: ClientModule['files'] = (machine) => {
  const { join, named } = pathsOf(machine)
  const folder = named('KIMI_CODE_HOME') ?? join(machine.home, '.kimi-code')
  return [{ ...editableFile('config', join(folder, 'config.toml')), format: 'toml' }]
}

const modelTables = { tables: 'models', provider: 'provider' } as const

/** config.toml as Kimi Code reads it. */
interface KimiConfig extends StrictFile {
  readonly models: readonly ModelTable[]
  /** The table of the model that Kimi Code starts with. */
  readonly chosenName?: string
  readonly chosen?: ModelTable
  /** The provider of that model. Empty: there is none. */
  readonly provider: Table
  /** The address of that model. Undefined: Kimi Code uses a service of its vendor. */
  readonly url?: string
  readonly protocol?: Protocol
}

/**
 * With a fault Kimi Code reads nothing of the file, and says that no model is configured. It accepts a byte order mark,
 * unknown settings, and models and providers that it cannot use.
 */
function readConfig(file: LoadedFile): KimiConfig {
  const read = readStrictly(file)
  const models = modelTablesIn(read, modelTables)
  const chosenName = read.text(['default_model'])
  const chosen = models.find(({ name }) => name === chosenName)
  const provider = tableIn(read.root, providerPath(chosen?.providerId))
  const isOwn = ownProviderPattern.test(chosen?.providerId ?? '') || provider['oauth'] !== undefined
  const type = textIn(chosen?.table, ['protocol']) ?? provider['type']
  return {
    ...read,
    models,
    chosenName,
    chosen,
    provider,
    url: isOwn
      ? undefined
      : (textIn(chosen?.table, ['base_url']) ?? textIn(provider, ['base_url'])),
    protocol: protocols.find((protocol) => typeOf[protocol] === type),
  }
}

function providerPath(id = ''): SettingPath {
  return ['providers', id]
}

const read: ClientModule['read'] = (files) => {
  const file = readConfig(fileOf(files, 'config'))
  const { path, whyIgnored, models, chosen, provider, url, protocol } = file
  if (whyIgnored !== undefined)
    return { ...emptyState, findings: unreadable(brokenText(path, whyIgnored)) }
  if (chosen === undefined || url === undefined) {
    const login = provider['oauth'] && `the login of its provider ${chosen?.providerId}`
    return { ...emptyState, login: login || undefined }
  }

  const { table, providerId, id: model } = chosen
  const key = textIn(provider, ['api_key'])
  const variable = textIn(provider, ['api_key_env'])
  const { headers, headerKey } = readHeaders(provider['custom_headers'])
  const window = numberIn(table, ['max_context_size'])
  const ofProvider = models.filter((other) => other.providerId === providerId)
  const urls = ofProvider.flatMap((other) => textIn(other.table, ['base_url']) ?? [])
  return {
    endpoint: {
      baseUrl: withoutTrailingSlash(url),
      key,
      keyFrom: key === undefined && variable !== undefined ? { variable } : undefined,
      keyHeader: headerKey?.keyHeader ?? 'authorization',
      headers: headers?.filter(({ name }) => name !== 'authorization'),
      alsoSendsTo: urls.find((other) => !isSameButVersion(other, url)),
    },
    options: {
      protocol,
      model,
      providerId,
      // The next setup may know the window.
      contextWindow: window === assumedWindow ? undefined : window,
    },
    offered: ofProvider.map(({ id }) => id),
    origins: originsIn(path, { baseUrl: url, model, key }),
    findings: [],
  }
}

/** The provider that Kimi Code starts with, with all of its models. */
const gatewaySettings: ClientModule['gatewaySettings'] = (files) => {
  const { models, chosen, url } = readConfig(fileOf(files, 'config'))
  if (chosen === undefined || url === undefined) return {}
  const { providerId } = chosen
  const ofProvider = models.filter((model) => model.providerId === providerId)
  return {
    config: [
      ['default_model'],
      providerPath(providerId),
      ...ofProvider.map(({ name }) => ['models', name]),
    ],
  }
}

// Plan.

function changes(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const { providerId, baseUrls, key } = target
  const { root, models } = readConfig(file)
  const path = providerPath(providerId)
  const now = tableIn(root, path)
  const isOtherGateway = pointsElsewhere(textIn(now, ['base_url']), baseUrls.chat)

  const tables = modelTableChanges(
    file,
    {
      names: modelTables,
      all: models,
      isOtherGateway,
      harmless: harmlessInModel,
      membersOf: (model) => modelMembers(model, target),
    },
    target,
  )

  const ofProvider: readonly SettingChange[] = [
    { path: [...path, 'type'], value: typeOf.chat },
    { path: [...path, 'base_url'], value: baseUrls.chat },
    { path: [...path, 'api_key'], value: key, isSecret: true },
    // Next to an api_key they stop Kimi Code.
    ...['api_key_env', 'oauth']
      .filter((name) => now[name] !== undefined)
      .map((name) => ({ path: [...path, name], value: undefined })),
    ...headerChanges([...path, 'custom_headers'], now['custom_headers'], target, isOtherGateway),
  ]
  return [
    ...withoutForeignSettings(
      ofProvider,
      { path, now, isOtherGateway, harmless: harmlessInProvider },
      target,
    ),
    ...tables.changes,
    { path: ['default_model'], value: tables.chosenName },
  ]
}

function modelMembers(model: OfferedModel, target: SetupTarget): readonly EntryMember[] {
  const { providerId, resolved, baseUrls } = target
  const { id, protocol, displayName } = model
  const isChosen = id === resolved.model
  const window = (isChosen ? resolved.contextWindow : undefined) ?? model.contextWindow
  const images = writtenAbility('images', model, target)
  const isAtOtherUrl = baseUrls[sideOf(protocol)] !== baseUrls.chat
  return [
    { path: ['provider'], value: providerId },
    { path: ['model'], value: id },
    {
      path: ['protocol'],
      value: protocol === 'chat' ? undefined : typeOf[protocol],
      about: 'protocol',
    },
    {
      path: ['base_url'],
      value: isAtOtherUrl ? baseUrls[sideOf(protocol)] : undefined,
      about: 'protocol',
    },
    { path: ['display_name'], value: displayName, about: [] },
    {
      path: ['capabilities'],
      value: images === undefined ? undefined : images ? ['image_in'] : [],
      about: ['images'],
    },
    { path: ['max_context_size'], value: window ?? assumedWindow, about: ['contextWindow'] },
    {
      path: ['max_output_size'],
      value: outputLimitOf({ ...model, contextWindow: window }),
      about: ['outputLimit', 'contextWindow'],
    },
  ]
}

/** In tokens. A Claude model needs more than its budget for thinking, and Kimi Code knows the limits of each. */
function outputLimitOf({
  id,
  outputLimit,
  contextWindow,
}: Pick<OfferedModel, 'id' | 'outputLimit' | 'contextWindow'>): number | undefined {
  const most = outputLimit ?? (claudeKind(id) ? undefined : defaultOutputTokens)
  return most && Math.min(most, contextWindow ?? assumedWindow)
}

// Checks.

function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const file = readConfig(fileOf(context.files, 'config'))
  const path = providerPath(target.providerId)
  yield* checkSurroundings(context, file)
  yield* variableFindings(context, config.variables.harmful)
  yield* otherAddressFinding(context, target, {
    code: 'kimi-provider-conflict',
    what: `the provider ${target.providerId}`,
    url: textIn(file.root, [...path, 'base_url']),
    location: file.place([...path, 'base_url']),
  })

  const providers = file.members(['providers']).map(([providerId, table]) => {
    return { providerId, url: textIn(table, ['base_url']), path: providerPath(providerId) }
  })
  yield* formerProviderFindings(kimiName, context, target, file, providers)
}

function* checkNow(context: ClientContext): Findings {
  const file = readConfig(fileOf(context.files, 'config'))
  const { chosenName, chosen, provider, url, protocol } = file
  yield* checkSurroundings(context, file)
  if (chosenName !== undefined && chosen === undefined)
    yield findingAt(file, ['default_model'], {
      code: 'kimi-model-missing',
      message: `default_model is ${chosenName}, and there is no such model: Kimi Code ends with an error`,
      hint: 'Set it up again: repoint kimi',
    })
  // With a service of its vendor, the user may configure Kimi Code freely.
  if (chosen === undefined || url === undefined) return

  const { name, table, providerId } = chosen
  yield* variableFindings(context, config.variables.harmful)
  if (numberIn(table, ['max_context_size']) === undefined)
    yield findingAt(file, ['models', name], {
      code: 'kimi-no-window',
      message: `the model ${name} has no max_context_size: Kimi Code ends with an error`,
      hint: 'Set it up again: repoint kimi',
    })

  const path = providerPath(providerId)
  yield* addressFindings(kimiName, context, file, {
    url,
    protocol,
    path: table['base_url'] === undefined ? [...path, 'base_url'] : ['models', name, 'base_url'],
    name: `base_url of ${providerId}`,
    key: textIn(provider, ['api_key']),
    keyPlace: file.place([...path, 'api_key']),
  })
  yield* checkKey(context, file, chosen)
}

function* checkKey(context: ClientContext, file: KimiConfig, { providerId }: ModelTable): Findings {
  const { provider, url } = file
  const path = providerPath(providerId)
  const { api_key: key, api_key_env: variable, custom_headers: headers } = provider
  if (key && variable)
    yield findingAt(file, [...path, 'api_key_env'], {
      code: 'kimi-two-keys',
      message: `${providerId} has both api_key and api_key_env: Kimi Code ends with an error`,
      ...removal(file, `api_key_env of ${providerId}`, {
        path: [...path, 'api_key_env'],
        role: 'key',
      }),
    })

  const name = Object.keys(tableIn(headers, [])).find((header) => /^authorization$/i.test(header))
  if (name !== undefined) {
    const change = { path: [...path, 'custom_headers', name], isSecret: true, role: 'key' } as const
    yield findingAt(file, change.path, {
      code: 'kimi-authorizing-header',
      message: `the header ${name} of ${providerId} overrides its key`,
      ...removal(file, `the header ${name} of ${providerId}`, change),
    })
  }

  const isSet = typeof variable === 'string' && Boolean(context.machine.env[variable])
  if (key || isSet || tableIn(provider, ['env'])['KIMI_API_KEY']) return
  if (mayNeedNoKey(url, context)) return
  yield missingKeyFinding(
    kimiName,
    file.place([...path, variable ? 'api_key_env' : 'api_key']),
    variable
      ? `Kimi Code reads its key from ${String(variable)}, which is not set`
      : `${providerId} has no api_key: Kimi Code ends with an error`,
  )
}

function* checkSurroundings({ machine }: ClientContext, file: KimiConfig): Findings {
  yield* relativePathFindings(kimiName, machine, { names: ['KIMI_CODE_HOME'] })
  yield* unreadFileFinding(file, {
    code: 'kimi-config-unreadable',
    effect: 'Kimi Code ignores its file, and says that no model is configured',
    topic: 'broken',
  })
}

// First request and launch.

/** What the model and its table change in the recorded request. */
const firstRequest: ClientModule['firstRequest'] = async (files, { model, protocol, version }) => {
  const { default: recordings } = await import('./first-requests.json', {
    with: { type: 'json' },
  })
  const table = tableFor(model, readConfig(fileOf(files, 'config')))
  const claude = claudeKind(model)
  const thinks = protocol === 'messages' ? 'adaptive' : undefined
  const kind = (claude === 'unknown' ? thinks : claude) ?? 'plain'
  const recorded = recordedRequest(recordings, { kind, protocol, version })
  const { max_tokens, max_completion_tokens, max_output_tokens, ...body } = recorded.body

  const limitName =
    protocol === 'responses'
      ? 'max_output_tokens'
      : protocol === 'chat' && /^(?:o\d|gpt-5)(?:$|[-.])/i.test(model)
        ? 'max_completion_tokens'
        : 'max_tokens'
  const usualLimit = max_tokens ?? max_completion_tokens ?? max_output_tokens
  const limit = numberIn(table, ['max_output_size']) ?? usualLimit

  // It offers a tool for pictures to the models that accept them.
  const { capabilities } = table ?? {}
  const isSeeing = Array.isArray(capabilities) && capabilities.includes('image_in')
  const isOffered = (tool: unknown) => isSeeing || !JSON.stringify(tool).includes('"ReadMediaFile"')
  const { tools } = body
  return {
    ...recorded,
    body: {
      ...body,
      ...(Array.isArray(tools) && { tools: tools.filter(isOffered) }),
      [limitName]: limit,
    },
    hints: outputLimitCures,
  }
}

/**
 * Uses a model of the environment, which overrides the file. A conversation of the file's own model continues with that
 * model, at its own address.
 */
const launchSettings: ClientModule['launchSettings'] = (_, target, { args, env }) => {
  const flag = args.find((arg) => /^(?:-[mcSr]|--(?:model|continue|session)(?==|$))/.test(arg))
  expectUnset(
    flag,
    (name) => `${name} chooses a model of Kimi Code's own file, at the address of that file`,
  )

  const { baseUrl, resolved } = target
  const [model] = offeredIn(resolved)
  const contextWindow = resolved.contextWindow ?? model.contextWindow
  const headers = headersInVariables(target).map(({ name, value }) => `${name}: ${value}`)
  const limit = outputLimitOf({ ...model, contextWindow })
  return {
    args,
    env: {
      ...env,
      [modelVariable]: model.id,
      KIMI_MODEL_BASE_URL: baseUrl,
      KIMI_MODEL_API_KEY: env[launchKeyVariable],
      KIMI_MODEL_PROVIDER_TYPE: typeOf[model.protocol],
      KIMI_MODEL_MAX_CONTEXT_SIZE: String(contextWindow ?? assumedWindow),
      KIMI_MODEL_MAX_OUTPUT_SIZE: limit === undefined ? undefined : String(limit),
      // Without any, Kimi Code assumes pictures and thinking.
      KIMI_MODEL_CAPABILITIES: model.images ? 'image_in' : 'tool_use',
      ...(headers.length > 0 && { KIMI_CODE_CUSTOM_HEADERS: headers.join('\n') }),
    },
    resumeKeeps: 'gateway and model',
  }
}

// Module.

export const kimi: ClientModule = {
  program,
  protocols,
  sends,
  config,
  files,
  read,
  checkNow,
  resolve(input) {
    const usable = protocolsForKey({ ...kimiName, protocols, sends }, input)
    const ifUnknown = 'repoint writes 128,000 tokens, because Kimi Code needs a window'
    return resolveWithPicker(input, usable, { ifUnknown })
  },
  plan: planOneFile({
    client: kimiName,
    sensitiveSettings: config.sensitiveSettings,
    kind: 'config',
    read: readConfig,
    changes,
  }),
  checkSetup,
  firstRequest,
  launchSettings,
  gatewaySettings,
}
