import type { Finding } from '../../finding.ts'
import { withKnownFacts } from '../../gateway/models/facts.ts'
import { catalogEntry } from '../../gateway/models/rules.ts'
import { otherKeyHeaders } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import type { ClientModule } from '../contract/client.ts'
import { catalogIn } from '../contract/setup.ts'
import { emptyState } from '../contract/state.ts'
import { withoutTrailingSlash } from '../files/addresses.ts'
import { brokenText, fileOf, originsIn, unreadable } from '../files/parse-file.ts'
import { editableFile, layersThere, pathsOf } from '../files/paths.ts'
import { gatewaySettingsIn } from '../files/sensitive-settings.ts'
import { numberIn, textIn } from '../files/tables.ts'
import { resolveOneModel } from '../models/resolve.ts'
import { keepsModels } from '../options/chosen-options.ts'
import { readHeaders } from '../plan/headers.ts'
import { clientFlagValues } from '../program/arguments.ts'
import { ofOwnRuntime, testedVersions } from '../program/tested.ts'
import { checkNow, checkSetup } from './check.ts'
import { firstRequest } from './first-request.ts'
import { launchSettings } from './launch-settings.ts'
import { plan } from './plan.ts'
import { hasLogin, providerId, readProviders, usualOutputTokens } from './providers.ts'
import responses from './responses.json' with { type: 'json' }
import { sensitiveSettings } from './sensitive-settings.ts'
import tested from './tested.json' with { type: 'json' }

const traced = 'system calls of 3.0.65, 2026-11-24'

/**
 * Cline's command line. Facts: run with 3.0.57 and 3.0.65, 2026-11-23, unless a comment says otherwise.
 *
 * Each start rewrites providers.json with the model of that start and the time. A recorded conversation names
 * only provider and model: when it is continued, Cline uses the settings of the file at that time. Cline
 * leaves a daemon running, the hub, which reads the file for each session. Cline exits with status 1 after a
 * rejected key; for a model that is not served it does so after six requests within a minute. In its screen,
 * `/model` lists the models that the gateway lists at `/models`; Cline sends the key with that request.
 *
 * Images need no setting: Cline sends a picture that its `read_files` reads, whatever the file says about the
 * model. It requests reasoning only if the user does (`--thinking`).
 */
export const cline: ClientModule = {
  program: {
    command: 'cline',
    packages: ['cline', '@cline/cli-*'],
    testedVersions: testedVersions(tested),
    foldersIn: (args) => clientFlagValues(args, ['-c', '--cwd']),
    // 2.18.0 has another layout, and prints `Not authenticated`.
    minVersion: '3.0.57',
    // Otherwise Cline runs every tool without a question. It takes a single word for a command.
    pingArgs: (prompt) => ['--auto-approve', 'false', `${prompt} `],
    caFileVariables: ['NODE_EXTRA_CA_CERTS'],
    // Cline reads the system's store only if Node 22.15 or newer starts it; npm's script leaves that to
    // chance.
    certificateStores: () => ({ ...ofOwnRuntime()(), system: false }),
    pingEnv: { CLINE_SESSION_BACKEND_MODE: 'local', CLINE_NO_AUTO_UPDATE: '1' },
    restartAdvice: 'Close every running Cline and start it again.',
  },
  protocols: ['chat'],
  // Without an apiKey Cline sends no `authorization`, unless OPENAI_API_KEY is set.
  sends: { headers: true, otherKeyHeaders: { chat: otherKeyHeaders } },
  accepts: responses.protocols,
  config: {
    sensitiveSettings,
    folderFiles: [
      {
        patterns: ['.cline/**', '.clinerules/**'],
        reach: 'repository',
        source: traced,
      },
      {
        patterns: ['bunfig.toml', '.env*'],
        reach: 'folder',
        source: traced,
      },
    ],
    // Cline sends `${HOME}`, `$HOME` and `{env:HOME}` in a header, a model or a key unchanged.
    interpolation: { names: null, values: null },
  },

  /** Cline reads only the .env files of the working folder. */
  files(machine, disk) {
    const { join, named } = pathsOf(machine)
    const clineFolder = named('CLINE_DIR') ?? join(machine.home, '.cline')
    const data = named('CLINE_DATA_DIR') ?? join(clineFolder, 'data')
    const settings =
      named('CLINE_PROVIDER_SETTINGS_PATH') ?? join(data, 'settings', 'providers.json')

    return [
      editableFile('providers', settings),
      ...layersThere(disk, settings, [
        {
          kind: 'project-env',
          owner: 'folder',
          content: 'variables',
          paths: envFiles(machine).map((name) => join(machine.cwd, name)),
        },
      ]),
    ]
  },

  read(files) {
    const file = readProviders(fileOf(files, 'providers'))
    const { path, whyIgnored, used, settings } = file
    if (whyIgnored !== undefined)
      return { ...emptyState, findings: unreadable(brokenText(path, whyIgnored)) }
    const isLoggedIn = used !== undefined && hasLogin(file, used)
    if (used !== providerId || isLoggedIn)
      return { ...emptyState, login: isLoggedIn ? `the login of its provider ${used}` : undefined }

    const url = textIn(settings, ['baseUrl'])
    const apiKey = textIn(settings, ['apiKey'])
    const { headers, headerKey } = readHeaders(settings['headers'])
    const sent = apiKey ? { key: apiKey } : headerKey
    const model = textIn(settings, ['model'])
    return {
      endpoint: {
        baseUrl: url === undefined ? undefined : withoutTrailingSlash(url),
        keyHeader: 'authorization',
        ...sent,
        headers,
      },
      options: { model, contextWindow: numberIn(settings, ['contextWindow']) },
      origins: originsIn(path, { baseUrl: url, model, key: sent?.key }),
      findings: [],
    }
  },

  checkNow,

  /**
   * Leaves out the window if the model's answers are known to be shorter than the limit that Cline requests
   * once it knows a window. Cline ignores `maxTokens` everywhere.
   */
  resolve(input) {
    const resolved = resolveOneModel(input, ['chat'], {
      ifUnknown: 'Cline does not know when to summarise a conversation.',
    })

    const { contextWindow, ...others } = resolved
    const { model, findings } = resolved

    const limit = withKnownFacts(
      catalogEntry(catalogIn(input.gatewayInfo), model) ?? { id: model },
    ).outputLimit
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
  },

  plan,
  checkSetup,
  loadRecordings: async () =>
    (await import('./first-requests.json', { with: { type: 'json' } })).default,
  firstRequest,
  launchSettings,

  gatewaySettings(files) {
    const file = fileOf(files, 'providers')
    if (cline.read(files).endpoint.baseUrl === undefined) return {}
    return { providers: gatewaySettingsIn(sensitiveSettings, file, providerId) }
  },
}

/**
 * The .env files that Bun reads, weakest first. Bun also reads them in the home folder if Cline starts there.
 */
function envFiles({ env }: Machine): readonly string[] {
  const mode = env['NODE_ENV'] || 'development'
  return ['.env', `.env.${mode}`, '.env.local', `.env.${mode}.local`]
}
