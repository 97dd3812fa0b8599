/**
 * Cline's command line: facts, reader, plan, checks, first request, launch, module. Facts: run with 3.0.57 and 3.0.65,
 * 2026-11-23, unless a comment says otherwise.
 *
 * A setup writes, for example:
 *
 *     {
 *       "version": 1,
 *       "lastUsedProvider": "openai-compatible",
 *       "modes": {},
 *       "providers": {
 *         "openai-compatible": {
 *           "settings": {
 *             "provider": "openai-compatible",
 *             "apiKey": "sk-…",
 *             "model": "glm-5",
 *             "contextWindow": 200000,
 *             "baseUrl": "https://…/v1"
 *           },
 *           "updatedAt": "1970-01-01T00:00:00.000Z",
 *           "tokenSource": "manual"
 *         }
 *       }
 *     }
 *
 * Each start rewrites the file with the model of that start and the time. A recorded conversation names only provider
 * and model: when it is continued, Cline uses the settings of the file at that time. Cline leaves a daemon running, the
 * hub, which reads the file for each session. Cline exits with status 1 after a rejected key; for a model that is not
 * served it does so after six requests within a minute. In its screen, `/model` lists the models that the gateway lists
 * at `/models`; Cline sends the key with that request.
 *
 * Images need no setting: Cline sends a picture that its `read_files` reads, whatever the file says about the model. It
 * requests reasoning only if the user does (`--thinking`).
 */
import * as v from 'valibot'
import type { SettingChange, SettingPath } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { Finding, Findings } from '../../finding.ts'
import { withKnownFacts } from '../../gateway/models/facts.ts'
import { catalogEntry } from '../../gateway/models/rules.ts'
import { otherKeyHeaders } from '../../gateway/types.ts'
import { isExported, proxyFindings, variableFindings } from '../checks/environment.ts'
import {
  findingAt,
  missingKeyFinding,
  otherAddressFinding,
  relativePathFindings,
  unreadFileFinding,
} from '../checks/findings.ts'
import { addressFindings } from '../checks/other-tools.ts'
import type { ClientContext, ClientModule } from '../contract/client.ts'
import type { LoadedFile } from '../contract/files.ts'
import { launchKeyVariable } from '../contract/program.ts'
import { catalogIn, type SetupTarget } from '../contract/setup.ts'
import { emptyState } from '../contract/state.ts'
import { mayNeedNoKey, pointsElsewhere, withoutTrailingSlash } from '../files/addresses.ts'
import { brokenText, fileOf, originsIn, unreadable } from '../files/parse-file.ts'
import { editableFile, layersThere, pathsOf } from '../files/paths.ts'
import { gatewaySettingsIn, row } from '../files/sensitive-settings.ts'
import { readStrictly, type StrictFile } from '../files/strict-json.ts'
import { numberIn, overlaid, type Table, tableIn, textIn } from '../files/tables.ts'
import { resolveOneModel } from '../models/resolve.ts'
import { clineName } from '../names.ts'
import { keepsModels } from '../options/chosen-options.ts'
import { planOneFile } from '../plan/edit-file.ts'
import { type EntryMember, entryChanges } from '../plan/entries.ts'
import { withoutForeignSettings } from '../plan/foreign-settings.ts'
import { bearerChanges, expectBearer, headerChanges, readHeaders } from '../plan/headers.ts'
import { clientFlagValues, expectUnset } from '../program/arguments.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { ofOwnRuntime, testedVersions } from '../program/tested.ts'
import responses from './responses.json' with { type: 'json' }
import tested from './tested.json' with { type: 'json' }

// Facts.

const program: ClientModule['program'] = {
  command: 'cline',
  packages: ['cline', '@cline/cli-*'],
  testedVersions: testedVersions(tested),
  foldersIn: (args) => clientFlagValues(args, ['-c', '--cwd']),
  // 2.18.0 has another layout, and prints `Not authenticated`.
  minVersion: '3.0.57',
  // Otherwise Cline runs every tool without a question. It takes a single word for a command.
  pingArgs: (prompt) => ['--auto-approve', 'false', `${prompt} `],
  caFileVariables: ['NODE_EXTRA_CA_CERTS'],
  // Cline reads the system's store only if Node 22.15 or newer starts it; npm's script leaves that to chance.
  certificateStores: () => ({ ...ofOwnRuntime()(), system: false }),
  accepts: responses.protocols,
  tokens: { firstRequest: 6_200, oneWord: 6_200 },
  pingEnv: { CLINE_SESSION_BACKEND_MODE: 'local', CLINE_NO_AUTO_UPDATE: '1' },
  restartAdvice: 'Close every running Cline and start it again.',
}

/**
 * Cline's provider for a gateway with the chat protocol. With an ID of our own, the agent exits with `Unknown or
 * disabled provider`.
 *
 * Cline has two other providers with an address of the user's choice: `openai-native` (responses) and `anthropic`
 * (messages). They always offer tools that the vendors' servers run (`image_generation`, `web_search`), no setting
 * removes those, and `repoint run` could not give them a key: they read it from the file only (3.0.57 and 3.0.65,
 * 2026-11-26).
 */
const providerId = 'openai-compatible'
const providerPath: SettingPath = ['providers', providerId]
const settingsPath: SettingPath = [...providerPath, 'settings']
const usedPath: SettingPath = ['lastUsedProvider']

const tried = '3.0.57 and 3.0.65, 2026-11-23'
const newest = '3.0.65, 2026-11-23'
const traced = 'system calls of 3.0.65, 2026-11-24'
/** The file replaces the user's own. */
const fileVariable = 'CLINE_PROVIDER_SETTINGS_PATH'

const config: ClientModule['config'] = {
  sensitiveSettings: {
    codeWord: 'settings',
    providerTable: () => providerId,
    rows: [
      row('providers.:provider.settings.baseUrl', 'address', ['providers'], tried),
      row('providers.:provider.settings.apiKey', 'key', ['providers'], tried),
      // Cline sends an access token instead of the key.
      row('providers.:provider.settings.auth', 'key', ['providers'], tried),
      row('lastUsedProvider', 'model', ['providers'], tried),
      row('providers.:provider.settings.model', 'model', ['providers'], tried),
      // CLINE_DIR, CLINE_DATA_DIR, CLINE_PROVIDER_SETTINGS_PATH and CLINE_SANDBOX select other settings.
      row('env.CLINE_*', 'provider', ['project-env'], newest),
      row('env.HTTP*_PROXY', 'proxy', ['project-env'], newest),
      row('env.NODE_TLS_REJECT_UNAUTHORIZED', 'trust', ['project-env'], newest),
    ],
  },
  folderFiles: [
    { patterns: ['.cline/**', '.clinerules/**'], reach: 'repository', source: traced },
    { patterns: ['bunfig.toml', '.env*'], reach: 'folder', source: traced },
  ],
  // Cline sends `${HOME}`, `$HOME` and `{env:HOME}` in a header, a model or a key unchanged.
  interpolation: { names: null, values: null },
  variables: {
    families: ['CLINE_'],
    harmful: [
      {
        name: 'CLINE_SANDBOX',
        code: 'cline-sandbox',
        effect: 'Cline reads a sandbox folder instead of your settings',
        severity: 'error',
      },
    ],
    // Of its hub, its debugger and its marketplace (names in 3.0.65, 2026-11-28; not run).
    harmless: ['CLINE_DEBUG_HOST', 'CLINE_HUB_*', 'CLINE_*RPC_ADDRESS', 'CLINE_MARKETPLACE_*'],
  },
}

/**
 * The settings that Cline only uses itself, and the reasoning that `firstRequest` adds to the probe. Read in the
 * schema of 3.0.65, 2026-11-28. It ignores `maxTokens`.
 */
const harmless = ['timeout', 'maxTokens', 'reasoning.enabled', 'reasoning.effort']

/** In tokens: the limit that Cline requests once it knows a window, or what is left of that window. */
const usualOutputTokens = 32_000

/** In tokens: what Cline sends before the first question (instructions, tools), and what it never uses. */
const ownTokens = 8_000

// Reader.

const files: ClientModule['files'] = (machine, disk) => {
  const { join, named } = pathsOf(machine)
  const clineFolder = named('CLINE_DIR') ?? join(machine.home, '.cline')
  const data = named('CLINE_DATA_DIR') ?? join(clineFolder, 'data')
  const settings = named(fileVariable) ?? join(data, 'settings', 'providers.json')

  // Cline's runtime, Bun, reads those of the working folder before Cline starts, weakest first; the environment
  // overrides them. Bun also reads them in the home folder if Cline starts there.
  const mode = machine.env['NODE_ENV'] || 'development'
  const envFiles = ['.env', `.env.${mode}`, '.env.local', `.env.${mode}.local`]
  return [
    editableFile('providers', settings),
    ...layersThere(disk, settings, [
      {
        kind: 'project-env',
        owner: 'folder',
        content: 'variables',
        paths: envFiles.map((name) => join(machine.cwd, name)),
      },
    ]),
  ]
}

/** A file that Cline reads at all. When Cline writes the file, it drops everything that it does not know. */
const fileSchema = v.object({
  version: v.literal(1),
  lastUsedProvider: v.optional(v.string()),
  providers: v.record(
    v.string(),
    v.object({
      settings: v.object({
        provider: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]*$/i)),
        apiKey: v.optional(v.string()),
        model: v.optional(v.string()),
        baseUrl: v.optional(v.pipe(v.string(), v.url())),
        headers: v.optional(v.record(v.string(), v.string())),
        contextWindow: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
      }),
      updatedAt: v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z$/)),
      tokenSource: v.picklist(['manual', 'oauth', 'migration']),
    }),
  ),
})

function problemIn(root: Table): string | undefined {
  const { issues } = v.safeParse(fileSchema, root)
  const [first] = issues ?? []
  if (first === undefined) return undefined
  const path = v.getDotPath(first) ?? 'the file'
  return first.received === 'undefined'
    ? `${path} is missing`
    : `${path} has a value that Cline does not accept`
}

/** providers.json as Cline reads it. */
interface ProvidersFile extends StrictFile, ReturnType<typeof readHeaders> {
  /** The provider that Cline starts with. Undefined: its own service. */
  readonly used?: string
  /** `used` has a login of a vendor, which Cline sends instead of a key. */
  readonly isLoggedIn: boolean
  /** The settings of our provider. Empty: there are none. */
  readonly settings: Table
  readonly baseUrl?: string
  readonly apiKey?: string
}

/**
 * Cline accepts plain JSON only. A comment, a trailing comma, a byte order mark or one invalid entry of any provider
 * makes the whole file count as empty. The next start then overwrites it, and the keys of all providers are lost.
 */
function readProviders(file: LoadedFile): ProvidersFile {
  const read = readStrictly(file, { problemIn })
  const used = read.text(usedPath)
  const settings = tableIn(read.root, settingsPath)
  const hasToken = (id: string) =>
    textIn(read.root, ['providers', id, 'settings', 'auth', 'accessToken']) !== undefined
  return {
    ...read,
    used,
    isLoggedIn: used !== undefined && hasToken(used),
    settings,
    baseUrl: textIn(settings, ['baseUrl']),
    apiKey: textIn(settings, ['apiKey']),
    ...readHeaders(settings['headers']),
  }
}

const read: ClientModule['read'] = (files) => {
  const file = readProviders(fileOf(files, 'providers'))
  const { path, whyIgnored, used, isLoggedIn, settings, baseUrl, apiKey, headers, headerKey } = file
  if (whyIgnored !== undefined)
    return { ...emptyState, findings: unreadable(brokenText(path, whyIgnored)) }
  if (used !== providerId || isLoggedIn)
    return { ...emptyState, login: isLoggedIn ? `the login of its provider ${used}` : undefined }

  const sent = apiKey ? { key: apiKey } : headerKey
  const model = textIn(settings, ['model'])
  return {
    endpoint: {
      baseUrl: baseUrl && withoutTrailingSlash(baseUrl),
      keyHeader: 'authorization',
      ...sent,
      headers,
    },
    options: { model, contextWindow: numberIn(settings, ['contextWindow']) },
    origins: originsIn(path, { baseUrl, model, key: sent?.key }),
    findings: [],
  }
}

const gatewaySettings: ClientModule['gatewaySettings'] = (files) => {
  if (read(files).endpoint.baseUrl === undefined) return {}
  const file = fileOf(files, 'providers')
  return { providers: gatewaySettingsIn(config.sensitiveSettings, file, providerId) }
}

// Plan.

/**
 * Leaves out the window if the model's answers are known to be shorter than the limit that Cline requests once it
 * knows a window. Cline ignores `maxTokens` everywhere.
 */
const resolve: ClientModule['resolve'] = (input) => {
  const resolved = resolveOneModel(input, ['chat'], {
    ifUnknown: 'Cline does not know when to summarise a conversation.',
  })

  const { contextWindow, ...others } = resolved
  const { model, findings } = resolved
  const listed = catalogEntry(catalogIn(input.gatewayInfo), model) ?? { id: model }
  const limit = withKnownFacts(listed).outputLimit
  const isSafe = limit === undefined || limit >= usualOutputTokens
  const chosenWindow =
    input.requested.contextWindow ?? (keepsModels(input) && input.earlier?.options.contextWindow)
  if (contextWindow === undefined || isSafe || chosenWindow) return resolved

  const note: Finding = {
    code: 'context-window-left-out',
    severity: 'note',
    message: `repoint leaves out the context window of ${model}, because Cline would then request answers of 32,000 tokens, and the model's limit is ${limit}`,
    hint: 'To set the window anyway: repoint cline --context-window TOKENS',
  }
  return { ...others, findings: [...findings, note] }
}

/** The changes to providers.json, in the order in which Cline writes its members. */
function changes(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const { model, contextWindow } = target.resolved
  const { root, settings: now, baseUrl } = readProviders(file)
  const isOtherGateway = pointsElsewhere(baseUrl, target.baseUrl)
  const isOtherModel = now['model'] !== model
  const entry = { path: settingsPath, now, isOtherGateway, isOtherModel }
  const members: readonly EntryMember[] = [
    { path: ['provider'], value: providerId },
    ...bearerChanges(['apiKey'], now['apiKey'], target),
    { path: ['model'], value: model },
    { path: ['contextWindow'], value: contextWindow, about: ['contextWindow'] },
    { path: ['baseUrl'], value: target.baseUrl },
    ...headerChanges(['headers'], now['headers'], target, isOtherGateway),
  ]
  const ours = entryChanges(entry, members, { id: model, contextWindow }, target)

  const isMissing = (name: string) => root[name] === undefined
  const updatedAt = textIn(root, [...providerPath, 'updatedAt'])
  return [
    ...(isMissing('version') ? [{ path: ['version'], value: 1 }] : []),
    { path: usedPath, value: providerId },
    // Cline would add it itself.
    ...(isMissing('modes') ? [{ path: ['modes'], value: {} }] : []),
    ...withoutForeignSettings(ours, { ...entry, harmless }, target),
    // Cline requires both. It writes the time of each start.
    {
      path: [...providerPath, 'updatedAt'],
      value: updatedAt ?? '1970-01-01T00:00:00.000Z',
      rewrittenByClient: true,
    },
    ...(updatedAt === undefined
      ? [{ path: [...providerPath, 'tokenSource'], value: 'manual' }]
      : []),
  ]
}

// Checks.

function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const file = readProviders(fileOf(context.files, 'providers'))
  const { used, isLoggedIn, baseUrl } = file
  yield* checkSurroundings(context, file)
  yield* otherAddressFinding(context, target, {
    code: 'cline-provider-conflict',
    what: `the provider ${providerId}`,
    url: baseUrl,
    location: file.place([...settingsPath, 'baseUrl']),
    hint: 'Nothing to do: Cline has no second provider for gateways.',
  })

  if (isLoggedIn)
    yield findingAt(file, usedPath, {
      code: 'cline-login',
      message: `Cline is logged in with an account of its provider ${used}`,
      hint: 'Nothing to do. repoint rollback restores the login.',
      needsConsentTo: `Stop using the login of Cline's provider ${used}. repoint rollback restores it.`,
      severity: 'warning',
    })

  yield* proxyFindings(clineName, target.baseUrl, context.machine.env)
  if (target.keyHeader !== 'authorization') yield* checkSecondKey(context)
}

function* checkNow(context: ClientContext): Findings {
  const file = readProviders(fileOf(context.files, 'providers'))
  const { used, isLoggedIn, baseUrl, apiKey, headerKey } = file
  yield* checkSurroundings(context, file)
  // With another provider, the user may configure Cline freely.
  if (used !== providerId) return

  const hasKey = Boolean(apiKey) || headerKey !== undefined
  const isKeyElsewhere = isLoggedIn || isExported(context, 'OPENAI_API_KEY')
  if (!hasKey && !isKeyElsewhere && !mayNeedNoKey(baseUrl, context)) {
    const message = 'the provider of Cline has no apiKey: Cline sends no key'
    yield missingKeyFinding(clineName, file.place(settingsPath), message)
  }

  yield* addressFindings(clineName, context, file, {
    url: baseUrl,
    path: [...settingsPath, 'baseUrl'],
    name: 'baseUrl of its provider',
    key: apiKey,
    keyPlace: file.place([...settingsPath, 'apiKey']),
  })
  if (baseUrl !== undefined) yield* proxyFindings(clineName, baseUrl, context.machine.env)
  if (!apiKey && headerKey) yield* checkSecondKey(context)
}

function* checkSurroundings(context: ClientContext, file: ProvidersFile): Findings {
  yield* relativePathFindings(clineName, context.machine, {
    names: ['CLINE_DIR', 'CLINE_DATA_DIR', fileVariable],
  })
  yield* variableFindings(context, config.variables.harmful)
  yield* unreadFileFinding(file, {
    code: 'cline-providers-unreadable',
    effect:
      'Cline ignores the whole file, and replaces it at the next start with a file without keys',
    topic: 'broken',
  })
}

/** Reports a variable whose key Cline would send in addition to the gateway's key in another header. */
function checkSecondKey(context: ClientContext): Findings {
  return variableFindings(context, [
    {
      name: 'OPENAI_API_KEY',
      code: 'cline-second-key',
      effect: 'Cline sends this value as a second key',
      severity: 'error',
    },
  ])
}

// First request and launch.

const windowCure =
  'Name a smaller context window, so that the limit is lower: {--context-window TOKENS}. If the gateway rejects the name of the limit, name another model: {--model ID}'

/** What the model and the settings change in the recorded request. Without a window, Cline sends no limit. */
const firstRequest: ClientModule['firstRequest'] = async (files, { model, protocol, version }) => {
  const { default: recordings } = await import('./first-requests.json', {
    with: { type: 'json' },
  })
  const { settings } = readProviders(fileOf(files, 'providers'))
  const { enabled, effort } = tableIn(settings, ['reasoning'])
  const left = (numberIn(settings, ['contextWindow']) ?? 0) - ownTokens

  // Which models edit files by patches (read in 3.0.65, 2026-11-26), and which have the newer limit.
  const kind = /codex|gpt/i.test(model) ? 'gpt' : 'other'
  const isOpenAiModel = /(?<![a-z0-9])(?:o[134]|gpt-?5)(?![a-z0-9])/i.test(model)
  const { headers, body } = recordedRequest(recordings, { kind, protocol, version })
  const { max_tokens: _, max_completion_tokens: __, ...usual } = body
  return {
    headers,
    body: {
      ...usual,
      [isOpenAiModel ? 'max_completion_tokens' : 'max_tokens']:
        left > 0 ? Math.min(left, usualOutputTokens) : undefined,
      reasoning_effort: enabled === true && effort !== 'none' ? effort : undefined,
    },
    hints: { max_tokens: windowCure, max_completion_tokens: windowCure },
  }
}

/** Options that select other settings, or write the key into them. A short option may follow others in one word. */
const leadsElsewhere = /^(?:--(?:data-dir|provider|key)(?==|$)|-[Vpizvh]*[Pk])/

/**
 * Options that leave a daemon running: Cline's screen, hub and schedules continue there with the environment of their
 * start.
 */
const leavesDaemon = /^(?:--(?:tui|id|zen|kanban|acp)(?==|$)|-[Vpvh]*[iz])/

/**
 * Uses a separate settings file without a key. Cline takes the key from `OPENAI_API_KEY` instead, and rewrites the
 * file without a key. With `CLINE_SESSION_BACKEND_MODE=local` a prompt leaves no daemon that holds the key; Cline's
 * screen still does.
 */
const launchSettings: ClientModule['launchSettings'] = (
  files,
  target,
  { args, env, tempFolder },
) => {
  expectBearer(clineName, target)

  // Drops the value after the flag: it may be a key.
  const flag = args.map((arg) => leadsElsewhere.exec(arg)?.[0]).find(Boolean)
  expectUnset(
    flag ?? (env['CLINE_SANDBOX'] && 'CLINE_SANDBOX'),
    (name) =>
      `${name} names other settings for Cline, and repoint needs that option for the gateway`,
  )

  // A prompt contains a blank: Cline takes a single word for a command.
  const hasPrompt = args.some(
    (arg, index) =>
      /^[^-].*\s/s.test(arg) && !['-s', '--system', '-c', '--cwd'].includes(args[index - 1] ?? ''),
  )
  if (args.some((arg) => leavesDaemon.test(arg)) || !hasPrompt)
    throw new UserError({
      code: 'usage',
      message: 'Without a prompt, Cline leaves a program running that keeps the key',
      hint: 'Add a prompt of several words: repoint run NAME -- cline "Say hello". To use its screen, set Cline up: repoint cline',
    })

  // The settings that a setup would write into a home without Cline.
  const all = changes({ ...fileOf(files, 'providers'), bytes: null }, target)
  const settings = overlaid(
    {},
    all.filter(({ path }) => path.at(-1) !== 'apiKey'),
  )
  const name = 'cline-providers.json'
  return {
    args,
    env: {
      ...env,
      [fileVariable]: `${tempFolder}/${name}`,
      OPENAI_API_KEY: env[launchKeyVariable],
      CLINE_SESSION_BACKEND_MODE: 'local',
    },
    files: { [name]: JSON.stringify(settings, null, 2) },
  }
}

// Module.

export const cline: ClientModule = {
  program,
  protocols: ['chat'],
  // Without an apiKey Cline sends no `authorization`, unless OPENAI_API_KEY is set.
  sends: { headers: true, otherKeyHeaders: { chat: otherKeyHeaders } },
  config,
  files,
  read,
  checkNow,
  resolve,
  plan: planOneFile({
    client: clineName,
    sensitiveSettings: config.sensitiveSettings,
    kind: 'providers',
    read: readProviders,
    changes,
  }),
  checkSetup,
  firstRequest,
  launchSettings,
  gatewaySettings,
}
