/** The plan of any command: report what was written. */
import { editDocument } from '../../edits/describe.ts'
import type { Plan } from '../../edits/types.ts'
import type { ApplyResult } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'

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
