/** The plan of any command: write all files or none, read them back, and report what happened and what remains to do. */
import type { Client } from '../../clients/contract/client.ts'
import { editDocument } from '../../edits/describe.ts'
import type { Plan } from '../../edits/types.ts'
import { listWords } from '../../text.ts'
import { type ApplyOptions, applyPlan } from '../../transaction/apply-plan.ts'
import type { ApplyResult } from '../../transaction/record.ts'
import { isInstalled } from '../client-state/program/installed-program.ts'
import { adviceForRunning } from '../client-state/program/running.ts'
import type { Session } from '../screen/session.ts'

/** As `applyPlan`, and shows its findings. @throws UserError as `applyPlan` does, and the first mismatch */
export function writePlan(session: Session, plan: Plan, options: ApplyOptions): ApplyResult {
  const applied = applyPlan(session.platform, plan, options)
  // The error of a mismatch names the undo of this run.
  session.noteApplied(applied)
  session.addFindings(...applied.findings)
  session.showFindings()

  const [mismatch] = applied.mismatches
  if (mismatch !== undefined) throw mismatch
  return applied
}

/** The clients of which a file was written. */
export function changedClients(
  applied: ApplyResult,
  clients: readonly Client[],
): readonly Client[] {
  return clients.filter(({ id }) =>
    applied.files.some(({ client, action }) => client === id && action !== 'unchanged'),
  )
}

/** What remains to do after a plan was applied. */
export interface NextSteps {
  /** For a script. They do not depend on which clients are running. */
  readonly forScript: readonly string[]
  /** The same for a person. The last line is the command to type. */
  readonly forPerson: readonly string[]
}

/**
 * The remaining steps, and the command to type.
 *
 * @param serverAdvice what `stopOldServers` returned
 */
export async function nextSteps(
  session: Session,
  {
    applied,
    clients,
    serverAdvice,
    beforeStart = [],
  }: {
    readonly applied: ApplyResult
    readonly clients: readonly Client[]
    readonly serverAdvice: readonly string[]
    /** What to type before a client starts. */
    readonly beforeStart?: readonly string[]
  },
): Promise<NextSteps> {
  const advice = clients.map(({ program }) => program.restartAdvice)
  const changed = changedClients(applied, clients)
  const running = await adviceForRunning(session, changed)
  return {
    forScript: applied.run
      ? [...serverAdvice, ...advice, ...beforeStart, 'Undo: repoint rollback']
      : [],
    forPerson: [...serverAdvice, ...running, ...beforeStart, nextCommand(session, clients)],
  }
}

function nextCommand(session: Session, clients: readonly Client[]): string {
  const commands = clients.map((client) => {
    const { command } = client.program
    return isInstalled(session, client) ? command : `${command} (not installed here)`
  })
  return `Now run: ${listWords([...new Set(commands)], 'or')}`
}

/**
 * Reports what happened to a plan.
 *
 * @param applied absent: a dry run
 */
export function sayOutcome(
  session: Session,
  applied: ApplyResult | undefined,
  { done, unchanged }: { readonly done: string; readonly unchanged: string },
): void {
  if (applied === undefined) session.say('Dry run: nothing changed.')
  else if (applied.run === undefined) session.say(`${unchanged}. Nothing changed.`)
  else {
    session.say(`${done}. Undo: repoint rollback`)
    for (const { path, note } of applied.files)
      if (note !== undefined) session.say(`  ${session.showPath(path)}: ${note}`)
  }
}

/**
 * The files of a plan as `--json` prints them.
 *
 * @param applied absent: a dry run
 */
export function fileDocuments({ edits }: Pick<Plan, 'edits'>, applied: ApplyResult | undefined) {
  return edits.map((edit, index) => {
    const file = editDocument(edit)
    const { action = file.action, note } = applied?.files[index] ?? {}
    return { ...file, action, note }
  })
}
