import { baseUrlsOf } from '../../gateway/base-urls.ts'
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

/** The access to a saved gateway. The hints of the command then name that gateway. */
export function accessToSaved(
  session: Session,
  saved: SavedGateway,
  timeoutMs: number,
): GatewayAccess {
  session.saved = saved
  return accessTo(session, { ...saved, baseUrls: baseUrlsOf(saved), timeoutMs })
}
