/**
 * Step 6 of a setup: show the plan and ask.
 *
 * In: a `SetupPlan`. Out: nothing. If the user does not consent, it throws.
 */
import { basename } from 'node:path'
import type { ResolvedOptions } from '../../clients/contract/setup.ts'
import { overProtocol } from '../../clients/models/protocols.ts'
import { type Finding, messageWithLocation, shownAs } from '../../finding.ts'
import { addressFor, baseUrlFor } from '../../gateway/base-urls.ts'
import { snapshotSource, usesSnapshot } from '../../gateway/models/facts.ts'
import { checkPlannedFiles } from '../../transaction/check-planned-files.ts'
import { confirmEdits, showEdits } from '../plan/confirm-edits.ts'
import type { Session } from '../screen/session.ts'
import type { ClientPlan, SetupPlan } from './plan.ts'
import type { ProvenSetup } from './prove/prove-clients.ts'

/** Shows the plan and what the user should know about it. @throws UserError if a file cannot be replaced */
export function showSetup(plan: SetupPlan): void {
  const { session } = plan.proven
  session.addFindings(...plan.clientPlans.flatMap(({ findings }) => findings))
  showPlan(plan, showsDetails(plan))
  session.showFindings()

  session.addFindings(...checkPlannedFiles(session.platform, plan))
  session.showFindings()
  // `showPlan` has shown them. The JSON document has them too.
  session.addShownFindings(...plan.needingConsent)
}

/**
 * Asks once for everything. If nothing changes, it does not ask.
 *
 * @throws UserError `cancelled`; `confirmation-needed` without a terminal and without `--yes`
 */
export function confirmSetup(plan: SetupPlan): Promise<void> {
  const { session, consent } = plan.proven
  const showDetails = showsDetails(plan) ? undefined : () => showPlan(plan, true)
  return confirmEdits(session, { ...plan, consent, showDetails })
}

function showsDetails({ proven }: SetupPlan): boolean {
  const { request } = proven
  return request.flags.details === true || request.flags.dryRun === true
}

/** The plan of each client, and what needs consent. Several clients get a short table, unless detailed. */
function showPlan(plan: SetupPlan, isDetailed: boolean): void {
  const { proven, clientPlans, needingConsent } = plan
  if (clientPlans.length > 1 && !isDetailed) showSummary(plan)
  else for (const clientPlan of clientPlans) showClient(proven, clientPlan, isDetailed)
  for (const { message } of needingConsent) proven.session.say(`  ! ${message}`)
}

/** One row for each client: its model and its files. */
function showSummary({ proven, clientPlans }: SetupPlan): void {
  const { session } = proven
  const rows = clientPlans.map(({ client, resolved, edits }) => {
    const files = edits.map(({ path }) => basename(path))
    return [client.label, modelOf(resolved), files.join(', ')]
  })
  session.sayTable(['CLIENT', 'MODEL', 'FILES'], rows)
  for (const { client, problems } of clientPlans)
    showFixes(session, problems, (effect) => `${client.label}: ${effect}`)
}

/** Two lines for one client, or every setting. */
function showClient(
  { session, access, catalog }: ProvenSetup,
  { client, resolved, problems, edits }: ClientPlan,
  isDetailed: boolean,
): void {
  const { model, protocol, contextWindow, offered } = resolved
  const address = addressFor(baseUrlFor(access, protocol), protocol)
  const via = overProtocol(client, resolved)
  session.say(`${client.label}: ${address}, model ${modelOf(resolved, via)}`)

  const hasLimits = contextWindow !== undefined || offered.length > 0
  const listed = catalog?.models.find(({ id }) => id === model) ?? { id: model }
  if (isDetailed && hasLimits && usesSnapshot(listed))
    session.say(
      `  The limits of ${model} that the gateway does not report come from ${snapshotSource}`,
    )

  showEdits(session, edits, isDetailed)
  showFixes(session, problems, (effect) => effect)
}

/** `gpt-5.6-sol, 6 models in its list`. */
function modelOf({ model, offered }: ResolvedOptions, via = ''): string {
  const list = offered.length > 1 ? `, ${offered.length} models in its list` : ''
  return `${model}${via}${list}`
}

function showFixes(
  session: Session,
  problems: readonly Finding[],
  format: (effect: string) => string,
): void {
  const effects = problems
    .filter((problem) => shownAs(problem) === 'fix')
    .map((problem) => problem.fix?.effect ?? `fixes: ${messageWithLocation(problem)}`)
  for (const effect of new Set(effects)) session.say(`  ${format(effect)}`)
}
