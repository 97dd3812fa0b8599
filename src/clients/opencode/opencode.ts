import { keyCopyFindings } from '../checks/findings.ts'
import type { ClientModule } from '../contract/client.ts'
import { pathsOf } from '../files/paths.ts'
import { opencodeName } from '../names.ts'
import { type Fork, reservedProviderIds, xdgFolder } from '../opencode-family/config.ts'
import { clientOf, conversationFindings } from '../opencode-family/module.ts'
import { ofOwnRuntime } from '../program/tested.ts'
import responses from './responses.json' with { type: 'json' }
import tested from './tested.json' with { type: 'json' }

const fork: Fork = {
  ...opencodeName,
  folder: 'opencode',
  keyFile: 'repoint-key',
  configNames: ['config.json', 'opencode.json', 'opencode.jsonc'],
  newConfig: 'opencode.json',
  projectNames: ['opencode.json', 'opencode.jsonc'],
  dotFolders: ['.opencode'],
  folderFiles: [
    {
      patterns: ['opencode.json', 'opencode.jsonc', 'tui.json', 'tui.jsonc', '.opencode/**'],
      reach: 'all',
      source: 'system calls of 1.18.34, 2026-11-24',
    },
  ],
  variables: 'OPENCODE',
  schema: 'https://opencode.ai/config.json',
  reservedProviderIds,
  // Without a limit `isOverflow` is never true (packages/opencode/src/session/compaction.ts).
  window: {
    ifUnknown: 'opencode does not compact its conversations, which end when the window is full',
  },
  refusesPermissionsAs: 'opencode 1',
  tested,
  loadRecordings: async () =>
    (await import('./first-requests.json', { with: { type: 'json' } })).default,
  program: {
    packages: ['opencode-ai', 'opencode-*'],
    nextMajor:
      'by its source, it reads auth.json only once, so the key goes into a file that the configuration names',
    // 1.2.6 sends `{env:NAME}` in its variable unchanged (2026-11-23).
    minVersionForLaunch: '1.2.11',
    pingArgs: (prompt) => ['run', prompt],
    caFileVariables: ['NODE_EXTRA_CA_CERTS'],
    certificateStores: ofOwnRuntime(),
    accepts: responses.protocols,
    tokens: { firstRequest: 6_900, oneWord: 7_600 },
    pingEnv: {},
  },
}

const shared = clientOf(fork)

export const opencode: ClientModule = {
  ...shared,

  /** 1.17.0 copies every key of auth.json into account.json; 1.17.9 and later do not (2026-11-24). */
  *sideEffects(world, change) {
    yield* conversationFindings(fork, world, change)
    const { files, machine } = world
    const { key } = shared.read(change.before).endpoint
    const copy = pathsOf(machine).join(xdgFolder(machine, 'DATA'), fork.folder, 'account.json')
    if (change.by !== 'setup' && key) yield* keyCopyFindings(opencodeName, files, key, [copy])
  },
}
