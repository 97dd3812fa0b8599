/** Step 8 of a setup: report. */
import { editDocument } from '../../edits/describe.ts'
import type { Plan } from '../../edits/types.ts'
import type { ApplyResult } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import type { AppliedSetup } from './apply.ts'
import type { SetupPlan } from './plan.ts'

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

/** @param result absent: a dry run */
export function reportSetup(plan: SetupPlan, result?: AppliedSetup): void {
  const { context, balance } = plan.proven
  const { session, request } = context
  const { applied, tried = [], next = [], toType = [] } = result ?? {}
  const { verify, dryRun } = request.flags
  const done = `✔ Done${verify ? '' : ', not verified'}`
  sayOutcome(session, applied, { done, unchanged: 'Already set up' })

  for (const { client, said } of tried) session.say(`  ${client} says: ${said}`)
  for (const line of toType) session.say(`  ${line}`)

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
    next,
  })
}
