/** What every step of a setup reads from its context. */
import type { Client } from '../../clients/contract/client.ts'
import type { ClientOptions } from '../../clients/contract/options.ts'
import type { GatewayInfo, ResolveInput } from '../../clients/contract/setup.ts'
import { expectUsableOptions, loadClients, rowOf } from '../../clients/list.ts'
import type { Gateway } from '../../gateway/types.ts'
import { expectInstalled } from '../client-state/program/program.ts'
import { defaultsPolicy, usualPolicy } from '../resolve/policy.ts'
import { earlierSetups, resolveInputFor } from '../resolve/resolve-input.ts'
import type { Session } from '../screen/session.ts'
import type { SetupContext, SetupRequest } from './types.ts'

/**
 * Loads the clients and their earlier setups.
 *
 * @throws UserError `usage`, `client-failed`
 */
export async function loadContext(
  session: Session,
  request: SetupRequest,
  { runs, programs }: Pick<SetupContext, 'runs' | 'programs'>,
): Promise<SetupContext> {
  const clients = await loadClients(request.clientIds.map(rowOf))
  for (const client of clients) {
    expectUsableOptions(client, requestedFor(request, client))
    if (request.flags.tryClient) expectInstalled(session, client)
  }

  return {
    session,
    request,
    policy: request.policy ?? (request.flags.defaults ? defaultsPolicy : usualPolicy),
    consent: session.consent(request.flags.yes),
    clients,
    programs,
    earlier: earlierSetups(session, clients, runs),
    runs,
  }
}

/** The options that the user requests now for a client. */
export function requestedFor(
  { optionsOf }: Pick<SetupRequest, 'optionsOf'>,
  { id }: Client,
): ClientOptions {
  return optionsOf?.(id) ?? {}
}

/** Whether the user can choose another model, or skip a client, if something is rejected. */
export function canAskUser({ consent }: SetupContext): boolean {
  return consent === 'ask'
}

/** The input with which a client of this setup decides its options. */
export function inputFor(
  { request, earlier, policy }: SetupContext,
  client: Client,
  gateway: Gateway,
  gatewayInfo: GatewayInfo,
): ResolveInput {
  const requested = requestedFor(request, client)
  const sources = { requested, earlier: earlier.get(client), policy }
  return resolveInputFor(client, sources, gateway, gatewayInfo)
}
