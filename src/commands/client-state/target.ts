import type { Client } from '../../clients/contract/client.ts'
import type { ResolvedOptions, ResolveInput, SetupTarget } from '../../clients/contract/setup.ts'
import { protocolOf } from '../../clients/models/protocols.ts'
import { baseUrlFor } from '../../gateway/base-urls.ts'
import type { GatewayAccess } from '../../gateway/types.ts'

/** A client with its options for a gateway. */
export interface ResolvedClient {
  readonly client: Client
  readonly input: Omit<ResolveInput, 'gatewayInfo'>
  readonly resolved: ResolvedOptions
}

/** What a client's files, or the settings of one process, must say so that it uses the gateway. */
export function targetFor(
  { client, input, resolved }: ResolvedClient,
  access: GatewayAccess,
  providerId: string,
): SetupTarget {
  return {
    baseUrl: baseUrlFor(access, protocolOf(client, resolved)),
    baseUrls: access.baseUrls,
    key: access.key,
    keyHeader: access.keyHeader,
    headers: access.headers,
    query: access.query,
    providerId,
    resolved,
    input,
  }
}
