import type { Notice } from '../../clients/client.ts'
import { describeEdit } from '../../edits/describe.ts'
import { actionOf, type FileEdit, type Plan } from '../../edits/plan.ts'
import type { GatewayAccess } from '../../gateway/types.ts'
import type { Applied } from '../../transaction/record.ts'
import type { Tried } from '../client-program.ts'
import type { Session } from '../screen/session.ts'
import type { Draft } from './draft.ts'

/** The plan as a person reads it, and beside it what else there is to know. */
export function showPlan(
  session: Session,
  access: GatewayAccess,
  drafts: readonly Draft[],
  warnings: readonly Notice[],
): void {
  for (const { client, models, obstacles, edits } of drafts) {
    session.say(`${client.label}: ${access.baseUrl}, model ${models.model}`)
    for (const edit of edits) for (const line of describe(session, edit)) session.say(`  ${line}`)
    for (const { repair, message, place } of obstacles)
      if (repair) session.say(`  repairs: ${message} (${place})`)
  }
  const shown = new Map(warnings.map((warning) => [warning.message, warning]))
  for (const { message, hint } of shown.values()) {
    session.remark(`note: ${message}`)
    if (hint !== undefined) session.remark(`      ${hint}`)
  }
}

/** What a dry run says at its end. */
export function reportDryRun(
  session: Session,
  plan: Plan,
  warnings: readonly Notice[],
  isVerified: boolean,
): void {
  session.say('Dry run: nothing was changed.')
  session.document({
    command: plan.command,
    dryRun: true,
    changed: plan.edits.some((edit) => actionOf(edit) !== 'unchanged'),
    run: null,
    baseUrl: plan.baseUrl,
    model: plan.model,
    files: plan.edits.map((edit) => ({
      path: edit.path,
      action: actionOf(edit),
      // The first line names the file.
      changes: describe(session, edit)
        .slice(1)
        .map((line) => line.trim()),
    })),
    verified: { before: isVerified, after: false },
    warnings,
    next: [],
  })
}

/** What a setup has to tell at its end. */
export interface SetupResult {
  readonly plan: Plan
  readonly applied: Applied
  readonly isVerified: boolean
  readonly warnings: readonly Notice[]
  readonly tried: readonly Tried[]
  /** What a person has still to do. */
  readonly next: readonly string[]
}

export function reportSetup(session: Session, result: SetupResult): void {
  const { plan, applied, isVerified, warnings, tried, next } = result
  if (applied.run === undefined) session.say('Everything is already so; nothing was changed.')
  else {
    const proof = isVerified ? 'and proven: key, address and model work' : 'not verified'
    session.say(`Done, ${proof}. Run ${applied.run.id}.`)
    for (const { path, note } of applied.files)
      if (note !== undefined) session.say(`  ${session.showPath(path)}: ${note}`)
  }
  for (const { client, said } of tried) session.say(`  ${client} says: ${said}`)
  for (const line of next) session.say(`  ${line}`)
  session.document({
    command: plan.command,
    changed: applied.run !== undefined,
    run: applied.run?.id ?? null,
    baseUrl: plan.baseUrl,
    model: plan.model,
    files: applied.files.map(({ path, action, note }) => ({
      path,
      action,
      ...(note === undefined ? {} : { note }),
    })),
    verified: { before: isVerified, after: isVerified },
    ...(tried.length === 0 ? {} : { tried }),
    warnings,
    next,
  })
}

function describe(session: Session, edit: FileEdit): string[] {
  return describeEdit(edit, { showPath: (path) => session.showPath(path) })
}
