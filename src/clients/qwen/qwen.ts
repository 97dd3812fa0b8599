/**
 * Qwen Code: facts, reader, plan, checks, first request, launch, module. Facts: run with 0.15.10 on Node 20 and 0.24.4
 * on Node 22, 2026-11-22, unless a comment says otherwise.
 *
 * A setup writes, for example:
 *
 *     {
 *       "$version": 4,
 *       "env": { "QWEN_GATEWAY_API_KEY": "sk-…" },
 *       "modelProviders": {
 *         "openai": [
 *           { "envKey": "QWEN_GATEWAY_API_KEY", "id": "glm-5", "name": "Gateway", "baseUrl": "https://…/v1" },
 *           { "envKey": "QWEN_GATEWAY_API_KEY", "id": "glm-4.7", "name": "GLM 4.7", "baseUrl": "https://…/v1" }
 *         ]
 *       },
 *       "security": { "auth": { "selectedType": "openai" } },
 *       "model": { "name": "glm-5" }
 *     }
 *
 * An *entry* is an element of a list in `modelProviders`. It is ours if its `envKey` is `QWEN_GATEWAY_API_KEY`.
 *
 * Only its settings hold key and address: a continued session uses the settings of that time. With each prompt, Qwen
 * Code sends one more request to the same model, which asks what to remember.
 */
import type { ConfigValue, ListElement, SettingChange, SettingPath } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { Finding, Findings } from '../../finding.ts'
import { isSameButVersion, sideOf } from '../../gateway/base-urls.ts'
import { type ModelAndProtocol, type Protocol, protocols } from '../../gateway/types.ts'
import { isExported, proxyFindings, variableFindings } from '../checks/environment.ts'
import {
  findingAt,
  missingKeyFinding,
  missingVersionFinding,
  relativePathFindings,
  unreadFileFinding,
} from '../checks/findings.ts'
import { leftoverFindings } from '../checks/other-tools.ts'
import { exportedVariables } from '../checks/shell-profiles.ts'
import type { ClientContext, ClientModule } from '../contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import { launchKeyVariable } from '../contract/program.ts'
import {
  catalogIn,
  type OfferedModel,
  type ResolveInput,
  type SetupTarget,
} from '../contract/setup.ts'
import { emptyState } from '../contract/state.ts'
import { mayNeedNoKey, pointsElsewhere, withoutTrailingSlash } from '../files/addresses.ts'
import {
  brokenText,
  fileOf,
  filesOfKind,
  mergedFiles,
  originOf,
  type ParsedFile,
  parseFile,
  parseKind,
  parseLayers,
  textOf,
  unreadable,
} from '../files/parse-file.ts'
import { editableFile, layersThere, pathsOf } from '../files/paths.ts'
import { row } from '../files/sensitive-settings.ts'
import { readStrictly, type StrictFile } from '../files/strict-json.ts'
import {
  isTable,
  knownElement,
  numberIn,
  overlaid,
  plainName,
  type Table,
  tableIn,
  valueIn,
} from '../files/tables.ts'
import { offeredIn, resolveWithPicker } from '../models/picker.ts'
import { usualProtocol } from '../models/protocols.ts'
import { qwenName } from '../names.ts'
import { outputLimitCures } from '../options/flags.ts'
import { planOneFile, removal } from '../plan/edit-file.ts'
import {
  type EntryMember,
  entryChanges,
  newEntry,
  removedEntries,
  withoutEmptyTable,
} from '../plan/entries.ts'
import { withoutForeignSettings } from '../plan/foreign-settings.ts'
import { headerChanges, headersInVariables, readHeaders } from '../plan/headers.ts'
import { clientFlagValues } from '../program/arguments.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { isBefore, ofNode, testedVersions, type Version } from '../program/tested.ts'
import responses from './responses.json' with { type: 'json' }
import tested from './tested.json' with { type: 'json' }

// Facts.

const program: ClientModule['program'] = {
  command: 'qwen',
  packages: ['@qwen-code/qwen-code'],
  testedVersions: testedVersions(tested),
  // 0.8.2 silently exits with status 1, and deletes `selectedType` (2026-11-23).
  minVersion: '0.10.1',
  // Records no conversation (0.15.10 and 0.24.4, 2026-11-29).
  pingArgs: (prompt) => ['--chat-recording=false', prompt],
  // Qwen Code is a Node program: Node reads this variable before `env` of the settings applies.
  caFileVariables: ['NODE_EXTRA_CA_CERTS'],
  certificateStores: ofNode,
  accepts: responses.protocols,
  tokens: { firstRequest: 17_300, oneWord: 30_000 },
  pingEnv: {},
  restartAdvice: 'Close every running Qwen Code and start it again.',
}

/**
 * The oldest version that can use every protocol: 0.23.0 does not have `openai-responses`. 0.15.10 has a list of
 * Anthropic's models too, but sends Claude 5 a thinking budget above its own `max_tokens`, and every gateway rejects
 * that (2026-11-26).
 */
const minVersionForProtocols = '0.23.4'

/**
 * The variable with our key: the entry of our model names it, and `env` of the settings sets its value. If an entry
 * names a variable, `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL` change nothing, in the environment or in a
 * .env file.
 */
const keyVariable = 'QWEN_GATEWAY_API_KEY'

const tried = '0.15.10 and 0.24.4, 2026-11-22'
const traced = 'system calls of 0.24.4, 2026-11-24'

/** Files that override the user's own. */
const stronger = ['project', 'managed']
/** `OPENAI_BASE_URL` and similar variables have no effect in the user's own file: our entry names its variable. */
const projectVariables = ['project', 'project-env']

/** Qwen Code replaces variables in every text of its settings. */
const variablePattern = /\$(?:\w|\{\w)/

const config: ClientModule['config'] = {
  sensitiveSettings: {
    codeWord: 'settings',
    rows: [
      row('modelProviders.*.*.baseUrl', 'address', ['settings'], tried),
      // Its lists replace the user's.
      row('modelProviders', 'provider', stronger, tried),
      row('providerProtocol', 'provider', stronger, tried),
      row('security.auth.selectedType', 'provider', stronger, tried),
      row('security.auth.enforcedType', 'provider', stronger, tried),
      row('security.auth.baseUrl', 'address', stronger, tried),
      row('security.auth.apiKey', 'key', stronger, tried),
      row(`env.${keyVariable}`, 'key', ['settings', 'managed', ...projectVariables], tried),
      row('proxy', 'proxy', ['project'], tried),
      row('env.HTTP*_PROXY', 'proxy', projectVariables, tried),
      row('env.NODE_TLS_REJECT_UNAUTHORIZED', 'trust', projectVariables, tried),
      row('model.name', 'model', ['settings', ...stronger], tried),
      row('model.baseUrl', 'address', ['settings', ...stronger], tried),
    ],
  },
  folderFiles: [
    { patterns: ['.mcp.json', '.qwen/**'], reach: 'folder', source: traced },
    { patterns: ['.env', '.qwen/.env'], reach: 'all', source: traced },
  ],
  interpolation: { names: variablePattern, values: variablePattern },
  // It reads ANTHROPIC_BASE_URL too, but only for a model over messages without an entry.
  gatewayVariables: { addresses: ['OPENAI_BASE_URL'], others: ['OPENAI_MODEL'] },
  variables: {
    families: ['QWEN_', 'OPENAI_'],
    harmful: [
      {
        name: keyVariable,
        code: 'qwen-shell-variable',
        effect: 'Qwen Code sends this key instead of your gateway key',
        severity: 'error',
      },
    ],
    // Next to an entry that names its key, these change nothing (0.15.10 and 0.24.4, 2026-11-22). Other entries have
    // keys of their own.
    harmless: ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'QWEN_CUSTOM_API_KEY_*'],
  },
}

/**
 * The version of the layout that both versions of Qwen Code write. When they start, they rewrite a file that has no
 * version or another one. Comments and other keys stay, but afterwards other users can read the file, and a symlink
 * becomes a file. 0.15.10 leaves the old contents next to it, as settings.json.orig.
 */
const layoutVersion = 4

/**
 * Keys at the root of the current layout that older ones did not have, or had with the same meaning. A file with other
 * keys may have an older layout, which the client migrates if the file has no version.
 */
const currentKeys = [
  ...['$schema', 'env', 'mcpServers', 'modelProviders', 'hooks', 'permissions', 'ui', 'tools'],
  ...['mcp', 'context', 'security', 'ide', 'privacy', 'advanced'],
]

/**
 * The kind of login that uses each protocol, which is also the name of its list of models. Run with 0.24.4,
 * 2026-11-26: `/model` offers the models of all lists, and switches the kind of login with the model.
 */
const loginTypes: Readonly<Record<Protocol, string>> = {
  chat: 'openai',
  responses: 'openai-responses',
  messages: 'anthropic',
}

const openAiVariables = { key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL', model: 'OPENAI_MODEL' }

/** The variables that Qwen Code reads if no entry names one for its key. */
const usualVariables: Readonly<Record<Protocol, typeof openAiVariables>> = {
  chat: openAiVariables,
  responses: openAiVariables,
  messages: { key: 'ANTHROPIC_API_KEY', url: 'ANTHROPIC_BASE_URL', model: 'ANTHROPIC_MODEL' },
}

const paths = {
  type: ['security', 'auth', 'selectedType'],
  onlyType: ['security', 'auth', 'enforcedType'],
  /** Those next to the type count only for an entry without its own. */
  typeUrl: ['security', 'auth', 'baseUrl'],
  typeKey: ['security', 'auth', 'apiKey'],
  key: ['env', keyVariable],
  model: ['model', 'name'],
  /** Distinguishes entries with the same ID; 0.15.10 does not know it. */
  modelUrl: ['model', 'baseUrl'],
  /** In an entry. */
  window: ['generationConfig', 'contextWindowSize'],
  /** In an entry: false turns the model's thinking off. */
  reasoning: ['generationConfig', 'reasoning'],
  /** In an entry: parameters that it sends unchanged, such as a limit or a temperature. */
  sampling: ['generationConfig', 'samplingParams'],
  /** In an entry: members that it adds to the body of each request. */
  body: ['generationConfig', 'extra_body'],
  /** In an entry; headers next to the model are not sent for an entry. `authorization` replaces the key. */
  headers: ['generationConfig', 'customHeaders'],
} as const satisfies Record<string, SettingPath>

function listPath(protocol: Protocol): SettingPath {
  return ['modelProviders', loginTypes[protocol]]
}

/** Identifies our entry for a model in its list. */
function elementOf(id: string): ListElement {
  return { element: { envKey: keyVariable, id } }
}

function entryPath(protocol: Protocol, id: string): SettingPath {
  return [...listPath(protocol), elementOf(id)]
}

/** The path of the first of our entries in a list, whatever its model is: a path finds the first match. */
function ourFirstPath(protocol: Protocol): SettingPath {
  return [...listPath(protocol), { element: { envKey: keyVariable } }]
}

/**
 * The settings of an entry that Qwen Code only uses itself, and the limits that `firstRequest` adds to the probe. Read
 * in 0.24.4, 2026-11-28. It sends all of `samplingParams` and `extra_body` to the gateway.
 */
const harmless = [
  ...['id', 'envKey', 'name', 'description', 'capabilities'],
  ...['timeout', 'streamIdleTimeoutMs', 'maxRetries', 'retryInitialDelayMs', 'retryMaxDelayMs']
    .concat(['contextWindowSize', 'modalities', 'reasoning: false', 'samplingParams.max_tokens'])
    .map((member) => `generationConfig.${member}`),
]

// What Qwen Code knows about models by their IDs: 0.24.4, 2026-11-23 and 2026-11-26, unless a comment says otherwise.

/** The families whose windows Qwen Code knows. The older version has the same but for new names. */
const knownWindows = /^(?:.*\/)?(?:gpt-|o\d|claude-|gemini-|qwen|deepseek|glm|kimi|minimax)/i

/** The families to which it sends images by default (0.15.10, 2026-11-23). */
const knownToSee = /^(?:.*\/)?(?:gpt-|claude-|gemini-|qwen.*(?:vl|omni))/i

/** In tokens: the most that it requests from a model by default. */
const usualOutputTokens = 64_000
/** In tokens: what an older version requests from any model. */
const oldOutputTokens = 8000
/** In tokens: what it requests from a model that it does not know. */
const unknownOutputTokens = 32_000

/** In tokens: what it requests at most, by the start of the ID (read in its tokenLimits.ts). */
const outputTokens: readonly (readonly [RegExp, number])[] = [
  [/^claude-opus-(?:4[-.][678]|5)/, 128_000],
  [
    /^(?:gemini-3|gpt-5|o\d|claude-|qwen3\.\d|deepseek-(?:v4|flash|reasoner|r1)|glm-5)/,
    usualOutputTokens,
  ],
  [/^(?:minimax-m2\.5|kimi-k3)/, usualOutputTokens],
  [/^(?:qwen|kimi-k2\.5)/, 32_768],
  [/^(?:gpt-|glm-4\.7)/, 16_384],
  [/^(?:gemini-|deepseek-chat)/, 8192],
]

/** In tokens: the window of a model without one in its entry. Those that Qwen Code knows are not smaller. */
const usualWindow = 200_000

/** In tokens: about the size of its first prompt, as it counts. */
const promptTokens = 22_400

/**
 * In tokens: the limit of its first request for a model without a limit in its entry. 0.24.4 leaves room for the
 * prompt in the window. The limit of 0.15.10 does not depend on the model (2026-11-23).
 */
function outputTokensFor(id: string, version: Version, window = usualWindow): number {
  if (isBefore(version, '0.16.0')) return oldOutputTokens
  const name = id.toLowerCase().replace(/^.*\//, '')
  const most = outputTokens.find(([start]) => start.test(name))?.[1] ?? unknownOutputTokens
  const remaining = window - promptTokens - Math.max(10_000, Math.round(0.05 * window))
  return Math.min(most, Math.max(4000, remaining))
}

/** In tokens: how long a model thinks over messages if it does not choose itself. */
const thinkingBudget = 32_000

/** Over messages, Claude 4.6 and newer choose themselves how long they think. */
function isAdaptive(id: string): boolean {
  return isClaudeSince(id, 6)
}

function isClaudeSince(id: string, minorOf4: number): boolean {
  const [, major = 0, minor = 0] =
    /claude-[a-z]+-(\d+)(?:[-.](\d{1,2})(?!\d))?/.exec(id)?.map((part = '') => Number(part)) ?? []
  return major > 4 || (major === 4 && minor >= minorOf4)
}

// Reader.

const files: ClientModule['files'] = (machine, disk) => {
  const { join, dirname, named } = pathsOf(machine)
  const { home, cwd } = machine
  const defaultFolder = join(home, '.qwen')
  const folder = named('QWEN_HOME') ?? defaultFolder
  const settings = join(folder, 'settings.json')
  // On macOS and Windows from its source; on Linux tried with the variable.
  const usualManaged = {
    linux: '/etc/qwen-code/settings.json',
    darwin: '/Library/Application Support/QwenCode/settings.json',
    win32: 'C:\\ProgramData\\qwen-code\\settings.json',
  }[machine.os]
  const managed = named('QWEN_CODE_SYSTEM_SETTINGS_PATH') ?? usualManaged
  const defaults =
    named('QWEN_CODE_SYSTEM_DEFAULTS_PATH') ?? join(dirname(managed), 'system-defaults.json')
  // Qwen Code leaves `.orig` (0.15.10) and `.corrupted`, which has a number in 0.15.10.
  const copyName = /^settings\.json\.(?:orig|corrupted(?:\.\d+)?)$/
  const copies = disk.entries(folder).filter((name) => copyName.test(name))

  // The first .env file from the working folder up to the folder below the home; those of the home are read later.
  const above: string[] = []
  for (let at = cwd; at !== home && !above.includes(at); at = dirname(at)) above.push(at)
  const projectEnv = above
    .flatMap((at) => [join(at, '.qwen', '.env'), join(at, '.env')])
    .find(disk.exists)

  return [
    editableFile('settings', settings),
    ...layersThere(disk, settings, [
      { kind: 'lower', owner: 'administrator', paths: [defaults] },
      // In the home folder the project's folder is the user's own.
      {
        kind: 'project',
        owner: 'folder',
        paths: cwd === home ? [] : [join(cwd, '.qwen', 'settings.json')],
      },
      { kind: 'managed', owner: 'administrator', paths: [managed] },
      {
        kind: 'login',
        owner: 'user',
        content: 'credentials',
        paths: [join(folder, 'oauth_creds.json')],
      },
      { kind: 'copy', owner: 'user', paths: copies.map((name) => join(folder, name)) },
      {
        kind: 'home-env',
        owner: 'user',
        content: 'variables',
        paths: [join(home, '.env'), join(defaultFolder, '.env'), join(folder, '.env')],
      },
      {
        kind: 'project-env',
        owner: 'folder',
        content: 'variables',
        paths: projectEnv ? [projectEnv] : [],
      },
    ]),
  ]
}

interface Entry {
  readonly table: Table
  /** The protocol of its list. */
  readonly protocol: Protocol
  /** As text: Qwen Code compares it with its type. */
  readonly id: string
  readonly isOurs: boolean
  readonly baseUrl?: string
}

/** The model in use, its address and its key, as far as the files tell. */
interface InUse {
  readonly protocol: Protocol
  readonly url?: string
  readonly model?: string
  readonly key?: string
  /** The variable that holds the key. */
  readonly variable: string
  readonly entry?: Entry
}

/** The settings of one file, or of several merged ones, as Qwen Code understands them. */
interface QwenSettings {
  readonly root: Table
  /** The models of all lists, each list in its order. */
  readonly entries: readonly Entry[]
  /** Our entries. */
  readonly ours: readonly Entry[]
  /** Undefined: Qwen Code uses another kind of login. */
  readonly used?: InUse
}

function settingsIn(root: Table): QwenSettings {
  const entries = protocols.flatMap((protocol) => {
    const list = valueIn(root, listPath(protocol))
    return (Array.isArray(list) ? list.filter(isTable) : []).map((table): Entry => {
      const isOurs = table['envKey'] === keyVariable
      const baseUrl = fixedText(table, ['baseUrl'])
      return { table, protocol, id: plainName(table['id']), isOurs, baseUrl }
    })
  })
  const ours = entries.filter(({ isOurs }) => isOurs)

  const type = fixedText(root, paths.type)
  const protocol = protocols.find((protocol) => loginTypes[protocol] === type)
  if (protocol === undefined) return { root, entries, ours }

  // The first entry with the model's ID, unless another one with that ID has the address next to the model. For a
  // model without an entry it is the first of the list, with its own ID.
  const list = entries.filter((entry) => entry.protocol === protocol)
  const model = fixedText(root, paths.model)
  const modelUrl = fixedText(root, paths.modelUrl)
  const sameId = list.filter(({ table }) => table['id'] === model)
  const entry =
    sameId.find(({ table }) => modelUrl !== undefined && table['baseUrl'] === modelUrl) ??
    sameId[0] ??
    list[0]

  // If the entry does not set a value, `env` does under the usual names, and last the settings next to the type.
  const usual = usualVariables[protocol]
  const variable = fixedText(entry?.table, ['envKey']) ?? usual.key
  const used: InUse = {
    protocol,
    url: entry?.baseUrl ?? fixedText(root, ['env', usual.url]) ?? fixedText(root, paths.typeUrl),
    model: entry === undefined ? model : fixedText(entry.table, ['id']),
    key:
      fixedText(root, ['env', variable]) ??
      fixedText(root, ['env', usual.key]) ??
      fixedText(root, paths.typeKey),
    variable,
    entry,
  }
  return { root, entries, ours, used }
}

/** Undefined if the value is no text, is empty or contains a variable (`$NAME`, `${NAME}`). */
function fixedText(settings: ConfigValue | undefined, path: SettingPath): string | undefined {
  const value = valueIn(settings, path)
  return typeof value === 'string' && value !== '' && !hasVariable(value) ? value : undefined
}

function hasVariable(value: ConfigValue | undefined): boolean {
  return typeof value === 'string' && variablePattern.test(value)
}

/**
 * A settings file, which may have comments but no trailing commas. Otherwise 0.24.4 does not start. 0.15.10 renames
 * the file to settings.json.corrupted.NUMBER, also because of a byte order mark, and continues without it.
 */
function readSettings(file: LoadedFile): StrictFile {
  return readStrictly(file, { allowsBom: true, allowsComments: true })
}

/** The administrator's defaults below the user's settings. A project's settings override both. */
function readMerged(files: LoadedFiles) {
  const { path, whyIgnored } = readSettings(fileOf(files, 'settings'))
  const problem = whyIgnored && brokenText(path, whyIgnored)
  const layers = [...filesOfKind(files, 'lower'), fileOf(files, 'settings')].map(parseFile)
  return { ...settingsIn(problem ? {} : mergedFiles(layers)), layers, problem }
}

/** Reads only the kinds of login that a setup writes. */
const read: ClientModule['read'] = (files) => {
  const { root, ours, used, layers, problem } = readMerged(files)
  if (problem !== undefined) return { ...emptyState, findings: unreadable(problem) }
  if (used === undefined) {
    const isLogin = fixedText(root, paths.type) === 'qwen-oauth'
    const hasLogin = isLogin && filesOfKind(files, 'login').length > 0
    return { ...emptyState, login: hasLogin ? "an account of Qwen Code's vendor" : undefined }
  }

  const { protocol, url, model, key, variable, entry } = used
  const listOrigin = originOf(layers, listPath(protocol))
  // The stronger of the files that set the key.
  const keyPath = originOf(layers, ['env', variable]) ?? fileOf(files, 'settings').path
  return {
    endpoint: {
      baseUrl: url && withoutTrailingSlash(url),
      key,
      keyHeader: 'authorization',
      headers: readHeaders(valueIn(entry?.table, paths.headers)).headers,
    },
    options: { protocol, model, contextWindow: numberIn(entry?.table, paths.window) },
    offered: ours.map(({ id }) => id),
    origins: {
      baseUrl: entry === undefined ? originOf(layers, paths.typeUrl) : listOrigin,
      model: originOf(layers, paths.model) ?? listOrigin,
      key: key && keyPath,
    },
    findings: [],
  }
}

/**
 * Every model at the address in use, the variable of its key, and the settings that choose the model and that kind of
 * login.
 */
const gatewaySettings: ClientModule['gatewaySettings'] = (files) => {
  const settings = readSettings(fileOf(files, 'settings'))
  const { root, entries, used } = settingsIn(settings.root)
  if (used?.url === undefined) return {}

  const { url, key, entry: usedEntry, variable, protocol } = used
  // The addresses of one gateway differ only in a `/v1`, whatever the protocol.
  const isAtGateway = ({ baseUrl = '' }: Entry) =>
    usedEntry !== undefined && isSameButVersion(baseUrl, url)
  const others = entries.filter((entry) => !isAtGateway(entry))
  // Our entries by the same members as in a setup.
  const elementFor = ({ table, id, isOurs, protocol }: Entry) => {
    if (isOurs) return elementOf(id)
    const inList = others.filter((other) => other.protocol === protocol)
    return knownElement(
      table,
      ['id', 'envKey', 'baseUrl'],
      inList.map((other) => other.table),
    )
  }

  const isShared = others.some(({ table }) => table['envKey'] === variable)
  const usual = usualVariables[protocol]
  const textPaths: readonly SettingPath[] = [
    ...(isShared ? [] : [['env', variable]]),
    // Qwen Code reads them only if no entry names another variable for its key.
    ...(variable === usual.key ? [usual.url, usual.model] : []).map((name) => ['env', name]),
    paths.type,
    // Qwen Code does not read these if the entry has its own.
    ...(fixedText(root, paths.typeKey) === key ? [paths.typeKey] : []),
    ...(usedEntry?.baseUrl ? [] : [paths.typeUrl]),
    paths.model,
    paths.modelUrl,
  ]
  return {
    settings: [
      ...entries
        .filter(isAtGateway)
        .map((entry) => [...listPath(entry.protocol), elementFor(entry)]),
      ...textPaths.filter((path) => settings.get(path) !== undefined),
    ],
  }
}

// Plan.

const resolve: ClientModule['resolve'] = (input, { version } = {}) => {
  const resolved = resolveWithPicker(input, supportedProtocols(input, version), {
    knows: (id) => knownWindows.test(id),
    ifUnknown: 'Qwen Code assumes 200,000 tokens',
  })

  // If Qwen Code knows a window, only the gateway's catalog overrides that, and not the facts that repoint knows.
  const listed = new Map(catalogIn(input.gatewayInfo)?.models.map((model) => [model.id, model]))
  const offered = resolved.offered.map((model) =>
    knownWindows.test(model.id)
      ? { ...model, contextWindow: listed.get(model.id)?.contextWindow }
      : model,
  )

  const used = [...new Set(offered.map(({ protocol }) => protocol))]
  if (used.length < 2) return { ...resolved, offered }
  // For an ID of another list, `qwen --model` silently uses the first model of this one (0.24.4, 2026-11-26).
  const note: Finding = {
    code: 'qwen-model-flag',
    severity: 'note',
    message: '`qwen --model` finds only models of the same protocol',
    hint: `Choose another with /model, or add --auth-type ${used.map((protocol) => loginTypes[protocol]).join('|')}.`,
  }
  return { ...resolved, offered, findings: [...resolved.findings, note] }
}

/**
 * The protocols that a version can use.
 *
 * @throws UserError `client-too-old` if the user requests another one
 */
function supportedProtocols(
  { requested: { protocol } }: ResolveInput,
  version: Version,
): ClientModule['protocols'] {
  if (!isBefore(version, minVersionForProtocols)) return protocols
  if (protocol === undefined || protocol === usualProtocol) return [usualProtocol]
  throw new UserError({
    code: 'client-too-old',
    message: `Qwen Code ${version} cannot use ${protocol}: it needs ${minVersionForProtocols}`,
    hint: 'Update Qwen Code, or leave --protocol out.',
  })
}

/** The changes to settings.json, in the order in which a plan shows them: none depends on another. */
function changes(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const now = parseFile(file)
  const { resolved } = target
  const { entries, ours } = settingsIn(now.root)
  const planned = plannedEntries(ours, target)

  // If two entries have the same path, both stay: Qwen Code uses the first.
  const isPlanned = ({ id, protocol }: Entry) =>
    planned.some(({ present }) => present?.id === id && present.protocol === protocol)
  const unplanned = ours
    .filter((entry) => !isPlanned(entry))
    .map((entry) => ({
      path: entryPath(entry.protocol, entry.id),
      isOtherGateway: isElsewhere(entry, target.baseUrls[sideOf(entry.protocol)]),
      isByRepoint: true as const,
    }))
  // The address next to the model tells entries with the same ID apart.
  const needsUrl = now.text(paths.modelUrl) !== undefined || isBehindAnother(entries, resolved)

  return [
    ...removedEntries(file, unplanned, target),
    // Only Qwen Code itself can migrate a file of an older layout.
    ...(lacksOnlyVersion(now) ? [{ path: ['$version'], value: layoutVersion }] : []),
    { path: paths.key, value: target.key, isSecret: true },
    ...planned.flatMap((entry) => plannedChanges(file, entry, target)),
    { path: paths.type, value: loginTypes[resolved.protocol] },
    { path: paths.model, value: resolved.model },
    ...(needsUrl ? [{ path: paths.modelUrl, value: target.baseUrl }] : []),
  ]
}

/** Whether a file, which may be missing, has no version, and otherwise certainly the current layout. */
function lacksOnlyVersion({ root }: ParsedFile): boolean {
  const isKnown = (name: string) =>
    currentKeys.includes(name) ||
    (name === 'model' && isTable(root[name])) ||
    (name === 'general' && valueIn(root, ['general', 'gitCoAuthor']) === undefined)
  return Object.keys(root).every(isKnown)
}

/**
 * Whether another entry for that model precedes ours: the one for this model, or else the first of ours, which gets
 * this model. If there is none, a setup writes a new one at the start of the list.
 */
function isBehindAnother(
  entries: readonly Entry[],
  { model, protocol }: ModelAndProtocol,
): boolean {
  const list = entries.filter((entry) => entry.protocol === protocol)
  const isOfModel = ({ table }: Entry) => table['id'] === model
  const ours = list.filter(({ isOurs }) => isOurs)
  const our = ours.find(isOfModel) ?? ours[0]
  return our !== undefined && list.slice(0, list.indexOf(our)).some(isOfModel)
}

/** An entry without an address is for the service that Qwen Code uses by itself. */
function isElsewhere({ baseUrl = '' }: Entry, gatewayUrl: string): boolean {
  return pointsElsewhere(baseUrl, gatewayUrl)
}

/** An entry as it will be: its model, its path, and our present entry that becomes it. */
interface PlannedEntry {
  readonly model: OfferedModel
  readonly path: SettingPath
  readonly name: string
  /** Absent: the entry is new. */
  readonly present?: Entry
}

/**
 * The entry of the model that Qwen Code starts with, then those that `/model` offers next to it. For example, the file
 * has our entries A and B:
 *
 *     chosen A, offered B    A and B stay
 *     chosen B, offered A    A and B stay, and `model.name` becomes B
 *     chosen C, offered B    the gateway has lost A: its entry becomes the entry of C
 */
function plannedEntries(
  ours: readonly Entry[],
  { resolved }: SetupTarget,
): readonly PlannedEntry[] {
  const { protocol, contextWindow } = resolved
  const [first, ...others] = offeredIn(resolved)
  const overProtocol = (entries: readonly Entry[], wanted: Protocol) =>
    entries.find((entry) => entry.protocol === wanted) ?? entries[0]
  const presentFor = (model: OfferedModel) =>
    overProtocol(
      ours.filter(({ id }) => id === model.id),
      model.protocol,
    )

  // The first of our entries becomes the entry of a new model, if the gateway no longer offers its own.
  const ourFirst = overProtocol(ours, protocol)
  const isOffered = others.some(({ id }) => id === ourFirst?.id)
  const present = presentFor(first) ?? (isOffered ? undefined : ourFirst)
  const path =
    present?.protocol !== protocol
      ? [...listPath(protocol), { ...elementOf(first.id), isFirst: true as const }]
      : // An entry that gets another ID cannot be identified by it.
        present.id === first.id
        ? entryPath(protocol, first.id)
        : ourFirstPath(protocol)

  return [
    {
      model: { ...first, contextWindow },
      path,
      name: 'Gateway',
      present,
    },
    ...others.map((model) => ({
      model,
      path: entryPath(model.protocol, model.id),
      name: model.displayName ?? model.id,
      present: presentFor(model),
    })),
  ]
}

function plannedChanges(
  file: LoadedFile,
  planned: PlannedEntry,
  target: SetupTarget,
): readonly SettingChange[] {
  const { model, path, present } = planned
  const now = present?.table ?? {}
  const baseUrl = target.baseUrls[sideOf(model.protocol)]
  const isOtherGateway = present !== undefined && isElsewhere(present, baseUrl)
  const isOtherModel = present?.id !== model.id
  const members = membersOf(planned, target, isOtherGateway)
  const all = entryChanges({ path, now, isOtherGateway, isOtherModel }, members, model, target)

  const tableAt = (below: SettingPath) => ({ path: [...path, ...below], now: tableIn(now, below) })
  const withoutSampling = withoutEmptyTable(file, all, tableAt(paths.sampling), target)
  const ours = withoutEmptyTable(file, withoutSampling, tableAt(['generationConfig']), target)
  // From the list of another protocol the entry moves to the list of this one, with all its members.
  const moves =
    present === undefined || present.protocol === model.protocol
      ? []
      : [
          { path: entryPath(present.protocol, present.id), value: undefined },
          { path, value: { ...present.table, id: model.id } },
        ]
  return [
    ...moves,
    ...withoutForeignSettings(ours, { path, now, isOtherGateway, harmless }, target),
  ]
}

/**
 * The members of a model's entry: facts only as far as Qwen Code does not know them from the model's ID.
 * `capabilities` has no effect (0.15.10, 2026-11-23).
 *
 * @param isOtherGateway the present entry is for another gateway
 */
function membersOf(
  { model, name, present }: Omit<PlannedEntry, 'path'>,
  target: SetupTarget,
  isOtherGateway = false,
): readonly EntryMember[] {
  const { id, protocol, images, contextWindow } = model
  const now = present?.table
  const isNamed = fixedText(now, ['name']) !== undefined
  const differsFromGuess = images !== undefined && images !== knownToSee.test(id)
  const limit = limitToWrite(model, target)
  // An answer must be longer than the thinking before it, or the API rejects the request.
  const hasRoomToThink =
    protocol !== 'messages' || isAdaptive(id) || (limit ?? requestedTokens(model)) > thinkingBudget

  return [
    // The first entry may get another ID. The others have theirs in their paths.
    ...(id === target.resolved.model ? [{ path: ['id'], value: id }] : []),
    ...(isNamed ? [] : [{ path: ['name'], value: name }]),
    { path: ['baseUrl'], value: target.baseUrls[sideOf(protocol)] },
    {
      path: paths.reasoning,
      value: hasRoomToThink ? undefined : false,
      about: ['outputLimit'],
    },
    { path: paths.window, value: contextWindow, about: ['contextWindow'] },
    {
      path: ['generationConfig', 'modalities'],
      value: differsFromGuess ? { image: images } : undefined,
      about: ['images'],
    },
    { path: [...paths.sampling, 'max_tokens'], value: limit, about: ['outputLimit'] },
    ...headerChanges(paths.headers, valueIn(now, paths.headers), target, isOtherGateway),
  ]
}

/**
 * The output limit for a model's entry: a low one, or one that the user names. With a limit that is not low, Qwen Code
 * requests less by itself.
 *
 *     the gateway's limit for gpt-5.6    Qwen Code requests    written
 *     16,000                             64,000                16,000
 *     128,000                            64,000                -
 */
function limitToWrite(model: OfferedModel, { input }: SetupTarget): number | undefined {
  const { outputLimit } = model
  if (outputLimit === undefined || outputLimit === input.requested.outputLimit) return outputLimit
  const isLow = outputLimit < Math.max(usualOutputTokens, requestedTokens(model))
  return isLow ? outputLimit : undefined
}

/** What Qwen Code requests without a limit in the entry, in tokens. */
function requestedTokens({ id, contextWindow }: OfferedModel): number {
  return outputTokensFor(id, undefined, contextWindow)
}

// Checks.

function* checkSetup(context: ClientContext, { resolved, baseUrl }: SetupTarget): Findings {
  const file = parseKind(context.files, 'settings')
  yield* checkFile(context, file)
  yield* checkEnforcedLogin(file, resolved.protocol)

  const isLogin = file.get(paths.type) === 'qwen-oauth'
  if (isLogin && filesOfKind(context.files, 'login').length > 0)
    yield findingAt(file, paths.type, {
      code: 'qwen-login',
      message: "Qwen Code uses a login of its vendor's account",
      hint: 'Nothing to do: the login stays on this machine.',
      needsConsentTo: 'Stop using the login of Qwen Code. repoint rollback restores it.',
      severity: 'warning',
    })

  yield* checkSameId(file, resolved)
  yield* checkOldLayout(file)
  yield* checkVariables(context)
  // 0.15.10 ignores every exemption from a proxy.
  yield* proxyFindings(qwenName, baseUrl, context.machine.env)
}

function* checkNow(context: ClientContext): Findings {
  const file = parseKind(context.files, 'settings')
  const { root, used } = readMerged(context.files)
  yield* checkFile(context, file)

  // Rollback does not change copies that the client made.
  for (const copy of parseLayers(context.files, 'copy')) {
    if (copy.get(paths.key) === undefined) continue
    yield findingAt(copy, paths.key, {
      code: 'qwen-copy',
      message: 'Qwen Code left a copy of its settings, with a gateway key',
      hint: 'Delete the copy.',
      severity: 'warning',
    })
  }

  // With another service, the user may configure Qwen Code freely.
  if (used?.url === undefined) return

  const { url, protocol, model, key, variable } = used
  const isOurs = variable === keyVariable
  yield* checkEnforcedLogin(file, protocol)
  yield* checkMissingKey(context, root, used)
  if (isOurs)
    yield* missingVersionFinding(qwenName, context, file, {
      url,
      protocol,
      path: [...ourFirstPath(protocol), 'baseUrl'],
      name: 'baseUrl of the entry',
    })
  yield* leftoverFindings(qwenName, context, {
    url,
    urlPlace: () => file.place(listPath(protocol)),
    key,
    keyPlace: file.place(['env', variable]),
  })
  yield* proxyFindings(qwenName, url, context.machine.env)
  if (!isOurs) return

  yield* checkOldLayout(file)
  yield* checkVariables(context)
  if (model !== undefined) yield* checkSameId(file, { model, protocol })
}

/** Checks whether Qwen Code can read the settings, and where they are. */
function* checkFile({ machine, files }: ClientContext, file: ParsedFile): Findings {
  yield* unreadFileFinding(readSettings(fileOf(files, 'settings')), {
    code: 'qwen-settings-broken',
    effect: 'Qwen Code does not start, or (0.15.10) ignores the whole file',
    topic: 'broken',
  })

  yield* relativePathFindings(qwenName, machine, { names: ['QWEN_HOME'] })
  // The environment overrides the .env files of the home folder.
  const isExportedHome = Boolean(machine.env['QWEN_HOME'])
  for (const location of isExportedHome ? [] : envLines(files, 'QWEN_HOME', ['home-env']))
    yield {
      code: 'qwen-folder-elsewhere',
      message: 'QWEN_HOME is set in a .env file: Qwen Code reads settings.json of that folder',
      location,
      hint: 'Remove the line, or export QWEN_HOME in your shell.',
      severity: 'error',
    }

  // Both versions exit at once if an entry has no ID.
  for (const path of protocols.map(listPath)) {
    const list = file.get(path)
    const code = 'qwen-entry-broken'
    const name = path.join('.')
    const isWithoutId = (entry: ConfigValue) => !isTable(entry) || !entry['id']
    if (list !== undefined && !Array.isArray(list))
      yield findingAt(file, path, {
        code,
        message: `Qwen Code does not start: ${name} is not a list`,
        hint: 'Make it a list of models.',
      })
    else if (list?.some(isWithoutId))
      yield findingAt(file, path, {
        code,
        message: `Qwen Code does not start: ${name} has an entry without an ID`,
        hint: 'Add the ID, or remove the entry.',
      })
  }
}

/**
 * A setting allows only another kind of login. Qwen Code waits for that login; without a terminal it waits forever.
 */
function* checkEnforcedLogin(file: ParsedFile, protocol: Protocol): Findings {
  const path = paths.onlyType
  const only = file.get(path)
  if (only === undefined || only === loginTypes[protocol]) return

  const name = path.join('.')
  yield findingAt(file, path, {
    code: 'qwen-only-other-login',
    message: `${name} allows only ${JSON.stringify(only)}: Qwen Code asks you to log in`,
    ...removal(file, name, { path }),
  })
}

/** Qwen Code uses the first entry with an ID, if no setting next to the model distinguishes them. */
function* checkSameId(file: ParsedFile, { model, protocol }: ModelAndProtocol): Findings {
  if (!isBehindAnother(settingsIn(file.root).entries, { model, protocol })) return

  yield findingAt(file, [...listPath(protocol), { element: { id: model } }], {
    code: 'qwen-same-model',
    message: `another entry for ${model} comes first, and versions such as 0.15.10 use that one`,
    hint: 'With such a version, move it below the entry "Gateway", or remove it.',
    severity: 'warning',
  })
}

function* checkOldLayout(file: ParsedFile): Findings {
  if (file.root['$version'] === layoutVersion || lacksOnlyVersion(file)) return

  yield findingAt(file, ['$version'], {
    code: 'qwen-rewrites',
    message:
      'Qwen Code will rewrite the file at its next start, because its layout is old. Then other users can read the file, and versions such as 0.15.10 leave a copy',
    hint: 'Start Qwen Code once before the setup. Or afterwards: repoint doctor qwen --fix',
    severity: 'warning',
  })
}

/** Another value of the variable that our entry names overrides the settings. */
function* checkVariables(context: ClientContext): Findings {
  yield* variableFindings(context, config.variables.harmful)

  for (const location of envLines(context.files, keyVariable, ['home-env']))
    yield {
      code: 'qwen-env-file',
      message: `${keyVariable} in a .env file overrides your gateway key`,
      location,
      hint: 'Remove the line.',
      severity: 'error',
    }
}

/** The lines at which .env files of these kinds set a variable. */
function envLines(files: LoadedFiles, name: string, kinds: readonly string[]): readonly string[] {
  return kinds
    .flatMap((kind) => filesOfKind(files, kind))
    .flatMap((file) =>
      exportedVariables(file.path, textOf(file))
        .filter((found) => found.name === name)
        .map(({ line }) => `${file.path}:${line}`),
    )
}

function* checkMissingKey(
  context: ClientContext,
  root: Table,
  { url, key, variable, entry, protocol }: InUse,
): Findings {
  const { files } = context
  const isKeyElsewhere = [variable, usualVariables[protocol].key].some(
    (name) =>
      isExported(context, name) ||
      envLines(files, name, ['home-env', 'project-env']).length > 0 ||
      hasVariable(valueIn(root, ['env', name])),
  )
  const needsNone = hasVariable(entry?.table['envKey']) || mayNeedNoKey(url, context)
  if (key !== undefined || isKeyElsewhere || needsNone) return

  const message = `${variable} has no value: Qwen Code does not start`
  yield missingKeyFinding(qwenName, fileOf(files, 'settings').path, message)
}

// First request and launch.

const thinkingCure =
  'Add "generationConfig": {"reasoning": false} to the model in settings.json, then run the command again.'

/** What the model and its entry change in the recorded request. */
const firstRequest: ClientModule['firstRequest'] = async (files, { model, protocol, version }) => {
  const { default: recordings } = await import('./first-requests.json', {
    with: { type: 'json' },
  })
  const entry = readMerged(files).ours.find(({ id }) => id === model)?.table
  const limit =
    numberIn(entry, [...paths.sampling, 'max_tokens']) ??
    outputTokensFor(model, version, numberIn(entry, paths.window))

  if (protocol !== 'messages') {
    const { headers, body } = recordedRequest(recordings, { kind: 'any', protocol, version })
    const limitName = protocol === 'chat' ? 'max_tokens' : 'max_output_tokens'
    // `samplingParams` changes the body only over chat (read in 0.24.4, 2026-11-28).
    const added = {
      ...(protocol === 'chat' && tableIn(entry, paths.sampling)),
      ...tableIn(entry, paths.body),
    }
    const cures = Object.keys(added).map((name) => [
      name,
      `Remove ${name} from the model in settings.json.`,
    ])
    return {
      headers,
      body: { ...body, [limitName]: limit, ...added },
      hints: { ...Object.fromEntries(cures), ...outputLimitCures },
    }
  }

  const kind = isAdaptive(model) ? 'adaptive' : 'budget'
  const { headers, body } = recordedRequest(recordings, { kind, protocol, version })
  const { 'anthropic-beta': beta, ...otherHeaders } = headers
  const isThinking = valueIn(entry, paths.reasoning) !== false
  return {
    headers: isThinking ? headers : otherHeaders,
    body: {
      ...body,
      max_tokens: limit,
      // Claude 4.8 and newer get none.
      temperature: isClaudeSince(model, 8) ? undefined : 1,
      thinking: isThinking ? body['thinking'] : undefined,
    },
    hints: { ...outputLimitCures, thinking: thinkingCure, 'anthropic-beta': thinkingCure },
  }
}

/**
 * Uses a file of administrator settings, which override those of user and project; the settings of the real one stay
 * in force. An entry of the model overrides options and variables.
 */
const launchSettings: ClientModule['launchSettings'] = (
  files,
  target,
  { args, env, tempFolder },
) => {
  const { model, contextWindow, offered, protocol } = target.resolved

  // The file names variables, and Qwen Code replaces them with their values.
  const headers = headersInVariables(target)
  const customHeaders = Object.fromEntries(
    headers.map(({ name, variable }) => [name, `\${${variable}}`]),
  )
  const entryOf = (id: string) => {
    const known: Omit<OfferedModel, 'protocol'> = offered.find((offer) => offer.id === id) ?? { id }
    const offeredModel = { ...known, protocol, contextWindow: contextWindow ?? known.contextWindow }
    return overlaid(newEntry(membersOf({ model: offeredModel, name: 'Gateway' }, target)), [
      { path: ['id'], value: id },
      { path: ['envKey'], value: launchKeyVariable },
      { path: paths.headers, value: customHeaders },
    ])
  }

  // For a model without an entry, Qwen Code would use the first entry instead.
  const ids = [model, ...clientFlagValues(args, ['--model', '-m'])]
  const administrators = parseLayers(files, 'managed')[0]?.root ?? {}
  const settings = overlaid(administrators, [
    { path: ['$version'], value: layoutVersion },
    { path: listPath(protocol), value: ids.map(entryOf) },
    { path: paths.type, value: loginTypes[protocol] },
    { path: paths.onlyType, value: loginTypes[protocol] },
    { path: paths.model, value: model },
    { path: paths.modelUrl, value: target.baseUrl },
  ])

  const name = 'qwen-settings.json'
  return {
    args,
    env: {
      ...env,
      QWEN_CODE_SYSTEM_SETTINGS_PATH: `${tempFolder}/${name}`,
      ...Object.fromEntries(headers.map(({ variable, value }) => [variable, value])),
    },
    files: { [name]: JSON.stringify(settings, null, 2) },
  }
}

// Module.

export const qwen: ClientModule = {
  program,
  protocols,
  // Qwen Code always sends the key as a bearer token, in addition to any headers.
  sends: { headers: true },
  config,
  files,
  read,
  checkNow,
  resolve,
  plan: planOneFile({
    client: qwenName,
    sensitiveSettings: config.sensitiveSettings,
    kind: 'settings',
    read: readSettings,
    changes,
  }),
  checkSetup,
  firstRequest,
  launchSettings,
  gatewaySettings,
}
