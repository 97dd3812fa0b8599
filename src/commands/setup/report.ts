/**
 * Step 9 of a setup: report.
 *
 * In: the `SetupPlan`, and the `AppliedSetup` unless it was a dry run. Out: lines for a person, and the JSON
 * document.
 */

import { savedGatewayFor } from '../../state/save-gateway.ts'
import { fileDocuments, sayOutcome } from '../plan/write-plan.ts'
import type { TriedClient } from '../prove/ask-client.ts'
import type { AppliedSetup } from './apply.ts'
import type { SetupPlan } from './plan.ts'
import { triedDocument } from './try.ts'

/** @param result absent: a dry run */
export function sayDone({ proven: { session, request } }: SetupPlan, result?: AppliedSetup): void {
  const done = `✔ Done${request.flags.verify ? '' : ', not verified'}`
  sayOutcome(session, result?.applied, { done, unchanged: 'Already set up' })
}

/** @param result absent: a dry run */
export function reportSetup(
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
