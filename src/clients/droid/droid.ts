import { otherKeyHeaders, protocols } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import type { ClientModule, SendingRules } from '../contract/client.ts'
import { withoutTrailingSlash } from '../files/addresses.ts'
import { brokenText, fileOf, originsIn, unreadable } from '../files/parse-file.ts'
import { editableFile, layersThere, pathsOf, projectFolders } from '../files/paths.ts'
import { numberIn, textIn } from '../files/tables.ts'
import { resolveWithPicker } from '../models/picker.ts'
import { protocolsForKey } from '../models/protocols.ts'
import { droidName } from '../names.ts'
import { readHeaders } from '../plan/headers.ts'
import { clientFlagValues } from '../program/arguments.ts'
import { ofOwnRuntime, testedVersions } from '../program/tested.ts'
import { checkNow, checkSetup } from './check.ts'
import { firstRequest } from './first-request.ts'
import { gatewaySettings } from './gateway-settings.ts'
import { launchSettings } from './launch-settings.ts'
import { plan } from './plan.ts'
import responses from './responses.json' with { type: 'json' }
import { sensitiveSettings } from './sensitive-settings.ts'
import {
  isFromVariable,
  modelCalled,
  protocolOfEntry,
  providerIdOf,
  readSettings,
} from './settings.ts'
import tested from './tested.json' with { type: 'json' }

const sends: SendingRules = {
  headers: true,
  // Without an apiKey droid sends no `authorization`. It sends the values of headers unchanged.
  otherKeyHeaders: { chat: otherKeyHeaders, responses: otherKeyHeaders, messages: ['x-api-key'] },
  fixedKeyHeader: { messages: 'x-api-key' },
}

/**
 * Factory's agent. Facts: run with 0.215.0 and 0.225.2, 2026-11-22, unless a comment says otherwise.
 *
 * Older versions (0.99.0, 0.117.0) do nothing without FACTORY_API_KEY, whatever its value is. droid reports
 * every session to Factory and, for a model of the user, the number of tokens.
 */
export const droid: ClientModule = {
  program: {
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
    pingEnv: { FACTORY_DROID_AUTO_UPDATE_ENABLED: 'false' },
    restartAdvice:
      'Close every running droid and start it again. Its screen still asks for a Factory login. `droid exec` does not.',
  },
  protocols,
  sends,
  accepts: responses.protocols,
  config: {
    sensitiveSettings,
    folderFiles: [
      {
        patterns: ['.factory/**', '.agent/**', '.agents/**'],
        reach: 'all',
        source: 'system calls of 0.225.2, 2026-11-24',
      },
    ],
    // droid reads IDs and names unchanged (0.225.2, 2026-11-23).
    interpolation: { names: null, values: /\$\{[^}]+\}/ },
    reservedProviderIds: [],
  },

  /**
   * The stronger file overrides key by key, and `customModels` entry by entry. Files of projects override the
   * user's own. In a repository droid reads every folder above, otherwise only the one where it starts.
   */
  files(machine, disk) {
    const { join, named } = pathsOf(machine)
    const userFolder = join(named('FACTORY_HOME_OVERRIDE') ?? machine.home, '.factory')
    const settings = join(userFolder, 'settings.json')
    const projects = projectFolders(machine, disk).map((folder) => join(folder, '.factory'))
    // In the home folder these files are the user's own.
    const foreign = projects.filter((folder) => folder !== userFolder)
    const agentsIn = (folder: string) =>
      disk.entries(join(folder, 'droids')).map((name) => join(folder, 'droids', name))
    const managed = managedFolder(machine)
    const names = ['settings.json', 'settings.local.json']

    return [
      editableFile('settings', settings),
      ...layersThere(disk, settings, [
        { kind: 'upper', owner: 'user', paths: [join(userFolder, 'settings.local.json')] },
        {
          kind: 'project',
          owner: 'folder',
          paths: projects.flatMap((folder) => names.map((name) => join(folder, name))),
        },
        {
          kind: 'project-agent',
          owner: 'folder',
          content: 'agent',
          paths: foreign.flatMap(agentsIn).filter((path) => path.endsWith('.md')),
        },
        { kind: 'managed', owner: 'administrator', paths: [join(managed, 'settings.json')] },
      ]),
    ]
  },

  read(files) {
    const settings = readSettings(fileOf(files, 'settings'))
    const { path, defaultModel: chosen, whyIgnored } = settings
    const found = modelCalled(settings, chosen)
    const url = textIn(found?.entry, ['baseUrl'])
    const apiKey = textIn(found?.entry, ['apiKey'])
    const { headers, headerKey } = readHeaders(found?.entry['extraHeaders'])
    // The file does not say the value of a variable.
    const knownKey = apiKey && !isFromVariable(apiKey) ? apiKey : undefined
    const sent = apiKey ? { key: knownKey, keyHeader: 'authorization' as const } : headerKey

    const model = found ? textIn(found.entry, ['model']) : chosen
    // A model of ours that the user chose with `/model` belongs to the same setup.
    const providerId = found && providerIdOf(found)
    // Entries with other names are the user's own.
    const ours = settings.models.filter(
      (entry) => providerId !== undefined && providerIdOf(entry) === providerId,
    )

    return {
      endpoint: {
        baseUrl: url === undefined ? undefined : withoutTrailingSlash(url),
        key: sent?.key,
        keyHeader: sent?.keyHeader ?? 'authorization',
        headers,
      },
      options: {
        protocol: found && protocolOfEntry(found.entry),
        model,
        providerId,
        contextWindow: numberIn(found?.entry, ['maxContextLimit']),
      },
      offered: ours.map(({ entry }) => String(entry['model'])),
      origins: originsIn(path, { baseUrl: url, model, key: sent?.key }),
      findings: unreadable(whyIgnored === undefined ? undefined : brokenText(path, whyIgnored)),
    }
  },

  checkNow,

  resolve(input) {
    const usable = protocolsForKey({ ...droidName, protocols, sends }, input)
    const ifUnknown = 'droid assumes one when it compacts its conversations'
    return resolveWithPicker(input, usable, { ifUnknown })
  },

  plan,
  checkSetup,
  loadRecordings: async () =>
    (await import('./first-requests.json', { with: { type: 'json' } })).default,
  firstRequest,
  launchSettings,
  gatewaySettings,
}

/** The program of 0.225.2 names these folders; not run. */
function managedFolder({ os }: Machine): string {
  if (os === 'darwin') return '/Library/Application Support/Factory'
  if (os === 'win32') return 'C:\\Program Files\\Factory'
  return '/etc/factory'
}
