/**
 * What do `status` and `doctor` report about a client? Each type adds something to the one before it:
 *
 *     ClientState      what its files say                          client.read
 *     ClientReport     its files, gateway and options              client-report.ts
 *     CheckedClient    the findings, and who wrote its files       examineClient, here
 *     ExaminedClient   or why its files cannot be read
 *     ShownClient      the findings as they are shown              ../doctor.ts
 *     StatusReport     the gateway that it should use, the drift   ../status.ts
 */
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFile } from '../../clients/contract/files.ts'
import { UserError, valueOrError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import type { Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import { checkClient, contextOf } from './check-client.ts'
import { type ClientReport, clientReport } from './client-report.ts'
import { type FileReport, reportFile } from './written-files.ts'

/** A client as `status` and `doctor` see it: without starting it and without the network. */
export type ExaminedClient =
  | CheckedClient
  /** Its files cannot be read. */
  | { readonly kind: 'unreadable'; readonly client: Client; readonly failure: UserError }

/** A client whose files were read and checked. */
export interface CheckedClient extends ClientReport {
  readonly kind: 'checked'
  readonly findings: readonly Finding[]
  readonly fileStates: readonly FileReport[]
}

/**
 * Reads a client's files and checks them.
 *
 * @param runs undefined: the records cannot be read
 * @param isFixTried `doctor --fix` has run already, so that no hint names it again
 */
export function examineClient(
  session: Session,
  client: Client,
  runs: Runs | undefined,
  isFixTried = false,
): ExaminedClient {
  const checked = valueOrError((): CheckedClient => {
    const report = clientReport(session, client, runs ?? [])
    const { files } = report

    const isShown = ({ use, isOptional, bytes }: LoadedFile) =>
      use === 'editable' && !(isOptional && bytes === null)
    const fileStates = files.filter(isShown).map((file) => reportFile(session, file, runs))
    const context = contextOf(session, client, files, runs ?? [])
    const findings = checkClient(session, report, context, { fileStates, runs, isFixTried })
    return { kind: 'checked', ...report, findings, fileStates }
  })
  return checked instanceof UserError ? { kind: 'unreadable', client, failure: checked } : checked
}
