import { snapshotFacts } from '../../gateway/models/facts.ts'
import { removeVendor } from '../../gateway/models/ids.ts'
import { otherKeyHeaders } from '../../gateway/types.ts'
import type { ClientModule } from '../contract/client.ts'
import { withoutTrailingSlash } from '../files/addresses.ts'
import { fileOf, originsIn, parseKind, unreadable } from '../files/parse-file.ts'
import type { WindowHandling } from '../models/context-window.ts'
import { resolveOneModel } from '../models/resolve.ts'
import { readHeaders, textMembers } from '../plan/headers.ts'
import { readSettingOptions } from '../plan/setting-options.ts'
import { clientFlagValues } from '../program/arguments.ts'
import { testedVersions } from '../program/tested.ts'
import { readCodexAuth } from './auth.ts'
import { checkNow, checkSetup } from './check.ts'
import { assumedWindow, withModelsFile } from './compose-models-file.ts'
import { conversationFindings } from './conversations.ts'
import { codexFiles } from './files.ts'
import { firstRequest } from './first-request.ts'
import { settingOptions } from './flags.ts'
import { gatewaySettings } from './gateway-settings.ts'
import { launchSettings } from './launch-settings.ts'
import { checkModelsFile, offeredByModelsFile, usesModelsFile } from './models-file.ts'
import { plan } from './plan.ts'
import { startupFindings } from './providers/check-start.ts'
import { otherAddress } from './providers/other-providers.ts'
import { addressInUse, providerInUse, reservedIds, takesAuthFile } from './providers/provider.ts'
import responses from './responses.json' with { type: 'json' }
import { sensitiveSettings } from './sensitive-settings.ts'
import tested from './tested.json' with { type: 'json' }

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
    pingArgs: (prompt) => [
      'exec',
      '--skip-git-repo-check',
      '--disable',
      'unbounded_connection_retries',
      prompt,
    ],
    // Only Codex reads the first one; 0.58.0 and 0.105.0 do not know it (2026-11-23).
    caFileVariables: ['CODEX_CA_CERTIFICATE', 'SSL_CERT_FILE'],
    // Codex ignores NODE_EXTRA_CA_CERTS.
    certificateStores: () => ({
      system: true,
      hidesSystem: 'SSL_CERT_FILE',
      files: ['CODEX_CA_CERTIFICATE', 'SSL_CERT_FILE'],
      folders: ['SSL_CERT_DIR'],
    }),
    // From 0.122.0 on; this command reads no file (2026-11-23).
    printModelsArgs: ['debug', 'models', '--bundled'],
    pingEnv: {},
    restartAdvice: 'Close every running Codex: terminal, desktop app and editor extension.',
  },
  protocols: ['responses'],
  sends: { headers: true, otherKeyHeaders: { responses: otherKeyHeaders }, queries: true },
  accepts: responses.protocols,
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
    gatewayVariables: { addresses: [], others: ['CODEX_API_KEY'] },
  },

  files: codexFiles,

  read(files) {
    const config = parseKind(files, 'config')
    const authFile = fileOf(files, 'auth')
    const auth = readCodexAuth(authFile)

    const providerId = config.text(['model_provider'])
    const { url } = addressInUse(config)
    const table = providerInUse(config)?.table
    const { headers, headerKey } = readHeaders(table?.['http_headers'])
    const query = textMembers(table?.['query_params'])

    // Codex sends the key of auth.json, or the one in a header of the provider's table.
    const keyOfAuth = takesAuthFile(config) ? auth.usableKey : undefined
    const keyOfTable = table?.['requires_openai_auth'] === true ? undefined : headerKey

    const model = config.text(['model'])
    const contextWindow = config.get(['model_context_window'])
    const [fault] = [...startupFindings(config), ...checkModelsFile(files, config)]

    return {
      endpoint: {
        baseUrl: url && withoutTrailingSlash(url),
        ...(keyOfTable ?? { keyHeader: 'authorization', key: keyOfAuth }),
        headers,
        query: query.length === 0 ? undefined : query,
        alsoSendsTo:
          keyOfAuth && providerId && url
            ? otherAddress(files, withoutTrailingSlash(url))
            : undefined,
      },
      options: {
        model,
        providerId,
        contextWindow: typeof contextWindow === 'number' ? contextWindow : undefined,
        ...readSettingOptions(settingOptions, config.table([])),
        hasModelsFile: usesModelsFile(files, config) || undefined,
      },
      offered: offeredByModelsFile(files),
      origins: {
        ...originsIn(config.path, { baseUrl: url, model, key: keyOfTable?.key }),
        ...(keyOfAuth && { key: authFile.path }),
      },
      login: auth.login && `a ${auth.login}`,
      findings: unreadable(
        config.error?.message ?? (fault && `${fault.location}: ${fault.message}`),
      ),
    }
  },

  checkNow,

  resolve: (input, { printedModels } = {}) =>
    withModelsFile(input, resolveOneModel(input, ['responses'], contextWindows), printedModels),
  plan,
  checkSetup,
  loadRecordings: async () =>
    (await import('./first-requests.json', { with: { type: 'json' } })).default,
  firstRequest,
  launchSettings,
  gatewaySettings,
  sideEffects: (world, change) =>
    change.by === 'forget' ? [] : conversationFindings(world, change),
}
