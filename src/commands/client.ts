/** The command of one client: `repoint codex`, `repoint claude`. */

import { isDeepStrictEqual } from 'node:util'
import type { ClientRow } from '../clients/list.ts'
import { UserError } from '../errors.ts'
import { clientsArgument, oneOfEachFamily } from './command-line/arguments.ts'
import { optionOf, typedOptions } from './command-line/client-flags.ts'
import { type CommandFactory, commandOf, examples, otherWays } from './command-line/command.ts'
import { gatewayCommand, withSetupFlags } from './command-line/flags.ts'
import { setUpClients } from './setup/set-up-clients.ts'

export function clientCommand(row: ClientRow): CommandFactory {
  const define = () => {
    const command = gatewayCommand(row.id).addArgument(
      clientsArgument('more clients, in the same run: repoint setup'),
    )
    for (const flag of row.flags) command.addOption(optionOf(flag))
    return withSetupFlags(command, 'the real client')
      .addHelpText('after', otherWays('client'))
      .addHelpText('after', examples(row.examples))
  }

  return commandOf(define, async (session, others, flags, command) => {
    const requested = typedOptions(row.flags, command)
    const clientIds = oneOfEachFamily([row.id, ...others])
    const isAlone = clientIds.length === 1
    const isUsual = isDeepStrictEqual(requested, typedOptions([], command))
    if (!isAlone && !isUsual)
      throw new UserError({
        code: 'usage',
        message: `The flags of ${row.label} are for ${row.label} alone`,
        hint: `Set up each client with its flags. Or all with the defaults: repoint setup ${clientIds.join(' ')}`,
      })
    await setUpClients(session, {
      command: isAlone ? row.id : 'setup',
      clientIds,
      flags,
      optionsOf: () => requested,
      // `--model` without an ID.
      picksModel: command.getOptionValue('model') === true,
    })
    return 0
  })
}
