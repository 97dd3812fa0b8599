import { compact } from '../../compact.ts'
import { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { type CatalogModel, protocols } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import type { ClientModule } from '../contract/client.ts'
import type { DiskReader } from '../contract/files.ts'
import {
  catalogIn,
  type OfferedModel,
  type ResolvedOptions,
  type ResolveInput,
} from '../contract/setup.ts'
import { emptyState } from '../contract/state.ts'
import { withoutTrailingSlash } from '../files/addresses.ts'
import { fileOf, filesOfKind, originOf, unreadable } from '../files/parse-file.ts'
import { editableFile, layersThere, pathsOf } from '../files/paths.ts'
import { numberIn, valueIn } from '../files/tables.ts'
import { resolveWithPicker } from '../models/picker.ts'
import { usualProtocol } from '../models/protocols.ts'
import { readHeaders } from '../plan/headers.ts'
import { ofNode, testedVersions } from '../program/tested.ts'
import { checkNow, checkSetup, variables } from './check.ts'
import { firstRequest } from './first-request.ts'
import { gatewaySettings } from './gateway-settings.ts'
import { launchSettings } from './launch-settings.ts'
import { knowsWindow } from './models.ts'
import { plan } from './plan.ts'
import responses from './responses.json' with { type: 'json' }
import { sensitiveSettings } from './sensitive-settings.ts'
import {
  filesBelowProject,
  inUse,
  listPath,
  loginTypes,
  mergedSettings,
  ourEntries,
  paths,
  textWithoutVariables,
  variablePattern,
} from './settings.ts'
import tested from './tested.json' with { type: 'json' }
import { hasEveryProtocol, minVersion, minVersionForProtocols } from './versions.ts'

const traced = 'system calls of 0.24.4, 2026-11-24'

/**
 * Facts: run with Qwen Code 0.15.10 on Node 20 and 0.24.4 on Node 22, 2026-11-22, unless a comment says otherwise.
 *
 * Only its settings hold key and address: a continued session uses the settings of that time. With each prompt,
 * Qwen Code sends one more request to the same model, which asks what to remember.
 */
export const qwen: ClientModule = {
  program: {
    command: 'qwen',
    packages: ['@qwen-code/qwen-code'],
    testedVersions: testedVersions(tested),
    minVersion,
    // Records no conversation (0.15.10 and 0.24.4, 2026-11-29).
    pingArgs: (prompt) => ['--chat-recording=false', prompt],
    // Qwen Code is a Node program: Node reads this variable before `env` of the settings applies.
    caFileVariables: ['NODE_EXTRA_CA_CERTS'],
    certificateStores: ofNode,
    tokens: { firstRequest: 17_300, oneWord: 30_000 },
    pingEnv: {},
    restartAdvice: 'Close every running Qwen Code and start it again.',
  },
  protocols,
  // Qwen Code always sends the key as a bearer token, in addition to any headers.
  sends: { headers: true },
  accepts: responses.protocols,
  config: {
    sensitiveSettings,
    folderFiles: [
      {
        patterns: ['.mcp.json', '.qwen/**'],
        reach: 'folder',
        source: traced,
      },
      {
        patterns: ['.env', '.qwen/.env'],
        reach: 'all',
        source: traced,
      },
    ],
    interpolation: { names: variablePattern, values: variablePattern },
    // It reads ANTHROPIC_BASE_URL too, but only for a model over messages without an entry.
    gatewayVariables: { addresses: ['OPENAI_BASE_URL'], others: ['OPENAI_MODEL'] },
    variables,
  },

  files(machine, disk) {
    const { join, dirname, named } = pathsOf(machine)
    const { home, cwd } = machine
    const defaultFolder = join(home, '.qwen')
    const folder = named('QWEN_HOME') ?? defaultFolder
    const managed = named('QWEN_CODE_SYSTEM_SETTINGS_PATH') ?? managedPath(machine)
    const defaults =
      named('QWEN_CODE_SYSTEM_DEFAULTS_PATH') ?? join(dirname(managed), 'system-defaults.json')
    const settings = join(folder, 'settings.json')
    // Qwen Code leaves `.orig` (0.15.10) and `.corrupted`, which has a number in 0.15.10.
    const copyName = /^settings\.json\.(?:orig|corrupted(?:\.\d+)?)$/
    const copies = disk.entries(folder).filter((name) => copyName.test(name))

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
          paths: projectEnvFile(machine, disk),
        },
      ]),
    ]
  },

  /** Reads only the kinds of login that a setup writes. */
  read(files) {
    const { value, problem } = mergedSettings(files)
    if (problem !== undefined) return { ...emptyState, findings: unreadable(problem) }
    const used = inUse(value)
    if (used === undefined) {
      const type = textWithoutVariables(value, paths.type)
      const hasLogin = type === 'qwen-oauth' && filesOfKind(files, 'login').length > 0
      return { ...emptyState, login: hasLogin ? "an account of Qwen Code's vendor" : undefined }
    }

    const { protocol, url, model, key, variable, entry } = used
    const settingsFiles = filesBelowProject(files)
    const listOrigin = originOf(settingsFiles, listPath(protocol))
    // The stronger of the files that set the key.
    const keyPath = originOf(settingsFiles, ['env', variable]) ?? fileOf(files, 'settings').path

    return {
      endpoint: {
        baseUrl: url === undefined ? undefined : withoutTrailingSlash(url),
        key,
        keyHeader: 'authorization',
        headers: readHeaders(valueIn(entry, paths.headers)).headers,
      },
      options: { protocol, model, contextWindow: numberIn(entry, paths.window) },
      offered: ourEntries(value).map(({ id }) => id),
      origins: {
        baseUrl:
          entry === undefined
            ? originOf(settingsFiles, ['security', 'auth', 'baseUrl'])
            : listOrigin,
        model: originOf(settingsFiles, paths.model) ?? listOrigin,
        key: key && keyPath,
      },
      findings: [],
    }
  },

  checkNow,

  resolve(input, { version } = {}) {
    const supported = supportedProtocols(input, version)
    const resolved = resolveWithPicker(input, supported, {
      knows: knowsWindow,
      ifUnknown: 'Qwen Code assumes 200,000 tokens',
    })

    const listed = new Map(catalogIn(input.gatewayInfo)?.models.map((model) => [model.id, model]))
    const offered = resolved.offered.map((model) => withWindowToWrite(model, listed.get(model.id)))
    const withWindows = { ...resolved, offered }
    return { ...withWindows, findings: [...resolved.findings, ...modelFlagFindings(withWindows)] }
  },

  plan,
  checkSetup,
  loadRecordings: async () =>
    (await import('./first-requests.json', { with: { type: 'json' } })).default,
  firstRequest,
  launchSettings,
  gatewaySettings,
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
    const path = [join(folder, '.qwen', '.env'), join(folder, '.env')].find(disk.exists)
    if (path !== undefined) return [path]
    if (dirname(folder) === folder) break
  }
  return []
}

/**
 * If Qwen Code knows the window of a model, only the gateway's catalog overrides that, and not the facts that
 * repoint knows.
 */
function withWindowToWrite(model: OfferedModel, listed: CatalogModel | undefined): OfferedModel {
  if (!knowsWindow(model.id)) return model
  return compact({ ...model, contextWindow: listed?.contextWindow })
}

/** For an ID of another list, `qwen --model` silently uses the first model of this one (0.24.4, 2026-11-26). */
function modelFlagFindings(resolved: ResolvedOptions): readonly Finding[] {
  const { offered } = resolved
  const used = new Set(offered.map(({ protocol }) => protocol))
  if (used.size < 2) return []

  return [
    {
      code: 'qwen-model-flag',
      severity: 'note',
      message: '`qwen --model` finds only models of the same protocol',
      hint: `Choose another with /model, or add --auth-type ${[...used].map((protocol) => loginTypes[protocol]).join('|')}.`,
    },
  ]
}

/**
 * The protocols that a version can use.
 *
 * @throws UserError `client-too-old` if the user requests another one
 */
function supportedProtocols(
  { requested: { protocol } }: ResolveInput,
  version: string | undefined,
): ClientModule['protocols'] {
  if (hasEveryProtocol(version)) return protocols
  if (protocol === undefined || protocol === usualProtocol) return [usualProtocol]
  throw new UserError({
    code: 'client-too-old',
    message: `Qwen Code ${version} cannot use ${protocol}: it needs ${minVersionForProtocols}`,
    hint: 'Update Qwen Code, or leave --protocol out.',
  })
}
