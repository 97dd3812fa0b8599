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
import { isBefore, testedVersions } from '../program/tested.ts'
import { readCodexAuth } from './auth.ts'
import { checkNow, checkSetup } from './check.ts'
import { assumedWindow, withModelsFile } from './compose-models-file.ts'
import { conversationFindings } from './conversations.ts'
import { codexFiles } from './files.ts'
import { firstRequest } from './first-request.ts'
import { settingOptions } from './flags.ts'
import { gatewaySettings } from './gateway-settings.ts'
import { expectCommandSupport, keyInFile, loginQuestion } from './key-file.ts'
import { launchSettings } from './launch-settings.ts'
import { checkModelsFile, offeredByModelsFile, usesModelsFile } from './models-file.ts'
import { plan } from './plan.ts'
import { startupFindings } from './providers/check-start.ts'
import { otherAddress } from './providers/other-providers.ts'
import {
  addressInUse,
  isAuthorization,
  keySourceInUse,
  providerInUse,
  reservedIds,
} from './providers/provider.ts'
import responses from './responses.json' with { type: 'json' }
import { sensitiveSettings } from './sensitive-settings.ts'
import tested from './tested.json' with { type: 'json' }
import { keyVariables, variables } from './variables.ts'

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
    // Codex ignores NODE_EXTRA_CA_CERTS.
    certificateStores: () => ({
      system: true,
      hidesSystem: 'SSL_CERT_FILE',
      files: ['CODEX_CA_CERTIFICATE', 'SSL_CERT_FILE'],
      folders: ['SSL_CERT_DIR'],
    }),
    // From 0.122.0 on; this command reads no file (2026-11-23).
    printModelsArgs: ['debug', 'models', '--bundled'],
    tokens: { firstRequest: 11_400, oneWord: 11_400 },
    pingEnv: {},
    // "Permission denied (os error 13)" (0.171.0, 2026-11-28).
    writesItsFolder: true,
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

    const providerId = config.text(['model_provider'])
    const { url } = addressInUse(config)
    const table = providerInUse(config)?.table
    const { headers } = readHeaders(table?.['http_headers'])
    const otherHeaders = headers?.filter(({ name }) => !isAuthorization(name))
    const query = textMembers(table?.['query_params'])

    const source = keySourceInUse(config)
    const keyOfAuth = source.kind === 'auth.json' ? auth.usableKey : undefined
    const keyFile = fileOf(files, 'key')
    const fileKey = source.kind === 'key-file' ? keyInFile(keyFile) : keyOfAuth
    // repoint does not read the keyring. At a gateway, an undo restores the user's choice of the store.
    const isInKeyring = store === 'keyring' && url === undefined
    const login = isInKeyring ? keyringLogin : fileLogin && `a ${fileLogin}`
    const { key, keyHeader } =
      source.kind === 'table' ? source : ({ key: fileKey, keyHeader: 'authorization' } as const)

    const model = config.text(['model'])
    const contextWindow = config.get(['model_context_window'])
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
        contextWindow: typeof contextWindow === 'number' ? contextWindow : undefined,
        ...readSettingOptions(settingOptions, config.table([])),
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
  loadRecordings: async () =>
    (await import('./first-requests.json', { with: { type: 'json' } })).default,
  firstRequest,
  launchSettings,
  gatewaySettings,
  sideEffects: (world, change) =>
    change.by === 'forget' ? [] : conversationFindings(world, change),
}

const keyringLogin = "the login in the system's keyring, if there is one"
