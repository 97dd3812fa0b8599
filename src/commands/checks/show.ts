import { mostSevere, type Severity } from '../../finding.ts'
import { absentText } from '../client-state/program.ts'
import type { ClientStatus, Unreadable } from '../client-state/state.ts'
import type { Session } from '../screen/session.ts'
import type { CheckResult } from './client-checks.ts'

/** A client with what was found out about it, its gateway included. */
export interface ExaminedClient {
  readonly state: ClientStatus | Unreadable
  readonly findings: readonly CheckResult[]
  /** What its files say, a line each. */
  readonly details?: readonly string[]
}

/** What `status` and `doctor` show of the clients. */
interface Shown<One extends ExaminedClient> {
  /** Neither a program nor a setup is here: they share a line. */
  readonly isAbsent: (one: One) => boolean
  /** With every file, and with what is right. */
  readonly isDetailed: boolean
}

const marks: Readonly<Record<Severity, string>> = { ok: '✔', note: '!', warning: '!', error: '✗' }

/** By gateway, which is told once; a row a client; and below it only what is wrong. */
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

/** Of this machine, or of a gateway: each below a line of its own. */
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

/** What all the clients of a gateway have found out about it. */
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
  return settings.broken === undefined ? 'Its own service' : 'Gateway unknown'
}

/** The client in a row, and in further ones what is wrong, or every detail. */
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

/** Its version and the models that answer it, or the one that it is set to. */
function briefOf({ state, findings }: ExaminedClient): string {
  if ('failure' in state) return 'its files cannot be read'
  const { model, login, broken } = state.settings
  const briefs = (code: string) =>
    findings.flatMap((one) => (one.code === code && one.brief !== undefined ? [one.brief] : []))
  const answering = briefs('probe')
  const configured = broken === undefined ? (model ?? login ?? 'its default model') : 'not readable'
  const models =
    answering.length === 0
      ? configured
      : `${answering.join(', ')} ${answering.length > 1 ? 'answer' : 'answers'}, with tools`

  const isChanged = findings.some(({ code }) => code === 'drifted')
  return [...briefs('installed'), models, ...(isChanged ? ['changed since its setup'] : [])].join(
    ', ',
  )
}
