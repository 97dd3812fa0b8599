/**
 * OpenClaw: facts, reader, plan, checks, first request, launch, module. Facts: run with 2026.9.5 and 2026.9.6,
 * 2026-11-23, unless a comment says otherwise.
 *
 * A setup writes openclaw.json, here for a model over chat:
 *
 *     {
 *       "models": {
 *         "providers": {
 *           "gateway": {
 *             "baseUrl": "https://…/v1",
 *             "api": "openai-completions",
 *             "apiKey": "sk-…",
 *             "auth": "api-key",
 *             "models": [ { "id": "glm-5", "name": "GLM 5", "contextWindow": 200000 } ]
 *           }
 *         }
 *       },
 *       "agents": { "defaults": { "model": { "primary": "gateway/glm-5" } } }
 *     }
 */
import type { ConfigValue, SettingChange, SettingPath } from '../../edits/types.ts'
import type { Findings } from '../../finding.ts'
import { otherKeyHeaders, protocols } from '../../gateway/types.ts'
import { proxyFindings } from '../checks/environment.ts'
import {
  findingAt,
  keyCopyFindings,
  relativePathFindings,
  unreadFileFinding,
} from '../checks/findings.ts'
import type { ClientContext, ClientModule } from '../contract/client.ts'
import type { LoadedFile } from '../contract/files.ts'
import { launchKeyVariable } from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { emptyState } from '../contract/state.ts'
import {
  brokenText,
  fileOf,
  originsIn,
  parseFile,
  textOf,
  unreadable,
  withoutValues,
  wordsIn,
} from '../files/parse-file.ts'
import { editableFile, pathsOf } from '../files/paths.ts'
import { row } from '../files/sensitive-settings.ts'
import type { StrictFile } from '../files/strict-json.ts'
import { isTable, numberIn, type Table, tableIn, textIn, valueIn } from '../files/tables.ts'
import { offeredIn, resolveWithPicker } from '../models/picker.ts'
import { openclawName } from '../names.ts'
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
import { planOneFile, removal } from '../plan/edit-file.ts'
import { newEntry } from '../plan/entries.ts'
import { headersInVariables } from '../plan/headers.ts'
import { expectUnset, typedFlag } from '../program/arguments.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { isBefore, ofNode, testedVersions } from '../program/tested.ts'
import responses from './responses.json' with { type: 'json' }
import tested from './tested.json' with { type: 'json' }

// Facts.

const program: ClientModule['program'] = {
  command: 'openclaw',
  packages: ['openclaw'],
  testedVersions: testedVersions(tested),
  // 2026.4.29 ignores `OPENCLAW_INCLUDE_ROOTS`: it includes no file from another folder (2026-11-24).
  minVersionForLaunch: '2026.5.2',
  // 2026.7.35 has no `agent exec` (2026-11-24).
  pingArgs: (prompt, version) =>
    isBefore(version, '2026.8.1')
      ? ['agent', '--local', '--session-id', 'repoint', '-m', prompt]
      : ['agent', 'exec', prompt],
  caFileVariables: ['NODE_EXTRA_CA_CERTS'],
  certificateStores: ofNode,
  accepts: responses.protocols,
  tokens: { firstRequest: 10_500, oneWord: 10_500 },
  isSlow: true,
  pingEnv: { OPENCLAW_OFFLINE: '1', OPENCLAW_NO_AUTO_UPDATE: '1' },
  restartAdvice: 'A running OpenClaw gateway reads the file itself. Restart everything else.',
}

/** In any text: `${NAME}`. In the name of a model also a login, `model@login`, unless it is a date or a quantization. */
const interpretedName =
  /\$\{[A-Z_][A-Z0-9_]*\}|@(?!(?:\d{8}|[iI]?[qQ]\d+(?:_[A-Za-z0-9]+)*|\d+bit)$)[^/]*$/

/**
 * In a key or a header also the name of a variable, alone or after `$`, and words that refer to another login.
 * OpenClaw knows some 150 names without `$`.
 */
const interpretedValue =
  /\$\{[A-Z_][A-Z0-9_]*\}|^\$[A-Z]|^[A-Z][A-Z0-9]*_[A-Z0-9_]*$|^(?:oauth:|secretref-)|^(?:custom-local|ollama-local|lmstudio-local|codex-app-server|gcp-vertex-credentials|minimax-oauth)$/

/** The IDs of providers that OpenClaw or a plugin of its vendor ships: for them a variable overrides the file's key. */
const reservedProviderIds = wordsIn(`
  alibaba amazon-bedrock amazon-bedrock-mantle anthropic anthropic-openai anthropic-vertex apple-fm
  arcee azure azure-speech bailian-token-plan baseten byteplus cerebras chutes claude-cli clawrouter
  cloudflare-ai-gateway cohere comfy copilot-proxy deepgram deepinfra deepseek elevenlabs fal
  featherless fireworks github-copilot gmi google google-gemini-cli google-vertex groq huggingface
  kilocode kimi litellm lmstudio longcat meta microsoft-foundry minimax minimax-cn minimax-portal
  minimax-portal-cn mistral moonshot novita nvidia ollama ollama-cloud openai opencode opencode-go
  openrouter pixverse qianfan qwen qwen-dashscope qwen-token-plan radius runway senseaudio sglang
  stepfun stepfun-plan synthetic tencent tencent-tokenhub tencent-tokenplan together venice
  vercel-ai-gateway vllm volcengine volcengine-plan voyage vydra x-ai xai xiaomi xiaomi-token-plan zai`)

const tried = '2026.9.5 and 2026.9.6, 2026-11-23'
const inProgram = 'read in 2026.9.6, 2026-11-23'

const config: ClientModule['config'] = {
  sensitiveSettings: {
    codeWord: 'config',
    // From a folder's .env, OpenClaw takes only what it considers harmless: none of its keys, addresses and proxies.
    rows: [
      row('models.providers.:provider.baseUrl', 'address', ['config'], tried),
      row('models.providers.:provider.models.*.baseUrl', 'address', ['config'], inProgram),
      row('models.providers.:provider.apiKey', 'key', ['config'], tried),
      row('models.providers.:provider.auth', 'key', ['config'], tried),
      row('models.providers.:provider.authHeader', 'key', ['config'], tried),
      row('models.providers.:provider.request', 'key', ['config'], tried),
      row('models.providers.:provider.api', 'provider', ['config'], tried),
      row('agents.defaults.model', 'model', ['config'], tried),
    ],
  },
  folderFiles: [
    {
      patterns: ['.env', '.openclaw/**'],
      reach: 'folder',
      source: 'system calls of 2026.9.6, 2026-11-24',
    },
  ],
  interpolation: { names: interpretedName, values: interpretedValue },
  // Of its own server, which it calls its gateway, and of its channels (names in 2026.9.6, 2026-11-28; not run).
  variables: {
    families: ['OPENCLAW_'],
    harmful: [],
    harmless: ['OPENCLAW_GATEWAY_*', 'OPENCLAW_APNS_*', 'OPENCLAW_VAPID_*', 'OPENCLAW_TWITCH_*'],
  },
  reservedProviderIds,
}

/** The key precedes a login in OpenClaw's database only with `auth`. */
const providerFormat: ProviderFormat = {
  client: openclawName,
  path: ['models', 'providers'],
  always: { auth: 'api-key' },
  namesModels: true,
  harmless: [...harmlessInBoth, 'maxTokens', 'contextWindow', 'models.*.contextTokens'],
  unlisted: ', and OpenClaw does not know it',
}

/**
 * In tokens. In each request, OpenClaw asks for the largest answer that the file states for the model, and gateways
 * reserve as much of the window or of the key's budget (it asked for 128,000).
 */
const mostOutputTokens = 32_000

/** In tokens: the limit that OpenClaw sends for a model without one. */
const usualOutputTokens = 8192

// Reader.

/** OpenClaw reads the first file that exists, also under its old names (read in 2026.9.6). */
const files: ClientModule['files'] = (machine, disk) => {
  const home = pathsOf(machine).namedFromHome('OPENCLAW_HOME') ?? machine.home
  const { join, namedFromHome } = pathsOf({ ...machine, home })
  const stateFolder = namedFromHome('OPENCLAW_STATE_DIR')
  const folders = [
    ...(stateFolder ? [stateFolder] : []),
    join(home, '.openclaw'),
    join(home, '.clawdbot'),
  ]
  const candidates = folders.flatMap((folder) =>
    ['openclaw.json', 'clawdbot.json'].map((name) => join(folder, name)),
  )

  const path =
    namedFromHome('OPENCLAW_CONFIG_PATH') ??
    candidates.find((candidate) => disk.exists(candidate)) ??
    candidates[0]!
  return [{ ...editableFile('config', path), format: 'json5' }]
}

interface OpenClawProvider extends PiProvider {
  /** The key that OpenClaw would send, as far as the configuration tells. */
  readonly key?: string
  /** The logins for the provider that the file names; OpenClaw keeps them in a database. */
  readonly logins: readonly string[]
  /** The login that OpenClaw sends instead of the key. */
  readonly usedLogin?: string
}

/** An agent that sets a model. */
interface Agent {
  readonly id: string
  readonly path: SettingPath
  readonly model: string
  /** It answers a prompt that names no agent. */
  readonly isUsual: boolean
}

/** openclaw.json as OpenClaw reads it. */
interface OpenClawConfig extends StrictFile {
  /** The setting for every agent that sets no model. */
  readonly defaultModelPath: SettingPath
  readonly agents: readonly Agent[]
  /** The setting of the model that OpenClaw starts with. */
  readonly modelPath: SettingPath
  /** The provider and the model that OpenClaw starts with: both, or none. */
  readonly providerId?: string
  readonly model?: string
  /** Empty: there is none. */
  readonly provider: OpenClawProvider
}

/**
 * Reads openclaw.json, which is JSON5. With an empty file, an unknown key anywhere or a value of another type,
 * OpenClaw does not start. repoint checks only the part of the schema that a setup writes.
 */
function readConfig(file: LoadedFile): OpenClawConfig {
  const parsed = parseFile(file)
  const isEmpty = file.bytes !== null && textOf(file).trim() === ''
  const whyIgnored = isEmpty
    ? 'an empty file'
    : (parsed.error?.reason ?? problemOfProviders(parsed.root))
  const read = whyIgnored === undefined ? parsed : withoutValues(parsed)

  const { root } = read
  const defaultPath = ['agents', 'defaults', 'model']
  const isText = typeof valueIn(root, defaultPath) === 'string'
  const defaultModelPath = isText ? defaultPath : [...defaultPath, 'primary']
  const agents = agentsIn(root)
  const { path: modelPath, model: reference = '' } = agents.find(({ isUsual }) => isUsual) ?? {
    path: defaultModelPath,
    model: textIn(root, defaultModelPath),
  }
  const [, providerId, model] = /^([^/]+)\/(.+)$/s.exec(reference) ?? []
  return {
    ...read,
    whyIgnored,
    isRepairable: false,
    defaultModelPath,
    agents,
    modelPath,
    providerId,
    model,
    provider: providerIn(root, providerId ?? ''),
  }
}

function problemOfProviders(root: Table): string | undefined {
  for (const [id, provider] of Object.entries(tableIn(root, providerFormat.path))) {
    const at = `models.providers.${id}`
    if (!isTable(provider)) return `${at} is not an object`
    const { baseUrl, api, models } = provider
    if (baseUrl !== undefined && typeof baseUrl !== 'string') return `${at}.baseUrl is not text`
    if (api !== undefined && typeof api !== 'string') return `${at}.api is not text`

    if (models === undefined) {
      if (!reservedProviderIds.includes(id)) return `${at} has no models`
      continue
    }
    if (!Array.isArray(models)) return `${at}.models is not a list`
    const isComplete = (model: ConfigValue) =>
      ['id', 'name'].every((name) => Boolean(textIn(model, [name])))
    if (!models.every(isComplete)) return `a model of ${at} has no id or no name`
  }
  return undefined
}

/** Which agent answers a prompt that names none: read in agent-scope-config of 2026.9.6. */
function agentsIn(root: Table): readonly Agent[] {
  const entries = Object.entries(tableIn(root, ['agents', 'entries']))
  const marked = entries.find(([, entry]) => valueIn(entry, ['default']) === true)
  const usual =
    textIn(root, ['agents', 'defaults', 'systemAgent', 'agentId']) ??
    marked?.[0] ??
    (entries.length === 1 ? entries[0]![0] : 'main')

  return entries.flatMap(([id, entry]) => {
    const model = textIn(entry, ['model']) ?? textIn(entry, ['model', 'primary'])
    if (model === undefined) return []
    return [{ id, path: ['agents', 'entries', id, 'model'], model, isUsual: id === usual }]
  })
}

function providerIn(root: Table, id: string): OpenClawProvider {
  const provider = providerOf(providerFormat, { root }, id)
  const { apiKey, auth } = provider.table
  const profiles = tableIn(root, ['auth', 'profiles'])
  const isKey =
    typeof apiKey === 'string' &&
    !interpretedValue.test(apiKey) &&
    valueIn(profiles, [apiKey]) === undefined
  const logins = Object.entries(profiles).flatMap(([name, profile]) =>
    textIn(profile, ['provider']) === id ? [name] : [],
  )
  return {
    ...provider,
    key: isKey ? apiKey : undefined,
    logins,
    // The key comes before every login only if the file says so.
    usedLogin: auth === 'api-key' && apiKey !== undefined ? undefined : logins[0],
  }
}

const read: ClientModule['read'] = (files) => {
  const { path, whyIgnored, providerId, model, provider } = readConfig(fileOf(files, 'config'))
  if (whyIgnored !== undefined)
    return { ...emptyState, findings: unreadable(brokenText(path, whyIgnored)) }
  if (providerId === undefined) return emptyState

  const { endpoint, options } = effectiveSettings(provider, model)
  const { key, usedLogin } = provider
  return {
    endpoint: { ...endpoint, key },
    options: { ...options, providerId },
    offered: provider.models.map(({ id }) => String(id)),
    origins: originsIn(path, { baseUrl: endpoint.baseUrl, model, key }),
    login: usedLogin && `the login ${usedLogin} in its database`,
    findings: [],
  }
}

/** The provider that OpenClaw starts with, and every setting that chooses a model of it. */
const gatewaySettings: ClientModule['gatewaySettings'] = (files) => {
  const { root, defaultModelPath, agents, providerId } = readConfig(fileOf(files, 'config'))
  if (providerId === undefined || read(files).endpoint.baseUrl === undefined) return {}

  const isOfProvider = ({ model = '' }: { readonly model?: string }) =>
    model.startsWith(`${providerId}/`)
  const wholeModel = defaultModelPath.slice(0, 3)
  const isOnlyMember = Object.keys(tableIn(root, wholeModel)).length === 1
  const defaultModel = {
    path: isOnlyMember ? wholeModel : defaultModelPath,
    model: textIn(root, defaultModelPath),
  }
  return {
    config: [
      providerPath(providerFormat, providerId),
      ...[defaultModel, ...agents].filter(isOfProvider).map(({ path }) => path),
    ],
  }
}

// Plan.

const resolve: ClientModule['resolve'] = (input) => {
  const resolved = resolveWithPicker(input, protocols, {
    ifUnknown: 'OpenClaw assumes 200,000 tokens',
  })

  const isLimitNamed = input.requested.outputLimit !== undefined
  const offered = resolved.offered.map((model) => {
    const { id, outputLimit: most } = model
    if (most === undefined || (isLimitNamed && id === resolved.model)) return model
    return { ...model, outputLimit: Math.min(most, mostOutputTokens) }
  })
  return { ...resolved, offered }
}

function changes(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const { providerId, resolved } = target
  const { root, defaultModelPath } = readConfig(file)
  return [
    ...providerChanges(providerFormat, { ...file, root }, target),
    { path: defaultModelPath, value: `${providerId}/${resolved.model}` },
  ]
}

// Checks.

interface OpenClawView extends ProviderView {
  readonly models: OpenClawConfig
  readonly provider: OpenClawProvider
}

function viewOf(context: ClientContext, providerId: string, model: string): OpenClawView {
  const models = readConfig(fileOf(context.files, 'config'))
  const provider = providerIn(models.root, providerId)
  const { key, logins } = provider
  const { apiKey } = provider.table
  const isKeyElsewhere =
    logins.length > 0 ||
    (typeof apiKey === 'string'
      ? hasSetVariables(apiKey, context.machine.env)
      : apiKey !== undefined)
  return {
    context,
    format: providerFormat,
    models,
    providerId,
    provider,
    model,
    modelPlace: models.place(models.modelPath),
    sent: key === undefined ? {} : { key, keyPath: models.path },
    isKeyElsewhere,
  }
}

function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const { providerId, resolved, baseUrl } = target
  const view = viewOf(context, providerId, resolved.model)
  yield* checkSurroundings(context, view.models)
  yield* checkIncludes(view.models)
  yield* proxyFindings(openclawName, baseUrl, context.machine.env)

  yield* checkOtherLogin(view, { canUseKey: true })
  yield* checkProviderForSetup(view, target)
  yield* checkTransport(view)
  yield* checkFormerProviders(view, target)
  yield* checkAgents(view)
}

function* checkNow(context: ClientContext): Findings {
  const file = readConfig(fileOf(context.files, 'config'))
  yield* checkSurroundings(context, file)
  const { providerId, model, provider } = file
  const { url } = provider
  // With a provider that OpenClaw ships, the user may configure it freely.
  if (providerId === undefined || model === undefined || url === undefined) return

  const view = viewOf(context, providerId, model)
  yield* checkIncludes(file)
  yield* proxyFindings(openclawName, url, context.machine.env)
  yield* checkOtherLogin(view, { canUseKey: provider.key !== undefined })
  yield* checkTransport(view)
  yield* checkProviderNow(view, url)
}

function* checkSurroundings({ machine }: ClientContext, file: StrictFile): Findings {
  yield* unreadFileFinding(file, {
    code: 'openclaw-config-invalid',
    effect: 'OpenClaw does not start',
    topic: 'broken',
  })
  yield* relativePathFindings(openclawName, machine, {
    names: ['OPENCLAW_CONFIG_PATH', 'OPENCLAW_STATE_DIR', 'OPENCLAW_HOME'],
    takesTilde: true,
  })
}

/** The file itself overrides the files that it includes, except for lists: OpenClaw adds those together. */
function* checkIncludes({ root, path }: StrictFile): Findings {
  const hasInclude = (value: ConfigValue): boolean => {
    if (typeof value !== 'object' || value === null) return false
    return Object.entries(value).some(([name, below]) => name === '$include' || hasInclude(below))
  }
  if (!hasInclude(root)) return

  yield {
    code: 'openclaw-include',
    message: 'the configuration includes other files ($include), which repoint does not read',
    location: path,
    hint: 'Check those files for models of agents and for a provider with the same ID.',
    severity: 'warning',
  }
}

/**
 * OpenClaw sends a login in its database first, whatever the address of the provider is, unless the file says that
 * its key comes first. A setup does that.
 */
function* checkOtherLogin(
  { models, providerId, provider: { usedLogin } }: OpenClawView,
  { canUseKey }: { readonly canUseKey: boolean },
): Findings {
  if (usedLogin === undefined) return

  const path = [...providerPath(providerFormat, providerId), 'auth']
  yield findingAt(models, ['auth', 'profiles', usedLogin], {
    code: 'openclaw-other-key',
    message: `the login ${usedLogin} for ${providerId} overrides the key in openclaw.json`,
    hint: canUseKey ? 'Use the key first.' : 'Set it up again: repoint openclaw',
    ...(canUseKey && {
      fix: { fileKind: 'config', changes: [{ path, value: 'api-key' }] },
      needsConsentTo: `Use the key in openclaw.json instead of the login ${usedLogin}. repoint rollback restores the login.`,
    }),
  })
}

/**
 * Reports how the provider itself changes its requests: with another key, a proxy, or certificates that are
 * not verified.
 */
function* checkTransport({ models, providerId, provider }: OpenClawView): Findings {
  if (provider.table['request'] === undefined) return

  const path = [...providerPath(providerFormat, providerId), 'request']
  yield findingAt(models, path, {
    code: 'openclaw-request',
    message: `request of ${providerId} can change the address and the key`,
    ...removal(models, `request of ${providerId}`, { path, isSecret: true }),
  })
}

/** The agent that answers if the user names none must use our model; the others may use another one. */
function* checkAgents({ models, providerId, model: ourModel }: OpenClawView): Findings {
  for (const { id, path, model, isUsual } of models.agents) {
    if (model === `${providerId}/${ourModel}`) continue

    const shared = {
      code: 'openclaw-agent-model',
      message: `the agent ${id} uses its own model, ${model}`,
      location: models.place(path),
    }
    if (isUsual) {
      const fix = removal(models, `the model ${model} of the agent ${id}`, { path })
      yield { ...shared, ...fix, severity: 'error' }
    } else {
      yield { ...shared, hint: 'If you want to keep it, do nothing.', severity: 'warning' }
    }
  }
}

// First request and launch.

/**
 * What the entries of the model and its provider change in the recorded request. OpenClaw does not retry without a
 * member that the gateway rejects.
 */
const firstRequest: ClientModule['firstRequest'] = async (files, { model, protocol, version }) => {
  const { default: recordings } = await import('./first-requests.json', {
    with: { type: 'json' },
  })
  const { root, provider } = readConfig(fileOf(files, 'config'))
  const entry = modelOf(provider, model) ?? {}
  const limit =
    numberIn(entry, ['maxTokens']) ?? numberIn(provider.table, ['maxTokens']) ?? usualOutputTokens

  // A setting for all agents may choose how much the model reasons.
  const isUsual = valueIn(root, ['agents', 'defaults', 'thinkingDefault']) === undefined
  const isReasoning = isUsual && entry['reasoning'] === true
  // OpenClaw lets these models choose how much they reason, even if the file does not say that they reason.
  const isAdaptive = isUsual && /claude-(?:opus|sonnet)-5/.test(model)
  // How its other models reason was not run.
  const isBudgeted = isReasoning && (!model.includes('claude') || model.includes('haiku'))
  const hasBudget = isBudgeted && !isAdaptive && limit > 2048

  const recorded = (kind: string) => recordedRequest(recordings, { kind, protocol, version })
  const kindOfMessages = isAdaptive ? 'adaptive' : hasBudget ? 'budget' : 'plain'
  const kind = protocol === 'messages' ? kindOfMessages : isReasoning ? 'reasoning' : 'plain'
  const { headers, body } = recorded(kind)
  // It offers a tool for pictures to the models that accept them.
  const input = valueIn(entry, ['input'])
  const isSeeing = Array.isArray(input) && input.includes('image')
  const seeing = protocol === 'messages' ? 'adaptive' : 'reasoning'
  const { tools } = recorded(isSeeing ? seeing : 'plain').body

  const shared = { headers, addedHeaders: headersOfModel(provider, model) }
  switch (protocol) {
    case 'chat': {
      const compat = tableIn(entry, ['compat'])
      const { max_completion_tokens: _, ...usual } = body
      return {
        ...shared,
        body: {
          ...usual,
          tools,
          [textIn(compat, ['maxTokensField']) ?? 'max_completion_tokens']: limit,
          ...(compat['supportsUsageInStreaming'] === false && { stream_options: undefined }),
        },
        hints: {
          ...outputLimitCures,
          max_completion_tokens: compatCure('"maxTokensField": "max_tokens"'),
          stream_options: compatCure('"supportsUsageInStreaming": false'),
        },
      }
    }
    case 'responses':
      return {
        ...shared,
        body: { ...body, tools, max_output_tokens: limit },
        hints: { ...outputLimitCures, reasoning: noReasoningCure, include: noReasoningCure },
      }
    case 'messages': {
      const thinking = { type: 'enabled', budget_tokens: Math.min(8192, limit - 1024) }
      return {
        ...shared,
        body: { ...body, tools, max_tokens: limit, ...(hasBudget && { thinking }) },
        hints: { ...outputLimitCures, ...(!isAdaptive && { thinking: noReasoningCure }) },
      }
    }
  }
}

/** The hint to configure what the gateway rejects, in the entry of the model. Each was run. */
function compatCure(member: string): string {
  return `Add "compat": {${member}} to the model in openclaw.json, then run the command again.`
}

/** Each of these options selects another configuration. */
const otherConfigs = ['--profile', '--dev', '--config', '--isolated', '--auth-env-only']

/** These commands manage the user's own configuration. */
const managingCommands = ['config', 'configure', 'onboard', 'setup', 'doctor', 'plugins', 'update']

/** No provider of the user has this ID, so OpenClaw adds neither headers nor a login of the user. */
const runProviderId = 'repoint-run'

/**
 * Uses a separate configuration, which includes the user's and in which the key is `${NAME}`. Such a file overrides
 * the files that it includes.
 */
const launchSettings: ClientModule['launchSettings'] = (files, target, process) => {
  const { args, env, tempFolder } = process
  if (managingCommands.some((command) => command === args[0])) return process
  expectUnset(
    typedFlag(args, otherConfigs),
    (flag) => `${flag} chooses another configuration, and repoint needs the one with the gateway`,
  )

  const file = fileOf(files, 'config')
  const { path, root, agents } = readConfig(file)
  const variables = headersInVariables(target)
  // A text, also instead of a table: so it has no fallback models.
  const model = `${runProviderId}/${target.resolved.model}`
  const entries = Object.fromEntries(agents.map(({ id }) => [id, { model }]))
  // OpenClaw adds the allow list of an included file to this one.
  const isLimited = valueIn(root, ['agents', 'defaults', 'modelPolicy', 'allow'])
  const settings = {
    ...(file.bytes !== null && { $include: path }),
    models: { providers: { [runProviderId]: runProvider(target, variables) } },
    agents: {
      defaults: { model, ...(isLimited && { modelPolicy: { allow: [`${runProviderId}/*`] } }) },
      ...(agents.length > 0 && { entries }),
    },
  }

  const name = 'openclaw-run.json'
  const isWindows = /^[A-Za-z]:\\/.test(path)
  const roots = [path.replace(/[\\/][^\\/]*$/, ''), env['OPENCLAW_INCLUDE_ROOTS']]
  return {
    args,
    env: {
      ...env,
      ...Object.fromEntries(variables.map(({ variable, value }) => [variable, value])),
      OPENCLAW_CONFIG_PATH: `${tempFolder}/${name}`,
      OPENCLAW_INCLUDE_ROOTS: roots.filter(Boolean).join(isWindows ? ';' : ':'),
    },
    files: { [name]: `${JSON.stringify(settings, null, 2)}\n` },
  }
}

function runProvider(target: SetupTarget, headers: ReturnType<typeof headersInVariables>) {
  const { baseUrl, resolved } = target
  return {
    baseUrl,
    api: apiOf[resolved.protocol],
    apiKey: `\${${launchKeyVariable}}`,
    ...providerFormat.always,
    ...(usesMessages(resolved) && { authHeader: true }),
    headers: Object.fromEntries(headers.map(({ name, variable }) => [name, `\${${variable}}`])),
    models: offeredIn(resolved).map((model) => newEntry(membersOf(providerFormat, model, target))),
  }
}

/** Whenever OpenClaw changes its file, it keeps the earlier versions next to it. */
const sideEffects: ClientModule['sideEffects'] = ({ files }, { by, before }) => {
  const { path } = fileOf(before, 'config')
  const { key } = read(before).endpoint
  const copies = ['.bak', '.bak.1', '.bak.2', '.bak.3', '.bak.4'].map((ending) => path + ending)
  return by === 'setup' || !key ? [] : keyCopyFindings(openclawName, files, key, copies)
}

// Module.

export const openclaw: ClientModule = {
  program,
  protocols,
  // OpenClaw sends the key as a bearer token in addition to them.
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
  resolve,
  plan: planOneFile({
    client: openclawName,
    sensitiveSettings: config.sensitiveSettings,
    kind: 'config',
    read: readConfig,
    changes,
  }),
  checkSetup,
  firstRequest,
  launchSettings,
  gatewaySettings,
  sideEffects,
}
