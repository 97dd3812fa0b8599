import { Command } from '@commander-js/extra-typings'
import type { Client } from '../clients/contract/client.ts'
import { errorCodes } from '../error-codes.ts'
import { UserError, valueOrError } from '../errors.ts'
import { exitStatusFor, type Finding } from '../finding.ts'
import { assumedBaseUrls } from '../gateway/base-urls.ts'
import { normaliseAddress } from '../gateway/input/address.ts'
import type { SavedFolder } from '../state/folders.ts'
import { isTypedAddress, savedBaseUrls, savedGateway } from '../state/saved-gateways.ts'
import { oneClientPerFamily } from './client-state/client-facts.ts'
import { clientNow } from './client-state/client-now.ts'
import {
  type DriftReason,
  driftFrom,
  type ExpectedGateway,
  gatewayOfLastSetup,
} from './client-state/drift.ts'
import { type RecordedRuns, readRecords } from './client-state/recorded-runs.ts'
import { clientsArgument } from './command-line/arguments.ts'
import { commandOf, examples, type FlagsOf } from './command-line/command.ts'
import { folderDocument, folderHere, shownFolder } from './find-gateway/folder-gateway.ts'
import type { Session } from './screen/session.ts'
import { type CheckResult, isNothingHere, resultsOf } from './status/check-results.ts'
import { clientDocument, detailsOf } from './status/client-status.ts'
import { type ShownClient, showClients, showTable } from './status/show-clients.ts'
import { wslFinding } from './status/wsl.ts'

function define() {
  return new Command('status')
    .description('show what each client uses now, and what overrides its files')
    .addArgument(clientsArgument('only these clients'))
    .option('--all', 'every detail of every client')
    .option('--exit-code', 'exit with 11 if a client no longer points where repoint set it')
    .option(
      '--expect <gateway>',
      'exit with 11 if a client does not use this gateway (name or address)',
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(['repoint status', 'repoint status --exit-code', 'repoint status --expect work']),
    )
}

export const command = commandOf(define, status)

/**
 * Reports the current state of each client, file by file. Reads files only, without the network. Returns
 * the exit status.
 */
export async function status(
  session: Session,
  ids: readonly string[],
  flags: FlagsOf<typeof define>,
): Promise<number> {
  const { expect } = flags
  const isJudged = flags.exitCode === true || expect !== undefined
  const isNamed = ids.length > 0
  const expected = expect === undefined ? undefined : parseExpected(session, expect)
  const records = readRecords(session)
  // They decide which gateway a client should use.
  if (records.kind === 'unreadable' && isJudged) throw records.error
  const ofRecords = recordFindings(records)
  session.addFindings(...ofRecords, ...wslFinding(session.platform))

  const named = isNamed ? ids : undefined
  const clients = (await oneClientPerFamily(session, records.runs, named)).map((client) =>
    statusOf(session, client, { records, expected, isNamed, isJudged }),
  )

  if (flags.all || isNamed) showClients(session, clients, { isDetailed: true })
  else showTable(session, clients)
  const folder = reportFolder(session)

  const isNotSetUp = ({ now, expectedGateway }: ClientStatus) =>
    now.files.length > 0 && expectedGateway === undefined
  const isNoneSetUp = expected !== undefined && clients.every(isNotSetUp)
  if (isNoneSetUp)
    session.addFindings({
      code: 'drifted',
      severity: 'warning',
      message: `No client is set up, expected ${expect}`,
      hint: 'Name the clients that you expect: repoint status CLIENT --expect NAME',
    })

  session.showFindings()
  const isDrifted = isNoneSetUp || clients.some(({ drift }) => drift.length > 0)
  session.document({
    command: 'status',
    drifted: isDrifted,
    clients: clients.map((client) => clientDocument(session, client.now, { ...client, records })),
    folder: folder === undefined ? null : folderDocument(folder),
    warnings: session.findingsAsJson,
  })

  const worst = exitStatusFor([...ofRecords, ...clients.flatMap(({ findings }) => findings)])
  return isJudged && isDrifted ? Math.max(worst, errorCodes.drifted.exitStatus) : worst
}

/** Shows the gateway that the user chose for this folder, and returns the folder. */
function reportFolder(session: Session): SavedFolder | undefined {
  const folder = valueOrError(() => folderHere(session))
  if (folder instanceof UserError) {
    const { code, message, hint } = folder
    // Any other failure concerns the whole state folder: it is reported with the records.
    if (code === 'record-damaged') session.addFindings({ code, severity: 'warning', message, hint })
    return undefined
  }
  if (folder !== undefined)
    session.say(
      `Folder ${shownFolder(session, folder)} uses gateway ${folder.gateway}, with: repoint run -- CLIENT, or the shell hook`,
    )
  return folder
}

function recordFindings(records: RecordedRuns): readonly Finding[] {
  if (records.kind === 'read') return records.findings
  const { message, hint } = records.error
  return [
    {
      code: 'records-unreadable',
      severity: 'warning',
      message: `Cannot tell what repoint wrote. ${message}`,
      hint,
    },
  ]
}

/** How to check each client. */
interface StatusOptions {
  readonly records: RecordedRuns
  /** The gateway that all clients that are set up should use. */
  readonly expected: ExpectedGateway | undefined
  /** A named client should use it even if repoint has never set it up. */
  readonly isNamed: boolean
  /** The user asked whether the client has drifted, so the report states every reason. */
  readonly isJudged: boolean
}

/** A client, the gateway that it should use, and why it does not. */
interface ClientStatus extends ShownClient {
  readonly expectedGateway: ExpectedGateway | undefined
  readonly drift: readonly DriftReason[]
}

/** A client's status. Reads files only, without the network. */
function statusOf(
  session: Session,
  client: Client,
  { records, expected, isNamed, isJudged }: StatusOptions,
): ClientStatus {
  const now = clientNow(session, client, records.runs)
  const { key } = now.state.endpoint
  if (key) session.hide(key)

  const lastSetup = gatewayOfLastSetup(session, now, records.runs)
  const isExpectedToPoint = lastSetup !== undefined || isNamed
  const expectedGateway = isExpectedToPoint ? (expected ?? lastSetup) : undefined
  const isRead = now.files.length > 0
  const drift = expectedGateway && isRead ? driftFrom(session, now, expectedGateway) : []

  // The findings report drift that no fix restores. A user who asks for drift gets every reason.
  const findings = resultsOf(session, now)
  const unreported = isJudged ? drift : []
  const driftFindings = unreported.map(
    ({ message }): CheckResult => ({ code: 'drifted', severity: 'warning', message }),
  )

  return {
    now,
    findings: [...findings, ...driftFindings],
    details: detailsOf(session, now, records),
    isAbsent: !isNamed && expectedGateway === undefined && isNothingHere(session, now),
    expectedGateway,
    drift,
  }
}

/** @throws UserError `usage` if the text is neither a gateway's name nor an address */
function parseExpected(session: Session, text: string): ExpectedGateway {
  if (isTypedAddress(session, text)) {
    const { address } = normaliseAddress(text, { allowHttp: true })
    return {
      address,
      baseUrls: savedBaseUrls(session.platform, address) ?? assumedBaseUrls(address),
    }
  }
  const gateway = savedGateway(session, text)
  const { address, baseUrls } = gateway
  return { address, baseUrls, isKey: (key) => key === gateway.key }
}
