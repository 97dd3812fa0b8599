/** One client in the list of guided setup: whether the gateway can serve it, and how its line reads. */

import type { Client } from '../../clients/contract/client.ts'
import { catalogIn } from '../../clients/contract/setup.ts'
import { protocolOf } from '../../clients/models/protocols.ts'
import { sendingFindings } from '../../clients/plan/headers.ts'
import { findingFrom, UserError, valueOrError } from '../../errors.ts'
import { blocksSetup, type Finding, messageWithLocation } from '../../finding.ts'
import { supportsAny } from '../../gateway/models/rules.ts'
import type { Catalog, GatewayAccess, Protocol } from '../../gateway/types.ts'
import type { AskChoice } from '../../platform/platform.ts'
import { findGatewayName } from '../../state/saved-gateways.ts'
import { isFamilyMemberInUse, stateNow } from '../client-state/client-files.ts'
import { clientNow, expectEditable } from '../client-state/client-now.ts'
import {
  type InstalledProgram,
  isInstalled,
  versionFindings,
} from '../client-state/program/installed-program.ts'
import { resolveClient } from '../resolve/client-choice.ts'
import { alignRows } from '../screen/drawing.ts'
import type { Session } from '../screen/session.ts'
import type { ReachedGateway, SetupContext } from './context.ts'
import { inputFor } from './context.ts'
import { whyPlanFails } from './plan.ts'
import { whyGuessed } from './prove/choose-models.ts'

/** A client in the list. */
export interface Offer {
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
export async function offerOf(
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
export function choicesOf(session: Session, offers: readonly Offer[]): readonly AskChoice[] {
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
