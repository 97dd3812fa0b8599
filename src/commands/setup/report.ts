/** Step 8 of a setup: report. */
import { editDocument } from '../../edits/describe.ts'
import { type AppliedSetup, isProven } from './apply.ts'
import type { SetupPlan } from './plan.ts'

/** @param result absent: a dry run */
export function reportSetup(plan: SetupPlan, result?: AppliedSetup): void {
  const { session, request, balance } = plan.run
  const { applied, tried = [], next = [], toType = [] } = result ?? {}
  const { verify, dryRun } = request.flags
  if (applied === undefined) session.say('Dry run: nothing was changed.')
  else if (applied.run === undefined)
    session.say('Everything is set up so already; nothing was changed.')
  else {
    session.say(`✔ Done${verify ? '' : ', not verified'}: run ${applied.run.id}`)
    session.say('  Undo: repoint rollback')
    for (const { path, note } of applied.files)
      if (note !== undefined) session.say(`  ${session.showPath(path)}: ${note}`)
  }

  for (const { client, said } of tried) session.say(`  ${client} says: ${said}`)
  for (const line of toType) session.say(`  ${line}`)

  const files = plan.edits.map((edit, index) => {
    const file = editDocument(edit)
    const { action = file.action, note } = applied?.files[index] ?? {}
    return { ...file, action, note }
  })
  session.document({
    command: plan.command,
    dryRun,
    changed: applied
      ? applied.run !== undefined
      : files.some(({ action }) => action !== 'unchanged'),
    run: applied?.run?.id ?? null,
    baseUrl: plan.baseUrl,
    roots: plan.baseUrls,
    model: plan.model,
    files,
    // The gateway was proven; the files, read back, say what was proven.
    verified: { before: result ? isProven(plan) : verify, after: applied ? verify : null },
    balance,
    tried: tried.length > 0 ? tried : undefined,
    warnings: session.warnings,
    next,
  })
}
