import type { Machine } from '../../platform/platform.ts'
import type { ConfigFile, DiskReader } from '../contract/files.ts'
import { pathsOf, projectFolders } from '../files/paths.ts'
import { keyFileName } from './providers/key-command.ts'

/** `$CODEX_HOME`, else `~/.codex`. Absolute. */
export function codexHome(machine: Machine): string {
  const { join, named } = pathsOf(machine)
  return named('CODEX_HOME') ?? join(machine.home, '.codex')
}

/** The file that a setup writes with the gateway's models. */
const modelsFile = 'repoint-models.json'

const settings = { format: 'toml', content: 'settings', scope: 'keys', holdsSecret: false } as const
const editable = { ...settings, use: 'editable', owner: 'user' } as const
const layer = { ...settings, use: 'layer' } as const

export function codexFiles(machine: Machine, disk: DiskReader): readonly ConfigFile[] {
  const { join } = pathsOf(machine)
  const home = codexHome(machine)
  const auth = { ...editable, kind: 'auth', content: 'credentials', holdsSecret: true } as const
  const whole = { format: 'json', scope: 'whole' } as const

  return [
    // In the order of `plan`, which says why.
    { ...auth, ...whole, path: join(home, 'auth.json') },
    {
      ...auth,
      kind: 'key',
      format: 'key',
      scope: 'whole',
      path: join(home, keyFileName),
      isOptional: true,
    },
    { ...editable, ...whole, kind: 'models', path: join(home, modelsFile), isOptional: true },
    { ...editable, kind: 'config', path: join(home, 'config.toml') },
    ...layersOfCodex(machine, disk, home).filter(({ path }) => disk.exists(path)),
  ]
}

/**
 * The other configurations, weakest first: the system's, those of the project from its root inwards, profiles,
 * and the administrator's. In a trusted folder the `model` of a project overrides the user's; Codex ignores a
 * provider in it (0.140.0 to 0.169.0, 2026-11-23).
 */
function layersOfCodex(machine: Machine, disk: DiskReader, home: string): readonly ConfigFile[] {
  const { join } = pathsOf(machine)
  const isWindows = machine.os === 'win32'
  const managed = join(isWindows ? home : '/etc/codex', 'managed_config.toml')
  const projects = projectFolders(machine, disk)
    .map((folder) => join(folder, '.codex'))
    .filter((folder) => folder !== home)
  const profiles = disk.entries(home).filter((name) => name.endsWith('.config.toml'))

  const ofSystem = { ...layer, kind: 'system', owner: 'administrator' } as const
  const ofProject = { ...layer, kind: 'project', owner: 'folder' } as const
  const ofProfile = { ...layer, kind: 'profile', owner: 'user', isProfile: true } as const
  return [
    ...(isWindows ? [] : [{ ...ofSystem, path: '/etc/codex/config.toml' }]),
    ...projects.map((folder) => ({ ...ofProject, path: join(folder, 'config.toml') })),
    ...profiles.map((name) => ({ ...ofProfile, path: join(home, name) })),
    { ...layer, kind: 'managed', owner: 'administrator', path: managed },
  ]
}
