import { whyUnreadable } from '../../clients/contract/state.ts'
import { type Balance, balanceOf } from '../../gateway/balance.ts'
import { baseUrlsOf } from '../../gateway/base-urls.ts'
import { requestCatalog } from '../../gateway/catalog.ts'
import { preopenConnections } from '../../gateway/http/request.ts'
import type { CatalogAnswer, GatewayAccess } from '../../gateway/types.ts'
import { caFileFor } from '../../state/saved-gateways.ts'
import { authoritiesOf } from '../client-state/certificates.ts'
import type { ReadableClient } from '../client-state/check-client.ts'
import type { GatewayFlags } from '../command-line/flags.ts'
import { accessTo } from '../find-gateway/access.ts'
import type { Session } from '../screen/session.ts'

export type RequestFlags = Pick<GatewayFlags, 'timeout' | 'caFile'>

/** A gateway and a key, with all clients that use both. doctor sends its requests once for all of them. */
export interface SharedGateway {
  /** The families of the clients that use it. The list grows while the clients are collected. */
  readonly users: string[]
  readonly access: GatewayAccess
  readonly catalogRequest: Promise<CatalogAnswer>
  readonly balance: Promise<Balance | undefined>
}

/** Requests the model lists of all clients' gateways in parallel. The result is by client ID. */
export function requestCatalogs(
  session: Session,
  clients: readonly ReadableClient[],
  flags: RequestFlags,
): ReadonlyMap<string, SharedGateway> {
  const byRequest = new Map<string, SharedGateway>()
  const byClient = new Map<string, SharedGateway>()
  const authorities = authoritiesOf(
    session.platform.machine.env,
    clients.map(({ client }) => client),
  )
  const [configuredCaFile] = clients.flatMap(({ state }) => state.endpoint.caFile ?? [])

  for (const checked of clients) {
    const { key, keyHeader, headers, query } = checked.state.endpoint
    const isBroken = whyUnreadable(checked.state) !== undefined
    if (isBroken || checked.gateway === undefined || !key) continue

    const { address } = checked.gateway
    const request = { baseUrls: baseUrlsOf(checked.gateway), key, keyHeader, headers, query }
    const caFile = caFileFor(session.platform, address, flags.caFile) ?? configuredCaFile
    const timeoutMs = flags.timeout * 1000
    const id = JSON.stringify(request)
    const shared =
      byRequest.get(id) ??
      startRequests(accessTo(session, { address, ...request, timeoutMs, caFile, authorities }))
    shared.users.push(checked.client.family)
    byRequest.set(id, shared)
    byClient.set(checked.client.id, shared)
    // The clients' probes are sent in parallel, so each client gets a connection.
    void preopenConnections(shared.access, 1)
  }
  return byClient
}

/** Requests the balance only from a gateway that answers the catalog request. */
function startRequests(access: GatewayAccess): SharedGateway {
  const catalogRequest = requestCatalog(access, { isOptional: true })
  const balance = catalogRequest.then((answer) =>
    answer.kind === 'received' ? balanceOf(access, answer.catalog) : undefined,
  )
  return { users: [], access, catalogRequest, balance }
}
