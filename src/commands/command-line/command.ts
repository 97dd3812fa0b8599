import {
  Argument,
  Command,
  type CommanderError,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
  type OptionValues,
} from '@commander-js/extra-typings'
import { clientRows, environmentRows } from '../../clients/list.ts'
import { UserError } from '../../errors.ts'
import { keyOnCommandLineError } from '../../gateway/input/key.ts'
import { isPlainName } from '../../gateway/models/catalog-page.ts'
import { beginsLikeKey, guessName, looksLikeKey } from '../../text.ts'
import type { Session } from '../screen/session.ts'

/** A command of the command line. It passes its exit status to `end`. */
export type ListedCommand = (session: Session, end: (status: number) => void) => CommandUnknownOpts

/**
 * Makes a command from its definition and its run function, which receives the arguments and flags in
 * commander's order.
 */
export function commandOf<Defined extends CommandUnknownOpts>(
  define: () => Defined,
  run: (session: Session, ...invocation: Invocation<Defined>) => number | Promise<number>,
): ListedCommand {
  return (session, end) => {
    const command = define()
    for (const argument of command.registeredArguments) checkWords(argument, command.name())
    return command.action(async (...invocation) =>
      end(await run(session, ...(invocation as Invocation<Defined>))),
    )
  }
}

/** The command's arguments, its flags and the command itself. */
type Invocation<Defined extends CommandUnknownOpts> = [
  ...Defined['processedArgs'],
  ReturnType<Defined['opts']>,
  Defined,
]

/** The type of a command's flags. */
export type FlagsOf<Define extends (...args: never[]) => { opts(): OptionValues }> = ReturnType<
  ReturnType<Define>['opts']
>

/** A command that needs a gateway. All such commands have the same flags. */
export function gatewayCommand(name: string) {
  return new Command(name)
    .option('--base-url <url>', 'address of the gateway (or REPOINT_BASE_URL)')
    .option('--key-stdin', 'read the key from standard input')
    .option('--key-file <path>', 'read the key from a file')
    .option('--key-env <name>', 'read the key from this environment variable')
    .option('--allow-http', 'allow plain http to another machine')
    .option('--ca-file <path>', 'trust the certificate authorities in this PEM file too')
    .option(
      '--header <header>',
      "also send 'name: $VARIABLE' or 'name: @file' (repeatable)",
      (header: string, before: readonly string[] = []): readonly string[] => [...before, header],
    )
    .addOption(timeoutOption())
}

export class GatewayArgument<Usage extends string> extends Argument<Usage> {}

/** The command of another program, with that program's arguments. */
export class ForeignArgument<Usage extends string> extends Argument<Usage> {}

/** One client that has configuration files. */
export function clientArgument(description: string) {
  return new Argument('[client]', description).choices(clientRows.map(({ id }) => id))
}

export function clientsArgument(description: string) {
  return new Argument('[clients...]', description).choices(clientRows.map(({ id }) => id))
}

/**
 * Makes an argument reject a word that looks like a key, and one that is none of its choices. A
 * `GatewayArgument` also accepts the names of gateways, which can look like a key but not begin like one.
 */
function checkWords(argument: Argument, command: string): void {
  if (argument instanceof ForeignArgument) return
  const { parseArg, variadic, argChoices } = argument
  const isGateway = argument instanceof GatewayArgument
  const isKey = isGateway ? beginsLikeKey : looksLikeKey

  argument.argParser((word: string, before: unknown) => {
    if (isKey(word)) throw keyOnCommandLineError()
    if (argChoices && !isGateway && !argChoices.includes(word))
      throw unknownChoice(word, argChoices, command)
    if (parseArg !== undefined) return parseArg(word, before)
    return variadic ? [...((before as string[] | undefined) ?? []), word] : word
  })
}

function unknownChoice(word: string, choices: readonly string[], command: string): UserError {
  const renamed = [...clientRows, ...environmentRows].find(({ alsoCalled }) =>
    alsoCalled?.includes(word),
  )
  const meant = renamed && choices.includes(renamed.id) ? renamed.id : guessName(word, choices)
  return new UserError({
    code: 'usage',
    message: `'${word}' is none of: ${choices.join(', ')}`,
    hint: meant === undefined ? `See: repoint ${command} --help` : `Did you mean ${meant}?`,
  })
}

/** Why two of these clients cannot be set up together. Undefined: all are of different families. */
export function conflictingClients(ids: readonly string[]): string | undefined {
  const clients = clientRows.filter(({ id }) => ids.includes(id))
  for (const { id, family, label } of clients) {
    const sibling = clients.find((client) => client.family === family && client.id !== id)
    if (sibling !== undefined)
      return `${label} and ${sibling.label} are two setups of the same file`
  }
  return undefined
}

/**
 * The clients with these IDs, in the order of the list.
 *
 * @throws UserError `usage` for two clients of one family
 */
export function oneOfEachFamily(ids: readonly string[]): readonly string[] {
  const message = conflictingClients(ids)
  if (message !== undefined)
    throw new UserError({ code: 'usage', message, hint: 'Name one of them.' })
  return clientRows.map(({ id }) => id).filter((id) => ids.includes(id))
}

/**
 * Adds the flags of every setup after a command's own flags.
 *
 * @param program what `--try-client` runs, in words
 */
export function withSetupFlags<Args extends unknown[], Flags extends OptionValues>(
  command: Command<Args, Flags>,
  program: string,
) {
  return command
    .option('--messages-url <url>', 'address for Anthropic-style requests, if different')
    .option('--defaults', 'use the default models again')
    .option('--name <name>', 'save the gateway under this name (default: its host)')
    .option('--details', 'show every setting that changes')
    .option('--dry-run', 'test and show everything; change nothing')
    .option('--yes', 'apply without asking for confirmation')
    .option('--no-verify', 'send no requests to the gateway')
    .option('--try-client', `also start ${program} once, with a one-word prompt`)
    .option('--json', 'print one JSON document')
}

export type GatewayFlags = FlagsOf<typeof gatewayCommand>

/** The flags of a setup, whichever command runs it. */
export type SetupFlags = FlagsOf<typeof withSetupFlags<[], GatewayFlags>>

const defaultTimeoutSeconds = 30

/** The flags if the user typed none. */
export const noFlags: SetupFlags = { timeout: defaultTimeoutSeconds, verify: true }

export function timeoutOption() {
  return new Option('--timeout <seconds>', 'how long to wait for one answer')
    .default(defaultTimeoutSeconds)
    .argParser(positiveSeconds)
}

/** The last line of the help of commands that only read from the gateway. */
export const newestGateway =
  '\nWithout an address or a key, repoint uses those of the newest setup.'

export function examples(lines: readonly string[], heading = 'Examples'): string {
  return `\n${heading}:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

/** At most a day. */
function positiveSeconds(text: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= 86_400))
    throw new InvalidArgumentError('Use a number of seconds above 0, up to 86400.')
  return value
}

export function positiveInteger(unit: string): (text: string) => number {
  return (text) => {
    if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError(`Use a number of ${unit}.`)
    return Number(text)
  }
}

/** Parses the ID of a model. Rejects the empty ID of an unset shell variable, which would be written. */
export function modelId(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Use the ID of a model.')
  if (!isPlainName(text))
    throw new UserError({
      code: 'usage',
      message: "A model's ID is one line of at most 200 characters",
      hint: 'Copy the ID from the list of the gateway: repoint models',
    })
  return text
}

/**
 * Commander's error as a `UserError`, without the values of options, because they can be secrets.
 *
 * @param suggestion the command or flag that the misspelt word probably means
 */
export function asUsageError(
  error: CommanderError,
  args: readonly string[],
  suggestion: string | undefined,
): UserError {
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
    hint: usageHint(error, args, suggestion),
  })
}

function usageHint(
  error: CommanderError,
  args: readonly string[],
  suggestion: string | undefined,
): string {
  const [command = '', ...commandArgs] = args
  const words = commandArgs.filter((arg) => !arg.startsWith('-'))
  const isExcess = error.code === 'commander.excessArguments'

  const hasAddress = words.some((word) => /^https?:\/\//i.test(word))
  if (isExcess && hasAddress && !args.includes('--base-url'))
    return 'Pass the address with --base-url.'
  if (suggestion !== undefined) return `Did you mean ${suggestion}?`

  // The command of a client takes no other client. The other commands have a form for several.
  const clients = [command, ...words].filter((word) => clientRows.some(({ id }) => id === word))
  if (isExcess && clients.length > 1 && clients[0] === command)
    return `Several clients: repoint setup ${clients.join(' ')}`

  const isCommand = error.code !== 'commander.unknownCommand' && /^[a-z]/.test(command)
  return `See: repoint ${isCommand ? `${command} ` : ''}--help`
}

/** @throws UserError `usage` if the flags of a command contain a key */
export function refuseKeys(command: CommandUnknownOpts): void {
  const { key, apiKey } = command.opts()
  if (key !== undefined || apiKey !== undefined) throw keyOnCommandLineError()
}
