/**
 * The steps of a setup. Every command that sets clients up makes a `SetupRequest`, and context.ts adds what
 * is known before the first step: the `SetupContext`. Besides it, each step takes and returns:
 *
 *     1. find the gateway      flags, Preset           ─▶  FoundGateway    ../find-gateway/find-gateway.ts
 *     2. read its list         FoundGateway.access     ─▶  ReachedGateway  ../prove/prove.ts
 *     3. resolve each client   ReachedGateway, Client  ─▶  ResolvedChoice  prove/choose-models.ts
 *     4. prove their models    ResolvedChoice          ─▶  ProvenSetup     prove/prove-clients.ts
 *     5. plan                  ProvenSetup             ─▶  SetupPlan       plan.ts
 *     6. show and ask          SetupPlan                                   confirm.ts
 *     7. apply                 SetupPlan               ─▶  AppliedSetup    apply.ts
 *     8. try the clients       SetupPlan, AppliedSetup ─▶  TriedClient     try.ts
 *     9. report                SetupPlan, AppliedSetup                     report.ts
 *
 * Step 3 applies the client's rules (`../resolve/`), and step 4 sends requests (`../prove/`).
 *
 * Steps 1 to 4 are one function, `proveGateway`, because a rejection can lead back to an earlier step. Before
 * step 7, no file of a client is written.
 */
import { rememberServed } from '../../state/remembered.ts'
import { clientNow, expectEditable } from '../client-state/client-now.ts'
import { recoverAndListRuns } from '../client-state/recorded-runs.ts'
import { servedBy } from '../prove/first-requests.ts'
import type { Session } from '../screen/session.ts'
import { applySetup } from './apply.ts'
import { confirmSetup, showSetup } from './confirm.ts'
import { loadContext, type SetupContext, type SetupRequest } from './context.ts'
import { askForOptions, planSetup } from './plan.ts'
import { proveGateway } from './prove/prove-gateway.ts'
import { reportSetup, sayDone } from './report.ts'
import { trySetup } from './try.ts'

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
