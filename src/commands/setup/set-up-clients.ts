/**
 * The steps of a setup. Every command that sets clients up makes a `SetupRequest`, and context.ts adds what
 * is known before the first step: the `SetupContext`. Besides it, each step takes and returns:
 *
 *     1. find the gateway      flags, Preset           ─▶  FoundGateway    ../find-gateway/find-gateway.ts
 *     2. read its list         FoundGateway.access     ─▶  ReachedGateway  ../prove/prove.ts
 *     3. resolve each client   ReachedGateway, Client  ─▶  ResolvedChoice  prove/choose-models.ts
 *     4. prove their models    ResolvedChoice          ─▶  ProvenSetup     prove/prove-clients.ts
 *     5. plan                  ProvenSetup             ─▶  SetupPlan       plan.ts
 *     6. show and ask          SetupPlan                                   here, ../plan/confirm-edits.ts
 *     7. apply                 SetupPlan               ─▶  AppliedSetup    apply.ts
 *     8. try the clients       SetupPlan, AppliedSetup ─▶  TriedClient     try.ts
 *     9. report                SetupPlan, AppliedSetup                     here, ../plan/write-plan.ts
 *
 * Step 3 applies the client's rules (`../resolve/`), and step 4 sends requests (`../prove/`).
 *
 * Steps 1 to 4 are one function, `proveGateway`, because a rejection can lead back to an earlier step. Before
 * step 7, no file of a client is written.
 */

import { basename } from 'node:path'
import type { ResolvedOptions } from '../../clients/contract/setup.ts'
import { overProtocol } from '../../clients/models/protocols.ts'
import { type Finding, messageWithLocation, shownAs } from '../../finding.ts'
import { addressFor, baseUrlFor } from '../../gateway/base-urls.ts'
import { snapshotSource, usesSnapshot } from '../../gateway/models/facts.ts'
import { rememberServed } from '../../state/remembered.ts'
import { savedGatewayFor } from '../../state/save-gateway.ts'
import { checkPlannedFiles } from '../../transaction/check-planned-files.ts'
import { clientNow, expectEditable } from '../client-state/client-now.ts'
import { recoverAndListRuns } from '../client-state/recorded-runs.ts'
import { confirmEdits, showEdits } from '../plan/confirm-edits.ts'
import { fileDocuments, sayOutcome } from '../plan/write-plan.ts'
import type { TriedClient } from '../prove/ask-client.ts'
import { servedBy } from '../prove/first-requests.ts'
import type { Session } from '../screen/session.ts'
import { type AppliedSetup, applySetup } from './apply.ts'
import { loadContext, type SetupContext, type SetupRequest } from './context.ts'
import { askForOptions, type ClientPlan, planSetup, type SetupPlan } from './plan.ts'
import type { ProvenSetup } from './prove/prove-clients.ts'
import { proveGateway } from './prove/prove-gateway.ts'
import { triedDocument, trySetup } from './try.ts'

/**
 * Sets clients up. A setup that fails throws.
 *
 * @param known the result of `recoverAndListRuns` and the started programs, if the command needed them before
 */
export async function setUpClients(
  session: Session,
  request: SetupRequest,
  known: Partial<Pick<SetupContext, 'runs' | 'programs'>> = {},
): Promise<void> {
  const { programs = new Map() } = known
  const runs = known.runs ?? recoverAndListRuns(session)
  const context = await loadContext(session, request, { runs, programs })
  // Guided setup shows instead which clients it cannot set up.
  if (request.chooseClients === undefined)
    for (const client of context.clients) expectEditable(clientNow(session, client, runs))

  const proven = await askForOptions(await proveGateway(context))

  const plan = await planSetup(proven)
  showSetup(plan)
  if (request.flags.dryRun) {
    sayDone(plan)
    reportSetup(plan)
    return
  }

  await confirmSetup(plan)
  const applied = await applySetup(plan)
  for (const choice of proven.choices)
    if (choice.provenBy === 'probe')
      rememberServed(session.platform, servedBy(proven.access, choice))
  sayDone(plan, applied)
  reportSetup(plan, { ...applied, tried: await trySetup(plan, applied) })
}

/** Shows the plan and what the user should know about it. @throws UserError if a file cannot be replaced */
function showSetup(plan: SetupPlan): void {
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
function confirmSetup(plan: SetupPlan): Promise<void> {
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

/** @param result absent: a dry run */
function sayDone({ proven: { session, request } }: SetupPlan, result?: AppliedSetup): void {
  const done = `✔ Done${request.flags.verify ? '' : ', not verified'}`
  sayOutcome(session, result?.applied, { done, unchanged: 'Already set up' })
}

/** @param result absent: a dry run */
function reportSetup(
  plan: SetupPlan,
  result?: AppliedSetup & { readonly tried: readonly TriedClient[] },
): void {
  const { session, request, balance, access } = plan.proven
  const { applied, tried = [], nextSteps } = result ?? {}
  const { verify, dryRun } = request.flags

  for (const line of nextSteps?.forPerson ?? []) session.say(`  ${line}`)
  if (!session.isJson) return

  const files = fileDocuments(plan, applied)
  session.document({
    command: plan.command,
    dryRun,
    changed: applied
      ? applied.run !== undefined
      : files.some(({ action }) => action !== 'unchanged'),
    run: applied?.run?.id ?? null,
    baseUrl: plan.address,
    gateway: savedGatewayFor(session.platform, access)?.name ?? null,
    // The name is part of the JSON contract: scripts read `roots`.
    roots: plan.baseUrls,
    model: plan.model,
    files,
    // With `--no-verify` neither is true: nobody knows whether the gateway works with these files.
    verified: { before: verify, after: applied ? verify : null },
    balance,
    tried: tried.length > 0 ? tried.map(triedDocument) : undefined,
    warnings: session.findingsAsJson,
    next: nextSteps?.forScript ?? [],
  })
}
