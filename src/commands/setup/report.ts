/**
 * Step 8 of a setup: report.
 *
 * In: the `SetupPlan`, and the `AppliedSetup` unless it was a dry run. Out: lines for a person, and the JSON
 * document.
 */
import { fileDocuments, sayOutcome } from '../plan/write-plan.ts'
import type { AppliedSetup } from './apply.ts'
import type { SetupPlan } from './plan.ts'

/** @param result absent: a dry run */
export function reportSetup(plan: SetupPlan, result?: AppliedSetup): void {
  const { session, request, balance } = plan.proven
  const { applied, tried = [], nextSteps } = result ?? {}
  const { verify, dryRun } = request.flags
  const done = `✔ Done${verify ? '' : ', not verified'}`
  sayOutcome(session, applied, { done, unchanged: 'Already set up' })

  for (const { client, said } of tried) session.say(`  ${client} says: ${said}`)
  for (const line of nextSteps?.forPerson ?? []) session.say(`  ${line}`)

  const files = fileDocuments(plan, applied)
  session.document({
    command: plan.command,
    dryRun,
    changed: applied
      ? applied.run !== undefined
      : files.some(({ action }) => action !== 'unchanged'),
    run: applied?.run?.id ?? null,
    baseUrl: plan.address,
    // The name is part of the JSON contract: scripts read `roots`.
    roots: plan.baseUrls,
    model: plan.model,
    files,
    // With `--no-verify` neither is true: nobody knows whether the gateway works with these files.
    verified: { before: verify, after: applied ? verify : null },
    balance,
    tried: tried.length > 0 ? tried : undefined,
    warnings: session.findingsAsJson,
    next: nextSteps?.forScript ?? [],
  })
}
