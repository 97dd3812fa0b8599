import { ifPossible } from '../../errors.ts'
import type { Findings } from '../../finding.ts'
import type { Machine } from '../../platform/platform.ts'
import { isNewer, runningServer, serverFinding } from '../checks/background-server.ts'
import type { ClientContext, ClientModule, ClientWorld } from '../contract/client.ts'
import type { ConfigFile, DiskReader } from '../contract/files.ts'
import { defaultProviderId } from '../contract/options.ts'
import { fileOf, filesOfKind } from '../files/parse-file.ts'
import { editableFile, pathsOf } from '../files/paths.ts'
import { kiloName } from '../names.ts'
import { type Fork, readConfig, reservedProviderIds, xdgFolder } from '../opencode-family/config.ts'
import { clientOf, conversationFindings } from '../opencode-family/module.ts'
import { ofOwnRuntime } from '../program/tested.ts'
import responses from './responses.json' with { type: 'json' }
import tested from './tested.json' with { type: 'json' }

/**
 * A fork of opencode: the same layout under another name, with the same order of layers and the same way to read
 * keys. With a bad key it fails at once, with the gateway's message and status 1; offline and without any setup it
 * waits silently. Each start adds `$schema` if it is missing. Only 7.0.33 fails on keys that it does not know.
 *
 * Facts: run with 7.7.9 and 7.0.33, 2026-11-22, unless a comment says otherwise.
 */
const fork: Fork = {
  ...kiloName,
  folder: 'kilo',
  // opencode's file names also apply in Kilo's folder, and override Kilo's names there; opencode's folder and
  // variables do not.
  configNames: ['config.json', 'kilo.json', 'kilo.jsonc', 'opencode.json', 'opencode.jsonc'],
  // The file that its first start creates.
  newConfig: 'kilo.jsonc',
  projectNames: ['kilo.json', 'kilo.jsonc', 'opencode.json', 'opencode.jsonc'],
  // Only 7.7.9 reads ~/.kilocode, and only 7.0.33 reads .opencode.
  dotFolders: ['.kilocode', '.kilo'],
  folderFiles: [
    {
      patterns: [
        'kilo.json',
        'kilo.jsonc',
        'opencode.json',
        'opencode.jsonc',
        'tui.json',
        'tui.jsonc',
        'config.json',
        '.kilocodemodes',
        '.kilo/**',
        '.kilocode/**',
        '.opencode/**',
      ],
      reach: 'all',
      // Only the older version reads .opencode.
      source: 'system calls of 7.7.9, 2026-11-24; 7.0.33, 2026-11-22',
    },
  ],
  variables: 'KILO',
  schema: 'https://app.kilo.ai/config.json',
  reservedProviderIds: ['kilo', ...reservedProviderIds],
  // As in the program, and seen with gpt-5.6-sol (7.7.9, 2026-11-23).
  asksForNoLimit: /gpt-5/i,
  window: {
    ifUnknown: 'Kilo does not compact its conversations, which end when the window is full',
  },
  tested,
  loadRecordings: async () =>
    (await import('./first-requests.json', { with: { type: 'json' } })).default,
  program: {
    packages: ['@kilocode/cli', '@kilocode/cli-*'],
    pingArgs: (prompt) => ['run', prompt],
    caFileVariables: ['NODE_EXTRA_CA_CERTS'],
    certificateStores: ofOwnRuntime(),
    accepts: responses.protocols,
    tokens: { firstRequest: 16_100, oneWord: 16_100 },
    isSlow: true,
    pingEnv: {
      // A server from before the setup would answer with the settings that it read at its start.
      KILO_NO_DAEMON: '1',
      // If 7.0.33 cannot reach its own service, it waits for it longer than for the answer.
      KILO_DISABLE_SESSION_INGEST: '1',
      KILO_TELEMETRY_LEVEL: 'off',
    },
  },
}

const shared = clientOf(fork)

export const kilo: ClientModule = {
  ...shared,

  files: (machine, disk) => [...shared.files(machine, disk), ...startedFile(machine, disk)],

  *checkNow(context) {
    yield* shared.checkNow(context)
    yield* oldServerFindings(context.world)
  },

  *checkSetup(context, target) {
    yield* shared.checkSetup(context, target)
    yield* checkFirstStart(context)
  },

  /**
   * Each start copies auth.json into the table `credential` of Kilo's database. The key stays there when
   * auth.json is removed, and `kilo auth logout` then finds no credential. The command in the hint was tried:
   * it removes the bytes (7.7.9, 2026-11-23).
   */
  *sideEffects(world, change) {
    yield* conversationFindings(fork, world, change)
    const { files, machine } = world
    const { by, before } = change
    const { join } = pathsOf(machine)
    const database = join(xdgFolder(machine, 'DATA'), 'kilo', 'kilo.db')
    const wasStarted = ifPossible(() => files.stat(database)) !== undefined
    if (by === 'setup' || !wasStarted) return

    const { providerId = defaultProviderId } = shared.read(before).options
    yield {
      code: 'key-copied',
      severity: 'note',
      message: `Kilo keeps a copy of the key in its database, ${database}, which repoint does not change`,
      hint: `To remove it: sqlite3 ${database} "delete from credential where integration_id = '${providerId}'; vacuum; pragma wal_checkpoint(truncate)"`,
    }
  },
}

/** The file that Kilo creates at its first start: it marks the migration that `checkFirstStart` describes. */
function startedFile(machine: Machine, disk: DiskReader): readonly ConfigFile[] {
  const { join } = pathsOf(machine)
  const path = join(xdgFolder(machine, 'CONFIG'), 'kilo', '.bash-permission-migrated')
  if (!disk.exists(path)) return []
  const file = { ...editableFile('started', path), holdsSecret: false, use: 'layer' } as const
  return [file]
}

/**
 * At its first start, 7.7.9 takes anyone who has a configuration without `permission.bash` for an existing user,
 * and writes "allow" into it: it then runs every command without a question. For a new user it asks, except for
 * commands that only read. A setup before the first start must not change that. An empty table prevents it and
 * changes nothing else.
 */
function* checkFirstStart({ files, machine }: ClientContext): Findings {
  const isNew =
    filesOfKind(files, 'started').length === 0 &&
    pathsOf(machine).named('KILO_CONFIG') === undefined &&
    readConfig(files).userFiles.every((file) =>
      Object.keys(file.root).every((key) => key === '$schema'),
    )
  if (!isNew) return

  yield {
    code: 'kilo-first-start',
    message:
      'Kilo was never started here. It would treat this configuration as an old one and run every command without asking',
    location: fileOf(files, 'config').path,
    hint: 'Start Kilo once before the setup.',
    fix: { fileKind: 'config', changes: [{ path: ['permission', 'bash'], value: {} }] },
    severity: 'warning',
  }
}

/**
 * The server that `kilo daemon start` leaves running. `kilo` and `kilo run` send it their prompts, and it keeps the
 * address and the key that it read at its start (7.0.33 has no server).
 *
 * Reads the server's state file and checks whether that process runs; starts nothing. A server that started
 * after auth.json was written has the key in that file.
 */
function* oldServerFindings(world: ClientWorld): Findings {
  const { join } = pathsOf(world.machine)
  const state = join(xdgFolder(world.machine, 'STATE'), 'kilo', 'daemon.json')
  const auth = join(xdgFolder(world.machine, 'DATA'), 'kilo', 'auth.json')
  const pid = runningServer(world, state)
  if (pid === undefined || isNewer(world, state, auth)) return

  const process = { stopCommand: 'kilo daemon stop', stop: () => stop(world) }
  yield serverFinding(fork, pid, process)
}

/** In ms. Kilo itself waits 6 s for the server. */
const stopTimeoutMs = 30_000

async function stop({ processes, machine }: ClientWorld): Promise<string | undefined> {
  const command = processes.which('kilo')
  if (command === undefined) return 'kilo is not in PATH'
  const { exitStatus, reason } = await processes.run(command, ['daemon', 'stop'], {
    timeoutMs: stopTimeoutMs,
    // Not in a project: its configuration could make Kilo run a program.
    cwd: machine.home,
    env: machine.env,
  })

  if (exitStatus === 0) return undefined
  return reason === 'timed-out'
    ? `it did not end within ${stopTimeoutMs / 1000} s`
    : `kilo ended with status ${exitStatus}`
}
