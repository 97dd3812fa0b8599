import { isDeepStrictEqual } from 'node:util'
import type { KeyChange } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import { type AskedRun, type Choice, type OneRun, runKeyVariable } from '../client.ts'
import { ownFlag } from '../flags.ts'
import { overlaid } from '../texts.ts'
import { idOf, modelPath } from './settings.ts'

/** Names a settings file that lies above all others, those of projects included (0.215.0, 0.225.2). */
const variable = 'FACTORY_RUNTIME_SETTINGS_PATH'

/** No entry of the user's is called so. */
const ownId = 'repoint-run'

/**
 * By a settings file of its own, in which the key is `${NAME}`; `--settings` is the same from the
 * command line.
 *
 * @param keys what a setup would write
 * @throws UserError `usage`, `protocol-unsupported`
 */
export function forOneRun(
  keys: readonly KeyChange[],
  choice: Choice,
  { args, env, folder }: AskedRun,
): OneRun {
  if (choice.keyHeader !== undefined)
    throw new UserError({
      code: 'protocol-unsupported',
      message: `The gateway takes the key as ${choice.keyHeader} alone, which droid takes from its files only`,
      hint: 'Set it up: `repoint droid`.',
    })
  const told = ownFlag(args, ['--settings'])
  if (told || env[variable])
    throw new UserError({
      code: 'usage',
      message: 'droid takes one file of settings for a run, and needs it here for the gateway',
      hint: told
        ? `Leave ${told} out of the command.`
        : `Unset it for this run: env -u ${variable} repoint run …`,
    })

  const [, started] = modelPath(choice.providerId)
  const entry = keys.flatMap(({ path, value }) =>
    isDeepStrictEqual(path[1], started) && value !== undefined
      ? [{ path: path.slice(2), value }]
      : [],
  )
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
    env: { ...env, [variable]: `${folder}/${name}` },
    files: { [name]: JSON.stringify(settings, null, 2) },
  }
}
