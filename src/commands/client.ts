/** The command of one client: `repoint codex`, `repoint claude`. */
import type { ClientRow } from '../clients/list.ts'
import { optionOf, typedOptions } from './command-line/client-flags.ts'
import { type CommandFactory, commandOf, examples } from './command-line/command.ts'
import { gatewayCommand, withSetupFlags } from './command-line/flags.ts'
import { setUpClients } from './setup/set-up-clients.ts'

export function clientCommand(row: ClientRow): CommandFactory {
  const define = () => {
    const command = gatewayCommand(row.id)
    for (const flag of row.flags) command.addOption(optionOf(flag))
    return withSetupFlags(command, 'the real client').addHelpText('after', examples(row.examples))
  }

  return commandOf(define, async (session, flags, command) => {
    const requested = typedOptions(row.flags, command)
    await setUpClients(session, {
      command: row.id,
      clientIds: [row.id],
      flags,
      optionsOf: () => requested,
      // `--model` without an ID.
      picksModel: command.getOptionValue('model') === true,
    })
    return 0
  })
}
