/**
 * Early probes: steps 3 and 4 begin in step 2, while the gateway is slow to list its models. They are sent only if
 * every client's rules decide without the list, and step 4 reuses their answers.
 */
import type { GatewayRequester } from '../../../gateway/gateway-requester.ts'
import { resolveClient } from '../../resolve/client-choice.ts'
import { canAskUser, type ReachedGateway, type SetupContext } from '../context.ts'
import { choiceFor, resolveWithoutCatalog } from './choose-models.ts'

/**
 * Whether the rules of every client decide without the catalog.
 *
 * @throws UserError if a client cannot use the gateway, whatever its catalog lists. If the user can skip this
 *   client and set up others, its error waits for step 3.
 */
export function needsNoCatalog(context: SetupContext, { access }: GatewayRequester): boolean {
  const { clients } = context
  const resolutions = clients.map((client) => resolveWithoutCatalog(context, client, access))
  const canSkip = canAskUser(context) && clients.length > 1
  for (const resolution of resolutions)
    if (resolution.kind === 'impossible' && !canSkip) throw resolution.error
  return resolutions.every(({ kind }) => kind === 'decided')
}

/** Sends the first request of every client, and does not wait for the answers. */
export async function sendFirstRequests(
  context: SetupContext,
  gateway: ReachedGateway,
): Promise<void> {
  for (const client of context.clients) {
    const resolution = resolveClient(await choiceFor(context, gateway, client))
    if (resolution.kind === 'decided') await gateway.probes.sendFor(resolution.choice)
  }
}
