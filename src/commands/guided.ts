import type { Client } from '../clients/contract/client.ts'
import { loadClients } from '../clients/list.ts'
import { errorFrom, UserError } from '../errors.ts'
import { messageWithLocation } from '../finding.ts'
import { whyNoRecords } from '../transaction/check-planned-files.ts'
import { isInstalled, programOf } from './client-state/program/installed-program.ts'
import { recoverAndListRuns } from './client-state/recorded-runs.ts'
import { conflictingClients, oneOfEachFamily } from './command-line/arguments.ts'
import { noFlags } from './command-line/flags.ts'
import { choicesOf, type Offer, offerOf } from './guided/offer.ts'
import type { Session } from './screen/session.ts'
import type { ReachedGateway, SetupContext } from './setup/context.ts'
import { setUpClients } from './setup/set-up-clients.ts'

/**
 * `repoint` without a command: asks for the gateway, then which clients should use it, and sets them up
 * in one run. Without a terminal it prints the help and returns status 2.
 */
export async function guided(session: Session, showHelp: () => void): Promise<number> {
  if (session.isJson)
    throw new UserError({
      code: 'usage',
      message: 'No command was given',
      hint: 'Name one, for example: repoint codex --json. `repoint --help` lists them.',
    })
  if (!session.canAsk) {
    showHelp()
    return 2
  }

  session.say(
    'repoint points coding clients at your model gateway. Nothing changes until you say yes; `repoint rollback` undoes it.',
  )

  const runs = recoverAndListRuns(session)
  const unrecordable = whyNoRecords(session.platform)
  if (unrecordable !== undefined) throw unrecordable

  const all = await loadClients()
  const installed = all.filter((client) => isInstalled(session, client))
  // A client can be set up before it is installed.
  const offered = installed.length > 0 ? installed : all
  // Some programs take a second for their version, so they start before the first question.
  const programs = new Map(offered.map((client) => [client.id, programOf(session, client, 'show')]))

  await setUpClients(
    session,
    {
      command: 'setup',
      clientIds: offered.map(({ id }) => id),
      flags: noFlags,
      chooseClients: (context, gateway) =>
        promptForClients(
          context,
          gateway,
          all.filter((client) => !offered.includes(client)),
        ),
      preset: { offersGateways: true },
    },
    { runs, programs },
  )
  return 0
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
