import type { Client } from '../../clients/contract/client.ts'
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
 * @param sharedAccess the access with the stores of all clients, which the requests so far used
 * @throws UserError `tls`
 */
export async function expectTrustedBy(
  client: Client,
  access: GatewayAccess,
  sharedAccess = access,
): Promise<void> {
  const clientAccess = { ...access, authorities: authoritiesOf(access.env, [client]) }
  if (!mayRejectCertificate(clientAccess, sharedAccess)) return

  const answer = await catalogOrError(clientAccess)
  await closeIdleConnections(clientAccess)
  if (answer instanceof UserError && answer.code === 'tls') throw answer
}
