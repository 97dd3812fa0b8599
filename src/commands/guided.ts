import { configuredGateway } from '../clients/checks/overrides.ts'
import type { Client } from '../clients/contract/client.ts'
import { whyUnreadable } from '../clients/contract/state.ts'
import { loadClients } from '../clients/list.ts'
import { protocolOf } from '../clients/models/protocols.ts'
import { resultOf, UserError } from '../errors.ts'
import { errorFrom, type Finding, findingFrom, messageWithLocation } from '../finding.ts'
import { supportsAny } from '../gateway/models/rules.ts'
import type { Catalog, GatewayAccess, Protocol } from '../gateway/types.ts'
import type { AskChoice } from '../platform/platform.ts'
import { findGatewayName } from '../state/find-gateways.ts'
import { blocksSetup, checkClient } from './client-state/check-client.ts'
import { isFamilyMemberInUse, stateNow } from './client-state/files.ts'
import {
  type InstalledProgram,
  isInstalled,
  programOf,
  readVersion,
} from './client-state/program.ts'
import { clientReport, contextOf } from './client-state/state.ts'
import { conflictingClients, noFlags, oneOfEachFamily } from './command.ts'
import { alignRows } from './screen/drawing.ts'
import type { Session } from './screen/session.ts'
import { resolveClient } from './setup/prove/resolution.ts'
import { resolveInputFor } from './setup/resolve-input.ts'
import { settleRecords, setup } from './setup/setup.ts'
import type { AskedGateway, SetupContext } from './setup/types.ts'

/**
 * `repoint` without a command: asks for the gateway, then which clients should use it, and sets them up
 * in one run. Without a terminal it prints the help and returns status 2.
 */
export async function guided(session: Session, showHelp: () => Promise<void>): Promise<number> {
  if (session.isJson)
    throw new UserError({
      code: 'usage',
      message: 'No command was given',
      hint: 'Name one, for example: repoint codex --json. `repoint --help` lists them.',
    })
  if (!session.canAsk) {
    await showHelp()
    return 2
  }

  session.say(
    'repoint points coding clients at your model gateway. Nothing changes until you say yes; `repoint rollback` undoes it.',
  )

  const all = await loadClients()
  const installed = all.filter((client) => isInstalled(session, client))
  // A client can be set up before it is installed.
  const offered = installed.length > 0 ? installed : all
  // Some programs take a second for their version, so they start before the first question.
  const programs = new Map(
    offered.map((client) => [client.id, programWithVersion(session, client)]),
  )

  return setup(
    session,
    {
      command: 'setup',
      clients: offered.map(({ id }) => id),
      flags: noFlags,
      chooseClients: (context, gateway) =>
        askClients(
          context,
          gateway,
          all.filter((client) => !offered.includes(client)),
        ),
      preset: { offersGateways: true },
    },
    { runs: settleRecords(session), programs },
  )
}

/** What a client's program reports about itself, always with its version. */
async function programWithVersion(session: Session, client: Client): Promise<InstalledProgram> {
  const [version, program] = await Promise.all([
    readVersion(session, client),
    programOf(session, client),
  ])
  return { ...program, ...version }
}

/**
 * Asks which clients should use the gateway. Shows the current gateway of each, or why it cannot use this
 * one. The list appears at once, and again when a program has reported its version.
 *
 * @param absent the clients that are not installed
 * @throws UserError why no client can use the gateway
 */
async function askClients(
  context: SetupContext,
  gateway: AskedGateway,
  absent: readonly Client[],
): Promise<readonly string[]> {
  const { session, clients, programs } = context
  const { ask, machine } = session.platform
  const known = new Map<string, Offer>()
  const updates = clients.map(async (client) => {
    const program = await programs.get(client.id)!
    known.set(client.id, offerOf(context, gateway, client, program))
  })
  const all = Promise.all(updates)
  if (machine.env['TERM'] === 'dumb') await session.step('Looking for clients', all)
  // Programs that have answered already are in the first list.
  await Promise.race([all, nextEventLoopTurn()])

  // The files of a client are read once for each state of its program, and not each time the list is drawn.
  const unknown = new Map(
    clients
      .filter(({ id }) => !known.has(id))
      .map((client) => [client.id, offerOf(context, gateway, client, undefined)]),
  )
  const offers = () => clients.map(({ id }) => known.get(id) ?? unknown.get(id)!)
  if (offers().every(({ problem }) => problem !== undefined)) {
    await all
    const final = offers()
    const isAnyUsable = final.some(({ problem }) => problem === undefined)
    if (!isAnyUsable) throw noClientError(session, gateway, final)
  }

  if (absent.length > 0)
    session.remark(`Not installed: ${absent.map(({ label }) => label).join(', ')}`)
  const isWaiting = known.size < clients.length
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

/** A client in the list. */
interface Offer {
  readonly client: Client
  /** Absent: the program has not reported its version so far. */
  readonly program: InstalledProgram | undefined
  /** Why it cannot use the gateway. */
  readonly problem?: Finding | undefined
  /** The user must choose its model. */
  readonly needsModel: boolean
}

function offerOf(
  context: SetupContext,
  { finder: { access }, info }: AskedGateway,
  client: Client,
  program: InstalledProgram | undefined,
): Offer {
  const { catalog } = info
  const input = resolveInputFor(context, client, access, { ...info, ...program })
  const problem =
    localProblem(context, client, access, program) ??
    (catalog && missingProtocol(client, access, catalog))
  if (problem !== undefined) return { client, program, problem, needsModel: false }

  const resolution = resolveClient({ client, program: program ?? {}, input })
  const needsModel = resolution.kind === 'undecided'
  if (resolution.kind === 'impossible')
    return { client, program, problem: findingFrom(resolution.error), needsModel }
  return { client, program, needsModel }
}

const protocolNames: Readonly<Record<Protocol, string>> = {
  chat: 'chat completions',
  responses: 'Responses API',
  messages: 'Messages API',
}

/** Reports that no listed model supports a protocol of the client. */
function missingProtocol(
  { protocols }: Client,
  { baseUrl }: GatewayAccess,
  { models }: Catalog,
): Finding | undefined {
  if (models.some((model) => supportsAny(model, protocols))) return undefined
  const names = protocols.map((protocol) => protocolNames[protocol])
  return {
    code: 'protocol-unsupported',
    severity: 'error',
    message: `${new URL(baseUrl).host} has no ${names.join(' or ')}`,
  }
}

/** Reports that the client's files cannot be read, or that something in them blocks the gateway. */
function localProblem(
  { session, runs }: SetupContext,
  client: Client,
  access: GatewayAccess,
  program: InstalledProgram = {},
): Finding | undefined {
  const now = resultOf(() => clientReport(session, client, runs))
  if (now instanceof UserError) return findingFrom(now)
  const { state, files } = now
  const message = whyUnreadable(state)
  if (message !== undefined) return { code: 'config-invalid', severity: 'error', message }

  const context = contextOf(session, client, files, runs)
  const hasGateway = state.endpoint.baseUrl !== undefined
  const findings = checkClient({
    session,
    client,
    purpose: 'setup',
    program,
    access,
    context,
    ...(hasGateway && { configured: configuredGateway(state) }),
  })
  return findings.find(blocksSetup)
}

/** Two columns: the client, and its current gateway or why it cannot use this one. */
function choicesOf(session: Session, offers: readonly Offer[]): readonly AskChoice[] {
  const isPossible = ({ problem }: Offer) => problem === undefined
  const shown = [...offers.filter(isPossible), ...offers.filter((offer) => !isPossible(offer))]

  const names = shown.map(({ client, program }) => {
    const version = program === undefined ? '...' : (program.version ?? '')
    return isInstalled(session, client) ? `${client.label} ${version}`.trim() : client.label
  })
  const cells = shown.map(({ client, needsModel, problem }) => {
    if (problem !== undefined) return `not possible: ${shortReason(problem)}`
    const modelNote = needsModel ? ', asks for its model' : ''
    return `${describeService(session, client)}${modelNote}`
  })

  // The prompt puts a cursor and a box in front of each line.
  const { columns } = session.platform.terminal
  const rows = names.map((name, index) => [name, session.forPeople(cells[index]!)])
  const linesOfRows = alignRows(rows, columns - boxWidth)

  return shown.map(({ client, needsModel, problem }, index) => {
    const choice = { value: client.id, short: client.label }
    const name = linesOfRows[index]!.join(`\n${' '.repeat(boxWidth)}`)
    if (problem !== undefined) return { ...choice, name, disabled: noReason }
    const isChecked =
      isInstalled(session, client) && !needsModel && isFamilyMemberInUse(session, client)
    return { ...choice, name, checked: isChecked }
  })
}

/** The prompt prints a reason after the name. The name contains it already, so it prints a space. */
const noReason = ' '

/** The columns before the text of a choice. */
const boxWidth = 3

/** The first sentence of a problem. */
function shortReason(problem: Finding): string {
  return messageWithLocation(problem)
    .split(/(?<=[a-z)"])\. /)[0]!
    .replace(/\.$/, '')
}

function problemOfChoice(chosen: readonly string[]): true | string {
  if (chosen.length === 0) return 'Select at least one with the space bar. Ctrl-C leaves.'
  const conflict = conflictingClients(chosen)
  return conflict === undefined ? true : `${conflict}: select one of them.`
}

/** The service that a client uses now. */
function describeService(session: Session, client: Client): string {
  const isHere = isInstalled(session, client)
  const state = stateNow(session, client)
  const baseUrl = state?.endpoint.baseUrl
  if (state === undefined || baseUrl === undefined)
    return isHere ? 'its own service' : 'not installed'

  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl
  const name = findGatewayName(session, protocolOf(client, state.options), state.endpoint)
  return name === undefined || name === host ? `gateway ${host}` : `gateway ${name} (${host})`
}

/** Reports every client's reason, and returns the first as the error. */
function noClientError(
  session: Session,
  { finder: { access } }: AskedGateway,
  offers: readonly Offer[],
): UserError {
  for (const { client, problem } of offers)
    session.remark(`✗ ${client.label}: ${messageWithLocation(problem!)}`)
  const { code } = errorFrom(offers[0]!.problem!)
  return new UserError({
    code,
    message: `No installed client can use ${new URL(access.baseUrl).host}`,
    hint: `See what each client needs: repoint check ${access.baseUrl}`,
  })
}
