import { Command } from '@commander-js/extra-typings'
import type { Client } from '../clients/contract/client.ts'
import { editDocument } from '../edits/describe.ts'
import { findingFrom } from '../errors.ts'
import { exitStatusFor, type Finding, messageWithLocation } from '../finding.ts'
import { closeIdleConnections } from '../gateway/http/request.ts'
import type { ClientNow } from './client-state/client-facts.ts'
import { oneClientPerFamily } from './client-state/client-facts.ts'
import { clientNow } from './client-state/client-now.ts'
import {
  type InstalledProgram,
  isInstalled,
  programOf,
} from './client-state/program/installed-program.ts'
import { type RecordedRuns, readRecords } from './client-state/recorded-runs.ts'
import { clientsArgument } from './command-line/arguments.ts'
import { commandOf, examples, type FlagsOf } from './command-line/command.ts'
import { timeoutOption } from './command-line/flags.ts'
import { type FixResult, fixProblems } from './doctor/fix.ts'
import { checkGateway } from './doctor/gateway-checks.ts'
import { askGateways } from './doctor/shared-gateways.ts'
import type { TriedClient } from './prove/ask-client.ts'
import type { Consent, Session } from './screen/session.ts'
import { failureOf, reportTries, triedDocument } from './setup/try.ts'
import {
  asWarning,
  type CheckResult,
  checkInstalled,
  isNothingHere,
  resultsOf,
} from './status/check-results.ts'
import { type ShownClient, showChecks, showClients } from './status/show-clients.ts'
import { wslFinding } from './status/wsl.ts'

function define() {
  return new Command('doctor')
    .description('test every client and its gateway, and show how to fix problems')
    .addArgument(clientsArgument('only these clients'))
    .option('--all', 'show every check and every detail')
    .option('--fix', 'fix what repoint can fix; repoint rollback undoes it')
    .option('--dry-run', 'with --fix: show the changes; change nothing')
    .option('--yes', 'with --fix: apply without asking, even fixes that remove your settings')
    .option('--no-verify', 'send no requests to the gateways')
    .option('--try-client', 'also start each client once, with a one-word prompt')
    .option('--ca-file <path>', 'trust the certificate authorities in this PEM file too')
    .addOption(timeoutOption())
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples(['repoint doctor', 'repoint doctor codex claude --fix']))
}

export const command = commandOf(define, doctor)

type DoctorFlags = FlagsOf<typeof define>

/**
 * Runs the checks of `status` and checks over the network. With `--fix`, it first fixes what it can, and
 * checks the fixed files. Shows each problem with its cure, and returns the highest status of a problem.
 */
export async function doctor(
  session: Session,
  ids: readonly string[],
  flags: DoctorFlags,
): Promise<number> {
  const { dryRun } = flags
  const records = readRecords(session)
  // A fix that is not recorded could not be undone.
  if (records.kind === 'unreadable' && flags.fix) throw records.error
  const machineChecks = checkMachine(session, records)
  showChecks(session, machineChecks, { isDetailed: true })

  const { runs } = records
  const isNamed = ids.length > 0
  const clients = await oneClientPerFamily(session, runs, isNamed ? ids : undefined)

  const consent = consentToFix(session, flags)
  let fix: FixResult = { edits: [], fixed: [] }
  if (flags.fix) {
    const nows = clients.map((client) => clientNow(session, client, runs))
    fix = await fixProblems(session, nows, runs, { consent, dryRun })
  }

  const isFixTried = flags.fix === true && !dryRun && consent !== 'none'
  const shownClients = await session.step(
    'Asking the clients and their gateways',
    checkAll(session, {
      clients: clients.map((client) => clientNow(session, client, runs)),
      flags,
      isFixTried,
      isNamed,
    }),
  )

  // The connection to a gateway can show that the clock of this machine is wrong.
  const clientChecks = shownClients.flatMap(({ findings }) => findings)
  const isOfMachine = ({ about }: CheckResult) => about === 'machine'
  const ofClients = shownClients.map((client) => ({
    ...client,
    findings: client.findings.filter((finding) => !isOfMachine(finding)),
  }))
  showChecks(session, clientChecks.filter(isOfMachine), { isDetailed: true })
  showClients(session, ofClients, { isDetailed: flags.all === true || isNamed })

  const tried = flags.tryClient ? await tryThose(session, shownClients) : []
  const checks = [...machineChecks, ...clientChecks]
  session.document({
    command: 'doctor',
    changed: fix.run !== undefined,
    run: fix.run ?? null,
    dryRun,
    files: fix.edits.map(editDocument),
    fixed: fix.fixed.map(({ about, code, message }) => ({ about, id: code, message })),
    checks: checks.map(asDocument),
    tried: flags.tryClient ? tried.map(triedDocument) : undefined,
  })
  const failures = tried.flatMap((client) => failureOf(session, client) ?? [])
  return exitStatusFor([...checks, ...failures])
}

/** Tries each installed client that uses a gateway. */
async function tryThose(
  session: Session,
  shown: readonly ShownClient[],
): Promise<readonly TriedClient[]> {
  const clients = shown.flatMap(({ now: { client, gateway } }) => {
    const isUsed = gateway !== undefined && isInstalled(session, client)
    return isUsed ? [client] : []
  })
  if (clients.length === 0) return []
  const { tryClients } = await import('./prove/ask-client.ts')
  const tried = await tryClients(session, clients)
  reportTries(session, tried)
  return tried
}

/** Whether the user consents to fixes. A dry run asks nothing. */
function consentToFix(session: Session, { dryRun, yes }: DoctorFlags): Consent {
  return dryRun && !yes ? 'none' : session.consent(yes)
}

/** The checks of this machine, and of repoint's records on it. */
function checkMachine({ platform }: Session, records: RecordedRuns): readonly CheckResult[] {
  const ofRecords =
    records.kind === 'read' ? records.findings.map(asRecordCheck) : [findingFrom(records.error)]
  const checks = [...ofRecords, ...[...wslFinding(platform)].map(asWarning)]
  return checks.map((check) => ({ about: 'machine', ...check }))
}

/** A recovered run is no problem any more. */
function asRecordCheck(finding: Finding): CheckResult {
  if (finding.severity === 'error') return finding
  return finding.code === 'run-recovered' ? { ...finding, severity: 'ok' } : asWarning(finding)
}

interface ChecksToRun {
  readonly clients: readonly ClientNow[]
  readonly flags: DoctorFlags
  /** `doctor --fix` could make every fix already, so that no hint names it again. */
  readonly isFixTried: boolean
  /** The user named the clients. */
  readonly isNamed: boolean
}

/** Runs the checks of every client in parallel, and returns them in the order of the clients. */
async function checkAll(
  session: Session,
  { clients, flags, isFixTried, isNamed }: ChecksToRun,
): Promise<readonly ShownClient[]> {
  for (const { state } of clients) if (state.endpoint.key) session.hide(state.endpoint.key)
  const programs = new Map<Client, Promise<InstalledProgram>>()
  const programFor = ({ client }: ClientNow) => {
    const program = programs.get(client) ?? programOf(session, client, 'show')
    programs.set(client, program)
    return program
  }
  const gateways = flags.verify ? askGateways(session, clients, flags, programFor) : undefined

  const shown = clients.map(async (now): Promise<ShownClient> => {
    const { client } = now
    const program = await programFor(now)
    const shared = gateways?.get(client.id)
    const gatewayChecks = gateways && (await checkGateway(session, now, { shared, flags }))
    const checks: readonly CheckResult[] = [
      checkInstalled(session, now, program),
      ...resultsOf(session, now, { isFixTried }),
      ...(gatewayChecks ?? []),
    ]
    const findings = checks.map((check) => ({ about: client.family, ...check }))
    return { now, findings, isAbsent: !isNamed && isNothingHere(session, now) }
  })

  try {
    return await Promise.all(shown)
  } finally {
    for (const { access } of new Set(gateways?.values())) await closeIdleConnections(access)
  }
}

/** A check as `--json` prints it. */
function asDocument(check: CheckResult) {
  const { about, code, severity, hint } = check
  const message = messageWithLocation(check)
  return {
    about,
    id: code,
    result: severity === 'error' ? 'problem' : severity,
    message,
    cure: hint,
  }
}
