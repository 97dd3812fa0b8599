import type { Client } from '../../clients/client.ts'
import { UserError } from '../../errors.ts'
import { catalogOrError } from '../../gateway/catalog.ts'
import { mayRejectCertificate } from '../../gateway/http/authorities.ts'
import { closeIdleConnections } from '../../gateway/http/request.ts'
import type { CertificateStores, GatewayAccess } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'

/** The certificate stores of one client, or those of several clients merged. */
export function authoritiesOf(
  env: Machine['env'],
  clients: readonly Pick<Client, 'label' | 'program'>[],
): CertificateStores {
  const all = clients.map(({ program }) => program.certificateStores(env))
  const [alone] = all

  const of = clients.map(({ label }) => label).join(', ')
  if (alone !== undefined && all.length === 1) return { ...alone, of }
  return {
    of,
    system: all.some(({ system }) => system),
    files: [...new Set(all.flatMap(({ files }) => files))],
    folders: [...new Set(all.flatMap(({ folders }) => folders))],
  }
}

/**
 * Checks that this client trusts the gateway. Several clients together can trust more certificates than
 * one of them does, so if no public authority vouches for the gateway, this requests its catalog again
 * with the client's own certificate stores.
 *
 * @param asAll the access with the stores of all clients, as it was requested so far
 * @throws UserError `tls`
 */
export async function expectBelieved(
  client: Client,
  access: GatewayAccess,
  asAll = access,
): Promise<void> {
  const asClient = { ...access, authorities: authoritiesOf(access.env, [client]) }
  if (!mayRejectCertificate(asClient, asAll)) return

  const answer = await catalogOrError(asClient)
  await closeIdleConnections(asClient)
  if (answer instanceof UserError && answer.code === 'tls') throw answer
}
