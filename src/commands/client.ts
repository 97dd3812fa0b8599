/** The command of one client: `repoint codex`, `repoint claude`. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import type { ClientFlag, ClientOptions } from '../clients/contract/options.ts'
import type { ClientRow } from '../clients/list.ts'
import { mergeOptions } from '../clients/options/flags.ts'
import { optionOf } from './command-line/client-flags.ts'
import { type CommandFactory, commandOf, examples } from './command-line/command.ts'
import { gatewayCommand, withSetupFlags } from './command-line/flags.ts'
import { setUpClients } from './setup/set-up-clients.ts'

export function commandFor(row: ClientRow): CommandFactory {
  const define = () => {
    const command = gatewayCommand(row.id)
    for (const flag of row.flags) command.addOption(optionOf(flag))
    return withSetupFlags(command, 'the real client').addHelpText('after', examples(row.examples))
  }

  return commandOf(define, (session, flags, command) => {
    const requested = setupOptions(row.flags, command)
    return setUpClients(session, {
      command: row.id,
      clients: [row.id],
      flags,
      optionsOf: () => requested,
      // `--model` without an ID.
      picksModel: command.getOptionValue('model') === true,
    })
  })
}

/** The options of a client that the user typed as flags. */
export function setupOptions(
  flags: readonly ClientFlag[],
  command: Pick<CommandUnknownOpts, 'getOptionValue' | 'getOptionValueSource'>,
): ClientOptions {
  const typed = flags.flatMap((flag): ClientOptions[] => {
    const name = optionOf(flag).attributeName()
    // Commander gives a `--no-…` flag a default value that nobody typed.
    if (command.getOptionValueSource(name) !== 'cli') return []
    const value = command.getOptionValue(name) as string | number | boolean
    return flag.takes === 'model' && value === true ? [] : [flag.toOptions(value)]
  })
  return mergeOptions(typed)
}
