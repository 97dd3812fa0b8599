import { Command } from '@commander-js/extra-typings'
import { shownModel } from '../clients/client.ts'
import { planFixes } from '../clients/fixes.ts'
import { rowOf } from '../clients/list.ts'
import { describeEdit, editDocument } from '../edits/describe.ts'
import type { FileEdit, Plan } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import {
  exitStatusFor,
  type FileFix,
  type Finding,
  findingFrom,
  messageWithLocation,
} from '../finding.ts'
import { closeIdleConnections } from '../gateway/http/request.ts'
import { unusualRoots } from '../gateway/roots.ts'
import { applyPlan } from '../transaction/apply.ts'
import type { Runs } from '../transaction/record.ts'
import {
  asWarning,
  type CheckResult,
  checkInstalled,
  reportFindings,
} from './checks/client-checks.ts'
import { askGateways, checkGateway } from './checks/gateway-checks.ts'
import { type ExaminedClient, showClients, showFindings } from './checks/show.ts'
import {
  type ClientStatus,
  examineClient,
  secretFiles,
  type Unreadable,
} from './client-state/check-client.ts'
import { describeDrift, driftSince } from './client-state/drift.ts'
import { runsIfReadable } from './client-state/history.ts'
import { isInstalled, readVersion, tableOf } from './client-state/program.ts'
import { clientsInUse, isAtOwnRoot } from './client-state/state.ts'
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
    .option('--yes', 'with --fix: do not ask, even before removing a setting of yours')
    .option('--no-verify', 'do not ask the gateways')
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
  const read = runsIfReadable(session)
  // A repair that is not recorded could not be undone.
  if (read instanceof UserError && flags.fix) throw read
  const [runs, unreadable] = read instanceof UserError ? [undefined, read] : [read]
  session.addFindings(...wslFinding(session.platform))

  const examined = await clientsInUse(session, runs ?? [], id && rowOf(id).family)
  const examine = (isFixTried = false) =>
    examined.map((client) => examineClient(session, client, runs, isFixTried))
  const known = () => examine().filter((state) => 'settings' in state)
  const { dryRun } = flags
  const fixing = flags.fix && (dryRun && !flags.yes ? 'none' : session.consent(flags.yes))
  const { run, edits, fixed }: Repaired = fixing
    ? await fix(session, known(), runs ?? [], { consent: fixing, dryRun })
    : { edits: [], fixed: [] }
  const isFixing = !dryRun && fixing !== undefined

  const ofMachine = session.findings.map(asMachineCheck)
  if (unreadable) ofMachine.push({ about: 'machine', ...findingFrom(unreadable) })
  const clients = await session.step(
    'Asking the clients and their gateways',
    checkAll(session, { states: examine(isFixing && fixing !== 'none'), flags, isFixing }),
  )
  const checks = [
    ...ofMachine,
    ...clients.flatMap(({ state, findings }) =>
      findings.map((one): CheckResult => ({ about: state.client.family, ...one })),
    ),
  ]

  // Findings about the machine come before the clients.
  showFindings(session, checks.filter(isOfMachine), true)
  const ownOf = ({ state, findings }: ExaminedClient) => ({
    state,
    findings: findings.filter((one) => !isOfMachine(one)),
  })
  showClients(session, clients.map(ownOf), {
    isAbsent: (one) => id === undefined && isAbsent(one),
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

interface Examination {
  readonly states: readonly (ClientStatus | Unreadable)[]
  readonly flags: DoctorFlags
  /** The fixes that need no consent were applied. */
  readonly isFixing: boolean
}

/** Runs the checks of every client in parallel, and returns them in the order of the clients. */
async function checkAll(
  session: Session,
  { states, flags, isFixing }: Examination,
): Promise<ExaminedClient[]> {
  const known = states.filter((state) => 'settings' in state)
  for (const { settings } of known) if (settings.endpoint.key) session.hide(settings.endpoint.key)
  const asked = flags.verify ? askGateways(session, known, flags) : undefined

  const checked = Promise.all(
    states.map(async (state): Promise<ExaminedClient> => {
      const found: CheckResult[] = []
      if ('failure' in state) found.push(findingFrom(state.failure))
      else {
        const { client } = state
        const program = [readVersion(session, client), tableOf(session, client)] as const
        const [version, modelTable] = await Promise.all(program)
        const isHere = isInstalled(session, client)
        const examined = { ...state, isInstalled: isHere, ...version, modelTable }
        found.push(checkInstalled(session, examined))
        found.push(...reportFindings(state, isFixing))
        if (asked !== undefined)
          found.push(...(await checkGateway(session, examined, asked.get(state), flags)))
      }
      return { state, findings: found }
    }),
  )
  try {
    return await checked
  } finally {
    for (const { access } of new Set(asked?.values())) await closeIdleConnections(access)
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
interface Repaired {
  /** Absent: there was nothing to repair. */
  readonly run?: string | undefined
  readonly edits: readonly FileEdit[]
  /** The problems that were fixed. */
  readonly fixed: readonly Mended[]
}

type Mended = Pick<CheckResult, 'about' | 'code' | 'message'>

/** The fix of one problem. */
interface Cure {
  readonly fixed: Mended
  readonly repairs?: readonly FileFix[]
  readonly edits?: readonly FileEdit[]
  /** A user may have made this change on purpose, so that repoint asks. Absent: the fix is safe. */
  readonly asks?: { readonly found: string; readonly question: string } | undefined
}

function* curesOf(session: Session, state: ClientStatus, runs: Runs): Generator<Cure> {
  const { client, findings } = state
  const about = client.family
  for (const finding of findings) {
    const { code, fix, consent: found } = finding
    if (fix !== undefined)
      yield {
        fixed: { about, code, message: messageWithLocation(finding) },
        repairs: [fix],
        asks: found === undefined ? undefined : { found, question: 'Mend this?' },
      }
  }

  const drifted = driftSince(session, state, runs)
  if (drifted?.cure !== undefined) {
    const message = describeDrift(client, drifted)
    const asks = { found: message, question: 'Restore the setup?' }
    yield { fixed: { about, code: 'drifted', message }, ...drifted.cure, asks }
  }

  for (const { text, isOpen } of secretFiles(session, state))
    if (isOpen)
      yield { fixed: { about, code: 'private', message: `Other users could read ${text.path}` } }
}

/** Applies the repairs as one run: the safe ones, and those that the user consents to. */
async function fix(
  session: Session,
  states: readonly ClientStatus[],
  runs: Runs,
  { consent, dryRun }: { consent: Consent; dryRun: true | undefined },
): Promise<Repaired> {
  const edits: FileEdit[] = []
  const accepted: Cure[] = []
  const declined: string[] = []
  for (const state of states) {
    const cures: Cure[] = []
    for (const cure of curesOf(session, state, runs)) {
      const { asks } = cure
      if (asks && consent === 'ask') session.remark(`! ${asks.found}`)
      const question = asks && { message: asks.question, default: false }
      if (question && !(await session.wants(consent, question))) declined.push(asks.found)
      else cures.push(cure)
    }

    const repairs = cures.flatMap((cure) => cure.repairs ?? [])
    const back = cures.flatMap((cure) => cure.edits ?? [])
    const repaired = [...back, ...planFixes(state.client, state.texts, repairs)]
    edits.push(...closed(session, state, repaired))
    accepted.push(...cures)
  }

  const fixed = accepted.map((cure) => cure.fixed)
  if (dryRun && declined.length > 0) {
    session.say('Would ask before it fixes:')
    for (const found of declined) session.say(`  ${found}`)
  }
  if (edits.length > 0) showRepairs(session, { edits, fixed })
  if (dryRun && edits.length + declined.length > 0) session.say('Dry run: nothing changed.')
  if (dryRun || edits.length === 0) return { edits, fixed }

  // A user who agreed to a repair is not asked again.
  if (accepted.some(({ asks }) => asks === undefined))
    await session.agree(consent, { message: 'Mend?', default: true })

  // A rollback treats every recorded address as ours, so the record needs one that repoint wrote.
  const configured = states.find(({ client, settings }) => isAtOwnRoot(client, settings, runs))
  const gateway = configured?.gateway
  const plan: Plan = {
    command: 'doctor',
    baseUrl: gateway?.baseUrl ?? '',
    baseUrls: gateway && unusualRoots(gateway),
    model: (configured && shownModel(configured.settings)) ?? '',
    edits,
  }
  const applied = applyPlan(session.platform, plan)
  session.noteApplied(applied)
  const run = applied.run?.id
  session.say('✔ Fixed. Undo: repoint rollback')
  return { run, edits, fixed }
}

/** Shows the problems, and the keys of each file that change. */
function showRepairs(session: Session, { edits, fixed }: Repaired): void {
  session.say('Will fix:')
  for (const { about, message } of fixed) session.say(`  ${about}: ${message}`)
  for (const edit of edits) for (const line of describeEdit(edit, session)) session.say(`  ${line}`)
}

/** Adds to the edits the file modes that keep others from reading files with secrets. */
function closed(
  session: Session,
  state: ClientStatus,
  repairs: readonly FileEdit[],
): readonly FileEdit[] {
  const open = secretFiles(session, state).filter(({ isOpen }) => isOpen)

  const others = repairs.filter((edit) => open.every(({ text }) => text.path !== edit.path))
  const closing = open.map(({ text, mode }): FileEdit => {
    const { path, format, holdsSecret, bytes } = text
    const edit = repairs.find((one) => one.path === path) ?? {
      client: state.client.id,
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

  return [...others, ...closing]
}

/** The client has neither a program nor a setup here, and no problem to report. */
function isAbsent({ findings }: ExaminedClient): boolean {
  return findings.some((one) => one.isAbsent) && findings.every(({ severity }) => severity === 'ok')
}
