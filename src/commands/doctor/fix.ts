/**
 * `repoint doctor --fix`: finds the fixes of all clients, asks about those that the user may not want, and
 * applies the accepted ones as one run.
 */
import { shownModel } from '../../clients/contract/state.ts'
import { describeEdit } from '../../edits/describe.ts'
import type { FileEdit, Plan } from '../../edits/types.ts'
import { type FileFix, messageWithLocation } from '../../finding.ts'
import { customBaseUrls } from '../../gateway/base-urls.ts'
import { applyPlan } from '../../transaction/apply-plan.ts'
import { checkPlannedFiles } from '../../transaction/check-planned-files.ts'
import type { Runs } from '../../transaction/record.ts'
import type { ClientNow } from '../client-state/client-facts.ts'
import { hasWrittenBaseUrl } from '../client-state/client-facts.ts'
import { describeDrift, driftSinceSetup, repairEdits } from '../client-state/drift.ts'
import { secretFiles } from '../client-state/file-permissions.ts'
import type { Consent, Session } from '../screen/session.ts'
import type { CheckResult } from '../status/check-results.ts'

/** The result of `--fix`. */
export interface FixResult {
  /** The ID of the run. */
  readonly run?: string
  readonly edits: readonly FileEdit[]
  /** The problems that were fixed, or that a dry run would fix. */
  readonly fixed: readonly Problem[]
}

type Problem = Pick<CheckResult, 'about' | 'code' | 'message'>

/** @throws UserError as `applyPlan` does; `Declined` if the user says no to the fixes */
export async function fixProblems(
  session: Session,
  clients: readonly ClientNow[],
  runs: Runs,
  { consent, dryRun }: { readonly consent: Consent; readonly dryRun: true | undefined },
): Promise<FixResult> {
  const { accepted, declined, edits } = await chooseFixes(session, clients, runs, consent)
  const fixed = accepted.map(({ problem }) => problem)
  if (dryRun && declined.length > 0) {
    session.say('Would ask before it fixes:')
    for (const reason of declined) session.say(`  ${reason}`)
  }
  const plan = planOf(edits, clients, runs)
  if (edits.length > 0) showFixes(session, { edits, fixed })
  session.addFindings(...checkPlannedFiles(session.platform, plan))
  if (dryRun && edits.length + declined.length > 0) session.say('Dry run: nothing changed.')
  if (dryRun || edits.length === 0) return { edits, fixed }

  // A user who agreed to a fix is not asked again.
  if (accepted.some(({ asks }) => asks === undefined))
    await session.askIfPossible(consent, { message: 'Apply these fixes?', default: true })

  const applied = applyPlan(session.platform, plan)
  session.noteApplied(applied)
  session.say('✔ Fixed. Undo: repoint rollback')
  return { run: applied.run?.id, edits, fixed }
}

/** A fix that `doctor --fix` can apply. */
interface AvailableFix {
  readonly problem: Problem
  readonly fileFixes: readonly FileFix[]
  /** They restore whole files. */
  readonly edits: readonly FileEdit[]
  /** Absent: the fix is safe. */
  readonly asks?: ConsentQuestion
}

/** What repoint asks before a fix: the user may have made the change on purpose that it removes. */
interface ConsentQuestion {
  /** What the user must accept, or know, about the fix. */
  readonly reason: string
  readonly question: string
}

interface ChosenFixes {
  readonly accepted: readonly AvailableFix[]
  /** The reasons of the questions that the user, or a dry run, did not answer with yes. */
  readonly declined: readonly string[]
  /** The edits of the accepted fixes. */
  readonly edits: readonly FileEdit[]
}

/** Accepts the safe fixes, and asks about each of the others. */
async function chooseFixes(
  session: Session,
  clients: readonly ClientNow[],
  runs: Runs,
  consent: Consent,
): Promise<ChosenFixes> {
  const accepted: AvailableFix[] = []
  const declined: string[] = []
  const edits: FileEdit[] = []
  for (const checked of clients) {
    const ofClient: AvailableFix[] = []
    for (const fix of availableFixes(session, checked, runs)) {
      const { asks } = fix
      if (asks === undefined || (await isWanted(session, consent, asks))) ofClient.push(fix)
      else declined.push(asks.reason)
    }

    accepted.push(...ofClient)
    edits.push(...editsOf(session, checked, ofClient))
  }
  return { accepted, declined, edits }
}

async function isWanted(
  session: Session,
  consent: Consent,
  { reason, question }: ConsentQuestion,
): Promise<boolean> {
  if (consent === 'ask') session.remark(`! ${reason}`)
  return session.hasConsent(consent, { message: question, default: false })
}

function* availableFixes(
  session: Session,
  checked: ClientNow,
  runs: Runs,
): Generator<AvailableFix> {
  const { client, findings } = checked
  const about = client.family
  for (const finding of findings) {
    const { code, fix, needsConsentTo: reason } = finding
    if (fix !== undefined)
      yield {
        problem: { about, code, message: messageWithLocation(finding) },
        fileFixes: [fix],
        edits: [],
        asks: reason === undefined ? undefined : { reason, question: 'Fix this?' },
      }
  }

  const drift = driftSinceSetup(session, checked, runs)
  if (drift?.restore !== undefined) {
    const message = describeDrift(client, drift)
    const asks = { reason: message, question: 'Restore the setup?' }
    const { fixes: fileFixes, edits } = drift.restore
    yield { problem: { about, code: 'drifted', message }, fileFixes, edits, asks }
  }

  // Only the mode changes, and nobody is asked, so `withPrivateModes` adds the edit to any others.
  for (const { file, isOpen } of secretFiles(session, checked))
    if (isOpen)
      yield {
        problem: { about, code: 'private', message: `Other users could read ${file.path}` },
        fileFixes: [],
        edits: [],
      }
}

/** The edits of one client's fixes. They also close files with secrets to other users. */
function editsOf(
  session: Session,
  checked: ClientNow,
  fixes: readonly AvailableFix[],
): readonly FileEdit[] {
  const restoringEdits = fixes.flatMap(({ edits }) => edits)
  const fileFixes = fixes.flatMap((available) => available.fileFixes)
  return withPrivateModes(session, checked, repairEdits(checked, fileFixes, restoringEdits))
}

/** Adds to the edits the file modes that keep others from reading files with secrets. */
function withPrivateModes(
  session: Session,
  checked: ClientNow,
  edits: readonly FileEdit[],
): readonly FileEdit[] {
  const open = secretFiles(session, checked).filter(({ isOpen }) => isOpen)

  const otherEdits = edits.filter((edit) => open.every(({ file }) => file.path !== edit.path))
  const closingEdits = open.map(({ file, mode }): FileEdit => {
    const { path, format, holdsSecret, bytes } = file
    const edit = edits.find((planned) => planned.path === path) ?? {
      client: checked.client.id,
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

/** Shows the problems, and the keys of each file that change. */
function showFixes(session: Session, { edits, fixed }: FixResult): void {
  session.say('Will fix:')
  for (const { about, message } of fixed) session.say(`  ${about}: ${message}`)
  for (const edit of edits) for (const line of describeEdit(edit, session)) session.say(`  ${line}`)
}

/** A rollback treats every recorded address as ours, so the plan names a gateway only if repoint wrote it. */
function planOf(edits: readonly FileEdit[], clients: readonly ClientNow[], runs: Runs): Plan {
  const configured = clients.find(({ client, state }) => hasWrittenBaseUrl(client, state, runs))
  const gateway = configured?.gateway
  return {
    kind: 'repair',
    command: 'doctor',
    address: gateway?.address,
    baseUrls: gateway && customBaseUrls(gateway),
    model: configured && shownModel(configured.state),
    edits,
  }
}
