/** One client on its way through a setup. */
import type { Client } from '../../clients/contract/client.ts'
import type { ResolvedOptions, ResolveInput } from '../../clients/contract/setup.ts'
import type { InstalledProgram } from '../client-state/program.ts'

/** One client before step 3, with everything that decides its options. */
export interface ClientSetup {
  readonly client: Client
  readonly program: InstalledProgram
  readonly input: ResolveInput
}

/** Steps 3 and 4: a client whose options are decided. */
export interface ResolvedSetup extends ClientSetup {
  readonly resolved: ResolvedOptions
  /** How often another model has replaced the client's, because the gateway rejected it. */
  readonly replacements: number
  /** As `SetupTarget.answersSafeguards`. */
  readonly answersSafeguards?: boolean | undefined
  /** The gateway rejects repoint's own request, so the installed client has proven it instead. */
  readonly isProvenByClient?: boolean
}
