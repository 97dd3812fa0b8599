import { ifPossible } from '../../errors.ts'
import type { Findings } from '../../finding.ts'
import type { Machine } from '../../platform/platform.ts'
import { isNewer, runningServer } from '../background-server.ts'
import type {
  ClientContext,
  ClientModule,
  ConfigFile,
  DiskReader,
  SystemReader,
} from '../client.ts'
import { fileOf, layersOf } from '../loaded-files.ts'
import { ownFiles } from '../opencode-family/config.ts'
import { type Layout, xdgFolder } from '../opencode-family/layout.ts'
import { clientOf } from '../opencode-family/module.ts'
import { reservedProviderIds } from '../opencode-family/reserved-provider-ids.ts'
import { pathsOf } from '../paths.ts'
import { ofOwnRuntime } from '../tested.ts'
import tested from './tested.json' with { type: 'json' }

/**
 * Made from opencode: its layout under another name, with its order of layers and its reading of keys.
 * A bad key fails at once, with the gateway's words and status 1; without any setup and offline it
 * waits in silence. Each start adds `$schema` where it is missing. Run: 7.7.9 and 7.0.33, 2026-11-22;
 * only the older stops at keys that it does not know.
 */
const layout: Layout = {
  id: 'kilo',
  label: 'Kilo',
  folder: 'kilo',
  // opencode's names count in Kilo's own folder too, and win over its own; opencode's folder and
  // variables do not.
  configNames: ['config.json', 'kilo.json', 'kilo.jsonc', 'opencode.json', 'opencode.jsonc'],
  // The one that its first start makes.
  newConfig: 'kilo.jsonc',
  projectNames: ['kilo.json', 'kilo.jsonc', 'opencode.json', 'opencode.jsonc'],
  // ~/.kilocode counts in 7.7.9 alone, .opencode in 7.0.33 alone.
  dotFolders: ['.kilocode', '.kilo'],
  folderFiles: [
    {
      patterns: [
        ...['kilo.json', 'kilo.jsonc', 'opencode.json', 'opencode.jsonc', 'tui.json', 'tui.jsonc'],
        ...['config.json', '.kilocodemodes', '.kilo/**', '.kilocode/**', '.opencode/**'],
      ],
      reach: 'all',
      // .opencode counts in the older one alone.
      source: 'system calls of 7.7.9, 2026-11-24; 7.0.33, 2026-11-22',
    },
  ],
  variables: 'KILO',
  schema: 'https://app.kilo.ai/config.json',
  reservedProviderIds: ['kilo', ...reservedProviderIds],
  // As its program has it, and seen with gpt-5.6-sol (7.7.9, 2026-11-23).
  asksForNoLimit: /gpt-5/i,
  withoutWindow: 'Kilo does not compact its conversations, which end where the window is full',
}

const shared = clientOf(layout, {
  tested,
  program: {
    packages: ['@kilocode/cli', '@kilocode/cli-*'],
    pingArgs: (prompt) => ['run', prompt],
    caFileVariables: ['NODE_EXTRA_CA_CERTS'],
    certificateStores: ofOwnRuntime(),
    pingEnv: {
      // A server that was started before would answer with what it read then.
      KILO_NO_DAEMON: '1',
      // Where its own service cannot be reached, 7.0.33 waits for it longer than for the answer.
      KILO_DISABLE_SESSION_INGEST: '1',
      KILO_TELEMETRY_LEVEL: 'off',
    },
  },
  demoFiles: {
    '.config/kilo/kilo.jsonc': `{
  // it asks before every command
  "permission": { "bash": "ask" },
}
`,
  },
})

export const kilo: ClientModule = {
  ...shared,
  files: (machine, disk) => [...shared.files(machine, disk), ...startedFile(machine, disk)],
  *check(context, target) {
    yield* shared.check(context, target)
    if (target) yield* firstStart(context)
  },

  /**
   * Each start copies auth.json into the table `credential` of its own database, where the key stays when
   * auth.json goes; `kilo auth logout` finds no credential then. The command was tried: the bytes are gone
   * (7.7.9, 2026-11-23).
   */
  storedCopies({ files, machine }, texts) {
    const { join } = pathsOf(machine)
    const database = join(xdgFolder(machine, 'DATA'), 'kilo', 'kilo.db')
    const wasStarted = ifPossible(() => files.stat(database)) !== undefined
    if (!wasStarted) return []

    const { providerId = 'gateway' } = shared.read(texts)
    return [
      {
        code: 'key-copied',
        message: `Kilo keeps a copy of the key in its own database, ${database}, which repoint does not touch`,
        hint: `To remove it: sqlite3 ${database} "delete from credential where integration_id = '${providerId}'; vacuum; pragma wal_checkpoint(truncate)"`,
      },
    ]
  },

  /**
   * The server that `kilo daemon start` leaves running. `kilo` and `kilo run` hand what they are asked to
   * it, and it goes on with the address and the key that it read at its start (7.7.9, 2026-11-22;
   * 7.0.33 has none).
   *
   * Looks at its state file and at whether that process lives; starts nothing. One that started after
   * auth.json was written holds the key that is there.
   */
  leftRunning(world) {
    const { join } = pathsOf(world.machine)
    const state = join(xdgFolder(world.machine, 'STATE'), 'kilo', 'daemon.json')
    const auth = join(xdgFolder(world.machine, 'DATA'), 'kilo', 'auth.json')
    const pid = runningServer(world, state)
    if (pid === undefined || isNewer(world, state, auth)) return undefined

    return { pid, stopCommand: 'kilo daemon stop', stop: () => stop(world) }
  },
}

/** What Kilo has left once it was started: the mark of the change that `firstStart` is about. */
function startedFile(machine: Machine, disk: DiskReader): readonly ConfigFile[] {
  const { join } = pathsOf(machine)
  const path = join(xdgFolder(machine, 'CONFIG'), 'kilo', '.bash-permission-migrated')
  if (!disk.exists(path)) return []
  return [{ kind: 'started', path, format: 'json', holdsSecret: false, use: 'layer' }]
}

/**
 * At its first start 7.7.9 takes whoever has a configuration without `permission.bash` for a user of
 * old, and writes "allow" into it: every command then runs without a question. Someone new is asked,
 * but for commands that only look. A setup before the first start must not make the difference; an
 * empty table keeps it away and changes nothing else (2026-11-22).
 */
function* firstStart({ files, machine }: ClientContext): Findings {
  const isNew =
    layersOf(files, 'started').length === 0 &&
    pathsOf(machine).named('KILO_CONFIG') === undefined &&
    ownFiles(files).every((file) =>
      Object.keys(file.document?.root ?? {}).every((key) => key === '$schema'),
    )
  if (!isNew) return

  yield {
    code: 'kilo-first-start',
    message:
      'Kilo was never started here: Kilo would take this configuration for an old one, and run every command without asking',
    location: fileOf(files, 'config').path,
    hint: 'Start Kilo once before the setup.',
    fix: { fileKind: 'config', changes: [{ path: ['permission', 'bash'], value: {} }] },
    severity: 'warning',
  }
}

/** In ms; Kilo itself gives the server 6 s. */
const stopTimeoutMs = 30_000

async function stop({ processes, machine }: SystemReader): Promise<string | undefined> {
  const command = processes.which('kilo')
  if (command === undefined) return 'kilo is not in PATH'
  const { exitStatus, reason } = await processes.run(command, ['daemon', 'stop'], {
    timeoutMs: stopTimeoutMs,
    // Not in a project, whose configuration could make it run something.
    cwd: machine.home,
    env: machine.env,
  })

  if (exitStatus === 0) return undefined
  return reason === 'timed-out'
    ? `it did not end within ${stopTimeoutMs / 1000} s`
    : `kilo ended with status ${exitStatus}`
}
