import type { Machine } from '../../platform/platform.ts'
import type { ConfigFile, DiskReader } from '../contract/files.ts'
import { pathsOf, projectFolders } from '../files/paths.ts'

/** `$CODEX_HOME`, else `~/.codex`. Absolute. */
export function codexHome(machine: Machine): string {
  const { join, named } = pathsOf(machine)
  return named('CODEX_HOME') ?? join(machine.home, '.codex')
}

/** The file that a setup writes with the gateway's models. */
const catalog = 'repoint-models.json'

export function codexFiles(machine: Machine, disk: DiskReader): readonly ConfigFile[] {
  const { join } = pathsOf(machine)
  const home = codexHome(machine)
  const target = { holdsSecret: false, use: 'target' } as const
  const whole = { ...target, format: 'json', isReplacedWhole: true } as const
  const layer = { format: 'toml', holdsSecret: false, use: 'layer' } as const

  const isWindows = machine.os === 'win32'
  const system = isWindows ? [] : [{ kind: 'system', path: '/etc/codex/config.toml' }]
  const folder = isWindows ? home : '/etc/codex'
  const managed = { kind: 'managed', path: join(folder, 'managed_config.toml') }
  const profiles = disk
    .entries(home)
    .filter((name) => name.endsWith('.config.toml'))
    .map((name) => ({ kind: 'profile', path: join(home, name) }))

  return [
    // The key precedes the config: a config that names the gateway is never next to another login.
    { ...whole, kind: 'auth', path: join(home, 'auth.json'), holdsSecret: true },
    { ...whole, kind: 'catalog', path: join(home, catalog), isOptional: true },
    { ...target, kind: 'config', path: join(home, 'config.toml'), format: 'toml' },
    ...[...system, ...projectFiles(machine, disk, home), ...profiles, managed]
      .filter(({ path }) => disk.exists(path))
      .map((file) => ({ ...layer, ...file })),
  ]
}

/**
 * The configurations of the project around the working folder, from its root inwards. In a trusted folder
 * their `model` overrides the user's; Codex ignores a provider in them (0.140.0 to 0.169.0, 2026-11-23).
 */
function projectFiles(machine: Machine, disk: DiskReader, home: string) {
  const { join } = pathsOf(machine)
  return projectFolders(machine, disk)
    .map((folder) => join(folder, '.codex'))
    .filter((folder) => folder !== home)
    .map((folder) => ({ kind: 'project', path: join(folder, 'config.toml') }))
}
