import { shownModel, whyUnreadable } from '../../clients/client.ts'
import { type FindingLine, foldFindings, mostSevere, type Severity } from '../../finding.ts'
import { counted } from '../../text.ts'
import type { ClientStatus, Unreadable } from '../client-state/check-client.ts'
import { absentText } from '../client-state/program.ts'
import type { Session } from '../screen/session.ts'
import type { CheckResult } from './client-checks.ts'

/** A client with the findings about it and its gateway. */
export interface ClientWithFindings {
  readonly state: ClientStatus | Unreadable
  readonly findings: readonly CheckResult[]
  /** What its files contain, one line each. */
  readonly details?: readonly string[]
}

/** How `status` and `doctor` show the clients. */
interface ShowOptions<One extends ClientWithFindings> {
  /** The client has neither a program nor a setup here. Such clients share one line. */
  readonly isAbsent: (one: One) => boolean
  /** Shows every file, and also the checks that passed. */
  readonly isDetailed: boolean
}

const marks: Readonly<Record<Severity, string>> = { ok: '✔', note: '!', warning: '!', error: '✗' }

/** Shows each gateway once, a row for each of its clients, and below the row only the problems. */
export function showClients<One extends ClientWithFindings>(
  session: Session,
  clients: readonly One[],
  { isAbsent, isDetailed }: ShowOptions<One>,
): void {
  const shown = clients.filter((one) => !isAbsent(one))
  const width = Math.max(0, ...shown.map(({ state }) => state.client.label.length))
  const byGateway = new Map<string, ClientWithFindings[]>()
  for (const one of shown) {
    const heading = headingOf(one)
    byGateway.set(heading, [...(byGateway.get(heading) ?? []), one])
  }

  for (const [heading, users] of byGateway) {
    const aboutGateway = gatewayFindings(users)
    const facts = aboutGateway.flatMap(({ severity, brief }) =>
      severity === 'ok' && brief ? [brief] : [],
    )
    session.say(facts.length === 0 ? heading : `${heading}  ${facts.join(', ')}`)
    showFindings(session, aboutGateway, isDetailed)

    const rows = users.flatMap((one) => {
      const own = one.findings.filter(({ message }) =>
        aboutGateway.every((all) => all.message !== message),
      )
      return rowsOf(one, own, { width, isDetailed })
    })
    const [first = [], ...others] = rows
    session.sayTable(first, others)
  }

  showAbsent(session, clients.filter(isAbsent))
}

/** One row for each client. Below the table, the command that shows the problems of those that have any. */
export function showTable<One extends ClientWithFindings>(
  session: Session,
  clients: readonly One[],
  isAbsent: (one: One) => boolean,
): void {
  const shown = clients.filter((one) => !isAbsent(one))
  const rows = shown.map((one) => [
    `${markOf(one)} ${one.state.client.label}`,
    gatewayOf(one),
    modelOf(one.state),
    stateInWords(one),
  ])
  if (rows.length > 0) session.sayTable(['  CLIENT', 'GATEWAY', 'MODEL', 'STATE'], rows)

  const withProblems = shown.filter((one) => stateInWords(one) !== 'ok')
  const names = withProblems.map(({ state }) => state.client.family)
  if (names.length > 0) session.say(`Details: repoint status ${names.join(' ')}`)
  showAbsent(session, clients.filter(isAbsent))
}

function showAbsent(session: Session, absent: readonly ClientWithFindings[]): void {
  if (absent.length > 0) session.say(absentText(absent.map(({ state }) => state.client)))
}

/** The gateway in a table. */
function gatewayOf(one: ClientWithFindings): string {
  const heading = headingOf(one)
  if (heading === ownService) return 'its own service'
  return heading === unknownGateway ? '?' : heading
}

const ownService = 'Its own service'
const unknownGateway = 'Gateway unknown'

function markOf({ findings }: ClientWithFindings): string {
  return marks[mostSevere(findings)]
}

/** The state of a client in two or three words. */
function stateInWords({ state, findings }: ClientWithFindings): string {
  if ('failure' in state || whyUnreadable(state.settings) !== undefined) return 'not readable'
  const problems = findings.filter(({ severity }) => severity !== 'ok')
  if (problems.length === 0) return 'ok'

  const overrides = problems.filter(({ cause }) => cause === 'override').length
  if (overrides > 0)
    return overrides === 1 ? '1 setting overrides it' : `${overrides} settings override it`
  if (problems.some(({ code }) => code === 'drifted')) return 'changed manually'
  return counted(problems.length, 'problem')
}

/** Findings about this machine or about a gateway, each on a separate line. */
export function showFindings(
  session: Session,
  findings: readonly CheckResult[],
  isDetailed: boolean,
): void {
  for (const line of foldFindings(findings)) {
    const { severity } = line
    if (severity === 'ok' && !isDetailed) continue
    const [first, ...more] = linesOf(line)
    session.say(`  ${marks[severity]} ${first}`)
    for (const one of more) session.say(`    ${one}`)
  }
}

/** The message, the places of the cause, and its cures. */
function linesOf({ severity, message, places, hints }: FindingLine): readonly string[] {
  const cures = severity === 'ok' ? [] : hints.map((hint) => `→ ${hint}`)
  return [message, ...places.map((place) => `  ${place}`), ...cures]
}

/** The findings that all clients of a gateway share. */
function gatewayFindings(users: readonly ClientWithFindings[]): readonly CheckResult[] {
  const [first, ...others] = users.map(({ findings }) => findings)
  return (first ?? []).filter(
    ({ isAboutGateway, message }) =>
      isAboutGateway && others.every((all) => all.some((one) => one.message === message)),
  )
}

function headingOf({ state }: ClientWithFindings): string {
  if ('failure' in state) return unknownGateway
  const { gateway, settings } = state
  if (gateway !== undefined) {
    const address = gateway.baseUrl.replace(/^https:\/\//, '')
    const isNameInAddress = gateway.name === undefined || address.includes(gateway.name)
    return isNameInAddress ? address : `${address} (${gateway.name})`
  }
  return whyUnreadable(settings) === undefined ? ownService : unknownGateway
}

/** One row for the client, then rows with its problems, or with every detail. */
function rowsOf(
  one: ClientWithFindings,
  own: readonly CheckResult[],
  { width, isDetailed }: { width: number; isDetailed: boolean },
): string[][] {
  const { state, details = [] } = one
  const lines = foldFindings(own).flatMap((line) => {
    if (line.severity === 'ok') return isDetailed ? [`${marks.ok} ${line.message}`] : []
    return linesOf(line)
  })

  const label = `  ${markOf(one)} ${state.client.label.padEnd(width)}`
  return [
    [label, summaryOf(one)],
    ...[...lines, ...(isDetailed ? details : [])].map((line) => ['', line]),
  ]
}

function modelOf(state: ClientWithFindings['state']): string {
  if ('failure' in state) return '?'
  return shownModel(state.settings) ?? state.settings.login ?? 'its default model'
}

/** The client's version, and the models that answered or the configured model. */
function summaryOf({ state, findings }: ClientWithFindings): string {
  if ('failure' in state) return 'its files cannot be read'
  const { settings } = state
  const briefs = (code: string) =>
    findings.flatMap((one) => (one.code === code && one.brief !== undefined ? [one.brief] : []))
  const answering = briefs('probe')
  const configured = whyUnreadable(settings) === undefined ? modelOf(state) : 'not readable'
  const models =
    answering.length === 0
      ? configured
      : `${answering.join(', ')} ${answering.length > 1 ? 'answer' : 'answers'}, with tools`

  const isChanged = findings.some(({ code }) => code === 'drifted')
  return [...briefs('installed'), models, ...(isChanged ? ['changed manually'] : [])].join(', ')
}
