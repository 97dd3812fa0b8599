/** The list of clients that a user chooses from once the gateway has answered, and their setup in one run. */
import type { Client } from '../../clients/contract/client.ts'
import { catalogIn } from '../../clients/contract/setup.ts'
import { loadClients } from '../../clients/list.ts'
import { protocolOf } from '../../clients/models/protocols.ts'
import { sendingFindings } from '../../clients/plan/headers.ts'
import { errorFrom, findingFrom, UserError, valueOrError } from '../../errors.ts'
import { blocksSetup, type Finding, messageWithLocation } from '../../finding.ts'
import { supportsAny } from '../../gateway/models/rules.ts'
import type { Catalog, GatewayAccess, Protocol } from '../../gateway/types.ts'
import type { AskChoice } from '../../platform/platform.ts'
import { findGatewayName } from '../../state/saved-gateways.ts'
import type { Runs } from '../../transaction/record.ts'
import { isFamilyMemberInUse, stateNow } from '../client-state/client-files.ts'
import { clientNow, expectEditable } from '../client-state/client-now.ts'
import {
  type InstalledProgram,
  isInstalled,
  programOf,
  versionFindings,
} from '../client-state/program/installed-program.ts'
import { conflictingClients, oneOfEachFamily } from '../command-line/arguments.ts'
import { resolveClient } from '../resolve/client-choice.ts'
import { alignRows } from '../screen/drawing.ts'
import type { Session } from '../screen/session.ts'
import { inputFor, type ReachedGateway, type SetupContext, type SetupRequest } from './context.ts'
import { whyPlanFails } from './plan.ts'
import { whyGuessed } from './prove/choose-models.ts'
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

/** A client in the list. */
interface Offer {
  readonly client: Client
  /** Absent: the program has not reported its version so far. */
  readonly program: InstalledProgram | undefined
  /** Why it cannot use the gateway. */
  readonly problem?: Finding
  /** The user must choose its model. */
  readonly needsModel: boolean
  /** The service that it uses now, for people. */
  readonly service: string
  /** Its program is installed, and its files are set up for it rather than for another of its family. */
  readonly isInUse: boolean
}

/** Reads a client's files, resolves its options and plans its setup. Sends nothing and writes nothing. */
async function offerOf(
  context: SetupContext,
  { requester: { access }, catalogAnswer }: ReachedGateway,
  client: Client,
  program: InstalledProgram | undefined,
): Promise<Offer> {
  const { session } = context
  const offer = {
    client,
    program,
    needsModel: false,
    service: describeService(session, client),
    isInUse: isInstalled(session, client) && isFamilyMemberInUse(session, client),
  }

  const catalog = catalogIn({ catalogAnswer })
  const gatewayInfo = { catalogAnswer, rejections: [], accessSoFar: access }
  const input = inputFor(context, client, access, gatewayInfo)
  const problem =
    localProblem(context, client, access, program) ??
    (catalog && missingProtocol(client, access, catalog))
  if (problem !== undefined) return { ...offer, problem }

  const resolution = resolveClient({ client, program: program ?? {}, input })
  if (resolution.kind === 'impossible') return { ...offer, problem: findingFrom(resolution.error) }
  if (resolution.kind === 'undecided') {
    const { findings } = clientNow(session, client, context.runs)
    const unwritable = findings.find(({ topic }) => topic === 'unwritable')
    return { ...offer, needsModel: true, problem: unwritable }
  }

  const { choice } = resolution
  const unproven = { provenBy: 'nothing', safeguards: 'not-requested', probeFindings: [] } as const
  const error = await whyPlanFails({
    ...context,
    ...{ access, catalog, choices: [{ ...choice, ...unproven }], failed: [], findings: [] },
  })
  if (error !== undefined) return { ...offer, problem: findingFrom(error) }
  return { ...offer, needsModel: whyGuessed(choice) !== undefined }
}

/** Reports why no setup can edit the client's files, or why its version cannot use the gateway. */
function localProblem(
  { session, runs }: SetupContext,
  client: Client,
  access: GatewayAccess,
  program: InstalledProgram = {},
): Finding | undefined {
  const uneditable = valueOrError(() => expectEditable(clientNow(session, client, runs)))
  if (uneditable instanceof UserError) return findingFrom(uneditable)

  return [...versionFindings(client, program), ...sendingFindings(client, access)].find(blocksSetup)
}

const protocolNames: Readonly<Record<Protocol, string>> = {
  chat: 'chat completions',
  responses: 'Responses API',
  messages: 'Messages API',
}

/** Reports that no listed model supports a protocol of the client. */
function missingProtocol(
  { protocols }: Client,
  { address }: GatewayAccess,
  { models }: Catalog,
): Finding | undefined {
  if (models.some((model) => supportsAny(model, protocols))) return undefined
  const names = protocols.map((protocol) => protocolNames[protocol])
  return {
    code: 'protocol-unsupported',
    severity: 'error',
    message: `${new URL(address).host} has no ${names.join(' or ')}`,
  }
}

/** Two columns: the client, and its current gateway or why it cannot use this one. */
function choicesOf(session: Session, offers: readonly Offer[]): readonly AskChoice[] {
  const isPossible = ({ problem }: Offer) => problem === undefined
  const shown = [...offers.filter(isPossible), ...offers.filter((offer) => !isPossible(offer))]

  const names = shown.map(({ client, program }) => {
    const version = program === undefined ? '...' : (program.version ?? '')
    return isInstalled(session, client) ? `${client.label} ${version}`.trim() : client.label
  })
  const cells = shown.map(({ service, needsModel, problem }) => {
    if (problem !== undefined) return `not possible: ${messageWithLocation(problem)}`
    const modelNote = needsModel ? ', asks for its model' : ''
    return `${service}${modelNote}`
  })

  // The prompt puts a cursor and a box in front of each line.
  const { columns } = session.platform.terminal
  const rows = names.map((name, index) => [name, session.forPeople(cells[index]!)])
  const linesOfRows = alignRows(rows, columns - boxWidth)

  return shown.map(({ client, needsModel, problem, isInUse }, index) => {
    const choice = { value: client.id, short: client.label }
    const name = linesOfRows[index]!.join(`\n${' '.repeat(boxWidth)}`)
    if (problem !== undefined) return { ...choice, name, disabled: noReason }
    return { ...choice, name, checked: isInUse && !needsModel }
  })
}

/** The prompt prints a reason after the name. The name contains it already, so it prints a space. */
const noReason = ' '

/** The columns before the text of a choice. */
const boxWidth = 3

/** The service that a client uses now. */
function describeService(session: Session, client: Client): string {
  const isHere = isInstalled(session, client)
  const state = stateNow(session, client)
  const { baseUrl } = state.endpoint
  if (baseUrl === undefined) return isHere ? 'its own service' : 'not installed'

  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl
  const name = findGatewayName(session, protocolOf(client, state.options), state.endpoint)
  return name === undefined || name === host ? `gateway ${host}` : `gateway ${name} (${host})`
}
