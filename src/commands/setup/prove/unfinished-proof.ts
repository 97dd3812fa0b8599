/** The values and functions that steps 3 and 4 of a setup share. */
import type { Client } from '../../../clients/contract/client.ts'
import type { GatewayInfo, RejectedModel } from '../../../clients/contract/setup.ts'
import { UserError } from '../../../errors.ts'
import type { GatewayFinder } from '../../../gateway/gateway-finder.ts'
import { type Culprit, traitsOf } from '../../../gateway/judge/traits.ts'
import type { Catalog, GatewayAccess } from '../../../gateway/types.ts'
import type { InstalledProgram } from '../../client-state/program.ts'
import type { ChosenOptions, SetupContext } from '../request.ts'
import type { ProbeAnswer, Probes } from './probes.ts'

/** A proof during steps 3 and 4. A candidate's client is in `chosen` or in `failed`, or the user skipped it. */
export interface UnfinishedProof {
  readonly context: SetupContext
  readonly finder: GatewayFinder
  readonly catalog: Catalog | undefined
  readonly probes: Probes
  readonly candidates: readonly Candidate[]
  /** The options of each client that may still use the gateway. */
  readonly chosen: Map<Client, ChosenOptions>
  /** Why a client cannot use the gateway. */
  readonly failed: Map<Client, UserError>
}

/** A client that may use the gateway, with everything that decides its options. */
export interface Candidate {
  readonly context: SetupContext
  readonly access: GatewayAccess
  readonly client: Client
  readonly version: string | undefined
  readonly gatewayInfo: GatewayInfo
  /** Why the gateway rejected the first choice. */
  readonly rejection?: UserError
  readonly probes: Probes
}

/** Each client with what the gateway has answered so far. */
export function candidatesFor(
  context: SetupContext,
  {
    access,
    catalog,
    catalogError,
    programs,
    probes,
  }: Pick<GatewayInfo, 'catalog' | 'catalogError'> & {
    readonly access: GatewayAccess
    readonly programs: ReadonlyMap<Client, InstalledProgram>
    readonly probes: Probes
  },
): readonly Candidate[] {
  return context.clients.map((client) => {
    const { version, modelTable } = programs.get(client)!
    const gatewayInfo = { catalog, catalogError, rejected: [], gateway: access, modelTable }
    return { context, access, client, version, gatewayInfo, probes }
  })
}

/**
 * Runs one client's part of a step. If only this client fails, its error moves it from `chosen` to `failed`,
 * and the others continue.
 *
 * @throws UserError if the failure concerns all clients
 */
export async function runOrRecordFailure(
  { chosen, failed }: UnfinishedProof,
  client: Client,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof UserError) || concernsAll(error)) throw error
    chosen.delete(client)
    failed.set(client, error)
  }
}

function concernsAll(error: UserError): boolean {
  if (error.code === 'cancelled') return true
  const traits = traitsOf(error)
  return traits !== undefined && isSharedByClients[traits.blames]
}

/** Whether all clients share what a failure blames. */
const isSharedByClients: Readonly<Record<Culprit, boolean>> = {
  key: true,
  address: true,
  network: true,
  header: true,
  account: true,
  model: false,
  route: false,
  gateway: false,
  sender: false,
}

/** Probes every chosen model that was not probed yet. Returns the answers of all. */
export async function probeChosen({
  context: { session },
  probes,
  chosen,
}: UnfinishedProof): Promise<ReadonlyMap<Client, readonly ProbeAnswer[]>> {
  const choices = [...chosen]
  const newIds = await Promise.all(
    choices.map(([client, { resolved }]) => probes.newIds(client, resolved)),
  )
  const names = new Set(newIds.flat())

  const answers = Promise.all(
    choices.map(
      async ([client, { resolved }]) => [client, await probes.askFor(client, resolved)] as const,
    ),
  )
  if (names.size === 0) return new Map(await answers)
  return new Map(await session.step(`Asking ${[...names].join(', ')} for one word`, answers))
}

/** The models that the gateway rejected, and why. @throws any other error */
export function rejectionsIn(answers: readonly ProbeAnswer[]): readonly RejectedModel[] {
  return answers.flatMap(({ model, protocol, result }) => {
    if (result.status === 'fulfilled') return []
    const error: unknown = result.reason
    if (!(error instanceof UserError)) throw error
    return [{ model, protocol, error }]
  })
}
