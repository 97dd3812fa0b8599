import { shownModel, whyUnreadable } from '../../clients/client.ts'
import { mostSevere, type Severity } from '../../finding.ts'
import { absentText } from '../client-state/program.ts'
import type { ClientStatus, Unreadable } from '../client-state/state.ts'
import type { Session } from '../screen/session.ts'
import type { CheckResult } from './client-checks.ts'

/** A client with the findings about it and its gateway. */
export interface ExaminedClient {
  readonly state: ClientStatus | Unreadable
  readonly findings: readonly CheckResult[]
  /** What its files contain, one line each. */
  readonly details?: readonly string[]
}

/** How `status` and `doctor` show the clients. */
interface Shown<One extends ExaminedClient> {
  /** The client has neither a program nor a setup here. Such clients share one line. */
  readonly isAbsent: (one: One) => boolean
  /** Shows every file, and also the checks that passed. */
  readonly isDetailed: boolean
}

const marks: Readonly<Record<Severity, string>> = { ok: '✔', note: '!', warning: '!', error: '✗' }

/** Shows each gateway once, a row for each of its clients, and below the row only the problems. */
export function showClients<One extends ExaminedClient>(
  session: Session,
  clients: readonly One[],
  { isAbsent, isDetailed }: Shown<One>,
): void {
  const here = clients.filter((one) => !isAbsent(one))
  const width = Math.max(0, ...here.map(({ state }) => state.client.label.length))
  const byGateway = new Map<string, ExaminedClient[]>()
  for (const one of here) {
    const heading = headingOf(one)
    byGateway.set(heading, [...(byGateway.get(heading) ?? []), one])
  }

  for (const [heading, users] of byGateway) {
    const told = ofGateway(users)
    const facts = told.flatMap(({ severity, brief }) => (severity === 'ok' && brief ? [brief] : []))
    session.say(facts.length === 0 ? heading : `${heading}  ${facts.join(', ')}`)
    showFindings(session, told, isDetailed)

    const rows = users.flatMap((one) => {
      const own = one.findings.filter(({ message }) => told.every((all) => all.message !== message))
      return rowsOf(one, own, { width, isDetailed })
    })
    const [first = [], ...others] = rows
    session.sayTable(first, others)
  }

  const absent = clients.filter(isAbsent).map(({ state }) => state.client)
  if (absent.length > 0) session.say(absentText(absent))
}

/** Findings about this machine or about a gateway, each on a separate line. */
export function showFindings(
  session: Session,
  findings: readonly CheckResult[],
  isDetailed: boolean,
): void {
  for (const { severity = 'note', message, hint } of findings) {
    if (severity === 'ok' && !isDetailed) continue
    session.say(`  ${marks[severity]} ${message}`)
    if (hint !== undefined && severity !== 'ok') session.say(`    → ${hint}`)
  }
}

/** The findings that all clients of a gateway share. */
function ofGateway(users: readonly ExaminedClient[]): readonly CheckResult[] {
  const [first, ...others] = users.map(({ findings }) => findings)
  return (first ?? []).filter(
    ({ isOfGateway, message }) =>
      isOfGateway && others.every((all) => all.some((one) => one.message === message)),
  )
}

function headingOf({ state }: ExaminedClient): string {
  if ('failure' in state) return 'Gateway unknown'
  const { gateway, settings } = state
  if (gateway !== undefined) {
    const address = gateway.baseUrl.replace(/^https:\/\//, '')
    const isCalledSo = gateway.name === undefined || address.includes(gateway.name)
    return isCalledSo ? address : `${address} (${gateway.name})`
  }
  return whyUnreadable(settings) === undefined ? 'Its own service' : 'Gateway unknown'
}

/** One row for the client, then rows with its problems, or with every detail. */
function rowsOf(
  one: ExaminedClient,
  own: readonly CheckResult[],
  { width, isDetailed }: { width: number; isDetailed: boolean },
): string[][] {
  const { state, findings, details = [] } = one
  const worst = mostSevere(findings)

  const lines = own.flatMap(({ severity, message, hint }) => {
    if (severity === 'ok') return isDetailed ? [`${marks.ok} ${message}`] : []
    return hint === undefined ? [message] : [message, `→ ${hint}`]
  })

  const label = `  ${marks[worst]} ${state.client.label.padEnd(width)}`
  return [
    [label, briefOf(one)],
    ...[...lines, ...(isDetailed ? details : [])].map((line) => ['', line]),
  ]
}

/** The client's version, and the models that answered or the configured model. */
function briefOf({ state, findings }: ExaminedClient): string {
  if ('failure' in state) return 'its files cannot be read'
  const { settings } = state
  const briefs = (code: string) =>
    findings.flatMap((one) => (one.code === code && one.brief !== undefined ? [one.brief] : []))
  const answering = briefs('probe')
  const configured =
    whyUnreadable(settings) === undefined
      ? (shownModel(settings) ?? settings.login ?? 'its default model')
      : 'not readable'
  const models =
    answering.length === 0
      ? configured
      : `${answering.join(', ')} ${answering.length > 1 ? 'answer' : 'answers'}, with tools`

  const isChanged = findings.some(({ code }) => code === 'drifted')
  return [...briefs('installed'), models, ...(isChanged ? ['changed since its setup'] : [])].join(
    ', ',
  )
}
