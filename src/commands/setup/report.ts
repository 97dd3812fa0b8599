import { protocolOf } from '../../clients/client.ts'
import { describeEdit, editDocument, titleOf } from '../../edits/describe.ts'
import type { Plan } from '../../edits/plan.ts'
import type { Finding } from '../../finding.ts'
import { isFromSnapshot, snapshotSource } from '../../gateway/models/facts.ts'
import { rootOf, shownRoot } from '../../gateway/roots.ts'
import type { Applied } from '../../transaction/record.ts'
import type { Tried } from '../client-state/try-client.ts'
import type { ClientPlan } from './plan.ts'
import type { ProvenRun } from './request.ts'

/** The plan as a person reads it: two lines a client, or every key; and what needs consent. */
export function showPlan(
  { session, access, catalog }: ProvenRun,
  drafts: readonly ClientPlan[],
  shown: { readonly consents: readonly Finding[]; readonly isDetailed: boolean },
): void {
  for (const { client, models, obstacles, edits } of drafts) {
    const protocol = protocolOf(client, models)
    const address = shownRoot(rootOf(access, protocol), protocol)
    const { model, contextWindow, offered = [] } = models
    const list = offered.length > 1 ? `, ${offered.length} models in its list` : ''
    session.say(`${client.label}: ${address}, model ${model}${list}`)

    const isTold = contextWindow !== undefined || offered.length > 0
    const listed = catalog?.models.find(({ id }) => id === model) ?? { id: model }
    if (shown.isDetailed && isTold && isFromSnapshot(listed))
      session.say(`  limits of ${model} that the gateway does not tell come from ${snapshotSource}`)

    const details = edits.flatMap((edit) => describeEdit(edit, session))
    const summary = edits.map((edit) => titleOf(edit, session)).join(', ')
    for (const line of shown.isDetailed ? details : [summary]) session.say(`  ${line}`)
    for (const { fix, isReported, message, location } of obstacles)
      if (fix && !isReported) session.say(`  repairs: ${message} (${location})`)
  }
  for (const { message } of shown.consents) session.say(`  ! ${message}`)
}

/** What a setup has come to. */
export interface SetupResult {
  /** Absent: it was a dry run. */
  readonly applied?: Applied
  readonly tried: readonly Tried[]
  /** Whether the gateway was asked before anything was written, and with success. */
  readonly isProvenBefore: boolean
  /** What is still to do, for a script: whether a client runs is not looked at. */
  readonly next: readonly string[]
  /** The same for a person; the last line is the command to type. */
  readonly toType: readonly string[]
}

export function reportSetup(
  { session, request, balance }: ProvenRun,
  plan: Plan,
  result: SetupResult,
): void {
  const { applied, tried, isProvenBefore, next, toType } = result
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
    verified: { before: isProvenBefore, after: applied ? verify : null },
    balance,
    tried: tried.length > 0 ? tried : undefined,
    warnings: session.warnings,
    next,
  })
}
