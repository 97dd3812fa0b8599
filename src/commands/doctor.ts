import { Command } from '@commander-js/extra-typings'
import { rowOf } from '../clients/list.ts'
import { editDocument } from '../edits/describe.ts'
import { exitStatusFor, type Finding, findingFrom, messageWithLocation } from '../finding.ts'
import { closeIdleConnections } from '../gateway/http/request.ts'
import { type CheckedClient, checkClient, isReadable } from './client-state/check-client.ts'
import { oneClientPerFamily } from './client-state/client-facts.ts'
import { programOf } from './client-state/program/installed-program.ts'
import { type RecordedRuns, readRecords } from './client-state/recorded-runs.ts'
import { clientArgument } from './command-line/arguments.ts'
import { commandOf, examples, type FlagsOf } from './command-line/command.ts'
import { timeoutOption } from './command-line/flags.ts'
import { type FixResult, fixProblems } from './doctor/fix.ts'
import { checkGateway } from './doctor/gateway-checks.ts'
import { requestCatalogs } from './doctor/shared-gateways.ts'
import type { Consent, Session } from './screen/session.ts'
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
    .addArgument(clientArgument('only this client'))
    .option('--all', 'show every check and every detail')
    .option('--fix', 'fix what repoint can fix; repoint rollback undoes it')
    .option('--dry-run', 'with --fix: show the changes; change nothing')
    .option('--yes', 'with --fix: apply without asking, even fixes that remove your settings')
    .option('--no-verify', 'send no requests to the gateways')
    .option('--ca-file <path>', 'trust the certificate authorities in this PEM file too')
    .addOption(timeoutOption())
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples(['repoint doctor', 'repoint doctor codex --fix']))
}

export const command = commandOf(define, doctor)

type DoctorFlags = FlagsOf<typeof define>

/**
 * Runs the checks of `status` and checks over the network. With `--fix`, it first fixes what it can, and
 * checks the fixed files. Shows each problem with its cure, and returns the highest status of a problem.
 */
export async function doctor(
  session: Session,
  id: string | undefined,
  flags: DoctorFlags,
): Promise<number> {
  const { dryRun } = flags
  const records = readRecords(session)
  // A fix that is not recorded could not be undone.
  if (records.kind === 'unreadable' && flags.fix) throw records.error
  const machineChecks = checkMachine(session, records)
  showChecks(session, machineChecks, { isDetailed: true })

  const { runs } = records
  const clients = await oneClientPerFamily(session, runs, id && rowOf(id).family)

  const consent = consentToFix(session, flags)
  let fix: FixResult = { edits: [], fixed: [] }
  if (flags.fix) {
    const checked = clients.map((client) => checkClient(session, client, records))
    fix = await fixProblems(session, checked.filter(isReadable), runs, { consent, dryRun })
  }

  const isFixTried = flags.fix === true && !dryRun && consent !== 'none'
  const shownClients = await session.step(
    'Asking the clients and their gateways',
    checkAll(session, {
      clients: clients.map((client) => checkClient(session, client, records, { isFixTried })),
      flags,
      isFixTried,
      isNamed: id !== undefined,
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
  showClients(session, ofClients, { isDetailed: flags.all === true || id !== undefined })

  const checks = [...machineChecks, ...clientChecks]
  session.document({
    command: 'doctor',
    changed: fix.run !== undefined,
    run: fix.run ?? null,
    dryRun,
    files: fix.edits.map(editDocument),
    fixed: fix.fixed.map(({ about, code, message }) => ({ about, id: code, message })),
    checks: checks.map(asDocument),
  })
  return exitStatusFor(checks)
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
  return finding.code === 'run-recovered' ? { ...finding, severity: 'ok' } : asWarning(finding)
}

interface ChecksToRun {
  readonly clients: readonly CheckedClient[]
  readonly flags: DoctorFlags
  /** `doctor --fix` could make every fix already, so that no hint names it again. */
  readonly isFixTried: boolean
  /** The user named the client. */
  readonly isNamed: boolean
}

/** Runs the checks of every client in parallel, and returns them in the order of the clients. */
async function checkAll(
  session: Session,
  { clients, flags, isFixTried, isNamed }: ChecksToRun,
): Promise<readonly ShownClient[]> {
  const readable = clients.filter(isReadable)
  for (const { state } of readable) if (state.endpoint.key) session.hide(state.endpoint.key)
  const gateways = flags.verify ? requestCatalogs(session, readable, flags) : undefined

  const checkOne = async (checked: CheckedClient): Promise<readonly CheckResult[]> => {
    if (checked.kind === 'unreadable') return [findingFrom(checked.failure)]
    const { client } = checked
    const program = await programOf(session, client, 'show')
    const shared = gateways?.get(client.id)
    const gatewayChecks =
      gateways && (await checkGateway(session, checked, { program, shared, flags }))
    return [
      checkInstalled(session, checked, program),
      ...resultsOf(checked, { isFixTried }),
      ...(gatewayChecks ?? []),
    ]
  }
  const shown = clients.map(async (checked): Promise<ShownClient> => {
    const checks = await checkOne(checked)
    const findings = checks.map((check) => ({ about: checked.client.family, ...check }))
    const isAbsent = !isNamed && isReadable(checked) && isNothingHere(session, checked)
    return { checked, findings, isAbsent }
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
