/** Step 6 of a setup: show the plan and ask. */
import { overProtocol, protocolOf } from '../../clients/client.ts'
import { describeEdit, editTitle } from '../../edits/describe.ts'
import { actionOf, type FileEdit } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import { type Finding, messageWithLocation } from '../../finding.ts'
import { snapshotSource, usesSnapshot } from '../../gateway/models/facts.ts'
import { rootOf, shownRoot } from '../../gateway/roots.ts'
import { checkTargets } from '../../transaction/apply.ts'
import type { Consent, Session } from '../screen/session.ts'
import type { SetupPlan } from './plan.ts'

/** Shows the plan and what the user should know about it. @throws UserError if a file cannot be replaced */
export function showSetup(plan: SetupPlan): void {
  const { session } = plan.run
  session.addFindings(...plan.clients.flatMap(({ findings }) => findings))
  showPlan(plan, showsDetails(plan))
  session.showFindings('note')

  session.addFindings(...checkTargets(session.platform, plan))
  session.showFindings('note')
  session.addFindings(...plan.consents)
}

/**
 * Asks once for everything. If nothing changes, it does not ask.
 *
 * @throws UserError `cancelled`; `confirmation-needed` without a terminal and without `--yes`
 */
export function confirmSetup(plan: SetupPlan): Promise<void> {
  const { session, consent } = plan.run
  const showDetails = showsDetails(plan) ? undefined : () => showPlan(plan, true)
  return confirmEdits(session, { ...plan, consent, showDetails })
}

/** What the user is asked about. */
interface ConfirmedPlan extends Pick<SetupPlan, 'edits'> {
  readonly consent: Consent
  readonly consents?: readonly Pick<Finding, 'message'>[]
  /** Absent: every line is shown already. */
  readonly showDetails: (() => void) | undefined
}

/** As `confirmSetup`, for the plan of any command. */
export async function confirmEdits(session: Session, plan: ConfirmedPlan): Promise<void> {
  if (plan.edits.some((edit) => actionOf(edit) !== 'unchanged')) await ask(session, plan)
  session.platform.ask.release()
  if (session.platform.interrupt.aborted)
    throw new UserError({ code: 'cancelled', message: 'Cancelled' })
}

/** The files in one line, or every key. */
export function showEdits(session: Session, edits: readonly FileEdit[], isDetailed: boolean): void {
  const summary = edits.map((edit) => editTitle(edit, session)).join(', ')
  const details = edits.flatMap((edit) => describeEdit(edit, session))
  for (const line of isDetailed ? details : [summary]) session.say(`  ${line}`)
}

function showsDetails({ run: { request } }: SetupPlan): boolean {
  return request.flags.details === true || request.flags.dryRun === true
}

/** Two lines for each client, or every key; and what needs consent. */
function showPlan({ run, clients, consents }: SetupPlan, isDetailed: boolean): void {
  const { session, access, catalog } = run
  for (const { client, resolved, problems, edits } of clients) {
    const protocol = protocolOf(client, resolved)
    const address = shownRoot(rootOf(access, protocol), protocol)
    const { model, contextWindow, offered = [] } = resolved
    const list = offered.length > 1 ? `, ${offered.length} models in its list` : ''
    session.say(
      `${client.label}: ${address}, model ${model}${overProtocol(client, resolved)}${list}`,
    )

    const hasLimits = contextWindow !== undefined || offered.length > 0
    const listed = catalog?.models.find(({ id }) => id === model) ?? { id: model }
    if (isDetailed && hasLimits && usesSnapshot(listed))
      session.say(`  limits of ${model} that the gateway does not tell come from ${snapshotSource}`)

    showEdits(session, edits, isDetailed)
    for (const problem of problems)
      if (problem.fix && !problem.isReported)
        session.say(`  repairs: ${messageWithLocation(problem)}`)
  }

  for (const { message } of consents) session.say(`  ! ${message}`)
}

function ask(
  session: Session,
  { consent, consents = [], showDetails }: ConfirmedPlan,
): Promise<void> {
  const needed = consents.map(
    ({ message }) => `the plan needs your consent: ${message.replace(/\.$/, '')}`,
  )

  return session.agree(
    consent,
    {
      message: consents.length > 0 ? 'Apply this, with what is marked "!"?' : 'Apply this?',
      default: consents.length === 0,
      showDetails,
    },
    {
      message: ['There is no terminal to ask whether to apply the plan', ...needed].join('; '),
      hint: 'Add --yes to accept the plan, or --dry-run to see it.',
    },
  )
}
