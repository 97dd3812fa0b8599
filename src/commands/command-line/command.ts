import type { CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings'
import { keyOnCommandLineError } from '../../gateway/input/key.ts'
import { wrapWords } from '../../text.ts'
import type { Session } from '../screen/session.ts'
import { refuseUnknownWords } from './arguments.ts'

/** Makes a command that passes its exit status to `end`. */
export type CommandFactory = (session: Session, end: (status: number) => void) => CommandUnknownOpts

/**
 * Makes a command from its definition and its run function, which receives the arguments and flags in
 * commander's order.
 */
export function commandOf<Defined extends CommandUnknownOpts>(
  define: () => Defined,
  run: (session: Session, ...invocation: Invocation<Defined>) => number | Promise<number>,
): CommandFactory {
  return (session, end) => {
    const command = define()
    for (const argument of command.registeredArguments) refuseUnknownWords(argument, command.name())
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

/** The examples at the end of a command's help. */
export function examples(lines: readonly string[], heading = 'Examples'): string {
  return `\n${heading}:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

/** The commands that take an address or a key, and what each is for. */
const waysToAGateway = {
  client: 'repoint codex (new address and key)',
  setup: 'setup (several clients)',
  key: 'key (new key, same address)',
  use: 'use (a saved gateway)',
  add: 'gateways add (save one, change no client)',
  run: 'run (one start, change no file)',
}

/** The lines of a command's help that name the others which take an address or a key. */
export function otherWays(own: keyof typeof waysToAGateway) {
  const others = Object.entries(waysToAGateway).flatMap(([name, way]) => (name === own ? [] : way))
  return ({ command }: { readonly command: CommandUnknownOpts }): string => {
    const width = command.configureOutput().getOutHelpWidth?.() ?? 80
    return `\n${wrapWords(`See also: ${others.join(', ')}`, width).join('\n')}`
  }
}

/** @throws UserError `usage` if the flags of a command contain a key */
export function refuseKeys(command: CommandUnknownOpts): void {
  const { key, apiKey } = command.opts()
  if (key !== undefined || apiKey !== undefined) throw keyOnCommandLineError()
}
