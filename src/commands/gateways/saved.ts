import { UserError } from '../../errors.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { rootsOf } from '../../gateway/roots.ts'
import type { GatewayAccess } from '../../gateway/types.ts'
import type { SavedGateway } from '../../state/gateways.ts'
import { accessTo } from '../find-gateway.ts'
import type { Session } from '../screen/session.ts'

/** The access to a saved gateway. */
export function accessToSaved(
  session: Session,
  saved: SavedGateway,
  timeoutMs: number,
): GatewayAccess {
  return accessTo(session, { ...saved, baseUrls: rootsOf(saved), timeoutMs })
}

/**
 * Adds to the hint of a failure how to change the address or the key of a saved gateway, for a command
 * that has no flags for them.
 */
export function withCureFor({ name, baseUrl }: SavedGateway, error: unknown): unknown {
  if (!(error instanceof UserError)) return error
  const { code, message, hint, files, cause } = error
  const more =
    traitsOf(error)?.blames === 'key'
      ? `A setup with --base-url ${baseUrl} and the new key changes it for ${name} too.`
      : hint?.includes('--base-url')
        ? `That is the address of ${name}: a setup with another one remembers that.`
        : undefined
  if (more === undefined) return error
  return new UserError({ code, message, hint: [hint, more].join(' ').trim(), files, cause })
}
