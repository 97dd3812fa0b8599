/**
 * What every step of a setup is given.
 *
 * In: a `SetupRequest`, from the command that the user typed. Out: a `SetupContext`, which adds the clients,
 * their earlier setups and what the setup may change.
 */
import type { Client } from '../../clients/contract/client.ts'
import type { ClientOptions } from '../../clients/contract/options.ts'
import { catalogIn, type GatewayInfo, type ResolveInput } from '../../clients/contract/setup.ts'
import { expectUsableOptions, loadClients, rowOf } from '../../clients/list.ts'
import type { GatewayRequester } from '../../gateway/gateway-requester.ts'
import type { CatalogInfo, Gateway } from '../../gateway/types.ts'
import { savedGatewayFor } from '../../state/save-gateway.ts'
import type { Runs } from '../../transaction/record.ts'
import {
  expectInstalled,
  type InstalledProgram,
} from '../client-state/program/installed-program.ts'
import type { SetupFlags } from '../command-line/flags.ts'
import type { Preset } from '../find-gateway/preset.ts'
import { defaultsPolicy, type SetupPolicy, usualPolicy } from '../resolve/policy.ts'
import { type EarlierSetup, findEarlierSetups, resolveInputFor } from '../resolve/resolve-input.ts'
import type { Consent, Session } from '../screen/session.ts'

/** What the user asks for, whichever command sets clients up. */
export interface SetupRequest {
  /** The command that the user typed. `setup` if several clients are set up in one run. */
  readonly command: string
  readonly clientIds: readonly string[]
  readonly flags: SetupFlags
  /** The options that the user requests now, by client ID. Previous options come from the client's files. */
  readonly optionsOf?: (id: string) => ClientOptions | undefined
  /** The user chooses the model from the catalog. */
  readonly picksModel?: boolean
  /** Asks which of `clientIds` to set up, once the gateway has answered. Absent: all of them. */
  readonly chooseClients?: (
    context: SetupContext,
    gateway: ReachedGateway,
  ) => Promise<readonly string[]>
  /** What is known of the gateway before repoint looks for it. */
  readonly preset?: Preset
  /** What the setup may change. Absent: `--defaults` decides. */
  readonly policy?: SetupPolicy
}

/** What every step of a setup needs. It changes if the user chooses clients or a model on the way. */
export interface SetupContext {
  readonly session: Session
  readonly request: SetupRequest
  readonly policy: SetupPolicy
  readonly consent: Consent
  readonly clients: readonly Client[]
  /** The installed programs by client ID. Each is started once, when a step first needs its version. */
  readonly programs: Map<string, Promise<InstalledProgram>>
  /** The earlier setup of each client that has one, by client ID. */
  readonly earlierSetups: ReadonlyMap<string, EarlierSetup>
  readonly runs: Runs
}

/** A gateway that has answered, with its catalog or without one. */
export interface ReachedGateway {
  /** Sends requests. Its `access` has the base URLs and the key header that the gateway has accepted so far. */
  readonly requester: GatewayRequester
  readonly catalogAnswer: CatalogInfo
}

/**
 * Loads the clients and their earlier setups. Sends nothing and starts no program.
 *
 * @throws UserError `usage`, `client-failed`
 */
export async function loadContext(
  session: Session,
  request: SetupRequest,
  { runs, programs }: Pick<SetupContext, 'runs' | 'programs'>,
): Promise<SetupContext> {
  const clients = await loadClients(request.clientIds.map(rowOf))
  for (const client of clients) {
    expectUsableOptions(client, requestedOptions(request, client))
    if (request.flags.tryClient) expectInstalled(session, client)
  }

  return {
    session,
    request,
    policy: request.policy ?? (request.flags.defaults ? defaultsPolicy : usualPolicy),
    consent: session.consent(request.flags.yes),
    clients,
    programs,
    earlierSetups: findEarlierSetups(session, clients, runs),
    runs,
  }
}

/** The options that the user requests now for a client. */
export function requestedOptions(
  { optionsOf }: Pick<SetupRequest, 'optionsOf'>,
  { id }: Client,
): ClientOptions {
  return optionsOf?.(id) ?? {}
}

/** Whether the user can choose another model, or skip a client, if something is rejected. */
export function canAskUser({ consent }: SetupContext): boolean {
  return consent === 'ask'
}

/**
 * The input with which a client of this setup decides its options.
 *
 * @param access as far as it is known: the access so far or, in the plan, the proven one
 */
export function inputFor(
  { session, request, earlierSetups, policy }: SetupContext,
  client: Client,
  access: Gateway,
  gatewayInfo: GatewayInfo,
): ResolveInput {
  // A list decides without it.
  const hasList = catalogIn(gatewayInfo) !== undefined
  const provenModel = hasList ? undefined : savedGatewayFor(session.platform, access)?.proven
  const requested = requestedOptions(request, client)
  const sources = { requested, earlier: earlierSetups.get(client.id), policy }
  return resolveInputFor(client, sources, access, { provenModel, ...gatewayInfo })
}
