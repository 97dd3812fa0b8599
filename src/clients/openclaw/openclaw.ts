import { otherKeyHeaders, protocols } from '../../gateway/types.ts'
import { keyCopyFindings } from '../checks/findings.ts'
import type { ClientModule } from '../contract/client.ts'
import type { OfferedModel } from '../contract/setup.ts'
import { emptyState } from '../contract/state.ts'
import { brokenText, fileOf, originsIn, unreadable } from '../files/parse-file.ts'
import { editableFile, pathsOf } from '../files/paths.ts'
import { resolveWithPicker } from '../models/picker.ts'
import { openclawName } from '../names.ts'
import { effectiveSettings, providerOf } from '../pi-family/providers.ts'
import { ofNode, testedVersions } from '../program/tested.ts'
import { checkNow, checkSetup } from './check.ts'
import {
  interpretedName,
  interpretedValue,
  loginsFor,
  prefersKey,
  providerFormat,
  readConfig,
  readKey,
  reservedIds,
  startingModel,
} from './config.ts'
import { firstRequest } from './first-request.ts'
import { gatewaySettings } from './gateway-settings.ts'
import { launchSettings } from './launch-settings.ts'
import { plan } from './plan.ts'
import responses from './responses.json' with { type: 'json' }
import { sensitiveSettings } from './sensitive-settings.ts'
import tested from './tested.json' with { type: 'json' }
import { hasAgentExec, minVersionForLaunch } from './versions.ts'

/** OpenClaw. Facts: run with 2026.9.5 and 2026.9.6, 2026-11-23, unless a comment says otherwise. */
export const openclaw: ClientModule = {
  program: {
    command: 'openclaw',
    packages: ['openclaw'],
    testedVersions: testedVersions(tested),
    minVersionForLaunch,
    pingArgs: (prompt, version) =>
      hasAgentExec(version)
        ? ['agent', 'exec', prompt]
        : ['agent', '--local', '--session-id', 'repoint', '-m', prompt],
    caFileVariables: ['NODE_EXTRA_CA_CERTS'],
    certificateStores: ofNode,
    tokens: { firstRequest: 10_500, oneWord: 10_500 },
    isSlow: true,
    pingEnv: { OPENCLAW_OFFLINE: '1', OPENCLAW_NO_AUTO_UPDATE: '1' },
    restartAdvice: 'A running OpenClaw gateway reads the file itself. Restart everything else.',
  },
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
  accepts: responses.protocols,
  config: {
    sensitiveSettings,
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
    reservedProviderIds: reservedIds,
  },

  /** OpenClaw reads the first file that exists, also under its old names (read in 2026.9.6). */
  files(machine, disk) {
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
  },

  read(files) {
    const file = readConfig(files)
    if (file.whyIgnored !== undefined)
      return { ...emptyState, findings: unreadable(brokenText(file.path, file.whyIgnored)) }
    const { providerId, model } = startingModel(file)
    if (providerId === undefined) return emptyState

    const provider = providerOf(providerFormat, file, providerId)
    const { endpoint, options } = effectiveSettings(provider, model)
    const key = readKey(file, providerId)?.key
    const [login] = prefersKey(provider.table) ? [] : loginsFor(file, providerId)
    return {
      endpoint: { ...endpoint, key },
      options: { ...options, providerId },
      offered: provider.models.map(({ id }) => String(id)),
      origins: originsIn(file.path, { baseUrl: endpoint.baseUrl, model, key }),
      login: login && `the login ${login} in its database`,
      findings: [],
    }
  },

  checkNow,

  resolve(input) {
    const resolved = resolveWithPicker(input, protocols, {
      ifUnknown: 'OpenClaw assumes 200,000 tokens',
    })

    const isLimitNamed = input.requested.outputLimit !== undefined
    const offered = resolved.offered.map((model): OfferedModel => {
      const { id, outputLimit: most } = model
      if (most === undefined || (isLimitNamed && id === resolved.model)) return model
      return { ...model, outputLimit: Math.min(most, mostOutputTokens) }
    })

    return { ...resolved, offered }
  },

  plan,
  checkSetup,
  loadRecordings: async () =>
    (await import('./first-requests.json', { with: { type: 'json' } })).default,
  firstRequest,
  launchSettings,
  gatewaySettings,

  /** Whenever OpenClaw changes its file, it keeps the earlier versions next to it. */
  sideEffects({ files }, { by, before }) {
    const { path } = fileOf(before, 'config')
    const { key } = openclaw.read(before).endpoint
    const copies = ['.bak', '.bak.1', '.bak.2', '.bak.3', '.bak.4'].map((ending) => path + ending)
    return by === 'setup' || !key ? [] : keyCopyFindings(openclawName, files, key, copies)
  },
}

/**
 * In tokens. In each request, OpenClaw asks for the largest answer that the file states for the model, and gateways
 * reserve as much of the window or of the key's budget (it asked for 128,000).
 */
const mostOutputTokens = 32_000
