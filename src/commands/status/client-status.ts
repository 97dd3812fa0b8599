/** What `repoint status` reports about one client: as lines, and as JSON. */
import type { Client } from '../../clients/contract/client.ts'
import { type ClientState, shownModel, whyUnreadable } from '../../clients/contract/state.ts'
import { overProtocol, protocolOf } from '../../clients/models/protocols.ts'
import { compact } from '../../compact.ts'
import { plainPath } from '../../edits/values/paths.ts'
import type { Finding } from '../../finding.ts'
import { addressFor, baseUrlFor } from '../../gateway/base-urls.ts'
import { formatHeader, headerDocument, unusualKeyHeader } from '../../gateway/input/header.ts'
import { formatQuery } from '../../gateway/input/query.ts'
import { maskSecret } from '../../text.ts'
import type { ClientNow } from '../client-state/client-facts.ts'
import { shownAddress } from '../client-state/client-facts.ts'
import type { DriftReason, ExpectedGateway } from '../client-state/drift.ts'
import type { RecordedRuns } from '../client-state/recorded-runs.ts'
import { type RecordedStatus, recordedStatusesOf } from '../client-state/written-files.ts'
import type { Session } from '../screen/session.ts'

/** The contents of the client's files, and who wrote them, one line each. */
export function detailsOf(
  session: Session,
  { client, state, files }: ClientNow,
  records: RecordedRuns,
): string[] {
  const address = shownAddress(client, state)
  const { resume } = client.program

  const lines: string[] = []
  if (address !== undefined) {
    lines.push(`address   ${address}${inFile(session, state.origins.baseUrl)}`)
    if (resume)
      lines.push(`resuming  ${resume.command} keeps the ${resume.keeps} of an old conversation`)
  }
  for (const [name, value] of settingRows(session, client, state))
    lines.push(`${name.padEnd(9)} ${value}`)
  for (const file of recordedStatusesOf(session, files, records))
    lines.push(`${session.showPath(file.path)}  ${describeFile(file)}`)
  return lines
}

function inFile(session: Session, path: string | undefined): string {
  return path === undefined ? '' : ` in ${session.showPath(path)}`
}

function settingRows(session: Session, client: Client, state: ClientState): [string, string][] {
  const { endpoint, options, origins, login } = state
  const { key, headers = [], query, keyHeader, alsoSendsTo } = endpoint
  const { smallModel, slotModels = {}, subagentModel, providerId } = options
  const model = shownModel(state)
  const sentAs = keyHeader === 'authorization' ? '' : `, sent as ${keyHeader}`

  const rows: [string, string | undefined][] = [
    ['model', model && model + overProtocol(client, options) + inFile(session, origins.model)],
    ['small', smallModel && smallModel + inFile(session, origins.smallModel)],
    ...Object.entries(slotModels),
    ['subagent', subagentModel],
    ['provider', providerId],
    ['key', key && maskSecret(key) + sentAs + inFile(session, origins.key)],
    ...headers.map((header): [string, string] => ['header', formatHeader(header)]),
    ['query', query && formatQuery(query)],
    ['key also', alsoSendsTo && `to ${alsoSendsTo}, from old conversations`],
    ['login', login],
    ['broken', whyUnreadable(state)],
  ]

  return rows.filter((row): row is [string, string] => row[1] !== undefined)
}

const stateWords: Readonly<Record<RecordedStatus['state'], string>> = {
  absent: 'does not exist',
  'as-written': 'as repoint wrote it',
  restored: 'as repoint restored it',
  'changed-since': 'changed since repoint wrote it',
  'not-ours': 'not written by repoint',
  unknown: 'unknown whether repoint wrote it',
}

function describeFile({ state, run, changedSettings }: RecordedStatus): string {
  const runNote = run === undefined ? '' : ` (run ${run})`
  const keys = changedSettings.map(plainPath).join(', ')
  return `${stateWords[state]}${runNote}${keys && `; settings of ours that changed: ${keys}`}`
}

interface ClientDetails {
  readonly findings: readonly Finding[]
  /** The gateway that it should use, and why it does not. */
  readonly expectedGateway: ExpectedGateway | undefined
  readonly drift: readonly DriftReason[]
  readonly records: RecordedRuns
}

/**
 * A client as `--json` prints it. Scripts read these names, so they stay when ours change. An option of a client
 * appears under its own name (clients/contract/options.ts), which therefore stays too.
 */
export function clientDocument(
  session: Session,
  { client, files, state, gateway, origin }: ClientNow,
  { findings, expectedGateway, drift, records }: ClientDetails,
) {
  const { endpoint, options, unsetOptions, origins, login } = state
  const { key, baseUrl, headers = [], query, keyHeader, caFile, alsoSendsTo } = endpoint
  const { startModel: _, slot: __, ...others } = options
  const { key: keyPath, ...otherOrigins } = origins

  const protocol = protocolOf(client, options)
  return {
    id: client.family,
    label: client.label,
    configuredUrl: baseUrl,
    baseUrl: shownAddress(client, state),
    ...compact({
      ...others,
      model: shownModel(state),
      isModelUnnamed: unsetOptions?.includes('slot') || undefined,
      ...{ keyPath, keyHeader: unusualKeyHeader(keyHeader), caFile, alsoSendsTo, login },
      broken: whyUnreadable(state),
    }),
    ...(files.length === 0 && { error: errorDocument(findings) }),
    gateway: gateway?.name ?? null,
    ...compact({ otherTool: origin?.mark && origin.name }),
    origins: compact(otherOrigins),
    key: key === undefined ? null : maskSecret(key),
    headers: headerDocument(headers),
    query: query && formatQuery(query),
    expected: expectedGateway ? addressFor(baseUrlFor(expectedGateway, protocol), protocol) : null,
    drift: drift.map(({ message }) => message),
    files: recordedStatusesOf(session, files, records).map((file) => ({
      ...file,
      changedKeys: file.changedSettings.map(plainPath),
    })),
    obstacles: obstaclesDocument(findings),
  }
}

/** Why repoint cannot read the files of a client, like the error of a command that had to. */
function errorDocument(findings: readonly Finding[]) {
  const reason = findings.find(({ topic }) => topic === 'broken')
  return reason && { code: reason.code, message: reason.message, hint: reason.hint }
}

/** The problems of a client as `--json` prints them. */
export function obstaclesDocument(findings: readonly Finding[]) {
  return findings
    .filter(({ severity }) => severity !== 'ok')
    .map(({ code, message, location, hint: cure, severity }) => ({
      code,
      message,
      place: location,
      cure,
      weight: severity === 'error' ? 'blocks' : 'may-block',
    }))
}
