/** The flags that several commands have, and how their values are parsed. */
import {
  Command,
  InvalidArgumentError,
  Option,
  type OptionValues,
} from '@commander-js/extra-typings'
import { UserError } from '../../errors.ts'
import { isPlainName } from '../../gateway/models/catalog-page.ts'
import type { FlagsOf } from './command.ts'

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
    .option('--yes', 'ask for no confirmation')
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
  return withTryFlags(command, program)
    .option('--messages-url <url>', 'address for Anthropic-style requests, if different')
    .option('--defaults', 'use the default models again')
    .option('--name <name>', 'save the gateway under this name (default: its host)')
    .option('--details', 'show every setting that changes')
    .option('--dry-run', 'test and show everything; change nothing')
    .option('--no-verify', 'send no requests to the gateway')
    .option('--json', 'print one JSON document')
}

/**
 * Adds the flags that decide whether a command starts the clients afterwards. Without them, it does on a terminal.
 *
 * @param program what it starts, in words
 */
export function withTryFlags<Args extends unknown[], Flags extends OptionValues>(
  command: Command<Args, Flags>,
  program: string,
) {
  return command
    .option('--try-client', `also start ${program} once, with a one-word prompt`)
    .option('--no-try-client', 'start nothing (default: start it on a terminal)')
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
