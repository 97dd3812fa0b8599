import { rows } from '../clients/list.ts'
import { compact } from '../compact.ts'
import { UserError } from '../errors.ts'
import { printableLine } from '../text.ts'
import {
  clientsArgument,
  commandOf,
  examples,
  gatewayCommand,
  oneOfEachFamily,
  type SetupFlags,
  withSetupFlags,
} from './command.ts'
import { linkGiven } from './find-gateway.ts'
import type { Session } from './screen/session.ts'
import { fetchDefaults, spellDefaults, type TeamDefaults } from './setup/team-defaults.ts'
import { setup } from './setup.ts'

function define() {
  const command = gatewayCommand('setup')
    .description('set up several clients in one run')
    .addArgument(clientsArgument('which; absent: those of --from'))
    .option('--from <file or url>', 'take address, name and models from a file of defaults')

  return withSetupFlags(command, 'the real clients').addHelpText(
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
  const team = from === undefined ? undefined : await takeDefaults(session, from, flags)

  const isUnsaid = ids.length === 0 && team === undefined
  const link = isUnsaid ? await linkGiven(session, flags) : undefined
  const fromElsewhere = team?.clients.map(({ id }) => id) ?? [link?.client ?? []].flat()

  const clients = oneOfEachFamily(ids.length > 0 ? ids : fromElsewhere)
  if (clients.length === 0)
    throw new UserError({
      code: 'usage',
      message:
        link?.client === undefined
          ? 'No client is named'
          : `The link is for ${printableLine(link.client)}, which repoint does not set up`,
      hint: `For example: repoint setup ${rows[0]!.id}. Bare \`repoint\` asks for them on a terminal.`,
    })

  const { baseUrl, messagesUrl, name } = team ?? {}
  return setup(session, {
    command: 'setup',
    clients,
    // The user's flags override the team's defaults.
    flags: { ...compact({ baseUrl, messagesUrl, name }), ...flags },
    preset: { link },
    optionsOf: (id) => team?.clients.find((one) => one.id === id)?.options,
  })
})

/**
 * Shows the whole file and asks: its address decides where the key is sent.
 *
 * @throws UserError `usage`, `config-invalid`, `confirmation-needed`
 */
async function takeDefaults(
  session: Session,
  from: string,
  flags: SetupFlags,
): Promise<TeamDefaults> {
  if (flags.baseUrl !== undefined)
    throw new UserError({
      code: 'usage',
      message: '--from and --base-url both name the address',
      hint: 'Keep one of them.',
    })

  const team = await fetchDefaults(session, from, flags)
  session.say(`${from} says:`)
  for (const line of spellDefaults(team).trimEnd().split('\n')) session.say(`  ${line}`)

  await session.agree(
    session.consent(flags.yes),
    { message: `Set up by this, and give the key to ${team.baseUrl}?`, default: false },
    {
      message: `There is no terminal to ask whether the key may go to ${team.baseUrl}`,
      hint: 'Look at the file, then add --yes to accept it.',
    },
  )
  return team
}
