import type { CommanderError } from '@commander-js/extra-typings'
import { UserError } from '../errors.ts'
import { looksLikeKey } from '../text.ts'

/**
 * What commander says, without the values of options, which may be secrets.
 *
 * @param meant the command that the first word is another name of
 */
export function asUsageError(
  error: CommanderError,
  args: readonly string[],
  meant?: string,
): UserError {
  const [command = '', ...rest] = args
  const words = rest.filter((arg) => !arg.startsWith('-'))
  const isExcess = error.code === 'commander.excessArguments'
  if (isExcess && words.some(looksLikeKey)) return keyOnCommandLine()

  if (error.code === 'commander.help')
    return new UserError({
      code: 'usage',
      message: words[0] === undefined ? '`help` takes a command' : `Unknown command '${words[0]}'`,
      hint: 'See: repoint --help',
    })

  const [message = '', ...suggestion] = error.message
    .replace(/^error: /, '')
    .replace(/(--?[\w-]+)=[^']*/g, '$1')
    .split('\n')
  const isAddress =
    isExcess && !args.includes('--base-url') && words.some((word) => /^https?:\/\//i.test(word))
  const isCommand = error.code !== 'commander.unknownCommand' && /^[a-z]/.test(command)
  const help = `See: repoint ${isCommand ? `${command} ` : ''}--help`
  return new UserError({
    code: 'usage',
    message: message.charAt(0).toUpperCase() + message.slice(1),
    hint: isAddress
      ? 'The address belongs behind --base-url.'
      : meant !== undefined
        ? `Did you mean ${meant}?`
        : suggestion.join(' ').replace(/^\((.*)\)$/, '$1') || help,
  })
}

/** A key in the arguments is refused before anything is done with it. */
export function keyOnCommandLine(): UserError {
  return new UserError({
    code: 'usage',
    message:
      'A key on the command line is not accepted: other users see it in the process list, and it stays in the shell history',
    hint: 'Use --key-stdin, --key-file PATH, --key-env NAME, or REPOINT_API_KEY.',
  })
}
