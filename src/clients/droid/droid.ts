/**
 * Factory droid: facts, reader, plan, checks, first request, launch, module. Facts: run with 0.215.0 and 0.225.2,
 * 2026-11-22, unless a comment says otherwise.
 *
 * A setup writes an entry for each model, and the model that droid starts with:
 *
 *     {
 *       "customModels": [
 *         { "id": "custom:gateway", "model": "glm-5", "displayName": "Gateway", "baseUrl": "https://…/v1", … },
 *         { "id": "custom:gateway/glm-4.7", "model": "glm-4.7", "displayName": "GLM 4.7", … }
 *       ],
 *       "sessionDefaultSettings": { "model": "custom:gateway" }
 *     }
 *
 * An entry's `id` is `custom:PROVIDER` for the model that droid starts with, and `custom:PROVIDER/MODEL` for every
 * other one. Its `model` is what droid sends to the gateway.
 */
import type { ConfigValue, SettingChange, SettingPath } from '../../edits/types.ts'
import { errorFrom } from '../../errors.ts'
import type { Findings } from '../../finding.ts'
import { isSameButVersion, sideOf } from '../../gateway/base-urls.ts'
import { otherKeyHeaders, type Protocol, protocols } from '../../gateway/types.ts'
import { proxyFindings, variableFindings } from '../checks/environment.ts'
import {
  findingAt,
  missingKeyFinding,
  otherAddressFinding,
  relativePathFindings,
  unreadFileFinding,
} from '../checks/findings.ts'
import { addressFindings } from '../checks/other-tools.ts'
import type { ClientContext, ClientModule } from '../contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import { launchKeyVariable } from '../contract/program.ts'
import type { OfferedModel, SetupTarget } from '../contract/setup.ts'
import { mayNeedNoKey, pointsElsewhere, withoutTrailingSlash } from '../files/addresses.ts'
import {
  brokenText,
  fileOf,
  filesOfKind,
  originsIn,
  textOf,
  unreadable,
} from '../files/parse-file.ts'
import { editableFile, layersThere, pathsOf, projectFolders } from '../files/paths.ts'
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
  textIn,
} from '../files/tables.ts'
import { offeredIn, resolveWithPicker } from '../models/picker.ts'
import { protocolsForKey } from '../models/protocols.ts'
import { droidName } from '../names.ts'
import { outputLimitCures } from '../options/flags.ts'
import { planOneFile } from '../plan/edit-file.ts'
import { type EntryMember, entryChanges, removedEntries, writtenAbility } from '../plan/entries.ts'
import { withoutForeignSettings } from '../plan/foreign-settings.ts'
import { bearerChanges, expectBearer, headerChanges, readHeaders } from '../plan/headers.ts'
import { clientFlagValues, expectUnset, typedFlag } from '../program/arguments.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { ofOwnRuntime, testedVersions } from '../program/tested.ts'
import responses from './responses.json' with { type: 'json' }
import tested from './tested.json' with { type: 'json' }

// Facts.

/**
 * Older versions (0.99.0, 0.117.0) do nothing without FACTORY_API_KEY, whatever its value is. droid reports every
 * session to Factory and, for a model of the user, the number of tokens.
 */
const program: ClientModule['program'] = {
  command: 'droid',
  packages: ['droid', '@factory/cli', '@factory/cli-*'],
  // `FACTORY_DROID_AUTO_UPDATE_ENABLED` disables updates (read in 0.225.2, 2026-11-24).
  updatesItself: true,
  testedVersions: testedVersions(tested),
  foldersIn: (args) => clientFlagValues(args, ['--cwd']),
  // 0.117.0, the previous version on npm, requires an account (2026-11-23).
  minVersion: '0.215.0',
  // `exec` only reads. After a rejected key it exits with status 1 and prints only "Exec failed".
  pingArgs: (prompt) => ['exec', prompt],
  // FACTORY_EXTRA_CA_CERTS does the same.
  caFileVariables: ['NODE_EXTRA_CA_CERTS'],
  certificateStores: ofOwnRuntime('FACTORY_EXTRA_CA_CERTS'),
  accepts: responses.protocols,
  tokens: { firstRequest: 11_600, oneWord: 11_600 },
  pingEnv: { FACTORY_DROID_AUTO_UPDATE_ENABLED: 'false' },
  restartAdvice:
    'Close every running droid and start it again. Its screen still asks for a Factory login. `droid exec` does not.',
}

const sends: ClientModule['sends'] = {
  headers: true,
  // Without an apiKey droid sends no `authorization`. It sends the values of headers unchanged.
  otherKeyHeaders: { chat: otherKeyHeaders, responses: otherKeyHeaders, messages: ['x-api-key'] },
  fixedKeyHeader: { messages: 'x-api-key' },
}

/** The settings files. In a layer, an entry with our ID replaces our whole entry. */
const settingsKinds = ['settings', 'upper', 'project', 'managed']
const tried = '0.215.0 and 0.225.2, 2026-11-22'

/** Names a settings file that overrides all others, including those of projects (0.215.0, 0.225.2). */
const runtimeSettings = 'FACTORY_RUNTIME_SETTINGS_PATH'

const config: ClientModule['config'] = {
  sensitiveSettings: {
    codeWord: 'settings',
    providerTable: (providerId) => entryId(providerId),
    rows: [
      row('customModels.:provider.baseUrl', 'address', settingsKinds, tried),
      row('customModels.:provider.apiKey', 'key', settingsKinds, tried),
      row('customModels.:provider.extraHeaders', 'key', ['project'], tried),
      row('customModels.:provider.provider', 'provider', settingsKinds, tried),
      row('customModels.:provider.authMode', 'provider', settingsKinds, tried),
      row('customModels.:provider.bedrock', 'provider', settingsKinds, tried),
      row('customModels.:provider.model', 'model', ['settings'], tried),
      row('model', 'model', [...settingsKinds, 'project-agent'], tried),
      row('sessionDefaultSettings.model', 'model', settingsKinds, tried),
      row('sessionDefaultSettings.specModeModel', 'model', ['settings', 'project'], tried),
    ],
  },
  folderFiles: [
    {
      patterns: ['.factory/**', '.agent/**', '.agents/**'],
      reach: 'all',
      source: 'system calls of 0.225.2, 2026-11-24',
    },
  ],
  // droid reads IDs and names unchanged (0.225.2, 2026-11-23).
  interpolation: { names: null, values: /\$\{[^}]+\}/ },
  variables: {
    families: ['FACTORY_', 'DROID_'],
    harmful: [
      {
        name: runtimeSettings,
        code: 'droid-environment-settings',
        effect: 'the file that it names overrides every other',
        severity: 'warning',
        isLeftToLaunch: true,
      },
    ],
    // The key of its own service, which it sends only there.
    harmless: ['FACTORY_API_KEY'],
  },
  reservedProviderIds: [],
}

/** The member `provider` of an entry (each run with 0.215.0 and 0.225.2, 2026-11-26). */
const providerOf: Readonly<Record<Protocol, string>> = {
  chat: 'generic-chat-completion-api',
  responses: 'openai',
  messages: 'anthropic',
}

/** With any other text in one entry, droid reads none of the entries. The last five are in the program of 0.225.2. */
const knownProviders = [
  ...Object.values(providerOf),
  ...['bedrock-converse', 'factory', 'google', 'voyage', 'xai'],
]

/**
 * The settings of an entry that droid only uses itself, and the limits that `firstRequest` adds to the probe. Read
 * in the schema of 0.225.2, 2026-11-28.
 */
const harmless = [
  ...['id', 'index', 'displayName', 'noImageSupport', 'maxContextLimit', 'maxOutputTokens'],
  'useInRouter',
]

/** In tokens. Without a limit droid asks for 128,000, which many models reject (0.225.2). */
const defaultOutputTokens = 16_384

const defaultModelPath: SettingPath = ['sessionDefaultSettings', 'model']

/** The IDs of the user's own models begin with it. */
const prefix = 'custom:'

function entryId(providerId: string, otherModel?: string): string {
  return prefix + (otherModel === undefined ? providerId : `${providerId}/${otherModel}`)
}

function entryPath(id: string): SettingPath {
  return ['customModels', { element: { id } }]
}

// Reader.

/**
 * The stronger file overrides key by key, and `customModels` entry by entry. Files of projects override the user's
 * own. In a repository droid reads every folder above, otherwise only the one where it starts.
 */
const files: ClientModule['files'] = (machine, disk) => {
  const { join, named } = pathsOf(machine)
  const userFolder = join(named('FACTORY_HOME_OVERRIDE') ?? machine.home, '.factory')
  const settings = join(userFolder, 'settings.json')
  const projects = projectFolders(machine, disk).map((folder) => join(folder, '.factory'))
  // In the home folder they are the user's own.
  const agents = projects
    .filter((folder) => folder !== userFolder)
    .map((folder) => join(folder, 'droids'))
    .flatMap((folder) => disk.entries(folder).map((name) => join(folder, name)))
  // The program of 0.225.2 names these folders; not run.
  const managed = {
    linux: '/etc/factory',
    darwin: '/Library/Application Support/Factory',
    win32: 'C:\\Program Files\\Factory',
  }[machine.os]

  return [
    editableFile('settings', settings),
    ...layersThere(disk, settings, [
      { kind: 'upper', owner: 'user', paths: [join(userFolder, 'settings.local.json')] },
      {
        kind: 'project',
        owner: 'folder',
        paths: projects.flatMap((folder) =>
          ['settings.json', 'settings.local.json'].map((name) => join(folder, name)),
        ),
      },
      {
        kind: 'project-agent',
        owner: 'folder',
        content: 'agent',
        paths: agents.filter((path) => path.endsWith('.md')),
      },
      { kind: 'managed', owner: 'administrator', paths: [join(managed, 'settings.json')] },
    ]),
  ]
}

/** An entry of `customModels`. */
interface CustomModel {
  readonly table: Table
  /**
   * Undefined: it has none, or one that does not begin with `custom:`. droid then derives it from the name and the
   * position (`custom:Gateway-0`), so it changes with the other entries. When its screen starts, droid writes `id`
   * and `index` into every entry and removes the comments from the file; it keeps an existing ID (0.225.2).
   */
  readonly id?: string
  /** `gateway` of `custom:gateway/glm-4.7`. */
  readonly providerId?: string
  readonly protocol?: Protocol
  readonly baseUrl?: string
}

/** A settings file as droid reads it. */
interface DroidSettings extends StrictFile {
  readonly entries: readonly CustomModel[]
  /** The ID of the model that droid starts with: of an entry, or one of Factory's. */
  readonly chosenId?: string
  readonly chosen?: CustomModel
}

/** droid accepts comments. With a trailing comma, a byte order mark or another fault, the file counts as missing. */
function readSettings(file: LoadedFile): DroidSettings {
  const isBlank = textOf(file).trim() === ''
  const read = readStrictly(isBlank ? { ...file, bytes: null } : file, { allowsComments: true })

  const list = read.root['customModels']
  // droid skips entries that are not objects.
  const entries = (Array.isArray(list) ? list.filter(isTable) : []).map((table): CustomModel => {
    const text = textIn(table, ['id'])
    const id = text?.startsWith(prefix) ? text : undefined
    return {
      table,
      id,
      providerId: id?.slice(prefix.length).replace(/\/.*/s, ''),
      protocol: protocols.find((protocol) => providerOf[protocol] === table['provider']),
      baseUrl: textIn(table, ['baseUrl']),
    }
  })

  // The newer key overrides the older one.
  const chosenId = read.text(defaultModelPath) ?? read.text(['model'])
  const chosen = chosenId?.startsWith(prefix) ? entryCalled(entries, chosenId) : undefined
  return { ...read, entries, chosenId, chosen }
}

/**
 * Finds an entry as droid does: by its ID, else by its name and the number of earlier entries with that name, else
 * by its name and position in the list, else by its model. If several match, the first counts.
 */
function entryCalled(entries: readonly CustomModel[], id: string): CustomModel | undefined {
  const called = id.slice(prefix.length)
  const names = entries.map(({ table: { displayName, model } }) =>
    plainName(displayName ?? model)
      .trim()
      .replace(/\s+/g, '-'),
  )
  const isCalled = (name: string, index: number) => {
    const earlier = names.slice(0, index).filter((other) => other === name)
    return `${name}-${earlier.length}` === called
  }

  return (
    entries.find((entry) => entry.id === id) ??
    entries[names.findIndex(isCalled)] ??
    entries[names.findIndex((name, index) => `${name}-${index}` === called)] ??
    entries.find(({ table }) => table['model'] === called)
  )
}

/** The environment variables in a text: `${NAME}`, which is empty if the variable is not set. */
function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(/\$\{([^}]+)\}/g)].map(([, name]) => name!)
}

const read: ClientModule['read'] = (files) => {
  const settings = readSettings(fileOf(files, 'settings'))
  const { path, whyIgnored, entries, chosenId, chosen } = settings
  const { table, providerId, protocol, baseUrl } = chosen ?? {}
  const model = chosen ? textIn(table, ['model']) : chosenId

  const { headers, headerKey } = readHeaders(table?.['extraHeaders'])
  const apiKey = textIn(table, ['apiKey'])
  // The file does not say the value of a variable.
  const knownKey = apiKey && variablesIn(apiKey).length === 0 ? apiKey : undefined
  const sent = apiKey ? { key: knownKey, keyHeader: 'authorization' as const } : headerKey

  return {
    endpoint: {
      baseUrl: baseUrl && withoutTrailingSlash(baseUrl),
      keyHeader: 'authorization',
      ...sent,
      headers,
    },
    // A model of ours that the user chose with `/model` belongs to the same setup.
    options: { protocol, model, providerId, contextWindow: numberIn(table, ['maxContextLimit']) },
    // Entries of other providers are the user's own.
    offered: entries
      .filter((entry) => providerId !== undefined && entry.providerId === providerId)
      .map((entry) => plainName(entry.table['model'])),
    origins: originsIn(path, { baseUrl, model, key: sent?.key }),
    findings: unreadable(whyIgnored && brokenText(path, whyIgnored)),
  }
}

/** All models at the address in use, because each entry also holds the key. */
const gatewaySettings: ClientModule['gatewaySettings'] = (files) => {
  const settings = readSettings(fileOf(files, 'settings'))
  const { entries, chosen } = settings
  const url = chosen?.baseUrl
  if (url === undefined) return {}

  const isAtGateway = ({ baseUrl }: CustomModel) =>
    baseUrl !== undefined && isSameButVersion(baseUrl, url)
  const others = entries.filter((entry) => !isAtGateway(entry)).map(({ table }) => table)
  const elements = entries
    .filter(isAtGateway)
    .map(({ table }) => knownElement(table, ['id', 'model', 'displayName', 'baseUrl'], others))
  return {
    settings: [
      ...[defaultModelPath, ['model']].filter((path) => settings.get(path) !== undefined),
      ...elements.map((element) => ['customModels', element]),
    ],
  }
}

// Plan.

/**
 * The changes to `customModels` and to the default model. For example, a setup chooses `b` at a gateway that has `a`
 * and `b`; before, it chose `a`:
 *
 *     entry               model before    model after
 *     custom:gateway      a               b
 *     custom:gateway/a                    a
 *     custom:gateway/b    b               removed
 */
function changes(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const { providerId, resolved, baseUrls } = target
  const settings = readSettings(file)
  const [, ...offered] = offeredIn(resolved)

  // Only repoint writes such IDs.
  const start = entryId(providerId, '')
  const present = settings.entries.flatMap(({ id, baseUrl, protocol = resolved.protocol }) => {
    if (!id?.startsWith(start)) return []
    const model = { id: id.slice(start.length), protocol }
    const isOtherGateway = pointsElsewhere(baseUrl, baseUrls[sideOf(protocol)])
    return [{ model, path: entryPath(id), isOtherGateway, isByRepoint: true as const }]
  })
  // If the gateway has not reported its models, those of an earlier setup stay, with the new key.
  const isListUnknown = offered.length === 0 && !resolved.offersWholeCatalog
  const others = isListUnknown
    ? present.filter(({ isOtherGateway }) => !isOtherGateway).map(({ model }) => model)
    : offered
  const gone = present.filter(({ model }) => others.every(({ id }) => id !== model.id))

  return [
    ...removedEntries(file, gone, target),
    ...startModelChanges(settings, target),
    ...others.flatMap((model) =>
      modelChanges(settings, entryId(providerId, model.id), model, target),
    ),
    { path: defaultModelPath, value: entryId(providerId) },
  ]
}

function startModelChanges(settings: DroidSettings, target: SetupTarget): readonly SettingChange[] {
  const { providerId, resolved } = target
  const [first] = offeredIn(resolved)
  const model = { ...first, displayName: 'Gateway', contextWindow: resolved.contextWindow }
  return modelChanges(settings, entryId(providerId), model, target)
}

function modelChanges(
  settings: DroidSettings,
  id: string,
  model: OfferedModel,
  target: SetupTarget,
): readonly SettingChange[] {
  const path = entryPath(id)
  // Also in a file that droid ignores so far.
  const now = tableIn(settings.document?.get(path), [])
  const { protocol, contextWindow, displayName = model.id } = model
  const baseUrl = target.baseUrls[sideOf(protocol)]
  const isOtherGateway = pointsElsewhere(textIn(now, ['baseUrl']), baseUrl)
  const isOtherModel = now['model'] !== undefined && now['model'] !== model.id
  const isNamed = textIn(now, ['displayName']) !== undefined
  const images = writtenAbility('images', model, target)
  const output = Math.min(
    model.outputLimit ?? defaultOutputTokens,
    contextWindow ?? Number.POSITIVE_INFINITY,
  )

  const members: readonly EntryMember[] = [
    { path: ['model'], value: model.id },
    ...(isNamed ? [] : [{ path: ['displayName'], value: displayName }]),
    { path: ['baseUrl'], value: baseUrl },
    ...bearerChanges(['apiKey'], now['apiKey'], target),
    ...headerChanges(['extraHeaders'], now['extraHeaders'], target, isOtherGateway),
    { path: ['provider'], value: providerOf[protocol] },
    // Each of them would change the protocol.
    ...['authMode', 'bedrock']
      .filter((member) => now[member] !== undefined)
      .map((member) => ({ path: [member], value: undefined })),
    // If it is missing, droid sends no images to a model of the chat protocol (0.215.0, 0.225.2, 2026-11-23).
    {
      path: ['noImageSupport'],
      value: images === undefined ? undefined : !images,
      about: ['images'],
    },
    { path: ['maxContextLimit'], value: contextWindow, about: ['contextWindow'] },
    { path: ['maxOutputTokens'], value: output, about: ['outputLimit', 'contextWindow'] },
  ]
  const ours = entryChanges({ path, now, isOtherGateway, isOtherModel }, members, model, target)
  return withoutForeignSettings(ours, { path, now, isOtherGateway, harmless }, target)
}

// Checks.

function* checkNow(context: ClientContext): Findings {
  const settings = readSettings(fileOf(context.files, 'settings'))
  const { chosenId, chosen } = settings
  yield* checkFile(context, settings)
  // With one of Factory's models, the user may configure droid freely.
  if (!chosenId?.startsWith(prefix)) return

  if (chosen === undefined) {
    yield findingAt(settings, defaultModelPath, {
      code: 'droid-model-missing',
      message: `the default model ${chosenId} is not in customModels: droid ends with "Exec failed"`,
      hint: 'Add it: repoint droid',
    })
    return
  }

  const { table, protocol, baseUrl } = chosen
  if (baseUrl !== undefined) yield* proxyFindings(droidName, baseUrl, context.machine.env)
  yield* checkMissingKey(context, settings, chosen)
  yield* addressFindings(droidName, context, settings, {
    url: baseUrl,
    protocol,
    path: pathIn(chosen, 'baseUrl'),
    name: `baseUrl of ${textIn(table, ['model']) ?? 'the model'}`,
    key: textIn(table, ['apiKey']),
    keyPlace: settings.path,
  })
  yield* checkOverrides(context, settings, chosen)
}

function* checkSetup(context: ClientContext, target: SetupTarget): Findings {
  const settings = readSettings(fileOf(context.files, 'settings'))
  yield* checkFile(context, settings)
  const { baseUrl, providerId } = target
  // Also for an address on this machine (0.225.2, 2026-11-28).
  yield* proxyFindings(droidName, baseUrl, context.machine.env)

  const id = entryId(providerId)
  yield* otherAddressFinding(context, target, {
    code: 'droid-model-conflict',
    what: `the model ${id}`,
    url: settings.entries.find((entry) => entry.id === id)?.baseUrl,
    location: settings.place([...entryPath(id), 'baseUrl']),
  })
  yield* checkOverrides(context, settings, { id, baseUrl })
}

function* checkFile({ machine }: ClientContext, settings: DroidSettings): Findings {
  yield* relativePathFindings(droidName, machine, { names: ['FACTORY_HOME_OVERRIDE'] })
  yield* unreadFileFinding(settings, {
    code: 'droid-settings-unreadable',
    effect: 'droid ignores its settings',
    topic: 'broken',
  })

  const isUnknown = (provider?: string) =>
    provider !== undefined && !knownProviders.includes(provider)
  const wrong = settings.entries.find(({ table }) => isUnknown(textIn(table, ['provider'])))
  if (wrong === undefined) return
  const { table } = wrong
  const name = textIn(table, ['displayName']) ?? textIn(table, ['model']) ?? 'an entry'
  yield findingAt(settings, pathIn(wrong, 'provider'), {
    code: 'droid-unknown-provider',
    message: `${name} has a provider that droid does not know (${textIn(table, ['provider'])}): droid reads none of the models`,
    hint: 'Fix the entry, or remove it.',
    severity: 'warning',
  })
}

/** The path of a member of an entry. Without an ID only the list has a path. */
function pathIn({ id }: CustomModel, member: string): SettingPath {
  return id === undefined ? ['customModels'] : [...entryPath(id), member]
}

function* checkMissingKey(
  context: ClientContext,
  settings: DroidSettings,
  entry: CustomModel,
): Findings {
  const { table, baseUrl } = entry
  const key = textIn(table, ['apiKey']) ?? ''
  const variables = variablesIn(key)
  const hasKey = key !== '' && variables.every((name) => context.machine.env[name])
  const hasKeyHeader = Object.keys(tableIn(table, ['extraHeaders'])).some((name) =>
    /^(authorization|x-api-key|api-key)$/i.test(name),
  )
  if (hasKey || hasKeyHeader || mayNeedNoKey(baseUrl, context)) return

  yield missingKeyFinding(
    droidName,
    settings.place(pathIn(entry, 'apiKey')),
    variables.length > 0
      ? `droid reads its key from ${variables.join(', ')}, which is not set`
      : 'the default model has no apiKey: droid sends none',
  )
}

/** Reports what overrides the entry in use, policies that forbid it, and modes that use another model. */
function* checkOverrides(
  context: ClientContext,
  settings: DroidSettings,
  { id, baseUrl }: Pick<CustomModel, 'id' | 'baseUrl'>,
): Findings {
  yield* variableFindings(context, config.variables.harmful)
  for (const kind of settingsKinds) yield* policyFindings(context.files, kind, baseUrl)

  const path = ['sessionDefaultSettings', 'specModeModel']
  const model = settings.text(path)
  if (model === undefined || model === id) return
  yield findingAt(settings, path, {
    code: 'droid-spec-model',
    message: `specification mode uses its own model, ${model}, and not the gateway`,
    hint: 'To use the gateway in that mode, remove the setting.',
    severity: 'warning',
  })
}

/**
 * droid ignores a model that a policy of any file forbids, and asks for a login to its own service (0.225.2,
 * 2026-11-28; with FACTORY_AIRGAP_ENABLED it ignores the policies).
 */
function* policyFindings(files: LoadedFiles, kind: string, url: string | undefined): Findings {
  for (const file of filesOfKind(files, kind)) {
    const settings = readSettings(file)
    const { allowCustomModels, allowedBaseUrls } = tableIn(settings.root, ['modelPolicy'])
    const forbidsModels = allowCustomModels === false
    const allowsAddress =
      !Array.isArray(allowedBaseUrls) ||
      allowedBaseUrls.length === 0 ||
      allowedBaseUrls.some((allowed) => isBelow(url, allowed))
    if (!forbidsModels && allowsAddress) continue

    const path = ['modelPolicy', forbidsModels ? 'allowCustomModels' : 'allowedBaseUrls']
    yield findingAt(settings, path, {
      code: 'droid-model-policy',
      message: forbidsModels
        ? 'modelPolicy forbids custom models: droid ignores yours'
        : 'modelPolicy allows only certain addresses, and the gateway is not one of them',
      hint:
        kind === 'managed'
          ? 'Ask the administrator of this machine.'
          : `Change ${path.join('.')} in that file.`,
    })
  }
}

/** Whether a policy with this address allows a base URL: it is the same, or below it (the program of 0.225.2). */
function isBelow(url: string | undefined, allowed: ConfigValue): boolean {
  if (url === undefined || !URL.canParse(url) || typeof allowed !== 'string') return false
  if (!URL.canParse(allowed)) return false
  const [{ origin, pathname }, policy] = [new URL(url), new URL(allowed)]
  const start = policy.pathname.replace(/\/+$/, '')
  return origin === policy.origin && (pathname === start || pathname.startsWith(`${start}/`))
}

// First request and launch.

/** What the entry of the model changes in the recorded request. Over responses droid sends no limit. */
const firstRequest: ClientModule['firstRequest'] = async (files, { model, protocol, version }) => {
  const { default: recordings } = await import('./first-requests.json', {
    with: { type: 'json' },
  })
  const { entries, chosen } = readSettings(fileOf(files, 'settings'))
  // Another provider may have the same model.
  const ofProvider = entries.filter(({ providerId }) => providerId === chosen?.providerId)
  const table = [chosen, ...ofProvider].find((entry) => entry?.table['model'] === model)?.table
  const thinks = /claude-(?:opus|sonnet)-5/.test(model)
  const kind = protocol !== 'messages' ? 'any' : thinks ? 'thinking' : 'plain'
  const { headers, body } = recordedRequest(recordings, { kind, protocol, version })

  const limit = { max_tokens: numberIn(table, ['maxOutputTokens']) ?? defaultOutputTokens }
  const isLimited = protocol !== 'responses'
  return {
    headers,
    body: { ...body, ...(isLimited && limit), ...tableIn(table, ['extraArgs']) },
    hints: isLimited ? outputLimitCures : {},
  }
}

/** Uses a separate settings file, in which the key is `${NAME}`; `--settings` does the same on the command line. */
const launchSettings: ClientModule['launchSettings'] = (
  files,
  target,
  { args, env, tempFolder },
) => {
  expectBearer(droidName, target)
  expectUnset(
    typedFlag(args, ['--settings']) ?? (env[runtimeSettings] && runtimeSettings),
    () => 'droid accepts one settings file, and repoint needs it for the gateway',
  )

  // The entry that a setup would write into a home without droid, under an ID that no entry of the user has.
  const id = entryId('repoint-run')
  const noSettings = readSettings({ ...fileOf(files, 'settings'), bytes: null })
  const members = startModelChanges(noSettings, target).map(({ path, value }) => ({
    path: path.slice(entryPath(id).length),
    value,
  }))
  const key = { path: ['apiKey'], value: `\${${launchKeyVariable}}` }
  const entry = overlaid({ id }, [...members, key])

  const url = textIn(entry, ['baseUrl'])!
  const [managed] = policyFindings(files, 'managed', url)
  if (managed !== undefined) throw errorFrom(managed)
  const isForbidden = ['settings', 'upper', 'project'].some(
    (kind) => [...policyFindings(files, kind, url)].length > 0,
  )
  const settings = {
    customModels: [entry],
    sessionDefaultSettings: { model: id },
    // Overrides each member of the policy in the other files (0.225.2, 2026-11-28).
    ...(isForbidden && { modelPolicy: { allowCustomModels: true, allowedBaseUrls: [url] } }),
  }

  const name = 'droid.json'
  return {
    args,
    env: { ...env, [runtimeSettings]: `${tempFolder}/${name}` },
    files: { [name]: JSON.stringify(settings, null, 2) },
  }
}

// Module.

export const droid: ClientModule = {
  program,
  protocols,
  sends,
  config,
  files,
  read,
  checkNow,
  resolve(input) {
    const usable = protocolsForKey({ ...droidName, protocols, sends }, input)
    const ifUnknown = 'droid assumes one when it compacts its conversations'
    return resolveWithPicker(input, usable, { ifUnknown })
  },
  plan: planOneFile({
    client: droidName,
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
