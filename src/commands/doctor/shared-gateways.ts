import { whyUnreadable } from '../../clients/contract/state.ts'
import { type Balance, balanceOf } from '../../gateway/balance.ts'
import { baseUrlsOf } from '../../gateway/base-urls.ts'
import { GatewayRequester } from '../../gateway/gateway-requester.ts'
import { preopenConnections } from '../../gateway/http/request.ts'
import type { CatalogInfo, GatewayAccess } from '../../gateway/types.ts'
import { caFileFor } from '../../state/saved-gateways.ts'
import { authoritiesOf } from '../client-state/certificates.ts'
import type { ClientNow } from '../client-state/client-facts.ts'
import type { InstalledProgram } from '../client-state/program/installed-program.ts'
import type { GatewayFlags } from '../command-line/flags.ts'
import { accessTo } from '../find-gateway/access.ts'
import { firstRequestsOf } from '../prove/first-requests.ts'
import { type Proof, prove } from '../prove/prove.ts'
import { type ResolvedChoice, resolveClient } from '../resolve/client-choice.ts'
import type { Session } from '../screen/session.ts'

export type RequestFlags = Pick<GatewayFlags, 'timeout' | 'caFile'>

/** A gateway and a key, with all clients that use both. doctor sends its requests once for all of them. */
export interface SharedGateway {
  readonly clients: readonly ClientNow[]
  readonly access: GatewayAccess
  /** An answer for each of `clients`, with the choice in its files. */
  readonly proof: Promise<Proof<ResolvedChoice>>
  readonly balance: Promise<Balance | undefined>
}

/** Asks the gateways of all clients in parallel. The result is by client ID. */
export function askGateways(
  session: Session,
  clients: readonly ClientNow[],
  flags: RequestFlags,
  programOf: (client: ClientNow) => Promise<InstalledProgram>,
): ReadonlyMap<string, SharedGateway> {
  const sharing = new Map<string, { access: GatewayAccess; clients: ClientNow[] }>()
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
    const shared = sharing.get(id) ?? {
      access: accessTo(session, { address, ...request, timeoutMs, caFile, authorities }),
      clients: [],
    }
    shared.clients.push(checked)
    sharing.set(id, shared)
  }

  return new Map(
    [...sharing.values()].flatMap(({ access, clients: users }) => {
      // The clients' requests are sent in parallel, so each client gets a connection.
      void preopenConnections(access, users.length)
      const shared = askGateway(session, access, users, programOf)
      return users.map(({ client }) => [client.id, shared] as const)
    }),
  )
}

/** Requests the balance only from a gateway that has a list of models. */
function askGateway(
  session: Session,
  access: GatewayAccess,
  clients: readonly ClientNow[],
  programOf: (client: ClientNow) => Promise<InstalledProgram>,
): SharedGateway {
  let balance: Promise<Balance | undefined> = Promise.resolve(undefined)
  const requester = new GatewayRequester(access, { isFixed: true })
  // The checks of the gateway say what is wrong with its list.
  const quietly = {
    step: <Result>(_: string, work: Promise<Result>) => work,
    addFindings: () => {},
  }

  const proof = prove<ResolvedChoice>(quietly, requester, {
    isModelKnown: true,
    asksFor: (list) => {
      if (list.kind === 'received') balance = balanceOf(access, list.catalog)
      return clients.map((checked) => ({
        first: async () => choiceNow(checked, await programOf(checked), list),
        requestsOf: (choice) => firstRequestsOf(session, choice, checked.files),
      }))
    },
  })
  return { clients, access, proof, balance: proof.then(() => balance) }
}

/**
 * The client with the options that it uses now.
 *
 * @throws UserError if the client's model cannot be used, or only the catalog could have decided it
 */
function choiceNow(
  { client, options, state: { unsetOptions } }: ClientNow,
  program: InstalledProgram,
  catalogAnswer: CatalogInfo,
): ResolvedChoice {
  const gatewayInfo = { catalogAnswer, rejections: [] }
  const input = { requested: {}, earlier: { options, unsetOptions }, gatewayInfo }

  const resolution = resolveClient({ client, program, input })
  if (resolution.kind === 'decided') return resolution.choice
  throw catalogAnswer.kind === 'failed' ? catalogAnswer.error : resolution.error
}
