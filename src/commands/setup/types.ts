/** The values that pass from one step of a setup to the next. */
import type { Client } from '../../clients/contract/client.ts'
import type { ClientOptions } from '../../clients/contract/options.ts'
import type { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import type { Balance } from '../../gateway/balance.ts'
import type { GatewayRequester } from '../../gateway/gateway-requester.ts'
import type { Catalog, CatalogInfo, GatewayAccess } from '../../gateway/types.ts'
import type { Runs } from '../../transaction/record.ts'
import type { InstalledProgram } from '../client-state/program/program.ts'
import type { SetupFlags } from '../command-line/flags.ts'
import type { Preset } from '../find-gateway/preset.ts'
import type { Probes } from '../probes/probes.ts'
import type { ResolvedChoice } from '../resolve/client-choice.ts'
import type { SetupPolicy } from '../resolve/policy.ts'
import type { EarlierSetup } from '../resolve/resolve-input.ts'
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
    gateway: AskedGateway,
  ) => Promise<readonly string[]>
  /** What is known of the gateway before repoint looks for it. */
  readonly preset?: Preset
  /** What the setup may change. Absent: `--defaults` decides. */
  readonly policy?: SetupPolicy
}

/**
 * What every step of a setup needs. A step returns it changed if the user chooses clients, a model or a
 * link's address on the way.
 */
export interface SetupContext {
  readonly session: Session
  readonly request: SetupRequest
  readonly policy: SetupPolicy
  readonly consent: Consent
  readonly clients: readonly Client[]
  /** The installed programs by client ID. Each is started once, when a step first needs its version. */
  readonly programs: Map<string, Promise<InstalledProgram>>
  /** The earlier setup of each client that has one. */
  readonly earlier: ReadonlyMap<Client, EarlierSetup>
  readonly runs: Runs
}

/** Step 2: a gateway that has answered, with its catalog or without one. */
export interface AskedGateway {
  /** Sends requests. Its `access` has the base URLs and the key header that the gateway has accepted so far. */
  readonly requester: GatewayRequester
  readonly probes: Probes
  readonly catalogAnswer: CatalogInfo
}

/** Step 4: a setup whose models have answered. With `--no-verify` they are only decided. */
export interface ProvenSetup {
  readonly context: SetupContext
  /** The clients that can use the gateway, in the order of `clients`. */
  readonly choices: readonly ResolvedChoice[]
  /** Why a client cannot use the gateway. */
  readonly failed: ReadonlyMap<Client, UserError>
  /** With the base URLs and the key header that the gateway has accepted. */
  readonly access: GatewayAccess
  readonly catalog: Catalog | undefined
  /** The balance of the key. Absent: the gateway does not report it, or not in time. */
  readonly balance?: Balance | undefined
  /** What the user should know about the gateway. */
  readonly findings: readonly Finding[]
}
