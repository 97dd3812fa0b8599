import type { Machine } from '../../platform/platform.ts'
import type { ConfigFile, Look, Obstacle, Scene } from '../client.ts'
import { ownFiles } from '../opencode/config.ts'
import { pathsOf } from '../paths.ts'
import { fileOf, layersOf } from '../texts.ts'

/** What Kilo has left once it was started: the mark of the change that `firstStart` is about. */
export function startedFile(machine: Machine, look: Look): readonly ConfigFile[] {
  const { join, named } = pathsOf(machine)
  const folder = join(named('XDG_CONFIG_HOME') ?? join(machine.home, '.config'), 'kilo')
  const path = join(folder, '.bash-permission-migrated')
  if (!look.exists(path)) return []
  return [{ role: 'started', path, format: 'json', holdsSecret: false, use: 'layer' }]
}

/**
 * At its first start 7.7.9 takes whoever has a configuration without `permission.bash` for a user of
 * old, and writes "allow" into it: every command then runs without a question. Someone new is asked,
 * but for commands that only look. A setup before the first start must not make the difference; an
 * empty table keeps it away and changes nothing else (2026-11-22).
 */
export function firstStart({ texts, machine }: Scene): readonly Obstacle[] {
  const isNew =
    layersOf(texts, 'started').length === 0 &&
    pathsOf(machine).named('KILO_CONFIG') === undefined &&
    ownFiles(texts).every((file) =>
      Object.keys(file.document?.root ?? {}).every((key) => key === '$schema'),
    )
  if (!isNew) return []
  return [
    {
      code: 'kilo-first-start',
      message:
        'Kilo was never started here: it would take this configuration for an old one, and let every command run without asking',
      place: fileOf(texts, 'config').path,
      cure: 'Start Kilo once before the setup.',
      repair: { role: 'config', changes: [{ path: ['permission', 'bash'], value: {} }] },
      weight: 'may-block',
    },
  ]
}
