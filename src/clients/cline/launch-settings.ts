import { UserError } from '../../errors.ts'
import type { LoadedFiles } from '../contract/files.ts'
import { type LaunchSettings, launchKeyVariable, type ProcessToStart } from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { fileOf } from '../files/parse-file.ts'
import { overlaid } from '../files/tables.ts'
import { clineName } from '../names.ts'
import { expectBearer } from '../plan/headers.ts'
import { expectUnset } from '../program/arguments.ts'
import { ourChanges } from './plan.ts'

/** Names the file that replaces the user's own. */
const fileVariable = 'CLINE_PROVIDER_SETTINGS_PATH'
const fileName = 'cline-providers.json'

/**
 * Options that select other settings, or write the key into them. A short option may follow others in one
 * word.
 */
const leadsElsewhere = /^(?:--(?:data-dir|provider|key)(?==|$)|-[Vpizvh]*[Pk])/

/**
 * Options that leave a daemon running: Cline's screen, hub and schedules continue there with the environment
 * of their start.
 */
const leavesDaemon = /^(?:--(?:tui|id|zen|kanban|acp)(?==|$)|-[Vpvh]*[iz])/

/**
 * Uses a separate settings file without a key. Cline takes the key from `OPENAI_API_KEY` instead, and rewrites the
 * file without a key. With `CLINE_SESSION_BACKEND_MODE=local` a prompt leaves no daemon that holds the key; Cline's
 * screen still does.
 *
 * @throws UserError `usage`, `protocol-unsupported`
 */
export function launchSettings(
  files: LoadedFiles,
  target: SetupTarget,
  { args, env, tempFolder }: ProcessToStart,
): LaunchSettings {
  expectBearer(clineName, target)

  // Drops the value after the flag: it may be a key.
  const flag = args.map((arg) => leadsElsewhere.exec(arg)?.[0]).find(Boolean)
  expectUnset(
    flag ?? (env['CLINE_SANDBOX'] && 'CLINE_SANDBOX'),
    (name) =>
      `${name} names other settings for Cline, and repoint needs that option for the gateway`,
  )
  if (args.some((arg) => leavesDaemon.test(arg)) || !hasPrompt(args))
    throw new UserError({
      code: 'usage',
      message: 'Without a prompt, Cline leaves a program running that keeps the key',
      hint: 'Add a prompt of several words: repoint run NAME -- cline "Say hello". To use its screen, set Cline up: repoint cline',
    })

  // The settings that a setup would write into a home without Cline.
  const changes = ourChanges({ ...fileOf(files, 'providers'), bytes: null }, target)
  const withoutKey = changes.filter(({ path }) => path.at(-1) !== 'apiKey')
  return {
    args,
    env: {
      ...env,
      [fileVariable]: `${tempFolder}/${fileName}`,
      OPENAI_API_KEY: env[launchKeyVariable],
      CLINE_SESSION_BACKEND_MODE: 'local',
    },
    files: { [fileName]: JSON.stringify(overlaid({}, withoutKey), null, 2) },
  }
}

/** A prompt contains a blank: Cline takes a single word for a command. */
function hasPrompt(args: readonly string[]): boolean {
  return args.some(
    (arg, index) =>
      /^[^-].*\s/s.test(arg) && !['-s', '--system', '-c', '--cwd'].includes(args[index - 1] ?? ''),
  )
}
