import { Command } from '@commander-js/extra-typings'
import type { Client } from '../clients/contract/client.ts'
import { type ClientState, shownModel, whyUnreadable } from '../clients/contract/state.ts'
import { familyRows, loadClients, rowOf } from '../clients/list.ts'
import { overProtocol, protocolOf } from '../clients/models/protocols.ts'
import { compact } from '../compact.ts'
import { plainPath } from '../edits/values/paths.ts'
import { exitStatus, resultOf, UserError } from '../errors.ts'
import { findingFrom } from '../finding.ts'
import { addressFor, assumedBaseUrls, baseUrlFor } from '../gateway/base-urls.ts'
import { normaliseBaseUrl } from '../gateway/input/base-url.ts'
import { formatHeader, headerDocument } from '../gateway/input/header.ts'
import { formatQuery } from '../gateway/input/query.ts'
import { savedBaseUrls, savedGateway } from '../state/find-gateways.ts'
import type { SavedFolder } from '../state/folders.ts'
import { maskSecret } from '../text.ts'
import type { Runs } from '../transaction/record.ts'
import { reportFindings } from './checks/client-checks.ts'
import { type ClientWithFindings, showClients, showTable } from './checks/show.ts'
import { type CheckedClient, examineClient } from './client-state/check-client.ts'
import { driftOf, type ExpectedGateway, gatewayOfLastSetup } from './client-state/drift.ts'
import { runsIfReadable } from './client-state/history.ts'
import { isInstalled } from './client-state/program.ts'
import { shownAddress } from './client-state/state.ts'
import type { FileState } from './client-state/written.ts'
import { wslFinding } from './client-state/wsl.ts'
import { clientsArgument, commandOf, examples, type FlagsOf } from './command.ts'
import { folderHere, shownFolder } from './gateways/by-folder.ts'
import type { Session } from './screen/session.ts'

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
  const isJudged = flags.exitCode || expect !== undefined
  const families = ids.map((id) => rowOf(id).family)
  const isNamed = families.length > 0
  const runs = runsToJudge(session, isJudged)
  session.addFindings(...wslFinding(session.platform))

  const expected = expect === undefined ? undefined : parseExpected(session, expect)
  const rows = familyRows.filter(({ family }) => !isNamed || families.includes(family))
  const clients = (await loadClients(rows)).map((client) =>
    reportOf(session, client, { runs, expected, isNamed, isJudged }),
  )

  const isHidden = (report: StatusReport) => !isNamed && isAbsent(session, report)
  if (flags.all || isNamed) showClients(session, clients, { isAbsent: isHidden, isDetailed: true })
  else showTable(session, clients, isHidden)
  const folder = reportFolder(session)

  const isNoneSetUp =
    expected !== undefined && clients.every(({ expectedGateway }) => expectedGateway === undefined)
  if (isNoneSetUp)
    session.addFindings({
      code: 'drifted',
      message: `No client is set up, expected ${expect}`,
      hint: 'Name the clients that you expect: repoint status CLIENT --expect NAME',
    })

  session.showFindings('warning')
  const isDrifted = isNoneSetUp || clients.some(({ drift }) => drift.length > 0)
  session.document({
    command: 'status',
    drifted: isDrifted,
    clients: clients.map(asDocument),
    folder: folder ?? null,
    warnings: session.findingsAsJson,
  })

  if (!isJudged) return 0
  if (isDrifted) return exitStatus.drifted
  const failures = clients.flatMap(({ report }) =>
    'failure' in report ? [report.failure.code] : [],
  )
  return Math.max(0, ...failures.map((code) => exitStatus[code]))
}

/** Shows the gateway that the user chose for this folder, and returns the folder. */
function reportFolder(session: Session): SavedFolder | undefined {
  const folder = resultOf(() => folderHere(session))
  if (folder instanceof UserError) {
    const { code, message, hint } = folder
    // Any other failure concerns the whole state folder: it is reported with the records.
    if (code === 'record-damaged') session.addFindings({ code, message, ...compact({ hint }) })
    return undefined
  }
  if (folder !== undefined)
    session.say(
      `Folder ${shownFolder(session, folder)} uses gateway ${folder.gateway}, with: repoint run -- CLIENT, or the shell hook`,
    )
  return folder
}

/**
 * @param isNeeded the records decide which gateway a client should use
 * @returns undefined if the records cannot be read
 * @throws UserError if they cannot be read although they are needed
 */
function runsToJudge(session: Session, isNeeded: boolean): Runs | undefined {
  const runs = runsIfReadable(session)
  if (!(runs instanceof UserError)) return runs
  if (isNeeded) throw runs
  const { message, hint } = runs
  session.addFindings({
    code: 'records-unreadable',
    message: `Cannot tell what repoint wrote. ${message}`,
    ...compact({ hint }),
  })
  return undefined
}

/** A client, the gateway that it should use, and why it does not. */
interface StatusReport extends ClientWithFindings {
  readonly expectedGateway?: ExpectedGateway | undefined
  readonly drift: readonly string[]
}

/** How to check each client. */
interface ReportOptions {
  /** Undefined: the records cannot be read. */
  readonly runs: Runs | undefined
  /** The gateway that all clients that are set up should use. */
  readonly expected: ExpectedGateway | undefined
  /** A named client should use it even if repoint has never set it up. */
  readonly isNamed: boolean
  /** The user asked whether the client has drifted, so the report states every reason. */
  readonly isJudged: boolean | undefined
}

/** The report on a client without the network. */
function reportOf(
  session: Session,
  client: Client,
  { runs, expected, isNamed, isJudged }: ReportOptions,
): StatusReport {
  const report = examineClient(session, client, runs)
  if ('failure' in report) return { report, findings: [findingFrom(report.failure)], drift: [] }
  const { key } = report.state.endpoint
  if (key) session.hide(key)

  const lastSetup = gatewayOfLastSetup(session, report, runs ?? [])
  const isExpectedToPoint = lastSetup !== undefined || isNamed
  const expectedGateway = isExpectedToPoint ? (expected ?? lastSetup) : undefined
  const drift = expectedGateway ? driftOf(session, report, expectedGateway) : []

  // Another finding can have the same cause. Then it is reported once, unless the user asked for drift.
  const findings = [...reportFindings(report)]
  const isReported = (reason: string) =>
    findings.some(({ message }) => message.includes(reason) || reason.startsWith(message))
  const unreported = drift.filter((reason) => isJudged || !isReported(reason))
  for (const reason of unreported)
    findings.push({ code: 'drifted', severity: 'warning', message: reason })

  return { report, findings, details: detailsOf(session, report), expectedGateway, drift }
}

/** Nothing of the client is on this machine, and no gateway is expected for it. */
function isAbsent(session: Session, { report, expectedGateway }: StatusReport): boolean {
  if ('failure' in report || expectedGateway !== undefined) return false
  const { client, fileStates, findings } = report
  const isAnyFound = findings.some(({ severity }) => severity !== 'ok')
  if (isInstalled(session, client) || isAnyFound) return false
  return fileStates.every((file) => file.state === 'absent')
}

/** @throws UserError `usage` if the text is neither a gateway's name nor an address */
function parseExpected(session: Session, text: string): ExpectedGateway {
  const isAddress = /[:/]/.test(text)
  if (isAddress) {
    const { baseUrl } = normaliseBaseUrl(text, { allowHttp: true })
    return {
      baseUrl,
      baseUrls: savedBaseUrls(session.platform, baseUrl) ?? assumedBaseUrls(baseUrl),
    }
  }
  const gateway = savedGateway(session, text)
  const { baseUrl, baseUrls } = gateway
  return { baseUrl, baseUrls, isKey: (key) => key === gateway.key }
}

/** The contents of the client's files, and who wrote them, one line each. */
function detailsOf(session: Session, { client, state, fileStates }: CheckedClient): string[] {
  const address = shownAddress(client, state)
  const { resume } = client.program

  const lines: string[] = []
  if (address !== undefined) {
    lines.push(`address   ${address}${inFile(session, state.sources.baseUrl)}`)
    if (resume)
      lines.push(`resuming  ${resume.command} keeps the ${resume.keeps} of an old conversation`)
  }
  for (const [name, value] of settingRows(session, client, state))
    lines.push(`${name.padEnd(9)} ${value}`)
  for (const file of fileStates) lines.push(`${session.showPath(file.path)}  ${describeFile(file)}`)
  return lines
}

function inFile(session: Session, path: string | undefined): string {
  return path === undefined ? '' : ` in ${session.showPath(path)}`
}

function settingRows(session: Session, client: Client, state: ClientState): [string, string][] {
  const { endpoint, options, sources, login } = state
  const { key, headers = [], query, keyHeader, alsoSendsTo } = endpoint
  const { smallModel, slotModels = {}, subagentModel, providerId } = options
  const model = shownModel(state)
  const sentAs = keyHeader === undefined ? '' : `, sent as ${keyHeader}`

  const rows: [string, string | undefined][] = [
    ['model', model && model + overProtocol(client, options) + inFile(session, sources.model)],
    ['small', smallModel && smallModel + inFile(session, sources.smallModel)],
    ...Object.entries(slotModels),
    ['subagent', subagentModel],
    ['provider', providerId],
    ['key', key && maskSecret(key) + sentAs + inFile(session, sources.key)],
    ...headers.map((header): [string, string] => ['header', formatHeader(header)]),
    ['query', query && formatQuery(query)],
    ['key also', alsoSendsTo && `to ${alsoSendsTo}, from old conversations`],
    ['login', login],
    ['broken', whyUnreadable(state)],
  ]

  return rows.filter((row): row is [string, string] => row[1] !== undefined)
}

const stateWords: Readonly<Record<FileState['state'], string>> = {
  absent: 'does not exist',
  'as-written': 'as repoint wrote it',
  restored: 'as repoint restored it',
  'changed-since': 'changed since repoint wrote it',
  'not-ours': 'not written by repoint',
  unknown: 'unknown whether repoint wrote it',
}

function describeFile({ state, run, changedKeys }: FileState): string {
  const runNote = run === undefined ? '' : ` (run ${run})`
  const keys = changedKeys.map(plainPath).join(', ')
  return `${stateWords[state]}${runNote}${keys && `; settings of ours that changed: ${keys}`}`
}

function asDocument({ report, expectedGateway, drift }: StatusReport) {
  if ('failure' in report) {
    const { client, failure } = report
    const { code, message, hint } = failure
    return { id: client.family, label: client.label, error: { code, message, hint } }
  }
  const { client, state, gateway, findings, fileStates } = report
  const { endpoint, options, defaults, sources, login } = state
  const { key, baseUrl, headers = [], query, keyHeader, caFile, alsoSendsTo } = endpoint
  const {
    startModel: _,
    slot: __,
    discoverModels,
    disableAttribution,
    writeModelCatalog,
    ...others
  } = options
  const { key: keyPath, ...origins } = sources

  const protocol = protocolOf(client, options)
  const problems = findings.filter(({ severity }) => severity !== 'ok')

  return {
    id: client.family,
    label: client.label,
    ...compact({ configuredUrl: baseUrl, baseUrl: shownAddress(client, state) }),
    ...compact({
      ...others,
      model: shownModel(state),
      isModelUnnamed: defaults?.includes('slot') || undefined,
      ...{ keyPath, keyHeader, caFile, alsoSendsTo, login },
      isDiscovering: discoverModels,
      hidesAttribution: disableAttribution,
      broken: whyUnreadable(state),
      ownCatalog: writeModelCatalog,
    }),
    gateway: gateway?.name ?? null,
    origins: compact(origins),
    key: key === undefined ? null : maskSecret(key),
    ...compact({ headers: headerDocument(headers), query: query && formatQuery(query) }),
    expected: expectedGateway ? addressFor(baseUrlFor(expectedGateway, protocol), protocol) : null,
    drift,
    files: fileStates.map((file) => ({
      ...file,
      changedKeys: file.changedKeys.map(plainPath),
    })),
    obstacles: problems.map(({ code, message, location, hint: cure, severity }) => ({
      code,
      message,
      place: location,
      cure,
      weight: severity === 'error' ? 'blocks' : 'may-block',
    })),
  }
}
