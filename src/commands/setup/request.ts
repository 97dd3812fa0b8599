import type { Client } from '../../clients/contract/client.ts'
import type { ClientOptions } from '../../clients/contract/options.ts'
import type { ResolvedOptions, ResolveInput } from '../../clients/contract/setup.ts'
import type { ClientState } from '../../clients/contract/state.ts'
import type { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import type { Balance } from '../../gateway/balance.ts'
import type { Catalog, GatewayAccess } from '../../gateway/types.ts'
import type { Runs } from '../../transaction/record.ts'
import type { InstalledProgram } from '../client-state/program.ts'
import type { SetupFlags } from '../command.ts'
import type { Preset } from '../find-gateway/types.ts'
import type { Consent, Session } from '../screen/session.ts'

/** What the user asks for, whichever command sets clients up. */
export interface SetupRequest {
  /** The command that the user typed. `setup` if several clients are set up in one run. */
  readonly command: string
  readonly clients: readonly string[]
  readonly flags: SetupFlags
  /** The options that the user requests now, by client ID. Previous options come from the client's files. */
  readonly optionsOf?: (id: string) => ClientOptions | undefined
  /** The user chooses the model from the catalog. */
  readonly picksModel?: boolean
  /** Asks which of `clients` to set up, once the gateway has answered. Absent: all of them. */
  readonly chooseClients?: (
    context: SetupContext,
    answer: GatewayAnswer,
  ) => Promise<readonly string[]>
  /** What is known of the gateway before repoint looks for it. */
  readonly preset?: Preset
  /** Changes only the key, whatever else the gateway offers now. */
  readonly isKeyOnly?: boolean
}

/**
 * What every step of a setup needs. Steps 1 to 4 return it changed if the user chooses clients, a model or a
 * link's address on the way.
 */
export interface SetupContext {
  readonly session: Session
  readonly request: SetupRequest
  readonly consent: Consent
  readonly clients: readonly Client[]
  /** The state of each client that is set up, with the options that a setup keeps. */
  readonly previous: ReadonlyMap<Client, ClientState>
  readonly runs: Runs
  /** The programs that were started for their version already, by client ID. */
  readonly startedPrograms?: ReadonlyMap<string, Promise<InstalledProgram>>
}

/** What the gateway has answered before the first probe. */
export interface GatewayAnswer {
  readonly access: GatewayAccess
  readonly catalog: Catalog | undefined
  readonly catalogError: UserError | undefined
}

/** The options of a client, and what they were resolved from. */
export interface ChosenOptions {
  readonly resolved: ResolvedOptions
  readonly input: ResolveInput
  /** As `SetupTarget.answersSafeguards`. */
  readonly answersSafeguards?: boolean | undefined
  /** The gateway rejects repoint's own request, so the installed client has proven it instead. */
  readonly isProvenByClient?: boolean
}

/** What the gateway answered before anything was written. */
export interface Proof {
  /** With the model that the user chose. */
  readonly request: SetupRequest
  /** With the base URLs that have answered. */
  readonly access: GatewayAccess
  readonly catalog: Catalog | undefined
  /** The options of each client that can use the gateway. */
  readonly chosen: ReadonlyMap<Client, ChosenOptions>
  /** The balance of the key. Absent: the gateway does not report it, or not in time. */
  readonly balance?: Balance | undefined
  /** Why a client cannot use the gateway. */
  readonly failed: ReadonlyMap<Client, UserError>
  /** What the user should know about the gateway. */
  readonly findings: readonly Finding[]
}

/** A setup after the gateway was proven. */
export interface ProvenSetup extends SetupContext, Proof {}
