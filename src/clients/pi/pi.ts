import { otherKeyHeaders, protocols } from '../../gateway/types.ts'
import type { ClientModule } from '../contract/client.ts'
import { emptyState } from '../contract/state.ts'
import { brokenText, fileOf, originOf, unreadable } from '../files/parse-file.ts'
import { editableFile, layersThere, pathsOf } from '../files/paths.ts'
import { gatewaySettingsIn } from '../files/sensitive-settings.ts'
import { resolveWithPicker } from '../models/picker.ts'
import { effectiveSettings, providerOf, providerPath } from '../pi-family/providers.ts'
import { ofNode, testedVersions } from '../program/tested.ts'
import { checkNow, checkSetup } from './check.ts'
import {
  incompleteProvider,
  interpretedValue,
  loginOf,
  providerFormat,
  readModels,
  readPiKey,
  readSettings,
  reservedIds,
  startingModel,
} from './config.ts'
import { firstRequest } from './first-request.ts'
import { launchSettings } from './launch-settings.ts'
import { plan } from './plan.ts'
import responses from './responses.json' with { type: 'json' }
import { sensitiveSettings } from './sensitive-settings.ts'
import tested from './tested.json' with { type: 'json' }
import { minVersion } from './versions.ts'

/**
 * pi. Facts: run with 0.60.0, 0.73.1 and 0.87.1, 2026-11-22, unless a comment says otherwise. Set up and prompted
 * in 0.51.0 and 1.5.2, 2026-11-23.
 */
export const pi: ClientModule = {
  program: {
    command: 'pi',
    packages: ['@mariozechner/pi-coding-agent', '@earendil-works/pi-coding-agent'],
    testedVersions: testedVersions(tested),
    minVersion,
    // Records no conversation (0.73.1 and 0.87.1, 2026-11-29).
    pingArgs: (prompt) => ['--no-session', '-p', prompt],
    caFileVariables: ['NODE_EXTRA_CA_CERTS'],
    certificateStores: ofNode,
    tokens: { firstRequest: 1_600, oneWord: 1_600 },
    pingEnv: { PI_OFFLINE: '1' },
    // `/model` reads models.json again; only `/reload` reads settings.json again.
    restartAdvice: 'Close every running pi and start it again.',
    // 0.87.1 and 1.5.2, 2026-11-23.
    resume: { command: 'pi -c', keeps: 'provider and model' },
  },
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
  accepts: responses.protocols,
  config: {
    sensitiveSettings,
    folderFiles: [
      {
        patterns: ['.pi/**'],
        reach: 'folder',
        source: 'system calls of 0.87.1, 2026-11-24',
      },
    ],
    interpolation: { names: null, values: interpretedValue },
    // Of its login, its installer and its pages (names in 0.87.1, 2026-11-28; not run).
    variables: {
      families: ['PI_'],
      harmful: [],
      harmless: ['PI_OAUTH_CALLBACK_HOST', 'PI_INSTALLER_*', 'PI_SHARE_VIEWER_URL'],
    },
    reservedProviderIds: reservedIds,
  },

  /** `PI_CODING_AGENT_DIR` may begin with `~`. In a project pi reads only the folder where it starts. */
  files(machine, disk) {
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
  },

  read(files) {
    const [models, settings] = [readModels(files), readSettings(files)]
    const { providerId, model } = startingModel(settings)
    const [broken] = [models, settings].flatMap(({ path, whyIgnored }) =>
      whyIgnored === undefined ? [] : [brokenText(path, whyIgnored)],
    )
    if (broken !== undefined) return { ...emptyState, findings: unreadable(broken) }

    const lack = incompleteProvider(models)
    const findings = unreadable(lack && brokenText(models.path, lack))
    if (providerId === undefined) return { ...emptyState, findings }

    const login = loginOf(files, providerId)
    const isOther = login !== undefined && login['type'] !== 'api_key'
    const provider = providerOf(providerFormat, models, providerId)
    const { endpoint, options } = effectiveSettings(provider, model)
    const sent = readPiKey(files, providerId)
    return {
      endpoint: { ...endpoint, key: sent?.key },
      options: { ...options, providerId },
      offered: provider.models.map(({ id }) => String(id)),
      origins: {
        baseUrl: originOf([models], [...providerPath(providerFormat, providerId), 'baseUrl']),
        model: model && settings.path,
        key: sent?.keyPath,
      },
      login: isOther ? `the login for ${providerId} in auth.json` : undefined,
      findings,
    }
  },

  checkNow,

  resolve: (input) =>
    resolveWithPicker(input, protocols, { ifUnknown: 'pi assumes 128,000 tokens' }),

  plan,
  checkSetup,
  loadRecordings: async () =>
    (await import('./first-requests.json', { with: { type: 'json' } })).default,
  firstRequest,
  launchSettings,

  /** A vendor's login stays if pi ships the provider and only its address was changed. */
  gatewaySettings(files) {
    const {
      endpoint: { baseUrl },
      options: { providerId },
    } = pi.read(files)
    if (baseUrl === undefined || providerId === undefined) return {}

    const login = loginOf(files, providerId)
    const isVendors = reservedIds.includes(providerId) && login?.['type'] !== 'api_key'
    return {
      auth: login === undefined || isVendors ? [] : [[providerId]],
      models: gatewaySettingsIn(sensitiveSettings, fileOf(files, 'models'), providerId),
      settings: [['defaultProvider'], ['defaultModel']],
    }
  },
}
