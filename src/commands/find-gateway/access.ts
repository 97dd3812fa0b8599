import type { GatewayAccess } from '../../gateway/types.ts'
import type { Session } from '../screen/session.ts'

/** The access to a gateway from this machine, until the user interrupts the command. */
export function accessTo(
  { platform }: Session,
  gateway: Omit<GatewayAccess, 'env' | 'signal' | 'hostState'>,
): GatewayAccess {
  const hostState = { hasAnswered: false }
  return { ...gateway, env: platform.machine.env, signal: platform.interrupt, hostState }
}
