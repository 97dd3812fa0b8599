/** The list of clients that a user chooses from once the gateway has answered, and their setup in one run. */
import type { Client } from '../../clients/contract/client.ts'
import { loadClients } from '../../clients/list.ts'
import { errorFrom, UserError } from '../../errors.ts'
import { messageWithLocation } from '../../finding.ts'
import type { Runs } from '../../transaction/record.ts'
import { isInstalled, programOf } from '../client-state/program/installed-program.ts'
import { conflictingClients, oneOfEachFamily } from '../command-line/arguments.ts'
import type { Session } from '../screen/session.ts'
import type { ReachedGateway, SetupContext, SetupRequest } from './context.ts'
import { choicesOf, type Offer, offerOf } from './offer.ts'
import { setUpClients } from './set-up-clients.ts'

/**
 * Asks which of the installed clients should use the gateway, and sets them up.
 *
 * @throws UserError why no client can use the gateway
 */
export async function setUpChosenClients(
  session: Session,
  { runs, ...request }: Omit<SetupRequest, 'clientIds' | 'chooseClients'> & { readonly runs: Runs },
): Promise<void> {
  const all = await loadClients()
  const installed = all.filter((client) => isInstalled(session, client))
  // A client can be set up before it is installed.
  const offered = installed.length > 0 ? installed : all
  // Some programs take a second for their version, so they start before the first question.
  const programs = new Map(offered.map((client) => [client.id, programOf(session, client, 'show')]))

  await setUpClients(
    session,
    {
      ...request,
      clientIds: offered.map(({ id }) => id),
      chooseClients: (context, gateway) =>
        promptForClients(
          context,
          gateway,
          all.filter((client) => !offered.includes(client)),
        ),
    },
    { runs, programs },
  )
}

/**
 * Asks which clients should use the gateway. Shows the current gateway of each, or why it cannot use this
 * one. The list appears at once, and again when a program has reported its version.
 *
 * @param absent the clients that are not installed
 * @throws UserError why no client can use the gateway
 */
async function promptForClients(
  context: SetupContext,
  gateway: ReachedGateway,
  absent: readonly Client[],
): Promise<readonly string[]> {
  const { session, clients, programs } = context
  const { ask, machine } = session.platform
  const withVersion = new Map<string, Offer>()
  const updates = clients.map(async (client) => {
    const program = await programs.get(client.id)!
    withVersion.set(client.id, await offerOf(context, gateway, client, program))
  })
  const all = Promise.all(updates)
  if (machine.env['TERM'] === 'dumb') await session.step('Looking for clients', all)
  // Programs that have answered already are in the first list.
  await Promise.race([all, nextEventLoopTurn()])

  // The files of a client are read once for each state of its program, and not each time the list is drawn.
  const withoutVersion = new Map<string, Offer>()
  for (const client of clients)
    if (!withVersion.has(client.id))
      withoutVersion.set(client.id, await offerOf(context, gateway, client, undefined))
  const offers = () => clients.map(({ id }) => withVersion.get(id) ?? withoutVersion.get(id)!)
  if (offers().every(({ problem }) => problem !== undefined)) {
    await all
    const final = offers()
    const isAnyUsable = final.some(({ problem }) => problem === undefined)
    if (!isAnyUsable) throw noClientError(session, gateway, final)
  }

  if (absent.length > 0)
    session.remark(`Not installed: ${absent.map(({ label }) => label).join(', ')}`)
  const isWaiting = withVersion.size < clients.length
  const chosen = await ask.checkbox({
    message: 'Which clients should use it?',
    choices: () => choicesOf(session, offers()),
    validate: problemOfChoice,
    ...(isWaiting && { updates }),
  })
  const labels = clients.filter(({ id }) => chosen.includes(id)).map(({ label }) => label)
  if (isWaiting) session.remark(`✔ Clients: ${labels.join(', ')}`)
  return oneOfEachFamily(chosen)
}

function nextEventLoopTurn(): Promise<void> {
  return new Promise((settle) => setImmediate(settle))
}

function problemOfChoice(chosen: readonly string[]): true | string {
  if (chosen.length === 0) return 'Select at least one with the space bar. Ctrl-C leaves.'
  const conflict = conflictingClients(chosen)
  return conflict === undefined ? true : `${conflict}: select one of them.`
}

/** Reports every client's reason, and returns the first as the error. */
function noClientError(
  session: Session,
  { requester: { access } }: ReachedGateway,
  offers: readonly Offer[],
): UserError {
  for (const { client, problem } of offers)
    session.remark(`✗ ${client.label}: ${messageWithLocation(problem!)}`)
  const { code } = errorFrom(offers[0]!.problem!)
  return new UserError({
    code,
    message: `No installed client can use ${new URL(access.address).host}`,
    hint: `See what each client needs: repoint check ${access.address}`,
  })
}
