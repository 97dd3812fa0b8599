import { startsWith } from '../../edits/values/paths.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { type LaunchSettings, launchKeyVariable, type ProcessToStart } from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { fileOf } from '../files/parse-file.ts'
import { overlaid } from '../files/tables.ts'
import { droidName } from '../names.ts'
import { expectBearer } from '../plan/headers.ts'
import { expectUnset, typedFlag } from '../program/arguments.ts'
import { ourChanges } from './plan.ts'
import { entryIdOf, entryPath } from './settings.ts'

/** Names a settings file that overrides all others, including those of projects (0.215.0, 0.225.2). */
const variable = 'FACTORY_RUNTIME_SETTINGS_PATH'

/** No entry of the user has this ID. */
const runEntryId = entryIdOf('repoint-run')

/**
 * Uses a separate settings file, in which the key is `${NAME}`; `--settings` does the same on the command
 * line.
 *
 * @throws UserError `usage`, `protocol-unsupported`
 */
export function launchSettings(
  files: LoadedFiles,
  target: SetupTarget,
  { args, env, tempFolder }: ProcessToStart,
): LaunchSettings {
  expectBearer(droidName, target)
  expectUnset(
    typedFlag(args, ['--settings']) ?? (env[variable] && variable),
    () => 'droid accepts one settings file, and repoint needs it for the gateway',
  )

  const startPath = entryPath(entryIdOf(target.providerId))
  // The settings that a setup would write into a home without droid.
  const changes = ourChanges({ ...fileOf(files, 'settings'), bytes: null }, target)
  const entry = changes
    .filter(({ path }) => startsWith(path, startPath))
    .map(({ path, value }) => ({ path: path.slice(startPath.length), value }))
  const settings = {
    customModels: [
      overlaid({}, [
        { path: ['id'], value: runEntryId },
        ...entry,
        { path: ['apiKey'], value: `\${${launchKeyVariable}}` },
      ]),
    ],
    sessionDefaultSettings: { model: runEntryId },
  }

  const name = 'droid.json'
  return {
    args,
    env: { ...env, [variable]: `${tempFolder}/${name}` },
    files: { [name]: JSON.stringify(settings, null, 2) },
  }
}
