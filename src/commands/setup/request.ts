import type {
  Client,
  ClientOptions,
  PreviousOptions,
  ResolvedOptions,
  ResolveInput,
} from '../../clients/client.ts'
import type { Balance } from '../../gateway/balance.ts'
import type { Catalog, GatewayAccess } from '../../gateway/types.ts'
import type { Runs } from '../../transaction/record.ts'
import type { SetupFlags } from '../command.ts'
import type { Preset } from '../find-gateway.ts'
import type { Consent, Session } from '../screen/session.ts'

export interface SetupRequest {
  /** The word of the command line; `setup` when several clients are set up in one run. */
  readonly command: string
  readonly clients: readonly string[]
  /** How far it goes, and with what. */
  readonly flags: SetupFlags
  /** What was named now for a client of this id. What was chosen before comes from its files. */
  readonly optionsOf?: (id: string) => ClientOptions | undefined
  /** A person picks the model from the gateway's list. */
  readonly picksModel?: boolean
  /** What is known of the gateway already, and neither looked for nor asked. */
  readonly preset?: Preset
  /** Nothing but the key changes, whatever else the gateway would offer by now. */
  readonly isKeyOnly?: boolean
}

/** What stands in a client's files where repoint has set it up. */
export interface PreviousSetup {
  /** Of the gateway that it was chosen for. */
  readonly baseUrl: string
  readonly options: PreviousOptions
}

/** A setup on its way: what its steps need. */
export interface SetupRun {
  readonly session: Session
  readonly request: SetupRequest
  readonly consent: Consent
  readonly clients: readonly Client[]
  /** What was chosen before, for each client that is set up. */
  readonly previous: ReadonlyMap<Client, PreviousSetup>
  readonly runs: Runs
}

/** The options of a client, and what they were resolved from. */
export interface Chosen {
  readonly resolved: ResolvedOptions
  readonly input: ResolveInput
  /** As `SetupTarget.answersSafeguards`. */
  readonly answersSafeguards?: boolean | undefined
}

/** What the gateway said before anything was written. */
export interface Proof {
  /** With the model that a person has picked. */
  readonly request: SetupRequest
  /** With the roots that have answered. */
  readonly access: GatewayAccess
  readonly catalog: Catalog | undefined
  /** Without the clients that were left out. */
  readonly chosen: ReadonlyMap<Client, Chosen>
  /** The gateway lets the real clients in and not our check: what they say is the proof. */
  readonly isLeftToClients: boolean
  /** What is left on the key; absent: the gateway does not say, or not in time. */
  readonly balance?: Balance | undefined
}

/** The same once the gateway is known. */
export interface ProvenRun extends SetupRun, Proof {}
