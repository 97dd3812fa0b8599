import { rows } from '../../clients/list.ts'
import { compact } from '../../compact.ts'
import { UserError } from '../../errors.ts'
import { rootsOf } from '../../gateway/roots.ts'
import type { SavedGateway } from '../../transaction/gateways.ts'
import type { GatewayFlags } from '../command.ts'
import { keyOf } from '../inventory/saved-gateways.ts'
import type { Session } from '../screen/session.ts'
import type { SetupRequest } from './run.ts'

/**
 * The part of a setup's request that a remembered gateway answers.
 *
 * @throws UserError `key-missing`, `keychain-failed`
 */
export async function atSaved(
  session: Session,
  saved: SavedGateway,
  { timeout }: GatewayFlags,
): Promise<Pick<SetupRequest, 'gateway' | 'name' | 'known'>> {
  const { name, baseUrl, caFile, allowHttp } = saved
  const roots = rootsOf(saved)
  const key = await keyOf(session, saved, timeout * 1000)
  return {
    gateway: compact({ timeout, caFile, allowHttp }),
    name,
    known: { baseUrl, roots, key, way: saved },
  }
}

/** What is wrong with two clients of one family at once; undefined: each is of its own. */
export function problemOfTwins(ids: readonly string[]): string | undefined {
  const named = rows.filter(({ id }) => ids.includes(id))
  for (const { id, family, label } of named) {
    const other = named.find((one) => one.family === family && one.id !== id)
    if (other !== undefined) return `${label} and ${other.label} are two setups of the same file`
  }
  return undefined
}

/**
 * The clients of these ids, in the order of the list.
 *
 * @throws UserError `usage` for two of one family
 */
export function oneOfEachFamily(ids: readonly string[]): readonly string[] {
  const message = problemOfTwins(ids)
  if (message !== undefined)
    throw new UserError({ code: 'usage', message, hint: 'Name one of them.' })
  return rows.map(({ id }) => id).filter((id) => ids.includes(id))
}
