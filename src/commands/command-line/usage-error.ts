import type { CommanderError } from '@commander-js/extra-typings'
import { clientRows } from '../../clients/list.ts'
import { UserError } from '../../errors.ts'
import { keyOnCommandLineError } from '../../gateway/input/key.ts'
import { guessName, looksLikeKey } from '../../text.ts'
import { commands } from '../list.ts'

/** Commander's error as a `UserError`, without the values of options, because they can be secrets. */
export function usageError(error: CommanderError, args: readonly string[]): UserError {
  const [command = '', ...commandArgs] = args
  const words = commandArgs.filter((arg) => !arg.startsWith('-'))
  const isExcess = error.code === 'commander.excessArguments'
  const isUnknownWord =
    isExcess || ['commander.invalidArgument', 'commander.unknownCommand'].includes(error.code)
  if (isUnknownWord && [command, ...words].some(looksLikeKey)) return keyOnCommandLineError()

  if (error.code === 'commander.help')
    return new UserError({
      code: 'usage',
      message:
        words[0] === undefined
          ? '`repoint help` takes one command'
          : `Unknown command '${words[0]}'`,
      hint: 'See: repoint --help',
    })

  const [message = ''] = error.message
    .replace(/^error: /, '')
    .replace(/(--?[\w-]+)=[^']*/g, '$1')
    .split('\n')
  return new UserError({
    code: 'usage',
    message: message.charAt(0).toUpperCase() + message.slice(1),
    hint: usageHint(error, args),
  })
}

function usageHint(error: CommanderError, args: readonly string[]): string {
  const [command = '', ...commandArgs] = args
  const words = commandArgs.filter((arg) => !arg.startsWith('-'))
  const isExcess = error.code === 'commander.excessArguments'

  const hasAddress = words.some((word) => /^https?:\/\//i.test(word))
  if (isExcess && hasAddress && !args.includes('--base-url'))
    return 'Pass the address with --base-url.'
  const meant = meantIn(error, command)
  if (meant !== undefined) return `Did you mean ${meant}?`

  // The command of a client takes no other client. The other commands have a form for several.
  const clients = [command, ...words].filter((word) => clientRows.some(({ id }) => id === word))
  if (isExcess && clients.length > 1 && clients[0] === command)
    return `Several clients: repoint setup ${clients.join(' ')}`

  const isCommand = error.code !== 'commander.unknownCommand' && /^[a-z]/.test(command)
  return `See: repoint ${isCommand ? `${command} ` : ''}--help`
}

/** The command or flag that the user meant by a wrong name. Undefined: no sure guess. */
function meantIn({ code, message }: CommanderError, first: string): string | undefined {
  if (code === 'commander.unknownOption') {
    // Commander names the flags only in its message: the typed one, then those of the same spelling.
    const [typed = '', ...similar] = message.match(/--[\w-]+/g) ?? []
    return guessName(typed, similar)
  }

  if (code !== 'commander.unknownCommand') return undefined
  const called = commands.find(({ alsoCalled }) => alsoCalled?.includes(first))
  const names = commands.filter(({ isHidden }) => !isHidden).map(({ name }) => name)
  return called?.name ?? guessName(first, names)
}
