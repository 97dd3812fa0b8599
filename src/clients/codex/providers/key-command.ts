import type { ConfigValue } from '../../../edits/types.ts'
import type { LoadedFile } from '../../contract/files.ts'
import { isTable, textIn } from '../../files/tables.ts'

/**
 * With `--keep-login`, auth.json keeps the login, and the provider's table names a command that prints the gateway's
 * key from a file of its own. Codex sends only that key to the gateway (0.118.0 and 0.171.0, 2026-11-29).
 */
export const keyFileName = 'repoint-key'

/**
 * The commands that print the file. Codex takes `cwd` from the folder of config.toml, so that no path needs quotes. It
 * removes the line break at the end of the output. `cat` was run with 0.118.0 and 0.171.0 on Linux; the command for
 * Windows was not run (2026-11-29). `/d` ignores the commands that the registry adds to each start of cmd.
 */
const commands = {
  posix: { command: 'cat', args: [keyFileName], cwd: '.' },
  windows: { command: 'cmd', args: ['/d', '/c', 'type', keyFileName], cwd: '.' },
} as const

/** The command for the system that has the file. */
export function commandFor({ path }: Pick<LoadedFile, 'path'>) {
  return /^(?:[A-Za-z]:)?\\/.test(path) ? commands.windows : commands.posix
}

/** Whether a value of `auth` is a command that a setup writes, on whichever system. */
export function printsKeyFile(auth: ConfigValue | undefined): boolean {
  return Object.values(commands).some((command) => isCommand(auth, command))
}

export function isCommand(
  auth: ConfigValue | undefined,
  { command, args, cwd }: (typeof commands)[keyof typeof commands],
): boolean {
  if (!isTable(auth)) return false
  return (
    textIn(auth, ['command']) === command &&
    JSON.stringify(auth['args']) === JSON.stringify(args) &&
    textIn(auth, ['cwd']) === cwd
  )
}
