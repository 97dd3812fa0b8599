import type { Client, SetupOptions } from '../../clients/client.ts'
import type { GatewayAccess } from '../../gateway/types.ts'
import type { RunRecord } from '../../transaction/record.ts'
import type { GatewayFlags } from '../command.ts'
import type { Known } from '../find-gateway.ts'
import type { Consent, Session } from '../screen/session.ts'

/** What a setup is asked for. */
export interface SetupRequest {
  /** The word of the command line; `setup` when several clients are set up in one run. */
  readonly command: string
  readonly clients: readonly string[]
  readonly gateway: GatewayFlags
  /** What the gateway is to be called; absent: a name is found. */
  readonly name?: string | undefined
  /** Its key goes into the keychain. */
  readonly keychain?: boolean
  /** As they were named now. What was chosen before comes from the files. */
  readonly options: SetupOptions
  /** What was named for one client, by its id, in the place of `options`. */
  readonly optionsOf?: ReadonlyMap<string, SetupOptions>
  /** The rules choose what is not named, whatever was chosen before. */
  readonly defaults: boolean
  /** What is known of the gateway already, and neither looked for nor asked. */
  readonly known?: Known
  /** Nothing but the key is to change, whatever else the gateway would offer by now. */
  readonly isKeyOnly?: boolean
  readonly isDryRun: boolean
  /** Everything that would be asked is accepted. */
  readonly yes: boolean
  /** False: the network is left alone. */
  readonly verify: boolean
  readonly tryClient: boolean
}

/** What stands in a client's files where repoint has set it up. */
export interface Kept {
  /** Of the gateway that it was chosen for. */
  readonly root: string
  readonly options: SetupOptions
}

/** A setup on its way: what its steps need. */
export interface SetupRun {
  readonly session: Session
  readonly request: SetupRequest
  readonly consent: Consent
  readonly clients: readonly Client[]
  /** What was chosen before, for each client that is set up. */
  readonly kept: ReadonlyMap<Client, Kept>
  /** The recorded runs, newest first. */
  readonly runs: readonly RunRecord[]
}

/** The same once the gateway is known. */
export interface RunWithGateway extends SetupRun {
  readonly access: GatewayAccess
}
