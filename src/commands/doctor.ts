import { Command } from '@commander-js/extra-typings'
import { rowOf } from '../clients/list.ts'
import { editDocument } from '../edits/describe.ts'
import { UserError } from '../errors.ts'
import { exitStatusFor, type Finding, findingFrom, messageWithLocation } from '../finding.ts'
import { closeIdleConnections } from '../gateway/http/request.ts'
import { oneClientPerFamily } from './client-state/client-report.ts'
import {
  type CheckedClient,
  type ExaminedClient,
  examineClient,
} from './client-state/examine-client.ts'
import { programOf } from './client-state/program/installed-program.ts'
import { runsOrError } from './client-state/recorded-runs.ts'
import { wslFinding } from './client-state/wsl.ts'
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
  const records = runsOrError(session)
  // A fix that is not recorded could not be undone.
  if (records instanceof UserError && flags.fix) throw records
  const runs = records instanceof UserError ? undefined : records
  const clients = await oneClientPerFamily(session, runs ?? [], id && rowOf(id).family)
  session.addFindings(...wslFinding(session.platform))
  // So far, the session has only findings about the machine and its records.
  const machineChecks = session.findings.map(asMachineCheck)
  if (records instanceof UserError)
    machineChecks.push({ about: 'machine', ...findingFrom(records) })

  const consent = consentToFix(session, flags)
  const beforeFix = clients.map((client) => examineClient(session, client, runs))
  const fix: FixResult =
    consent === undefined
      ? { edits: [], fixed: [] }
      : await fixProblems(session, beforeFix.filter(isChecked), runs ?? [], { consent, dryRun })

  const isFixTried = !dryRun && (consent === 'given' || consent === 'ask')
  const shownClients = await session.step(
    'Asking the clients and their gateways',
    checkAll(session, {
      clients: clients.map((client) => examineClient(session, client, runs, isFixTried)),
      flags,
      isFixTried,
      isNamed: id !== undefined,
    }),
  )
  const checks = [...machineChecks, ...shownClients.flatMap(({ findings }) => findings)]

  const isOfMachine = ({ about }: CheckResult) => about === 'machine'
  const ofClients = shownClients.map((client) => ({
    ...client,
    findings: client.findings.filter((finding) => !isOfMachine(finding)),
  }))
  showChecks(session, checks.filter(isOfMachine), { isDetailed: true })
  showClients(session, ofClients, { isDetailed: flags.all === true || id !== undefined })

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

/** Whether the user consents to fixes. A dry run asks nothing. Undefined: no fix is wanted. */
function consentToFix(session: Session, { fix, dryRun, yes }: DoctorFlags): Consent | undefined {
  if (!fix) return undefined
  return dryRun && !yes ? 'none' : session.consent(yes)
}

function isChecked(examined: ExaminedClient): examined is CheckedClient {
  return examined.kind === 'checked'
}

function asMachineCheck(finding: Finding): CheckResult {
  const check = { about: 'machine', ...asWarning(finding) }
  return finding.code === 'run-recovered' ? { ...check, severity: 'ok' } : check
}

interface ChecksToRun {
  readonly clients: readonly ExaminedClient[]
  readonly flags: DoctorFlags
  /** `doctor --fix` has run already, so that no hint names it again. */
  readonly isFixTried: boolean
  /** The user named the client. */
  readonly isNamed: boolean
}

/** Runs the checks of every client in parallel, and returns them in the order of the clients. */
async function checkAll(
  session: Session,
  { clients, flags, isFixTried, isNamed }: ChecksToRun,
): Promise<readonly ShownClient[]> {
  const readable = clients.filter(isChecked)
  for (const { state } of readable) if (state.endpoint.key) session.hide(state.endpoint.key)
  const gateways = flags.verify ? requestCatalogs(session, readable, flags) : undefined

  const checkOne = async (examined: ExaminedClient): Promise<readonly CheckResult[]> => {
    if (examined.kind === 'unreadable') return [findingFrom(examined.failure)]
    const { client } = examined
    const program = await programOf(session, client, 'show')
    const shared = gateways?.get(client.id)
    const gatewayChecks =
      gateways && (await checkGateway(session, examined, { program, shared, flags }))
    return [
      checkInstalled(session, examined, program),
      ...resultsOf(examined, isFixTried),
      ...(gatewayChecks ?? []),
    ]
  }
  const shown = clients.map(async (examined): Promise<ShownClient> => {
    const checks = await checkOne(examined)
    const findings = checks.map((check) => ({ about: examined.client.family, ...check }))
    const isAbsent = !isNamed && isChecked(examined) && isNothingHere(session, examined)
    return { examined, findings, isAbsent }
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
