import type { ConfigValue } from '../../edits/types.ts'
import { errorFrom, ifPossible } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { addressFor } from '../../gateway/base-urls.ts'
import { asObject } from '../../gateway/foreign-text.ts'
import { includesHeader } from '../../gateway/input/header.ts'
import { snapshotFacts } from '../../gateway/models/facts.ts'
import { removeVendor } from '../../gateway/models/ids.ts'
import { type FirstRequest, otherKeyHeaders } from '../../gateway/types.ts'
import type { ClientModule, ClientWorld } from '../contract/client.ts'
import type { LoadedFiles } from '../contract/files.ts'
import {
  type FirstRequestInput,
  type LaunchSettings,
  launchKeyVariable,
  type ProcessToStart,
} from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { shownUrl, withoutTrailingSlash } from '../files/addresses.ts'
import {
  fileOf,
  originsIn,
  type ParsedFile,
  parseKind,
  textOf,
  unreadable,
} from '../files/parse-file.ts'
import { pathsOf } from '../files/paths.ts'
import { numberIn, type Table, textIn } from '../files/tables.ts'
import type { WindowHandling } from '../models/context-window.ts'
import { resolveOneModel } from '../models/resolve.ts'
import { effectiveOptions } from '../options/chosen-options.ts'
import { effortCure } from '../options/flags.ts'
import { headersInVariables, readHeaders, textMembers } from '../plan/headers.ts'
import { readSettingOptions } from '../plan/setting-options.ts'
import { clientFlagValues } from '../program/arguments.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { isBefore, testedVersions } from '../program/tested.ts'
import { checkNow, checkSetup, startupFindings } from './checks.ts'
import {
  builtInAddressPath,
  codexFiles,
  codexHome,
  harmfulSettings,
  isAuthorization,
  isTurnedOff,
  keyVariables,
  otherAddress,
  otherLayers,
  providerInUse,
  readCodexAuth,
  reservedIds,
  sensitiveSettings,
  tableName,
  variables,
  vendorUrl,
} from './config.ts'
import { effortPath, searchPath, settingOptions } from './flags.ts'
import {
  assumedWindow,
  checkModelsFile,
  type Entry,
  entriesIn,
  entryOf,
  offeredByModelsFile,
  usesModelsFile,
  withModelsFile,
  withoutOfferOnce,
} from './models.ts'
import { expectCommandSupport, gatewaySettings, keyInFile, loginQuestion, plan } from './plan.ts'
import responses from './responses.json' with { type: 'json' }
import tested from './tested.json' with { type: 'json' }

// The first request.

/** Responses Lite: without a models file, Codex sends its tools to some models in an item of the input. */
const liteParts = ['additional_tools', 'input', 'x-openai-internal-codex-responses-lite']
const liteCure = 'With a catalog, Codex sends ordinary requests. Add --catalog'
const searchCure = 'Turn web search off: {--web-search disabled}'

/**
 * What the model's entry and config.toml change in the recorded request. Codex sends no token limit, and no
 * setting removes `include` (0.105.0 and 0.169.0, 2026-11-23).
 */
async function firstRequest(
  files: LoadedFiles,
  { protocol, version, model, printedModels }: FirstRequestInput,
): Promise<FirstRequest> {
  const { default: recordings } = await import('./first-requests.json', {
    with: { type: 'json' },
  })
  const config = parseKind(files, 'config')
  // The file that a setup with --catalog writes replaces the models in the program.
  const hasModelsFile = usesModelsFile(files, config)
  const models = hasModelsFile ? textOf(fileOf(files, 'models')) : printedModels
  const entry = entryOf(entriesIn(models), model)
  const kind = kindOf(model, { models, entry, hasModelsFile })
  const { headers, body } = recordedRequest(recordings, { kind, protocol, version })

  return {
    headers: {
      ...headers,
      // Run with 0.171.0, 2026-11-28. 0.169.0 and older ones ask for no encoding, and read none.
      ...(version && !isBefore(version, '0.171.0') && { 'accept-encoding': 'zstd,gzip' }),
    },
    hints: {
      web_search: searchCure,
      ...(config.text(effortPath) !== undefined && { reasoning: effortCure }),
      ...Object.fromEntries(liteParts.map((part) => [part, liteCure])),
    },
    body: {
      ...body,
      ...(Array.isArray(body['tools']) && { tools: toolsFor(body['tools'], config, entry) }),
      reasoning: reasoningFor(body['reasoning'], config, entry),
      text: entry?.['support_verbosity'] === false ? undefined : body['text'],
    },
  }
}

/** Without a list of models, Codex counts as knowing those of its own family. */
function kindOf(
  model: string,
  by: {
    readonly models: string | undefined
    readonly entry: Entry | undefined
    readonly hasModelsFile: boolean
  },
): string {
  if (by.models === undefined) return removeVendor(model).startsWith('gpt-5') ? 'known' : 'unknown'
  if (by.entry === undefined) return 'unknown'
  if (by.hasModelsFile) return 'catalog'
  return by.entry['use_responses_lite'] === true ? 'lite' : 'known'
}

function toolsFor(tools: readonly unknown[], config: ParsedFile, entry: Entry | undefined) {
  const search = config.text(searchPath)
  const isPatching = entry?.['apply_patch_tool_type'] !== null
  return tools.flatMap((tool) => {
    const { type, name } = asObject(tool) ?? {}
    if (type === 'web_search') return search === 'disabled' ? [] : [searchTool(tool, search)]
    return isPatching || name !== 'apply_patch' ? [tool] : []
  })
}

function searchTool(tool: unknown, search: string | undefined): unknown {
  return search === 'live' ? { ...asObject(tool), external_web_access: true } : tool
}

/** The user's effort, or the one that the entry names. */
function reasoningFor(recorded: unknown, config: ParsedFile, entry: Entry | undefined): unknown {
  const named = config.text(effortPath)
  const effort = named ?? entry?.['default_reasoning_level']
  if (typeof effort === 'string') return { ...asObject(recorded), effort }
  if (entry === undefined) return recorded
  const { effort: _, ...others } = asObject(recorded) ?? {}
  return others
}

// One process.

/** Settings of a table that no `-c` can remove, and that send a credential, which may be another gateway's. */
const lastingCredentials = ['auth', 'http_headers', 'env_http_headers']

/**
 * Uses `-c`. `env_key` overrides auth.json, `CODEX_API_KEY` and the bearer token of the file. With the
 * configured provider ID, recorded conversations use the gateway too, and later the configured address again.
 * If a table with that ID has settings that no `-c` can remove, the run uses another ID. `openai_base_url`
 * stays unchanged: if the run set it, Codex would send the key of auth.json to the gateway. Run with exec on
 * 0.98.0 to 0.169.0, and with the UI on 0.169.0, 2026-11-22.
 *
 * @throws UserError `config-conflict` if Codex would not start with the user's file
 */
function launchSettings(
  files: LoadedFiles,
  target: SetupTarget,
  { args, env }: ProcessToStart,
): LaunchSettings {
  const config = parseKind(files, 'config')
  const { resolved, query = [] } = target
  const options = effectiveOptions(target.input)

  const layers = [config, ...otherLayers(files)]
  const tables = layers.map((file) => file.table(['model_providers', target.providerId]))
  const isPlain = (table: Table = {}) =>
    textMembers(table['query_params']).every((parameter) => includesHeader(parameter, query)) &&
    lastingCredentials.every((name) => table[name] === undefined) &&
    harmfulSettings(table).length === 0
  const id = tables.every(isPlain) ? target.providerId : 'repoint-run'

  const headers = headersInVariables(target)
  const forcedLogin = layers.some((file) => file.text(['forced_login_method']) === 'chatgpt')
  const secrets = [launchKeyVariable, ...headers.map(({ variable }) => variable)]
  const excluded = config.get(['shell_environment_policy', 'exclude'])

  /** Undefined: the run passes no value. */
  const settings: readonly (readonly [path: string, value: ConfigValue | undefined])[] = [
    ['model_provider', id],
    [`model_providers.${id}.name`, 'Gateway'],
    [`model_providers.${id}.base_url`, target.baseUrl],
    [`model_providers.${id}.wire_api`, 'responses'],
    [
      `model_providers.${id}.env_key`,
      target.keyHeader === 'authorization' ? launchKeyVariable : undefined,
    ],
    ...query.map(
      ({ name, value }) => [`model_providers.${id}.query_params.${name}`, value] as const,
    ),
    [`model_providers.${id}.requires_openai_auth`, false],
    [`model_providers.${id}.supports_websockets`, false],
    ...repairs(config, id),
    // Without it the model's shell could print the key.
    [
      'shell_environment_policy.exclude',
      [...new Set([...(Array.isArray(excluded) ? excluded : []), ...secrets])],
    ],
    // A value that is already right may come from the user's profile.
    ['model', config.text(['model']) === resolved.model ? undefined : resolved.model],
    ['model_context_window', resolved.contextWindow],
    // Codex would delete the login and stop.
    ['forced_login_method', forcedLogin ? 'api' : undefined],
    ...settingOptions.map(({ option, path }) => [path.join('.'), options[option]] as const),
  ]

  // JSON is also valid TOML for text, numbers, booleans and lists of them.
  const flags = settings.flatMap(([path, value]) =>
    value === undefined ? [] : ['-c', `${path}=${JSON.stringify(value)}`],
  )
  const members = headers.map(({ name, variable }) => `${JSON.stringify(name)}="${variable}"`)
  const headerFlags =
    members.length === 0
      ? []
      : ['-c', `model_providers.${id}.env_http_headers={${members.join(',')}}`]

  return {
    args: [...flags, ...headerFlags, ...withoutOfferOnce(resolved.model), ...args],
    env: {
      ...env,
      ...Object.fromEntries(headers.map(({ variable, value }) => [variable, value])),
    },
  }
}

/**
 * What keeps Codex from starting in tables that the run does not use, as a setup repairs it.
 *
 * @throws UserError `config-conflict` if no `-c` can: it removes nothing
 */
function repairs(config: ParsedFile, id: string): readonly (readonly [string, ConfigValue])[] {
  return [...startupFindings(config, id)].flatMap((problem) => {
    const changes = problem.fix?.changes ?? []
    const values = changes.flatMap(({ path, value }): (readonly [string, ConfigValue])[] =>
      value !== undefined && path.every((name) => /^[\w-]+$/.test(String(name)))
        ? [[path.join('.'), value]]
        : [],
    )
    if (changes.length === 0 || values.length < changes.length) throw errorFrom(problem)
    return values
  })
}

// Conversations.

/** A year of conversations may be thousands of files: repoint reads only this many of the newest. */
const maxConversations = 500

/** The first line of a conversation names the provider. It also holds the instructions: 30 kB. */
const maxStartBytes = 128 * 1024

/** The provider of each recorded conversation: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-….jsonl`. */
function recordedProviders(world: ClientWorld): readonly string[] {
  const { files, machine } = world
  const { join } = pathsOf(machine)
  const newestFirst = function* (folder: string): Generator<string> {
    const names = ifPossible(() => files.readdir(folder)) ?? []
    for (const name of names.toSorted().reverse()) {
      const path = join(folder, name)
      if (name.endsWith('.jsonl')) yield path
      else if (/^\d+$/.test(name)) yield* newestFirst(path)
    }
  }

  const providerIds: string[] = []
  for (const path of newestFirst(join(codexHome(machine), 'sessions'))) {
    const provider = providerOf(world, path)
    if (provider !== undefined) providerIds.push(provider)
    if (providerIds.length === maxConversations) break
  }

  return providerIds
}

function providerOf({ files }: ClientWorld, path: string): string | undefined {
  const start = ifPossible(() => files.readStart(path, maxStartBytes))
  return /"model_provider":"([^"\\]+)"/.exec(new TextDecoder().decode(start))?.[1]
}

/**
 * Codex continues a conversation with the provider that it was recorded with (0.146.0 to 0.169.0), or with
 * the one of config.toml (0.105.0 to 0.142.5; 2026-11-22).
 */
function* conversationFindings(
  world: ClientWorld,
  { before, after }: { readonly before: LoadedFiles; readonly after: LoadedFiles },
): Generator<Finding, void> {
  const [from, to] = [before, after].map((files) => parseKind(files, 'config'))
  if (from === undefined || to === undefined) return
  const recorded = recordedProviders(world)

  for (const id of new Set(recorded)) {
    const [old, now] = [providerIn(from, id), providerIn(to, id)]
    if (old === undefined) continue
    const count = recorded.filter((recordedId) => recordedId === id).length
    const some = `Conversations of the provider ${JSON.stringify(id)} (${count} recorded)`
    const wait = id === 'openai' ? '. The first prompt of each takes about 7 s' : ''

    if (now === undefined)
      yield {
        code: 'codex-conversations-closed',
        severity: 'note',
        message: `${some} do not open with \`codex resume\` any more: ${tableName(id)} is removed`,
        hint: '`codex fork SESSION_ID` carries a conversation over to the provider in use.',
      }
    else if (now.isTurnedOff && !old.isTurnedOff)
      yield {
        code: 'codex-conversations-set-aside',
        severity: 'note',
        message: `${some} can be read with \`codex resume\`, but not continued there`,
        hint: '`codex fork SESSION_ID` goes on with a conversation at the gateway, and sends all of that conversation there.',
      }
    else if (
      now.url !== undefined &&
      withoutTrailingSlash(now.url) !== withoutTrailingSlash(old.url ?? vendorUrl)
    )
      yield {
        code: 'codex-conversations-move',
        severity: 'note',
        message: `${some}, once resumed, go to ${shownUrl(addressFor(withoutTrailingSlash(now.url), 'responses'))} too, with the whole conversation${wait}`,
        // 0.169.0 sends them and shows the 400 (2026-11-29).
        hint: 'If that gateway cannot decrypt thoughts of the former one, it rejects such a conversation. Then start a new one.',
      }
  }
}

function providerIn(config: ParsedFile, id: string) {
  if (id === 'openai') return { url: config.text(builtInAddressPath), isTurnedOff: false }
  const table = config.table(['model_providers', id])
  if (table === undefined || reservedIds.includes(id)) return undefined
  return { url: textIn(table, ['base_url']), isTurnedOff: isTurnedOff(table) }
}

// The client.

/** For a model that is not in its own list, Codex assumes 272,000 tokens and warns. */
const contextWindows: WindowHandling = {
  knows: (id) =>
    /^gpt-(?:5\.5|5\.6-(?:sol|terra|luna)|6-(?:sol|luna|astra)|6\.1-(?:sol|terra))/.test(
      removeVendor(id),
    ) || (snapshotFacts(id).contextWindow ?? 0) >= assumedWindow,
  ifUnknown: 'Codex assumes 272,000 tokens',
}

/**
 * OpenAI's agent, which uses the responses protocol.
 *
 * Facts: run with Codex 0.169.0, 2026-11-21 and 2026-11-22, unless a comment says otherwise.
 */
export const codex: ClientModule = {
  program: {
    command: 'codex',
    packages: ['@openai/codex'],
    testedVersions: testedVersions(tested),
    foldersIn: (args) => clientFlagValues(args, ['-C', '--cd']),
    pingArgs: (prompt, version) => [
      'exec',
      '--skip-git-repo-check',
      // Records no conversation. 0.105.0 to 0.169.0 know it; an older one was not asked (2026-11-29).
      ...(isBefore(version, '0.105.0') ? [] : ['--ephemeral']),
      // `--disable` fails where the feature is not known: 0.105.0 and 0.130.0 (2026-11-29).
      '-c',
      'features.unbounded_connection_retries=false',
      prompt,
    ],
    // Only Codex reads the first one; 0.58.0 and 0.105.0 do not know it (2026-11-23).
    caFileVariables: ['CODEX_CA_CERTIFICATE', 'SSL_CERT_FILE'],
    // Codex 0.169.0 (rustls), 2026-11-29.
    rejectsAuthorityAsServer: true,
    // Codex ignores NODE_EXTRA_CA_CERTS.
    certificateStores: () => ({
      system: true,
      hidesSystem: 'SSL_CERT_FILE',
      files: ['CODEX_CA_CERTIFICATE', 'SSL_CERT_FILE'],
      folders: ['SSL_CERT_DIR'],
    }),
    // From 0.122.0 on; this command reads no file (2026-11-23).
    printModelsArgs: ['debug', 'models', '--bundled'],
    accepts: responses.protocols,
    tokens: { firstRequest: 11_400, oneWord: 11_400 },
    pingEnv: {},
    // "Permission denied (os error 13)" (0.171.0, 2026-11-28).
    writesItsFolder: true,
    restartAdvice: 'Close every running Codex: terminal, desktop app and editor extension.',
  },
  protocols: ['responses'],
  sends: { headers: true, otherKeyHeaders: { responses: otherKeyHeaders }, queries: true },
  config: {
    sensitiveSettings,
    folderFiles: [
      {
        patterns: ['.codex/**'],
        reach: 'repository',
        source: 'system calls of 0.169.0, 2026-11-24',
      },
    ],
    interpolation: { names: null, values: null },
    reservedProviderIds: reservedIds,
    gatewayVariables: { addresses: [], others: keyVariables.map(({ name }) => name) },
    variables,
  },

  files: codexFiles,

  read(files) {
    const config = parseKind(files, 'config')
    const authFile = fileOf(files, 'auth')
    const store = config.text(['cli_auth_credentials_store'])
    const auth = readCodexAuth(authFile)
    const fileLogin = store === 'ephemeral' ? undefined : auth.login

    const { id: providerId, table, url, keySource: source } = providerInUse(config)
    const { headers } = readHeaders(table?.['http_headers'])
    const otherHeaders = headers?.filter(({ name }) => !isAuthorization(name))
    const query = textMembers(table?.['query_params'])

    const keyOfAuth = source.kind === 'auth.json' ? auth.usableKey : undefined
    const keyFile = fileOf(files, 'key')
    const fileKey = source.kind === 'key-file' ? keyInFile(keyFile) : keyOfAuth
    // repoint does not read the keyring. At a gateway, an undo restores the user's choice of the store.
    const isInKeyring = store === 'keyring' && url === undefined
    const login = isInKeyring ? keyringLogin : fileLogin && `a ${fileLogin}`
    const { key, keyHeader } =
      source.kind === 'table' ? source : ({ key: fileKey, keyHeader: 'authorization' } as const)

    const model = config.text(['model'])
    const [fault] = [...startupFindings(config), ...checkModelsFile(files, config)]

    return {
      endpoint: {
        baseUrl: url && withoutTrailingSlash(url),
        key,
        keyFrom:
          source.kind === 'variable'
            ? { variable: source.name }
            : source.kind === 'elsewhere'
              ? source.kind
              : undefined,
        keyHeader,
        headers: otherHeaders?.length === 0 ? undefined : otherHeaders,
        query: query.length === 0 ? undefined : query,
        alsoSendsTo:
          keyOfAuth && providerId && url
            ? otherAddress(files, withoutTrailingSlash(url))
            : undefined,
      },
      options: {
        model,
        providerId,
        contextWindow: numberIn(config.root, ['model_context_window']),
        ...readSettingOptions(settingOptions, config.root),
        hasModelsFile: usesModelsFile(files, config) || undefined,
        keepsLogin: source.kind === 'key-file' || undefined,
      },
      offered: offeredByModelsFile(files),
      origins: {
        ...originsIn(config.path, { baseUrl: url, model, key }),
        ...(fileKey && { key: keyOfAuth ? authFile.path : keyFile.path }),
      },
      login: source.kind === 'auth.json' ? login : undefined,
      findings: unreadable(
        config.error?.message ?? (fault && `${fault.location}: ${fault.message}`),
      ),
    }
  },

  checkNow,

  resolve(input, { version, printedModels } = {}) {
    expectCommandSupport(input, version)
    return withModelsFile(
      input,
      resolveOneModel(input, ['responses'], contextWindows),
      printedModels,
    )
  },
  question: loginQuestion,
  plan,
  checkSetup,
  firstRequest,
  launchSettings,
  gatewaySettings,
  sideEffects: (world, change) =>
    change.by === 'forget' ? [] : conversationFindings(world, change),
}

const keyringLogin = "the login in the system's keyring, if there is one"
