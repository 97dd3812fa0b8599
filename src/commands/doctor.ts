import { Command } from '@commander-js/extra-typings'
import { shownModel } from '../clients/contract/state.ts'
import { rowOf } from '../clients/list.ts'
import { planFixes } from '../clients/plan/edit-file.ts'
import { describeEdit, editDocument } from '../edits/describe.ts'
import type { FileEdit, Plan } from '../edits/types.ts'
import { UserError } from '../errors.ts'
import {
  exitStatusFor,
  type FileFix,
  type Finding,
  findingFrom,
  messageWithLocation,
} from '../finding.ts'
import { customBaseUrls } from '../gateway/base-urls.ts'
import { closeIdleConnections } from '../gateway/http/request.ts'
import { applyPlan } from '../transaction/apply.ts'
import type { Runs } from '../transaction/record.ts'
import {
  asWarning,
  type CheckResult,
  checkInstalled,
  reportFindings,
} from './checks/client-checks.ts'
import { askGateways, checkGateway } from './checks/gateway-checks.ts'
import { type ClientWithFindings, showClients, showFindings } from './checks/show.ts'
import {
  type CheckedClient,
  examineClient,
  secretFiles,
  type Unreadable,
} from './client-state/check-client.ts'
import { describeDrift, driftSince } from './client-state/drift.ts'
import { runsIfReadable } from './client-state/history.ts'
import { isInstalled, readVersion, tableOf } from './client-state/program.ts'
import { clientsInUse, hasWrittenBaseUrl } from './client-state/state.ts'
import { wslFinding } from './client-state/wsl.ts'
import { clientArgument, commandOf, examples, type FlagsOf, timeoutOption } from './command.ts'
import type { Consent, Session } from './screen/session.ts'

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
 * Runs the checks of `status` and checks over the network. Shows each problem with its fix, and returns
 * the highest status of a problem.
 */
export async function doctor(
  session: Session,
  id: string | undefined,
  flags: DoctorFlags,
): Promise<number> {
  const records = runsIfReadable(session)
  const recordsError = records instanceof UserError ? records : undefined
  const runs = records instanceof UserError ? undefined : records
  // A fix that is not recorded could not be undone.
  if (recordsError !== undefined && flags.fix) throw recordsError
  session.addFindings(...wslFinding(session.platform))

  const clientsToCheck = await clientsInUse(session, runs ?? [], id && rowOf(id).family)

  const examine = (isFixTried = false) =>
    clientsToCheck.map((client) => examineClient(session, client, runs, isFixTried))

  const { dryRun } = flags
  const consent = consentToFix(session, flags)
  let result: FixResult = { edits: [], fixed: [] }
  if (consent !== undefined) {
    const readable = examine().filter((report) => 'state' in report)
    result = await applyFixes(session, readable, runs ?? [], { consent, dryRun })
  }
  const { run, edits, fixed } = result

  // After the fixes, the checks run on the fixed files.
  const isFixing = !dryRun && consent !== undefined
  const machineChecks = session.findings.map(asMachineCheck)
  if (recordsError) machineChecks.push({ about: 'machine', ...findingFrom(recordsError) })
  const reports = examine(isFixing && consent !== 'none')
  const clients = await session.step(
    'Asking the clients and their gateways',
    checkAll(session, { reports, flags, isFixing }),
  )
  const clientChecks = clients.flatMap(({ report, findings }) =>
    findings.map((finding): CheckResult => ({ about: report.client.family, ...finding })),
  )
  const checks = [...machineChecks, ...clientChecks]

  // Findings about the machine come before the clients.
  showFindings(session, checks.filter(isOfMachine), true)
  const withoutMachine = ({ report, findings }: ClientWithFindings) => ({
    report,
    findings: findings.filter((finding) => !isOfMachine(finding)),
  })
  showClients(session, clients.map(withoutMachine), {
    isAbsent: (client) => id === undefined && isAbsent(client),
    isDetailed: flags.all === true || id !== undefined,
  })
  session.document({
    command: 'doctor',
    changed: run !== undefined,
    run: run ?? null,
    dryRun,
    files: edits.map(editDocument),
    fixed: fixed.map(({ about, code, message }) => ({ about, id: code, message })),
    checks: checks.map(asDocument),
  })
  return exitStatusFor(checks)
}

/** Whether the user consents to fixes. A dry run asks nothing. Undefined: no fix is wanted. */
function consentToFix(session: Session, { fix, dryRun, yes }: DoctorFlags): Consent | undefined {
  if (!fix) return undefined
  return dryRun && !yes ? 'none' : session.consent(yes)
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

interface ChecksToRun {
  readonly reports: readonly (CheckedClient | Unreadable)[]
  readonly flags: DoctorFlags
  /** The fixes that need no consent were applied. */
  readonly isFixing: boolean
}

/** Runs the checks of every client in parallel, and returns them in the order of the clients. */
async function checkAll(
  session: Session,
  { reports, flags, isFixing }: ChecksToRun,
): Promise<ClientWithFindings[]> {
  const readable = reports.filter((report) => 'state' in report)
  for (const { state } of readable) if (state.endpoint.key) session.hide(state.endpoint.key)
  const gateways = flags.verify ? askGateways(session, readable, flags) : undefined

  const checkOne = async (report: CheckedClient | Unreadable): Promise<readonly CheckResult[]> => {
    if ('failure' in report) return [findingFrom(report.failure)]
    const { client } = report
    const [version, modelTable] = await Promise.all([
      readVersion(session, client),
      tableOf(session, client),
    ])
    const program = { isInstalled: isInstalled(session, client), ...version, modelTable }
    const examined = { ...report, ...program }
    const gatewayChecks =
      gateways && (await checkGateway(session, examined, gateways.get(report), flags))
    return [
      checkInstalled(session, examined),
      ...reportFindings(report, isFixing),
      ...(gatewayChecks ?? []),
    ]
  }

  try {
    const checked = reports.map(async (report) => ({ report, findings: await checkOne(report) }))
    return await Promise.all(checked)
  } finally {
    for (const { access } of new Set(gateways?.values())) await closeIdleConnections(access)
  }
}

function asMachineCheck(notice: Finding): CheckResult {
  const check = { about: 'machine', ...asWarning(notice) }
  return notice.code === 'run-recovered' ? { ...check, severity: 'ok' } : check
}

function isOfMachine({ about }: CheckResult): boolean {
  return about === 'machine'
}

/** The result of `--fix`. */
interface FixResult {
  /** Absent: there was nothing to fix. */
  readonly run?: string | undefined
  readonly edits: readonly FileEdit[]
  /** The problems that were fixed. */
  readonly fixed: readonly FixedProblem[]
}

type FixedProblem = Pick<CheckResult, 'about' | 'code' | 'message'>

/** A fix that `doctor --fix` can apply. */
interface AvailableFix {
  readonly fixed: FixedProblem
  readonly fixes?: readonly FileFix[]
  readonly edits?: readonly FileEdit[]
  /**
   * The problem in words, and the question before it is fixed: the user may have made this change on
   * purpose. Absent: the fix is safe.
   */
  readonly asks?: { readonly problem: string; readonly question: string } | undefined
}

function* availableFixes(
  session: Session,
  report: CheckedClient,
  runs: Runs,
): Generator<AvailableFix> {
  const { client, findings } = report
  const about = client.family
  for (const finding of findings) {
    const { code, fix, consent: problem } = finding
    if (fix !== undefined)
      yield {
        fixed: { about, code, message: messageWithLocation(finding) },
        fixes: [fix],
        asks: problem === undefined ? undefined : { problem, question: 'Fix this?' },
      }
  }

  const drift = driftSince(session, report, runs)
  if (drift?.restore !== undefined) {
    const message = describeDrift(client, drift)
    const asks = { problem: message, question: 'Restore the setup?' }
    yield { fixed: { about, code: 'drifted', message }, ...drift.restore, asks }
  }

  for (const { file, isOpen } of secretFiles(session, report))
    if (isOpen)
      yield { fixed: { about, code: 'private', message: `Other users could read ${file.path}` } }
}

/** Applies the fixes as one run: the safe ones, and those that the user consents to. */
async function applyFixes(
  session: Session,
  reports: readonly CheckedClient[],
  runs: Runs,
  { consent, dryRun }: { consent: Consent; dryRun: true | undefined },
): Promise<FixResult> {
  const edits: FileEdit[] = []
  const accepted: AvailableFix[] = []
  const declined: string[] = []
  for (const report of reports) {
    const wanted: AvailableFix[] = []
    for (const available of availableFixes(session, report, runs)) {
      const { asks } = available
      if (asks && consent === 'ask') session.remark(`! ${asks.problem}`)
      const question = asks && { message: asks.question, default: false }
      if (question && !(await session.wants(consent, question))) declined.push(asks.problem)
      else wanted.push(available)
    }

    const restoringEdits = wanted.flatMap((available) => available.edits ?? [])
    const fileFixes = wanted.flatMap((available) => available.fixes ?? [])
    const fixingEdits = planFixes(report.client, report.files, fileFixes)
    edits.push(...withPrivateModes(session, report, [...restoringEdits, ...fixingEdits]))
    accepted.push(...wanted)
  }

  const fixed = accepted.map((available) => available.fixed)
  if (dryRun && declined.length > 0) {
    session.say('Would ask before it fixes:')
    for (const problem of declined) session.say(`  ${problem}`)
  }
  if (edits.length > 0) showFixes(session, { edits, fixed })
  if (dryRun && edits.length + declined.length > 0) session.say('Dry run: nothing changed.')
  if (dryRun || edits.length === 0) return { edits, fixed }

  // A user who agreed to a fix is not asked again.
  if (accepted.some(({ asks }) => asks === undefined))
    await session.agree(consent, { message: 'Apply these fixes?', default: true })

  // A rollback treats every recorded address as ours, so the record needs one that repoint wrote.
  const configured = reports.find(({ client, state }) => hasWrittenBaseUrl(client, state, runs))
  const gateway = configured?.gateway
  const plan: Plan = {
    kind: 'repair',
    command: 'doctor',
    baseUrl: gateway?.baseUrl,
    baseUrls: gateway && customBaseUrls(gateway),
    model: configured && shownModel(configured.state),
    edits,
  }
  const applied = applyPlan(session.platform, plan)
  session.noteApplied(applied)
  const run = applied.run?.id
  session.say('✔ Fixed. Undo: repoint rollback')
  return { run, edits, fixed }
}

/** Shows the problems, and the keys of each file that change. */
function showFixes(session: Session, { edits, fixed }: FixResult): void {
  session.say('Will fix:')
  for (const { about, message } of fixed) session.say(`  ${about}: ${message}`)
  for (const edit of edits) for (const line of describeEdit(edit, session)) session.say(`  ${line}`)
}

/** Adds to the edits the file modes that keep others from reading files with secrets. */
function withPrivateModes(
  session: Session,
  report: CheckedClient,
  edits: readonly FileEdit[],
): readonly FileEdit[] {
  const open = secretFiles(session, report).filter(({ isOpen }) => isOpen)

  const otherEdits = edits.filter((edit) => open.every(({ file }) => file.path !== edit.path))
  const closingEdits = open.map(({ file, mode }): FileEdit => {
    const { path, format, holdsSecret, bytes } = file
    const edit = edits.find((planned) => planned.path === path) ?? {
      client: report.client.id,
      path,
      format,
      scope: 'keys',
      changes: [],
      before: bytes,
      after: bytes,
      holdsSecret,
    }
    return { ...edit, mode: mode & ~0o077 }
  })

  return [...otherEdits, ...closingEdits]
}

/** The client has neither a program nor a setup here, and no problem to report. */
function isAbsent({ findings }: ClientWithFindings): boolean {
  return (
    findings.some((finding) => finding.isAbsent) &&
    findings.every(({ severity }) => severity === 'ok')
  )
}
