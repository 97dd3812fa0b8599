import type { Client, SetupOptions } from '../../clients/client.ts'
import type { GatewayAccess } from '../../gateway/types.ts'
import type { RunRecord } from '../../transaction/record.ts'
import type { GatewayFlags } from '../command.ts'
import type { Consent, Session } from '../screen/session.ts'

/** What a setup is asked for. */
export interface SetupRequest {
  /** The word of the command line; `setup` when several clients are set up in one run. */
  readonly command: string
  readonly clients: readonly string[]
  readonly gateway: GatewayFlags
  readonly options: SetupOptions
  readonly isDryRun: boolean
  /** Everything that would be asked is accepted. */
  readonly yes: boolean
  /** False: the network is left alone. */
  readonly verify: boolean
  readonly tryClient: boolean
}

/** A setup on its way: what its steps need. */
export interface SetupRun {
  readonly session: Session
  readonly request: SetupRequest
  readonly consent: Consent
  readonly clients: readonly Client[]
  /** The recorded runs, newest first. */
  readonly runs: readonly RunRecord[]
}

/** The same once the gateway is known. */
export interface RunWithGateway extends SetupRun {
  readonly access: GatewayAccess
}
