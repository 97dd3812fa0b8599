import { Command } from '@commander-js/extra-typings'
import type { Client } from '../clients/contract/client.ts'
import { rowOf } from '../clients/list.ts'
import { compact } from '../compact.ts'
import { errorCodes } from '../error-codes.ts'
import { UserError, valueOrError } from '../errors.ts'
import { type Finding, findingFrom } from '../finding.ts'
import { assumedBaseUrls } from '../gateway/base-urls.ts'
import { normaliseAddress } from '../gateway/input/address.ts'
import type { SavedFolder } from '../state/folders.ts'
import { isTypedAddress, savedBaseUrls, savedGateway } from '../state/saved-gateways.ts'
import { checkClient } from './client-state/check-client.ts'
import { oneClientPerFamily } from './client-state/client-facts.ts'
import { driftFrom, type ExpectedGateway, gatewayOfLastSetup } from './client-state/drift.ts'
import { type RecordedRuns, readRecords } from './client-state/recorded-runs.ts'
import { clientsArgument } from './command-line/arguments.ts'
import { commandOf, examples, type FlagsOf } from './command-line/command.ts'
import { folderDocument, folderHere, shownFolder } from './find-gateway/folder-gateway.ts'
import type { Session } from './screen/session.ts'
import { type CheckResult, isNothingHere, resultsOf } from './status/check-results.ts'
import { type ClientStatus, clientDocument, detailsOf } from './status/client-status.ts'
import { showClients, showTable } from './status/show-clients.ts'
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
  const families = ids.map((id) => rowOf(id).family)
  const isNamed = families.length > 0
  const expected = expect === undefined ? undefined : parseExpected(session, expect)
  const records = readRecords(session)
  // They decide which gateway a client should use.
  if (records.kind === 'unreadable' && isJudged) throw records.error
  session.addFindings(...recordFindings(records), ...wslFinding(session.platform))

  const clients = (await oneClientPerFamily(session, records.runs))
    .filter(({ family }) => !isNamed || families.includes(family))
    .map((client) => statusOf(session, client, { records, expected, isNamed, isJudged }))

  if (flags.all || isNamed) showClients(session, clients, { isDetailed: true })
  else showTable(session, clients)
  const folder = reportFolder(session)

  const isNotSetUp = ({ checked, expectedGateway }: ClientStatus) =>
    checked.kind === 'readable' && expectedGateway === undefined
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
    clients: clients.map(clientDocument),
    folder: folder === undefined ? null : folderDocument(folder),
    warnings: session.findingsAsJson,
  })

  if (!isJudged) return 0
  if (isDrifted) return errorCodes.drifted.exitStatus
  const failures = clients.flatMap(({ checked }) =>
    checked.kind === 'unreadable' ? [checked.failure.code] : [],
  )
  return Math.max(0, ...failures.map((code) => errorCodes[code].exitStatus))
}

/** Shows the gateway that the user chose for this folder, and returns the folder. */
function reportFolder(session: Session): SavedFolder | undefined {
  const folder = valueOrError(() => folderHere(session))
  if (folder instanceof UserError) {
    const { code, message, hint } = folder
    // Any other failure concerns the whole state folder: it is reported with the records.
    if (code === 'record-damaged')
      session.addFindings({ code, severity: 'warning', message, ...compact({ hint }) })
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
      ...compact({ hint }),
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

/** A client's status. Reads files only, without the network. */
function statusOf(
  session: Session,
  client: Client,
  { records, expected, isNamed, isJudged }: StatusOptions,
): ClientStatus {
  const checked = checkClient(session, client, records)
  if (checked.kind === 'unreadable')
    return { checked, findings: [findingFrom(checked.failure)], drift: [], isAbsent: false }
  const { key } = checked.state.endpoint
  if (key) session.hide(key)

  const lastSetup = gatewayOfLastSetup(session, checked, records.runs)
  const isExpectedToPoint = lastSetup !== undefined || isNamed
  const expectedGateway = isExpectedToPoint ? (expected ?? lastSetup) : undefined
  const drift = expectedGateway ? driftFrom(session, checked, expectedGateway) : []

  // Another finding can report the same reason. Then it is not repeated, unless the user asked for drift.
  const findings = resultsOf(checked)
  const isDriftReported = findings.some(({ code }) => code === 'drifted')
  const unreported = drift.filter(
    ({ kind }) => isJudged || (kind === 'setting' && !isDriftReported),
  )
  const driftFindings = unreported.map(
    ({ message }): CheckResult => ({ code: 'drifted', severity: 'warning', message }),
  )

  return {
    checked,
    findings: [...findings, ...driftFindings],
    details: detailsOf(session, checked),
    isAbsent: !isNamed && expectedGateway === undefined && isNothingHere(session, checked),
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
