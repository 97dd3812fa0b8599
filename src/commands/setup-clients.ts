import { rows } from '../clients/list.ts'
import { UserError } from '../errors.ts'
import {
  type CommandFile,
  clientsArgument,
  examples,
  type GatewayFlags,
  gatewayCommand,
  oneOfEachFamily,
  setupFlags,
  withSetupFlags,
} from './command.ts'
import type { Session } from './screen/session.ts'
import { fetchDefaults, spellDefaults, type TeamDefaults } from './setup/defaults.ts'
import type { SetupRequest } from './setup/run.ts'
import { setup } from './setup.ts'

interface ClientsRequest extends Omit<SetupRequest, 'command' | 'options'> {
  /** A file or an address of an operator's defaults. */
  readonly from: string | undefined
}

export const command: CommandFile<ClientsRequest> = {
  run: setUpClients,
  define: (run) =>
    withSetupFlags(
      gatewayCommand('setup')
        .description('set up several clients in one run')
        .addArgument(clientsArgument('which; absent: those of --from'))
        .option('--from <file or url>', 'take address, name and models from a file of defaults'),
    )
      .option('--try-client', 'also run the real clients once')
      .option('--json', 'print one JSON document')
      .addHelpText(
        'after',
        examples([
          'repoint setup codex claude --base-url https://gw.example --key-file key --yes',
          'repoint setup --from https://team.example/repoint.json',
        ]),
      )
      .action((clients, flags) =>
        run({
          clients,
          from: flags.from,
          gateway: flags,
          ...setupFlags(flags),
        }),
      ),
}

/** Sets up several clients as one run. Returns the exit status. */
async function setUpClients(session: Session, request: ClientsRequest): Promise<number> {
  const { from, ...asked } = request
  const team = from === undefined ? undefined : await takeDefaults(session, request, from)
  const wanted = request.clients.length > 0 ? request.clients : team?.clients.map(({ id }) => id)
  const clients = oneOfEachFamily(wanted ?? [])
  if (clients.length === 0)
    throw new UserError({
      code: 'usage',
      message: 'Which clients are to be set up is not said',
      hint: `For example: repoint setup ${rows[0]!.id}. Bare \`repoint\` asks for them on a terminal.`,
    })

  return setup(session, {
    ...asked,
    command: 'setup',
    clients,
    gateway: team === undefined ? asked.gateway : withAddress(asked.gateway, team),
    name: asked.name ?? team?.name,
    optionsOf: new Map(team?.clients.map(({ id, options }) => [id, options])),
  })
}

function withAddress(flags: GatewayFlags, { baseUrl, messagesUrl }: TeamDefaults): GatewayFlags {
  return { ...flags, baseUrl, messagesUrl: flags.messagesUrl ?? messagesUrl }
}

/**
 * Shows the file in full and asks: what stands there decides where the key goes.
 *
 * @throws UserError `usage`, `config-invalid`, `confirmation-needed`
 */
async function takeDefaults(
  session: Session,
  { gateway, yes }: ClientsRequest,
  from: string,
): Promise<TeamDefaults> {
  if (gateway.baseUrl !== undefined)
    throw new UserError({
      code: 'usage',
      message: '--from and --base-url both name the address',
      hint: 'Keep one of them.',
    })
  const team = await fetchDefaults(session, from, gateway)
  session.say(`${from} says:`)
  for (const line of spellDefaults(team).trimEnd().split('\n')) session.say(`  ${line}`)
  await session.agree(
    session.consent(yes),
    { message: `Set up by this, and give the key to ${team.baseUrl}?`, default: false },
    {
      message: `There is no terminal to ask whether the key may go to ${team.baseUrl}`,
      hint: 'Look at the file, then add --yes to accept it.',
    },
  )
  return team
}
