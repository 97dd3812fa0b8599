import {
  Argument,
  Command,
  type CommanderError,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
  type OptionValues,
} from '@commander-js/extra-typings'
import { rows } from '../clients/list.ts'
import { UserError } from '../errors.ts'
import { keyOnCommandLineError } from '../gateway/input/key.ts'
import { isPlainName } from '../gateway/models/catalog.ts'
import { beginsLikeKey, looksLikeKey } from '../text.ts'
import type { Session } from './screen/session.ts'

/** A command of the command line; `end` is handed its exit status. */
export type ListedCommand = (session: Session, end: (status: number) => void) => CommandUnknownOpts

/**
 * A command out of its flags and arguments, and of what it does with them: it is handed them as
 * commander does.
 */
export function commandOf<Defined extends CommandUnknownOpts>(
  define: () => Defined,
  run: (session: Session, ...given: Invocation<Defined>) => number | Promise<number>,
): ListedCommand {
  return (session, end) => {
    const command = define()
    for (const argument of command.registeredArguments) refuseKeysIn(argument)
    return command.action(async (...given) =>
      end(await run(session, ...(given as Invocation<Defined>))),
    )
  }
}

/** Its arguments, its flags and itself. */
type Invocation<Defined extends CommandUnknownOpts> = [
  ...Defined['processedArgs'],
  ReturnType<Defined['opts']>,
  Defined,
]

/** What the flags of a command say, as it defines them. */
export type FlagsOf<Define extends (...given: never[]) => { opts(): OptionValues }> = ReturnType<
  ReturnType<Define>['opts']
>

/** A command that needs a gateway: the same flags wherever one does. */
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
      "send 'name: $VARIABLE' along, or 'name: @file' (repeatable)",
      (header: string, before: readonly string[] = []): readonly string[] => [...before, header],
    )
    .addOption(timeoutOption())
}

export class GatewayArgument<Usage extends string> extends Argument<Usage> {}

/** Somebody else's command, with its own words. */
export class ForeignArgument<Usage extends string> extends Argument<Usage> {}

/** One client that has files of its own. */
export function clientArgument(description: string) {
  return new Argument('[client]', description).choices(rows.map(({ id }) => id))
}

export function clientsArgument(description: string) {
  return new Argument('[clients...]', description).choices(rows.map(({ id }) => id))
}

/**
 * A word that looks like a key is none of ours, whatever else would be made of it. A gateway may be
 * called almost so: a name is looked up first.
 */
function refuseKeysIn(argument: Argument): void {
  if (argument instanceof ForeignArgument) return
  const { parseArg, variadic } = argument
  const isKey = argument instanceof GatewayArgument ? beginsLikeKey : looksLikeKey

  argument.argParser((word: string, before: unknown) => {
    if (isKey(word)) throw keyOnCommandLineError()
    if (parseArg !== undefined) return parseArg(word, before)
    return variadic ? [...((before as string[] | undefined) ?? []), word] : word
  })
}

/** What is wrong with two clients of one family at once; undefined: each is of its own. */
export function conflictingClients(ids: readonly string[]): string | undefined {
  const named = rows.filter(({ id }) => ids.includes(id))
  for (const { id, family, label } of named) {
    const other = named.find((one) => one.family === family && one.id !== id)
    if (other !== undefined) return `${label} and ${other.label} are two setups of the same file`
  }
  return undefined
}

/**
 * The clients of these ids, in the order of the list.
 *
 * @throws UserError `usage` for two of one family
 */
export function oneOfEachFamily(ids: readonly string[]): readonly string[] {
  const message = conflictingClients(ids)
  if (message !== undefined)
    throw new UserError({ code: 'usage', message, hint: 'Name one of them.' })
  return rows.map(({ id }) => id).filter((id) => ids.includes(id))
}

/**
 * The flags of every setup, below those of its own.
 *
 * @param program what `--try-client` runs, in words
 */
export function withSetupFlags<Args extends unknown[], Flags extends OptionValues>(
  command: Command<Args, Flags>,
  program: string,
) {
  return command
    .option('--messages-url <url>', 'address for Anthropic-style requests, if different')
    .option('--defaults', 'go back to the default models')
    .option('--name <name>', 'what the gateway is remembered as (default: its host)')
    .option('--details', 'show every key that changes')
    .option('--dry-run', 'test and show everything, change nothing')
    .option('--yes', 'do not ask')
    .option('--no-verify', 'skip the checks over the network')
    .option('--try-client', `also run ${program} once`)
    .option('--json', 'print one JSON document')
}

export type GatewayFlags = FlagsOf<typeof gatewayCommand>

/** Of a setup, however it is called. */
export type SetupFlags = FlagsOf<typeof withSetupFlags<[], GatewayFlags>>

const defaultTimeoutSeconds = 30

/** The flags that nobody typed. */
export const noFlags: SetupFlags = { timeout: defaultTimeoutSeconds, verify: true }

export function timeoutOption() {
  return new Option('--timeout <seconds>', 'longest wait for one answer')
    .default(defaultTimeoutSeconds)
    .argParser(positiveSeconds)
}

/** Below the flags of a command that only asks. */
export const newestGateway = '\nWithout an address or a key: those of the newest setup.'

export function examples(lines: readonly string[], heading = 'Examples'): string {
  return `\n${heading}:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

/** At most a day. */
function positiveSeconds(text: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= 86_400))
    throw new InvalidArgumentError('It takes a number of seconds above 0, up to 86400.')
  return value
}

export function positiveInteger(unit: string): (text: string) => number {
  return (text) => {
    if (!/^[1-9]\d{0,9}$/.test(text))
      throw new InvalidArgumentError(`It takes a number of ${unit}.`)
    return Number(text)
  }
}

/** What a shell makes of a variable that is not set would else be asked for, and written. */
export function modelId(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It takes the ID of a model.')
  if (!isPlainName(text))
    throw new UserError({
      code: 'usage',
      message: "A model's ID is one line of at most 200 characters",
      hint: 'Those that the gateway has: repoint models',
    })
  return text
}

/**
 * What commander says, without the values of options, which may be secrets.
 *
 * @param meant the word of ours that a misspelt one stands for
 */
export function asUsageError(
  error: CommanderError,
  args: readonly string[],
  meant: string | undefined,
): UserError {
  const [command = '', ...rest] = args
  const words = rest.filter((arg) => !arg.startsWith('-'))
  const isExcess = error.code === 'commander.excessArguments'
  const isNoWordOfOurs =
    isExcess || ['commander.invalidArgument', 'commander.unknownCommand'].includes(error.code)
  if (isNoWordOfOurs && [command, ...words].some(looksLikeKey)) return keyOnCommandLineError()

  if (error.code === 'commander.help')
    return new UserError({
      code: 'usage',
      message: words[0] === undefined ? '`help` takes a command' : `Unknown command '${words[0]}'`,
      hint: 'See: repoint --help',
    })

  const [message = ''] = error.message
    .replace(/^error: /, '')
    .replace(/(--?[\w-]+)=[^']*/g, '$1')
    .split('\n')
  const isAddress =
    isExcess && !args.includes('--base-url') && words.some((word) => /^https?:\/\//i.test(word))
  const isCommand = error.code !== 'commander.unknownCommand' && /^[a-z]/.test(command)
  const clients = [command, ...words].filter((word) => rows.some(({ id }) => id === word))
  const help =
    isExcess && clients.length > 1
      ? `Several clients: repoint setup ${clients.join(' ')}`
      : `See: repoint ${isCommand ? `${command} ` : ''}--help`
  return new UserError({
    code: 'usage',
    message: message.charAt(0).toUpperCase() + message.slice(1),
    hint: isAddress
      ? 'The address belongs behind --base-url.'
      : meant === undefined
        ? help
        : `Did you mean ${meant}?`,
  })
}

/** @throws UserError `usage` for a key among the flags of a command */
export function refuseKeys(command: CommandUnknownOpts): void {
  const { key, apiKey } = command.opts()
  if (key !== undefined || apiKey !== undefined) throw keyOnCommandLineError()
}
