/**
 * Grok Build: facts, reader, plan, checks, first request, launch, module. Facts: run with 1.0.41, 2026-11-29, unless a
 * comment says otherwise.
 *
 * A setup writes, for example:
 *
 *     [models]
 *     default = "gateway/glm-5"
 *     session_summary = "gateway/glm-5"
 *
 *     [model_providers.gateway]
 *     base_url = "https://…/v1"
 *     api_key = "sk-…"
 *
 *     [model."gateway/glm-5"]
 *     model_provider = "gateway"
 *     model = "glm-5"
 *     api_backend = "chat_completions"
 *     context_window = 200000
 *     max_completion_tokens = 16384
 *
 * With each prompt it sends two more requests to the same model: for a title, and for a line about the answer. Before
 * them it requests `/` of the address, without a key. Its first start adds a table to the file.
 *
 * Its tool `use_tool` has a schema that OpenAI's models reject over chat and responses.
 */
import { formatOf } from '../../edits/format.ts'
import type { SettingChange, SettingPath } from '../../edits/types.ts'
import type { Findings } from '../../finding.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
import { otherKeyHeaders, type Protocol, protocols } from '../../gateway/types.ts'
import { proxyFindings, variableFindings } from '../checks/environment.ts'
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
import { brokenText, fileOf, originsIn, textOf, unreadable } from '../files/parse-file.ts'
import { editableFile, layersThere, pathsOf } from '../files/paths.ts'
import { row } from '../files/sensitive-settings.ts'
import { readStrictly, type StrictFile } from '../files/strict-json.ts'
import { numberIn, type Table, tableIn, textIn } from '../files/tables.ts'
import { resolveWithPicker } from '../models/picker.ts'
import { grokName } from '../names.ts'
import { outputLimitCures } from '../options/flags.ts'
import { planOneFile, removal } from '../plan/edit-file.ts'
import type { EntryMember } from '../plan/entries.ts'
import { withoutForeignSettings } from '../plan/foreign-settings.ts'
import {
  headerChanges,
  headersInVariables,
  queryChanges,
  readHeaders,
  textMembers,
} from '../plan/headers.ts'
import {
  type ModelTable,
  modelTableChanges,
  modelTablesIn,
  tableFor,
} from '../plan/model-tables.ts'
import { clientFlagValues, expectUnset } from '../program/arguments.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { ofOwnRuntime, testedVersions } from '../program/tested.ts'
import responses from './responses.json' with { type: 'json' }
import tested from './tested.json' with { type: 'json' }

// Facts.

const program: ClientModule['program'] = {
  command: 'grok',
  packages: ['@xai-official/grok', '@xai-official/grok-*'],
  // `GROK_DISABLE_AUTOUPDATER` disables updates (its manual).
  updatesItself: true,
  testedVersions: testedVersions(tested),
  foldersIn: (args) => clientFlagValues(args, ['--cwd']),
  // After a rejected key it exits with status 1 at once.
  pingArgs: (prompt) => ['-p', prompt],
  // The system calls look for the system's store. The variables were not run.
  caFileVariables: ['SSL_CERT_FILE'],
  certificateStores: ofOwnRuntime(),
  accepts: responses.protocols,
  tokens: { firstRequest: 15_300, oneWord: 31_500 },
  pingEnv: { GROK_DISABLE_AUTOUPDATER: '1' },
  restartAdvice: 'Close every running Grok Build and start it again.',
  resume: { command: 'grok -c', keeps: 'provider and model' },
}

/** Without an api_key it asks for a login to its own service, so it sends that too, also over messages. */
const sends: ClientModule['sends'] = {
  headers: true,
  queries: true,
  otherKeyHeaders: {
    chat: otherKeyHeaders,
    responses: otherKeyHeaders,
    messages: otherKeyHeaders,
  },
}

const run = '1.0.41, 2026-11-29'
const inManual = 'manual of 1.0.41, not run, 2026-11-29'

const user = ['config']
const unrun = { fileKinds: ['requirements'], isUntested: true, source: inManual } as const

/** Each of them replaces the default model: Grok Build then waits without end for a login. */
const modelVariables = ['GROK_DEFAULT_MODEL', 'GROK_CONFIG', 'GROK_CONFIG_PATH']

const config: ClientModule['config'] = {
  sensitiveSettings: {
    codeWord: 'config',
    rows: [
      row('model_providers.:provider.base_url', 'address', user, run),
      row('model_providers.:provider.query_params', 'address', user, run),
      row('model.*.base_url', 'address', user, run),
      row('model_providers.:provider.api_key', 'key', user, run),
      row('model_providers.:provider.env_key', 'key', user, run),
      row('model_providers.:provider.auth_provider', 'key', user, inManual),
      row('model_providers.:provider.extra_headers', 'key', user, run),
      row('model_providers.:provider.env_http_headers', 'key', user, run),
      row('model.*.api_key', 'key', user, run),
      row('model.*.env_key', 'key', user, run),
      row('model.*.extra_headers', 'key', user, run),
      row('model.*.model_provider', 'provider', user, run),
      row('model.*.api_backend', 'provider', user, run),
      row('models.default', 'model', user, run),
      row('models.session_summary', 'model', user, run),
      { path: 'model', role: 'provider', ...unrun },
      { path: 'model_providers', role: 'provider', ...unrun },
      { path: 'models.default', role: 'model', ...unrun },
    ],
  },
  // None of them changes address, key or model.
  folderFiles: [
    {
      patterns: ['.mcp.json', '.envrc', '.grok/**', '.claude/**', '.cursor/**', '.agents/**'],
      reach: 'repository',
      source: 'system calls of 1.0.41, 2026-11-29',
    },
  ],
  interpolation: { names: null, values: null },
  gatewayVariables: { addresses: ['GROK_MODELS_BASE_URL'], others: modelVariables },
  variables: {
    families: ['GROK_', 'XAI_'],
    harmful: modelVariables.map((name) => ({
      name,
      code: 'grok-environment-model',
      effect: 'Grok Build may use another model than the one of its file, and wait without end',
      severity: 'error',
    })),
    // Run next to a model with its own key, except those with a `*`, which are of other services.
    harmless: [
      ...['XAI_API_KEY', 'GROK_XAI_API_BASE_URL', 'GROK_CLI_CHAT_PROXY_BASE_URL'],
      ...['GROK_MODELS_BASE_URL', 'GROK_DEPLOYMENT_KEY', 'GROK_AUTH_PROVIDER_COMMAND'],
      ...['GROK_AUTH_*', 'GROK_OAUTH*', 'GROK_OIDC_*', 'GROK_TELEMETRY_*', 'GROK_TRACE_*'],
      ...['GROK_MODELS_LIST_URL', 'GROK_MANAGED_*', 'GROK_FEEDBACK_*', 'GROK_WS_*', 'GROK_WEB_*'],
      ...['GROK_CODE_XAI_API_KEY', 'GROK_DISABLE_API_KEY_AUTH', 'GROK_INTERNAL_*'],
    ],
  },
}

/** The `api_backend` of a model. */
const backendOf: Readonly<Record<Protocol, string>> = {
  chat: 'chat_completions',
  responses: 'responses',
  messages: 'messages',
}

/**
 * The settings of a provider and of a model that Grok Build only uses itself, and the limit that `firstRequest` adds to
 * the probe (its manual).
 */
const harmlessInProvider = ['name', 'max_request_bytes']
const harmlessInModel = [
  ...['model_provider', 'model', 'name', 'description', 'max_request_bytes'],
  ...['context_window', 'max_completion_tokens'],
]

/** In tokens. Over messages it asks for 128,000 without a limit, which many models reject. */
const defaultOutputTokens = 16_384

/** The vendor's models that it knows, and asks to reason. */
const knownModel = /^grok-4\.[56]$/

// Reader.

const files: ClientModule['files'] = (machine, disk) => {
  const { join, named } = pathsOf(machine)
  const folder = named('GROK_HOME') ?? join(machine.home, '.grok')
  const settings = join(folder, 'config.toml')
  const requirements = ['/etc/grok', folder].map((parent) => join(parent, 'requirements.toml'))
  return [
    { ...editableFile('config', settings), format: 'toml' },
    ...layersThere(disk, settings, [
      { kind: 'requirements', owner: 'administrator', format: 'toml', paths: requirements },
    ]),
  ]
}

const modelTables = { tables: 'model', provider: 'model_provider' } as const

/** config.toml as Grok Build reads it. */
interface GrokConfig extends StrictFile {
  readonly models: readonly ModelTable[]
  /** The table of the model that it starts with, or a model of its vendor. */
  readonly chosenName?: string
  readonly chosen?: ModelTable
  /** The settings of that model, over those of its provider. Empty: there are none. */
  readonly settings: Table
  /** Undefined: it uses its own service. */
  readonly url?: string
}

const defaultPath: SettingPath = ['models', 'default']

/** With a fault in the file Grok Build does not start. It accepts a byte order mark and unknown settings. */
function readConfig(file: LoadedFile): GrokConfig {
  const read = readStrictly(file)
  const models = modelTablesIn(read, modelTables)
  const chosenName = read.text(defaultPath)
  const chosen = models.find(({ name }) => name === chosenName)
  const provider = tableIn(read.root, providerPath(chosen?.providerId))
  const settings = { ...provider, ...chosen?.table }
  return { ...read, models, chosenName, chosen, settings, url: textIn(settings, ['base_url']) }
}

function providerPath(id = ''): SettingPath {
  return ['model_providers', id]
}

/** Undefined: one that repoint does not know. */
function protocolOf({ api_backend: backend = backendOf.chat }: Table): Protocol | undefined {
  return protocols.find((protocol) => backendOf[protocol] === backend)
}

/** The variables with the key, the first that is set counts. */
function keyVariablesIn({ env_key: names }: Table): readonly string[] {
  return [names].flat().filter((name) => typeof name === 'string')
}

const read: ClientModule['read'] = (files) => {
  const file = readConfig(fileOf(files, 'config'))
  const { path, whyIgnored, models, chosen, settings, url } = file
  if (whyIgnored !== undefined)
    return { ...emptyState, findings: unreadable(brokenText(path, whyIgnored)) }
  if (chosen === undefined || url === undefined) return emptyState

  const { providerId, id: model } = chosen
  const key = textIn(settings, ['api_key'])
  const [variable] = keyVariablesIn(settings)
  const { headers, headerKey } = readHeaders(settings['extra_headers'])
  const query = textMembers(settings['query_params'])
  const address = withoutTrailingSlash(url)
  const protocol = protocolOf(settings)
  const ofProvider = models.filter((other) => providerId && other.providerId === providerId)
  const urls = ofProvider.flatMap((other) => textIn(other.table, ['base_url']) ?? [])
  const elsewhere = settings['auth_provider'] === undefined ? undefined : 'elsewhere'
  return {
    endpoint: {
      baseUrl: protocol === 'messages' ? address.replace(/\/v1$/, '') : address,
      key,
      keyFrom: key !== undefined ? undefined : variable !== undefined ? { variable } : elsewhere,
      keyHeader: headerKey?.keyHeader ?? 'authorization',
      headers: headers?.filter(({ name }) => name !== 'authorization'),
      query: query.length === 0 ? undefined : query,
      alsoSendsTo: urls.find((other) => !isSameButVersion(other, url)),
    },
    options: {
      protocol,
      model,
      providerId,
      contextWindow: numberIn(settings, ['context_window']),
    },
    offered: ofProvider.map(({ id }) => id),
    origins: originsIn(path, { baseUrl: url, model, key }),
    findings: [],
  }
}

/** The provider that Grok Build starts with and its models, and every setting that chooses one of them. */
const gatewaySettings: ClientModule['gatewaySettings'] = (files) => {
  const file = readConfig(fileOf(files, 'config'))
  const { models, chosen, url } = file
  if (chosen === undefined || url === undefined) return {}
  const { providerId } = chosen
  const removed = models.filter(
    (model) => model === chosen || (providerId && model.providerId === providerId),
  )
  const names = removed.map(({ name }) => name)
  const choices = file
    .members(['models'])
    .filter(([, value]) => typeof value === 'string' && names.includes(value))
  return {
    config: [
      ...choices.map(([name]) => ['models', name]),
      ...(providerId === undefined ? [] : [providerPath(providerId)]),
      ...names.map((name) => ['model', name]),
    ],
  }
}

// Plan.

/** The base URL for a protocol. Grok Build appends `/messages` to it, without a version. */
function baseUrlFor(protocol: Protocol, { baseUrls }: Pick<SetupTarget, 'baseUrls'>): string {
  return protocol === 'messages' ? `${baseUrls.messages}/v1` : baseUrls.chat
}

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
  const headers = [...path, 'extra_headers']
  const query = [...path, 'query_params']
  const ofProvider: readonly SettingChange[] = [
    { path: [...path, 'base_url'], value: baseUrls.chat },
    { path: [...path, 'api_key'], value: key, isSecret: true },
    ...headerChanges(headers, now['extra_headers'], target, isOtherGateway),
    ...queryChanges(query, now['query_params'], target, isOtherGateway),
  ]
  const taken = { path, now, isOtherGateway, harmless: harmlessInProvider }
  return [
    { path: defaultPath, value: tables.chosenName },
    // Otherwise each start also requests one of the vendor's models.
    { path: ['models', 'session_summary'], value: tables.chosenName },
    ...withoutForeignSettings(ofProvider, taken, target),
    ...tables.changes,
  ]
}

function modelMembers(model: OfferedModel, target: SetupTarget): readonly EntryMember[] {
  const { providerId, resolved, baseUrls } = target
  const { id, protocol, displayName, outputLimit } = model
  const window = (id === resolved.model ? resolved.contextWindow : undefined) ?? model.contextWindow
  const url = baseUrlFor(protocol, target)
  const limit = Math.min(outputLimit ?? defaultOutputTokens, window ?? Number.POSITIVE_INFINITY)
  return [
    { path: ['model_provider'], value: providerId },
    { path: ['model'], value: id },
    { path: ['api_backend'], value: backendOf[protocol], about: 'protocol' },
    { path: ['base_url'], value: url === baseUrls.chat ? undefined : url, about: 'protocol' },
    { path: ['name'], value: displayName, about: [] },
    { path: ['context_window'], value: window, about: ['contextWindow'] },
    {
      path: ['max_completion_tokens'],
      value: limit,
      about: ['outputLimit', 'contextWindow'],
    },
  ]
}

// Checks.

function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const file = readConfig(fileOf(context.files, 'config'))
  const path = providerPath(target.providerId)
  yield* checkSurroundings(context, file)
  yield* variableFindings(context, config.variables.harmful)
  yield* checkProxy(context, target.baseUrl)
  yield* otherAddressFinding(context, target, {
    code: 'grok-provider-conflict',
    what: `the provider ${target.providerId}`,
    url: textIn(file.root, [...path, 'base_url']),
    location: file.place([...path, 'base_url']),
  })

  const providers = file.members(['model_providers']).map(([providerId, table]) => {
    return { providerId, url: textIn(table, ['base_url']), path: providerPath(providerId) }
  })
  yield* formerProviderFindings(grokName, context, target, file, providers)
}

function* checkNow(context: ClientContext): Findings {
  const file = readConfig(fileOf(context.files, 'config'))
  const { chosenName, chosen, settings, url } = file
  yield* checkSurroundings(context, file)
  if (chosenName !== undefined && chosen === undefined && !knownModel.test(chosenName))
    yield findingAt(file, defaultPath, {
      code: 'grok-model-missing',
      message: `models.default is ${chosenName}, and there is no such model: Grok Build waits without end`,
      hint: 'Set it up again: repoint grok',
      severity: 'warning',
    })
  // With its own service, the user may configure Grok Build freely.
  if (chosen === undefined || url === undefined) return

  yield* variableFindings(context, config.variables.harmful)
  yield* checkProxy(context, url)
  const { name, table, providerId } = chosen
  const placeOf = (member: string) =>
    table[member] === undefined ? [...providerPath(providerId), member] : ['model', name, member]
  yield* addressFindings(grokName, context, file, {
    url,
    path: placeOf('base_url'),
    name: `base_url of ${providerId ?? name}`,
    key: textIn(settings, ['api_key']),
    keyPlace: file.place(placeOf('api_key')),
  })

  yield* checkHeaders(file, placeOf('extra_headers'))

  const variables = keyVariablesIn(settings)
  const isKeyElsewhere =
    settings['auth_provider'] !== undefined ||
    variables.some((variable) => context.machine.env[variable])
  if (settings['api_key'] || isKeyElsewhere || mayNeedNoKey(url, context)) return
  const [variable] = variables
  yield missingKeyFinding(
    grokName,
    file.place(placeOf(variable ? 'env_key' : 'api_key')),
    variable
      ? `Grok Build reads its key from ${variable}, which is not set`
      : `${providerId ?? name} has no api_key: Grok Build asks for a login to its own service`,
  )
}

/** Reports a header that replaces the key. */
function* checkHeaders(file: GrokConfig, path: SettingPath): Findings {
  const name = file.members(path).find(([header]) => /^authorization$/i.test(header))?.[0]
  if (name === undefined) return
  const change = { path: [...path, name], isSecret: true, role: 'key' } as const
  yield findingAt(file, change.path, {
    code: 'grok-authorizing-header',
    message: `the header ${name} overrides the key`,
    ...removal(file, `the header ${name}`, change),
  })
}

/** It obeys them for this machine too. */
function* checkProxy({ machine }: ClientContext, url: string): Findings {
  yield* proxyFindings(grokName, url, machine.env, { readsAllProxy: true })
}

function* checkSurroundings({ machine }: ClientContext, file: GrokConfig): Findings {
  yield* relativePathFindings(grokName, machine, { names: ['GROK_HOME'] })
  yield* unreadFileFinding(file, {
    code: 'grok-config-invalid',
    effect: 'Grok Build does not start',
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
  const kind = knownModel.test(model) ? 'known' : 'plain'
  const recorded = recordedRequest(recordings, { kind, protocol, version })
  const limitName = protocol === 'responses' ? 'max_output_tokens' : 'max_tokens'
  const limit = numberIn(table, ['max_completion_tokens']) ?? recorded.body[limitName]
  return {
    ...recorded,
    headers: { ...recorded.headers, 'x-grok-model-override': model },
    addedHeaders: readHeaders(table?.['extra_headers']).headers,
    body: { ...recorded.body, [limitName]: limit },
    hints: outputLimitCures,
  }
}

/** The tables of the user's file with addresses and keys of models. */
const ofModels = ['models', 'model', 'model_providers', 'auth_provider']

/**
 * Uses a folder of its own, with the user's file without its models: no variable sets a model with its address. So a
 * run has no old conversations, and keeps none.
 */
const launchSettings: ClientModule['launchSettings'] = (
  files,
  target,
  { args, env, tempFolder },
) => {
  const flag = args.find((arg) => /^(?:-[mcr]|--(?:model|continue|resume)(?==|$))/.test(arg))
  expectUnset(flag, (name) => `${name} needs the folder of Grok Build, and a run has its own`)

  const file = fileOf(files, 'config')
  const { bytes, format, path } = file
  const edit = (before: LoadedFile['bytes'], settings: readonly SettingChange[]) =>
    formatOf(format).edit(before, settings, path)
  const own = readConfig(file).whyIgnored === undefined ? bytes : null
  const others = edit(
    own,
    ofModels.map((name) => ({ path: [name], value: undefined })),
  )

  const noFile = { ...file, bytes: null }
  const headers = headersInVariables(target)
  const provider = providerPath(target.providerId)
  const ours = changes(noFile, { ...target, headers: [], keyHeader: 'authorization' })
  const settings = edit(others, [
    ...ours.filter(({ path: at }) => at.at(-1) !== 'api_key'),
    { path: [...provider, 'env_key'], value: launchKeyVariable },
    ...headers.map(({ name, variable }) => ({
      path: [...provider, 'env_http_headers', name],
      value: variable,
    })),
  ])
  return {
    args,
    env: {
      ...env,
      ...Object.fromEntries(headers.map(({ variable, value }) => [variable, value])),
      GROK_HOME: tempFolder,
    },
    files: { 'config.toml': textOf({ bytes: settings }) },
  }
}

// Module.

export const grok: ClientModule = {
  program,
  protocols,
  sends,
  config,
  files,
  read,
  checkNow,
  resolve: (input) =>
    resolveWithPicker(input, protocols, { ifUnknown: 'Grok Build assumes 200,000 tokens' }),
  plan: planOneFile({
    client: grokName,
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
