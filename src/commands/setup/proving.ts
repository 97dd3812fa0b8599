/** What steps 3 and 4 of a setup share. */
import type { Client, GatewayInfo, RejectedModel } from '../../clients/client.ts'
import { UserError } from '../../errors.ts'
import type { GatewayFinder } from '../../gateway/find-roots.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import type { Catalog, GatewayAccess } from '../../gateway/types.ts'
import type { InstalledProgram } from '../client-state/program.ts'
import type { ProbeAnswer, Probes } from './probes.ts'
import type { Chosen, SetupRun } from './request.ts'
import type { ResolvingClient } from './resolve.ts'

/** What steps 3 and 4 work with. */
export interface Proving {
  readonly run: SetupRun
  readonly finder: GatewayFinder
  readonly catalog: Catalog | undefined
  readonly probes: Probes
  readonly clients: readonly ResolvingClient[]
  /** The options of each client that may still use the gateway. */
  readonly chosen: Map<Client, Chosen>
  readonly failed: Map<Client, UserError>
}

/** Each client with what the gateway has answered so far. */
export function resolvingClients(
  run: SetupRun,
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
): readonly ResolvingClient[] {
  return run.clients.map((client) => {
    const { version, modelTable } = programs.get(client)!
    const gatewayInfo = { catalog, catalogError, rejected: [], gateway: access, modelTable }
    return { run, access, client, version, gatewayInfo, probes }
  })
}

/**
 * Runs one client's part of a step. If that fails because of this client, the other clients go on.
 *
 * @throws UserError if the fault is not this client's
 */
export async function unlessFailed(
  { chosen, failed }: Proving,
  client: Client,
  doStep: () => Promise<void>,
): Promise<void> {
  try {
    await doStep()
  } catch (error) {
    if (!(error instanceof UserError) || concernsAll(error)) throw error
    chosen.delete(client)
    failed.set(client, error)
  }
}

function concernsAll(error: UserError): boolean {
  const blamed = traitsOf(error)?.blames ?? 'client'
  const isOfOne = ['client', 'model', 'route', 'gateway', 'asker'].includes(blamed)
  return error.code === 'cancelled' || !isOfOne
}

/** Probes every chosen model that was not probed yet. */
export async function askAll({
  run: { session },
  probes,
  chosen,
}: Proving): Promise<ReadonlyMap<Client, readonly ProbeAnswer[]>> {
  const choices = [...chosen]
  const newIds = choices.map(([client, { resolved }]) => probes.newIds(client, resolved))
  const names = new Set((await Promise.all(newIds)).flat())
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
