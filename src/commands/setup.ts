import { clientRows } from '../clients/list.ts'
import { UserError } from '../errors.ts'
import { printableLine } from '../text.ts'
import { clientsArgument, oneOfEachFamily } from './command-line/arguments.ts'
import { commandOf, examples, otherWays } from './command-line/command.ts'
import { gatewayCommand, type SetupFlags, withSetupFlags } from './command-line/flags.ts'
import { importLinkFor } from './find-gateway/find-key.ts'
import type { Session } from './screen/session.ts'
import { setUpClients } from './setup/set-up-clients.ts'
import { fetchTeamFile, formatTeamFile, headerFlags, type TeamFile } from './setup/team-file.ts'

function define() {
  const command = gatewayCommand('setup')
    .addArgument(clientsArgument('which clients; without them: the clients in --from'))
    .option('--from <file or url>', 'take the address, the name and the models from a team file')

  return withSetupFlags(command, 'the real clients')
    .addHelpText('after', otherWays('setup'))
    .addHelpText(
      'after',
      examples([
        'repoint setup codex claude --base-url https://gw.example --key-file key --yes',
        'repoint setup --from https://team.example/repoint.json',
      ]),
    )
}

/** Sets up several clients as one run. Returns the exit status. */
export const command = commandOf(define, async (session, ids, flags) => {
  const { from } = flags
  const team = from === undefined ? undefined : await acceptTeamFile(session, from, flags)

  // Without names, the team's file or an import link names the clients.
  const isNamed = ids.length > 0
  const link = isNamed || team ? undefined : await importLinkFor(session, flags)
  const linked = link?.client === undefined ? [] : [link.client]
  const named = isNamed ? ids : (team?.clients.map(({ id }) => id) ?? linked)

  const clients = oneOfEachFamily(named)
  if (clients.length === 0)
    throw new UserError({
      code: 'usage',
      message:
        linked[0] === undefined
          ? 'Which clients?'
          : `The link is for ${printableLine(linked[0])}, which repoint does not set up`,
      hint: `For example: repoint setup ${clientRows[0]!.id}`,
    })

  const { baseUrl, messagesUrl, name } = team ?? {}
  await setUpClients(session, {
    command: 'setup',
    clientIds: clients,
    // The user's flags override the team file.
    flags: {
      baseUrl,
      messagesUrl,
      name,
      ...flags,
      ...(team && { header: headerFlags(team, flags.header) }),
    },
    preset: { link },
    optionsOf: (id) => team?.clients.find((client) => client.id === id)?.options,
  })
  return 0
})

/**
 * Reads a team file, shows all of it and asks whether to use it, because its address decides where the key
 * is sent.
 *
 * @throws UserError `usage`, `config-invalid`, `confirmation-needed`
 */
async function acceptTeamFile(
  session: Session,
  from: string,
  flags: SetupFlags,
): Promise<TeamFile> {
  if (flags.baseUrl !== undefined)
    throw new UserError({
      code: 'usage',
      message: '--from and --base-url both name an address',
      hint: 'Use one of them.',
    })

  const team = await fetchTeamFile(session, from, flags)
  session.say(`${from} contains:`)
  for (const line of formatTeamFile(team).trimEnd().split('\n')) session.say(`  ${line}`)

  await session.requireConsent(
    session.consent(flags.yes),
    { message: `Use this file, and send your key to ${team.baseUrl}?`, default: false },
    {
      message: `This file sends your key to ${team.baseUrl}, and repoint cannot ask here`,
      hint: 'Check the file. To accept it, add --yes.',
    },
  )
  return team
}
