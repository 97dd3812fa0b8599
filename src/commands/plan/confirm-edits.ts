/** The plan of any command: show its files, and ask once for everything. */
import { describeEdit, editTitle } from '../../edits/describe.ts'
import { actionOf, type FileEdit } from '../../edits/types.ts'
import type { Finding } from '../../finding.ts'
import type { Consent, Session } from '../screen/session.ts'

/** The files in one line, or every setting. */
export function showEdits(session: Session, edits: readonly FileEdit[], isDetailed: boolean): void {
  const lines = isDetailed
    ? edits.flatMap((edit) => describeEdit(edit, session))
    : [edits.map((edit) => editTitle(edit, session)).join(', ')]
  for (const line of lines) session.say(`  ${line}`)
}

/** A plan that the user must confirm. */
interface PlanToConfirm {
  readonly edits: readonly FileEdit[]
  readonly consent: Consent
  readonly needingConsent?: readonly Pick<Finding, 'message'>[]
  /** Absent: every line is shown already. */
  readonly showDetails: (() => void) | undefined
}

/**
 * Asks once for everything. If nothing changes, it does not ask.
 *
 * @throws UserError `cancelled`; `confirmation-needed` without a terminal and without `--yes`
 */
export async function confirmEdits(session: Session, plan: PlanToConfirm): Promise<void> {
  if (plan.edits.some((edit) => actionOf(edit) !== 'unchanged')) await ask(session, plan)
  session.stopAsking()
}

function questionFor(markedPoints: number): string {
  if (markedPoints === 0) return 'Apply?'
  const points = markedPoints === 1 ? 'the point' : `the ${markedPoints} points`
  return `Apply, and accept ${points} marked "!"?`
}

function ask(
  session: Session,
  { consent, needingConsent = [], showDetails }: PlanToConfirm,
): Promise<void> {
  const needed = needingConsent.map(({ message }) => message.replace(/\.$/, ''))

  return session.requireConsent(
    consent,
    {
      message: questionFor(needingConsent.length),
      default: needingConsent.length === 0,
      showDetails,
    },
    {
      message:
        needed.length === 0
          ? 'This changes files, and repoint cannot ask here'
          : `This needs your consent, and repoint cannot ask here: ${needed.join('; ')}`,
      hint: 'To accept, add --yes. To see every change, add --dry-run.',
    },
  )
}
