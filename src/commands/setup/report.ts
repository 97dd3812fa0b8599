import { protocolOf } from '../../clients/client.ts'
import { describeEdit, editDocument } from '../../edits/describe.ts'
import type { Plan } from '../../edits/plan.ts'
import { isFromSnapshot, snapshotSource } from '../../gateway/models/facts.ts'
import { rootOf, shownRoot } from '../../gateway/roots.ts'
import type { Applied } from '../../transaction/record.ts'
import type { Tried } from '../inventory/try-client.ts'
import type { Draft } from './draft.ts'
import type { ProvenRun } from './run.ts'

/** The plan as a person reads it, and beside it what else there is to know. */
export function showDrafts(
  { session, access, catalog }: ProvenRun,
  drafts: readonly Draft[],
): void {
  for (const { client, models, obstacles, edits } of drafts) {
    const protocol = protocolOf(client, models)
    const root = rootOf(access, protocol)
    session.say(`${client.label}: ${shownRoot(root, protocol)}, model ${models.model}`)
    const { model, contextWindow, offered = [] } = models
    const isTold = contextWindow !== undefined || offered.length > 0
    const listed = catalog?.models.find(({ id }) => id === model) ?? { id: model }
    if (isTold && isFromSnapshot(listed))
      session.say(`  what the gateway does not say of it is said by ${snapshotSource}`)
    for (const edit of edits)
      for (const line of describeEdit(edit, session)) session.say(`  ${line}`)
    for (const { repair, message, place } of obstacles)
      if (repair) session.say(`  repairs: ${message} (${place})`)
  }
  session.showNotices('note')
}

type FileResult = Pick<Applied['files'][number], 'action' | 'note'>

/** What a setup has come to. */
export interface SetupResult {
  /** Absent: it was a dry run. */
  readonly applied?: Applied
  readonly tried: readonly Tried[]
  /** Whether the gateway was asked before anything was written, and with success. */
  readonly isProvenBefore: boolean
  /** What a person has still to do. */
  readonly next: readonly string[]
}

export function reportSetup(
  { session, request }: ProvenRun,
  plan: Plan,
  result: SetupResult,
): void {
  const { applied, tried, isProvenBefore, next } = result
  const { verify, dryRun } = request.flags
  if (applied === undefined) session.say('Dry run: nothing was changed.')
  else if (applied.run === undefined) session.say('Everything is already so; nothing was changed.')
  else {
    const proof = verify ? 'and proven: key, address and model work' : 'not verified'
    session.say(`Done, ${proof}. Run ${applied.run.id}.`)
    for (const { path, note } of applied.files)
      if (note !== undefined) session.say(`  ${session.showPath(path)}: ${note}`)
  }
  for (const { client, said } of tried) session.say(`  ${client} says: ${said}`)
  for (const line of next) session.say(`  ${line}`)

  const files = plan.edits.map((edit, index) => {
    const file = editDocument(edit)
    const { action, note }: FileResult = applied?.files[index] ?? file
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
    roots: plan.roots,
    model: plan.model,
    files,
    // The gateway was proven; the files, read back, say what was proven.
    verified: { before: isProvenBefore, after: applied ? verify : null },
    tried: tried.length > 0 ? tried : undefined,
    warnings: session.notices,
    next,
  })
}
