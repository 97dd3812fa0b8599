import { UserError } from '../../errors.ts'
import { baseUrlsOf } from '../../gateway/base-urls.ts'
import { withHint } from '../../gateway/judge/judge.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import type { GatewayAccess } from '../../gateway/types.ts'
import type { SavedGateway } from '../../state/gateway-list.ts'
import type { Session } from '../screen/session.ts'

/** The access to a gateway from this machine, until the user interrupts the command. */
export function accessTo(
  { platform }: Session,
  gateway: Omit<GatewayAccess, 'env' | 'signal' | 'hostState'>,
): GatewayAccess {
  // All requests of this access share it.
  const hostState = { hasAnswered: false }
  return { ...gateway, env: platform.machine.env, signal: platform.interrupt, hostState }
}

/** The access to a saved gateway. */
export function accessToSaved(
  session: Session,
  saved: SavedGateway,
  timeoutMs: number,
): GatewayAccess {
  return accessTo(session, { ...saved, baseUrls: baseUrlsOf(saved), timeoutMs })
}

/**
 * Replaces the hint of a failure by the command that changes the key or the address of a saved gateway. The
 * commands that call this have no flags for them.
 */
export function withSavedGatewayHint({ name, address }: SavedGateway, error: unknown): unknown {
  if (!(error instanceof UserError)) return error
  if (traitsOf(error)?.blames === 'key')
    return withHint(error, `Save the new key: repoint gateways add ${address} --name ${name}`)
  if (error.advisesAddress)
    return withHint(error, `Save the other address: repoint gateways add URL`)
  return error
}
