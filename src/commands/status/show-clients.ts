import { shownModel, whyUnreadable } from '../../clients/contract/state.ts'
import {
  type FindingLine,
  foldFindings,
  isOverride,
  mostSevere,
  type Severity,
} from '../../finding.ts'
import { counted } from '../../text.ts'
import type { ClientNow } from '../client-state/client-facts.ts'
import type { Session } from '../screen/session.ts'
import type { CheckResult } from './check-results.ts'

/** A client, with what `status` or `doctor` shows about it and its gateway. */
export interface ShownClient {
  readonly now: ClientNow
  readonly findings: readonly CheckResult[]
  /** What its files contain, one line each. */
  readonly details?: readonly string[]
  /** It has neither a program nor a setup here, and the user did not name it. Such clients share one line. */
  readonly isAbsent: boolean
}

const marks: Readonly<Record<Severity, string>> = { ok: '✔', note: '!', warning: '!', error: '✗' }

/**
 * Shows each gateway once, a row for each of its clients, and below the row only the problems.
 *
 * @param isDetailed also shows every file, and the checks that passed
 */
export function showClients(
  session: Session,
  clients: readonly ShownClient[],
  { isDetailed }: { readonly isDetailed: boolean },
): void {
  const present = clients.filter(({ isAbsent }) => !isAbsent)
  const width = Math.max(0, ...present.map(({ now }) => now.client.label.length))

  for (const [heading, users] of byService(present)) {
    const shared = gatewayFindings(users)
    const facts = shared.flatMap(({ severity, brief }) =>
      severity === 'ok' && brief ? [brief] : [],
    )
    session.say(facts.length === 0 ? heading : `${heading}  ${facts.join(', ')}`)
    showChecks(session, shared, { isDetailed })

    const isShared = ({ message }: CheckResult) =>
      shared.some((finding) => finding.message === message)
    const rows = users.flatMap((user) => {
      const separate = user.findings.filter((finding) => !isShared(finding))
      return rowsOf(user, separate, { width, isDetailed })
    })
    const [first = [], ...more] = rows
    session.sayTable(first, more)
  }

  showAbsent(session, clients)
}

/** The clients by the heading of what they use. */
function byService(clients: readonly ShownClient[]): ReadonlyMap<string, readonly ShownClient[]> {
  const groups = new Map<string, ShownClient[]>()
  for (const client of clients) {
    const heading = headingOf(serviceOf(client.now))
    groups.set(heading, [...(groups.get(heading) ?? []), client])
  }
  return groups
}

/** What a client uses, according to its files. */
type Service =
  | { readonly kind: 'gateway'; readonly shown: string }
  | { readonly kind: 'own-service' }
  | { readonly kind: 'unknown' }

function serviceOf(now: ClientNow): Service {
  const { gateway, state, origin } = now
  if (gateway === undefined)
    return { kind: whyUnreadable(state) === undefined ? 'own-service' : 'unknown' }

  const address = gateway.address.replace(/^https:\/\//, '')
  const name = gateway.name ?? (origin?.mark && origin.name)
  const isNameInAddress = name === undefined || address.includes(name)
  return { kind: 'gateway', shown: isNameInAddress ? address : `${address} (${name})` }
}

function headingOf(service: Service): string {
  if (service.kind === 'gateway') return service.shown
  return service.kind === 'own-service' ? 'Its own service' : 'Gateway unknown'
}

/** The service in a row of the table. */
function cellFor(service: Service): string {
  if (service.kind === 'gateway') return service.shown
  return service.kind === 'own-service' ? 'its own service' : '?'
}

/** One row for each client. Below the table, the command that shows the problems of those that have any. */
export function showTable(session: Session, clients: readonly ShownClient[]): void {
  const present = clients.filter(({ isAbsent }) => !isAbsent)
  const rows = present.map((client) => [
    `${markOf(client)} ${client.now.client.label}`,
    cellFor(serviceOf(client.now)),
    modelOf(client.now),
    stateInWords(client),
  ])
  if (rows.length > 0) session.sayTable(['  CLIENT', 'GATEWAY', 'MODEL', 'STATE'], rows)

  const withProblems = present.filter(
    ({ now, findings }) => isUnreadable(now) || problemsIn(findings).length > 0,
  )
  const names = withProblems.map(({ now }) => now.client.family)
  if (names.length > 0) session.say(`Details: repoint status ${names.join(' ')}`)
  showAbsent(session, clients)
}

function showAbsent(session: Session, clients: readonly ShownClient[]): void {
  const absent = clients.filter(({ isAbsent }) => isAbsent)
  const labels = absent.map(({ now }) => now.client.label)
  if (labels.length > 0) session.say(`Not installed: ${labels.join(', ')}`)
}

function markOf({ findings }: ShownClient): string {
  return marks[mostSevere(findings)]
}

/** The state of a client in two or three words. */
function stateInWords({ now, findings }: ShownClient): string {
  if (isUnreadable(now)) return 'not readable'
  const problems = problemsIn(findings)
  if (problems.length === 0) return 'ok'

  const overrides = problems.filter(isOverride).length
  if (overrides > 0)
    return overrides === 1 ? '1 setting overrides it' : `${overrides} settings override it`
  if (problems.some(({ code }) => code === 'drifted')) return 'changed manually'
  return counted(problems.length, 'problem')
}

function isUnreadable({ state }: ClientNow): boolean {
  return whyUnreadable(state) !== undefined
}

function problemsIn(findings: readonly CheckResult[]): readonly CheckResult[] {
  return findings.filter(({ severity }) => severity !== 'ok')
}

/** Shows findings about this machine or about a gateway, each on a separate line. */
export function showChecks(
  session: Session,
  findings: readonly CheckResult[],
  { isDetailed }: { readonly isDetailed: boolean },
): void {
  for (const line of foldFindings(findings)) {
    const { severity } = line
    if (severity === 'ok' && !isDetailed) continue
    const [first, ...more] = linesOf(line)
    session.say(`  ${marks[severity]} ${first}`)
    for (const detail of more) session.say(`    ${detail}`)
  }
}

/** The message, the places of the problem, and its cures. */
function linesOf({ severity, message, places, hints }: FindingLine): readonly string[] {
  const cures = severity === 'ok' ? [] : hints.map((hint) => `→ ${hint}`)
  return [message, ...places.map((place) => `  ${place}`), ...cures]
}

/** The findings that all clients of a gateway share. */
function gatewayFindings(users: readonly ShownClient[]): readonly CheckResult[] {
  const [first, ...otherUsers] = users
  const isSharedByAll = ({ message }: CheckResult) =>
    otherUsers.every(({ findings }) => findings.some((finding) => finding.message === message))
  return (first?.findings ?? []).filter(
    (finding) => finding.isAboutGateway && isSharedByAll(finding),
  )
}

/** One row for the client, then rows with its problems, or with every detail. */
function rowsOf(
  client: ShownClient,
  findings: readonly CheckResult[],
  { width, isDetailed }: { width: number; isDetailed: boolean },
): string[][] {
  const { now, details = [] } = client
  const lines = foldFindings(findings).flatMap((line) => {
    if (line.severity === 'ok') return isDetailed ? [`${marks.ok} ${line.message}`] : []
    return linesOf(line)
  })

  const label = `  ${markOf(client)} ${now.client.label.padEnd(width)}`
  return [
    [label, summaryOf(client)],
    ...[...lines, ...(isDetailed ? details : [])].map((line) => ['', line]),
  ]
}

function modelOf(now: ClientNow): string {
  if (isUnreadable(now)) return '?'
  return shownModel(now.state) ?? now.state.login ?? 'its default model'
}

/** The client's version, and the models that answered or the configured model. */
function summaryOf({ now, findings }: ShownClient): string {
  if (now.files.length === 0) return 'its files cannot be read'
  const briefsOf = (code: string) =>
    findings.filter((finding) => finding.code === code).flatMap(({ brief }) => brief ?? [])

  const answering = briefsOf('probe')
  const verb = answering.length > 1 ? 'answer' : 'answers'
  let models = isUnreadable(now) ? 'not readable' : modelOf(now)
  if (answering.length > 0) models = `${answering.join(', ')} ${verb}, with tools`

  const isChanged = findings.some(({ code }) => code === 'drifted')
  return [...briefsOf('installed'), models, ...(isChanged ? ['changed manually'] : [])].join(', ')
}
