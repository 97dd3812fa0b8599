import { isDeepStrictEqual } from 'node:util'
import type { SettingChange } from '../../edits/plan.ts'
import {
  type LaunchSettings,
  type ProcessToStart,
  runKeyVariable,
  type SetupTarget,
} from '../client.ts'
import { expectUnsaid, ownFlag } from '../flags.ts'
import { expectBearer } from '../headers.ts'
import { overlaid } from '../loaded-files.ts'
import { droidName } from './sensitive-settings.ts'
import { idOf, modelPath } from './settings.ts'

/** Names a settings file that lies above all others, those of projects included (0.215.0, 0.225.2). */
const variable = 'FACTORY_RUNTIME_SETTINGS_PATH'

/** No entry of the user's is called so. */
const ownId = 'repoint-run'

/**
 * By a settings file of its own, in which the key is `${NAME}`; `--settings` is the same from the
 * command line.
 *
 * @param keys what a setup would write into a home without droid
 * @throws UserError `usage`, `protocol-unsupported`
 */
export function launchSettings(
  keys: readonly SettingChange[],
  target: SetupTarget,
  { args, env, tempFolder }: ProcessToStart,
): LaunchSettings {
  expectBearer(droidName, target)
  expectUnsaid(
    ownFlag(args, ['--settings']) ?? (env[variable] && variable),
    () => 'droid takes one file of settings for a run, and needs it here for the gateway',
  )

  const [, started] = modelPath(target.providerId)
  const entry = keys
    .filter(({ path }) => isDeepStrictEqual(path[1], started))
    .map(({ path, value }) => ({ path: path.slice(2), value }))
  const settings = {
    customModels: [
      overlaid({}, [
        { path: ['id'], value: idOf(ownId) },
        ...entry,
        { path: ['apiKey'], value: `\${${runKeyVariable}}` },
      ]),
    ],
    sessionDefaultSettings: { model: idOf(ownId) },
  }

  const name = 'droid.json'
  return {
    args,
    env: { ...env, [variable]: `${tempFolder}/${name}` },
    files: { [name]: JSON.stringify(settings, null, 2) },
  }
}
