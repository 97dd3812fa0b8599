import type { CommanderError } from '@commander-js/extra-typings'
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
  const meant = meantIn(error, args)
  if (meant !== undefined) return `Did you mean: repoint ${meant}`

  const isCommand = error.code !== 'commander.unknownCommand' && /^[a-z]/.test(command)
  return `See: repoint ${isCommand ? `${command} ` : ''}--help`
}

/** What the user meant by a wrong command or flag: `use work` for `switch work`. Undefined: no sure guess. */
function meantIn(
  { code, message }: CommanderError,
  [first = '', ...others]: readonly string[],
): string | undefined {
  if (code === 'commander.unknownOption') {
    // Commander names the flags only in its message: the typed one, then those of the same spelling.
    const [typed = '', ...similar] = message.match(/--[\w-]+/g) ?? []
    const flag = guessName(typed, similar)
    return flag && `${first} ${flag}`
  }

  if (code !== 'commander.unknownCommand') return undefined
  const [subject] = others
  if (first === 'add') return subject?.includes('.') ? `gateways add ${subject}` : undefined
  if (first === 'model' && subject !== undefined && !subject.startsWith('-'))
    return `use --model ${subject}`
  const called = commands.find(({ alsoCalled }) => alsoCalled?.includes(first))
  const names = commands.filter(({ isHidden }) => !isHidden).map(({ name }) => name)
  const name = called?.name ?? guessName(first, names)
  // Flags of another command may not fit, and their values may be secrets.
  const flag = others.findIndex((word) => word.startsWith('-'))
  const words = flag === -1 ? others : others.slice(0, flag)
  return name && [name, ...words].join(' ')
}
