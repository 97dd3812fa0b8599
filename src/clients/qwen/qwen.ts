import { compact } from '../../compact.ts'
import type { ConfigValue, SettingChange, SettingPath } from '../../edits/plan.ts'
import type { CatalogModel } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import {
  type ClientModule,
  type DiskReader,
  emptyState,
  type LoadedFile,
  type SetupTarget,
} from '../client.ts'
import { editReadably } from '../fixes.ts'
import { outputLimitCures } from '../flags.ts'
import { headerKeys, readHeaders } from '../headers.ts'
import {
  fileOf,
  layersOf,
  numberIn,
  originOf,
  readFile,
  rootOf,
  type Table,
  tableIn,
  unreadable,
  valueIn,
} from '../loaded-files.ts'
import { layersThere, pathsOf } from '../paths.ts'
import { leavingKeys, offeredModels, type ToldFact, toldKeys } from '../picker.ts'
import { resolveOneModel } from '../resolve.ts'
import { ofNode, testedVersions } from '../tested.ts'
import { check } from './check.ts'
import { gatewaySettings } from './gateway-settings.ts'
import { launchSettings } from './launch-settings.ts'
import { qwenName, sensitiveSettings } from './sensitive-settings.ts'
import {
  elementOf,
  entriesIn,
  inUse,
  isBehindAnother,
  isCurrentLayout,
  keyVariable,
  layoutVersion,
  literalIn,
  mergedSettings,
  openText,
  ownEntry,
  ownFiles,
  paths,
  readSettings,
} from './settings.ts'
import tested from './tested.json' with { type: 'json' }

/**
 * Facts: run with Qwen Code 0.15.10 on Node 20 and 0.24.4 on Node 22, 2026-11-22. Only its settings hold key
 * and address: a continued session uses the settings of that time. With each prompt, Qwen Code sends one more
 * request to the same model, which asks what to remember.
 */
export const qwen: ClientModule = {
  program: {
    command: 'qwen',
    packages: ['@qwen-code/qwen-code'],
    testedVersions: testedVersions(tested),
    // 0.8.2 silently exits with status 1, and deletes `selectedType` (2026-11-23).
    minVersion: '0.10.1',
    pingArgs: (prompt) => [prompt],
    // Qwen Code is a Node program: Node reads this variable before `env` of the settings applies.
    caFileVariables: ['NODE_EXTRA_CA_CERTS'],
    certificateStores: ofNode,
    pingEnv: {},
    restartAdvice: 'Close every running Qwen Code and start it again.',
  },
  protocols: ['chat'],
  // Qwen Code always sends the key as a bearer token, in addition to any headers.
  sends: { headers: true, keyHeaders: [] },
  config: {
    sensitiveSettings,
    folderFiles: [
      {
        patterns: ['.mcp.json', '.qwen/**'],
        reach: 'folder',
        source: 'system calls of 0.24.4, 2026-11-24',
      },
      {
        patterns: ['.env', '.qwen/.env'],
        reach: 'all',
        source: 'system calls of 0.24.4, 2026-11-24',
      },
    ],
    interpolation: { names: openText, values: openText },
    gatewayVariables: { addresses: ['OPENAI_BASE_URL'], others: ['OPENAI_MODEL'] },
  },

  files(machine, disk) {
    const { join, dirname, named } = pathsOf(machine)
    const { home, cwd } = machine
    const usual = join(home, '.qwen')
    const own = named('QWEN_HOME') ?? usual
    const managed = named('QWEN_CODE_SYSTEM_SETTINGS_PATH') ?? managedPath(machine)
    const defaults =
      named('QWEN_CODE_SYSTEM_DEFAULTS_PATH') ?? join(dirname(managed), 'system-defaults.json')
    const target = join(own, 'settings.json')
    // `.orig` (0.15.10) and `.corrupted`, which has a number in 0.15.10.
    const left = /^settings\.json\.(?:orig|corrupted(?:\.\d+)?)$/
    const copies = disk.entries(own).filter((name) => left.test(name))

    return [
      { kind: 'settings', path: target, format: 'json', holdsSecret: true, use: 'target' },
      ...layersThere(disk, target, [
        ['lower', [defaults]],
        // In the home folder the project's folder is the user's own.
        ['project', cwd === home ? [] : [join(cwd, '.qwen', 'settings.json')]],
        ['managed', [managed]],
        ['login', [join(own, 'oauth_creds.json')]],
        ['copy', copies.map((name) => join(own, name))],
        ['home-env', [join(home, '.env'), join(usual, '.env'), join(own, '.env')]],
        ['project-env', projectEnvFile(machine, disk)],
      ]),
    ]
  },

  resolve(input) {
    const resolved = resolveOneModel(input, ['chat'], {
      knows: knowsWindow,
      otherwise: 'Qwen Code takes 200,000 tokens for it.',
    })
    const listed = new Map(input.gatewayInfo.catalog?.models.map((model) => [model.id, model]))
    const list = offeredModels(input, resolved, ['chat'])
    const offered = list.offered.map(({ contextWindow, ...model }) => {
      const said = listed.get(model.id)?.contextWindow
      return compact({ ...model, contextWindow: knowsWindow(model.id) ? said : contextWindow })
    })

    return { ...resolved, ...list, offered }
  },

  plan(files, target) {
    const file = fileOf(files, 'settings')
    return [editReadably(qwenName, file, ourKeys(file, target), target, readSettings)]
  },

  /** Follows 0.15.10 and 0.24.4; the newest was run with rejections of each member (2026-11-23). */
  firstRequest(files, { model, version }) {
    const { value } = mergedSettings(files)
    const entry = entriesIn(value).find(({ id, envKey }) => id === model && envKey === keyVariable)
    const named = numberIn(entry, ['generationConfig', 'samplingParams', 'max_tokens'])
    // Models of other families were not run.
    const isOlder = version?.startsWith('0.15.') || !knowsWindow(model)

    return {
      body: {
        max_tokens: named ?? (isOlder ? oldOutputTokens : usualOutputTokens),
        stream_options: { include_usage: true },
      },
      hints: outputLimitCures,
    }
  },

  gatewaySettings,

  /** Reads only the protocol that a setup writes. */
  read(files) {
    const { value, problem } = mergedSettings(files)
    const type = literalIn(value, paths.type)
    if (problem !== undefined) return { ...emptyState, findings: unreadable(problem) }
    if (type !== 'openai') {
      const hasLogin = type === 'qwen-oauth' && layersOf(files, 'login').length > 0
      return { ...emptyState, login: hasLogin ? "an account of Qwen Code's vendor" : undefined }
    }

    const { url, model, key, variable, entry } = inUse(value)
    const own = ownFiles(files)
    const entries = originOf(own, paths.entries)
    // The stronger of the files that set the key.
    const keyPath = originOf(own, ['env', variable]) ?? fileOf(files, 'settings').path

    return {
      endpoint: {
        baseUrl: url === undefined ? undefined : rootOf(url),
        key,
        headers: readHeaders(valueIn(entry, paths.headers)).headers,
      },
      options: { model, contextWindow: numberIn(entry, paths.window) },
      offered: ownEntries(value).map(({ id }) => String(id)),
      sources: {
        baseUrl: entry === undefined ? originOf(own, ['security', 'auth', 'baseUrl']) : entries,
        model: originOf(own, paths.model) ?? entries,
        key: key && keyPath,
      },
      findings: [],
    }
  },

  launchSettings,
  check,
}

/** The families whose windows Qwen Code knows (0.24.4; the older version has the same but for new names). */
function knowsWindow(id: string): boolean {
  return /^(?:.*\/)?(?:gpt-|o\d|claude-|gemini-|qwen|deepseek|glm|kimi|minimax)/i.test(id)
}

/** The families to which it sends images by default (0.15.10, 2026-11-23). */
function knowsToSee(id: string): boolean {
  return /^(?:.*\/)?(?:gpt-|claude-|gemini-|qwen.*(?:vl|omni))/i.test(id)
}

/** On macOS and Windows from its source; on Linux tried with the variable. */
function managedPath({ os }: Machine): string {
  if (os === 'darwin') return '/Library/Application Support/QwenCode/settings.json'
  if (os === 'win32') return 'C:\\ProgramData\\qwen-code\\settings.json'
  return '/etc/qwen-code/settings.json'
}

/**
 * The first .env file from the working folder up to the folder below the home; those of the home are read
 * later.
 */
function projectEnvFile(machine: Machine, disk: DiskReader): readonly string[] {
  const { join, dirname } = pathsOf(machine)
  for (let folder = machine.cwd; folder !== machine.home; folder = dirname(folder)) {
    const found = [join(folder, '.qwen', '.env'), join(folder, '.env')].find(disk.exists)
    if (found !== undefined) return [found]
    if (dirname(folder) === folder) break
  }
  return []
}

function ourKeys(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const now = readFile(file)
  const { resolved } = target
  const [chosen = { id: resolved.model }, ...offered] = resolved.offered ?? []
  const ours = ownEntries(now.document?.root)
  const found = ours.find(({ id }) => id === resolved.model)
  // An entry for a model that the gateway no longer has becomes the entry of the chosen one.
  const lost = offered.some(({ id }) => id === ours[0]?.['id']) ? undefined : ours[0]
  const entry = found ?? lost
  const others = ours.filter((one) => one !== entry)
  const listed = others.map((one) => {
    const id = String(one['id'])
    const isElsewhere = literalIn(one, ['baseUrl']) !== target.baseUrl
    return { id, path: pathOf(id), isElsewhere, isMarked: true as const }
  })

  // A new entry is identified by its model too: there may be other entries of ours.
  const first = { ...elementOf(resolved.model), isFirst: true } as const
  const existing = found ? pathOf(resolved.model) : ownEntry
  const own = entry ? existing : [...paths.entries, first]
  const started = { ...chosen, ...compact({ contextWindow: resolved.contextWindow }) }

  return [
    ...leavingKeys(file, listed, offered, target),
    // Only Qwen Code itself can migrate a file of an older layout.
    ...(isCurrentLayout(now) ? [{ path: ['$version'], value: layoutVersion }] : []),
    { path: paths.key, value: target.key, isSecret: true },
    { path: [...own, 'id'], value: resolved.model },
    ...entryKeys({ path: own, now: entry, name: 'Gateway' }, started, target),
    ...offered.flatMap((model) => {
      const { id, displayName: name = id } = model
      const now = others.find((one) => one['id'] === id)
      return entryKeys({ path: pathOf(id), now, name }, model, target)
    }),
    { path: paths.type, value: 'openai' },
    { path: paths.model, value: resolved.model },
    ...(now.text(paths.modelUrl) === undefined && !isBehindAnother(now, resolved.model)
      ? []
      : [{ path: paths.modelUrl, value: target.baseUrl }]),
  ]
}

function ownEntries(settings: ConfigValue | undefined): readonly Table[] {
  return entriesIn(settings).filter(({ envKey }) => envKey === keyVariable)
}

/** The path of the entry for a model that Qwen Code does not start with. */
function pathOf(id: string): SettingPath {
  return [...paths.entries, elementOf(id)]
}

/** The changes to an entry, also to that of another model, which `/model` offers next to the one in use. */
function entryKeys(
  entry: { readonly path: SettingPath; readonly now: Table | undefined; readonly name: string },
  model: CatalogModel,
  target: SetupTarget,
): readonly SettingChange[] {
  const { path, now, name } = entry
  const isOtherGateway = now !== undefined && literalIn(now, ['baseUrl']) !== target.baseUrl
  const config = {
    path: [...path, 'generationConfig'],
    now: tableIn(now, ['generationConfig']),
    isOtherGateway,
    isOtherModel: literalIn(now, ['id']) !== model.id,
  }
  const sampling = {
    ...config,
    path: [...config.path, 'samplingParams'],
    now: tableIn(config.now, ['samplingParams']),
  }
  const headers = valueIn(now, paths.headers)

  return [
    ...(literalIn(now, ['name']) ? [] : [{ path: [...path, 'name'], value: name }]),
    { path: [...path, 'baseUrl'], value: target.baseUrl },
    ...toldKeys(config, model, toldOf(model), target),
    // Keeps other members, such as a temperature that the user set.
    ...toldKeys(sampling, model, { max_tokens: limitOf(model, target) }, target),
    ...headerKeys([...path, ...paths.headers], headers, target, isOtherGateway),
  ]
}

/** In tokens: the most that it requests from a model by default (0.24.4; 0.15.10 always 8000, 2026-11-23). */
const usualOutputTokens = 64_000
const oldOutputTokens = 8000

/**
 * The facts that Qwen Code does not know from the model's ID. `capabilities` has no effect (0.15.10,
 * 2026-11-23).
 */
function toldOf({ id, images, contextWindow }: CatalogModel): Readonly<Record<string, ToldFact>> {
  const isNews = images !== undefined && images !== knowsToSee(id)
  return {
    contextWindowSize: { value: contextWindow, by: ['contextWindow'] },
    modalities: { value: isNews ? { image: images } : undefined, by: ['images'] },
  }
}

/** The limit, if the model gives less than Qwen Code requests or if the user sets it. */
function limitOf({ maxOutputTokens: limit }: CatalogModel, { input }: SetupTarget): ToldFact {
  const isLimited = limit !== undefined && limit < usualOutputTokens
  const isAsked = isLimited || limit === input.requested.maxOutputTokens
  return { value: isAsked ? limit : undefined, by: ['maxOutputTokens'] }
}
