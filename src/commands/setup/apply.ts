/** Step 7 of a setup: write all files or none, read them back, and stop servers with an old key. */
import type { Client } from '../../clients/contract/client.ts'
import { compact } from '../../compact.ts'
import { actionOf, type Plan } from '../../edits/types.ts'
import { UserError, valueOrError } from '../../errors.ts'
import { forgetAddress } from '../../state/last-address.ts'
import { saveModels } from '../../state/model-cache.ts'
import { saveGateway } from '../../state/save-gateway.ts'
import { type ApplyOptions, acceptDrift, applyPlan } from '../../transaction/apply-plan.ts'
import type { ApplyResult } from '../../transaction/record.ts'
import { readClientFiles } from '../client-state/client-files.ts'
import { adviceForRunning, nextCommand, stopOldServers } from '../client-state/program/program.ts'
import type { ClientAnswer } from '../client-state/program/try-client.ts'
import { changedSince } from '../client-state/written-files.ts'
import type { Session } from '../screen/session.ts'
import { refuseMismatch, type SetupPlan } from './plan.ts'

/** What a setup has done. */
export interface AppliedSetup {
  readonly applied: ApplyResult
  /** The answers to `--try-client`. */
  readonly tried: readonly ClientAnswer[]
  /** The remaining steps, for a script. They do not depend on which clients are running. */
  readonly next: readonly string[]
  /** The same for a person. The last line is the command to type. */
  readonly toType: readonly string[]
}

/** @throws UserError if a file cannot be written, does not say what was planned, or a client fails */
export async function applySetup(plan: SetupPlan): Promise<AppliedSetup> {
  const { context, catalog } = plan.proven
  const { session, consent } = context
  const clients = plan.clients.map(({ client }) => client)
  const applied = writeFiles(plan)
  forgetAddress(session.platform)
  if (catalog !== undefined) saveModels(session.platform, catalog)

  const changed = changedClients(applied, clients)
  const toDo = await stopOldServers(session, changed, consent)
  const tried = await tryClients(plan)
  return { applied, tried, ...(await nextSteps(session, { applied, clients, changed, toDo })) }
}

/** The clients of which a file was written. */
export function changedClients(
  applied: ApplyResult,
  clients: readonly Client[],
): readonly Client[] {
  return clients.filter(({ id }) =>
    applied.files.some(({ client, action }) => client === id && action !== 'unchanged'),
  )
}

/**
 * The remaining steps, and the command to type.
 *
 * @param toDo what `stopOldServers` returned
 */
export async function nextSteps(
  session: Session,
  {
    applied,
    clients,
    changed,
    toDo,
  }: {
    readonly applied: ApplyResult
    readonly clients: readonly Client[]
    readonly changed: readonly Client[]
    readonly toDo: readonly string[]
  },
): Promise<Pick<AppliedSetup, 'next' | 'toType'>> {
  const advice = clients.map(({ program }) => program.restartAdvice)
  const running = session.isJson ? [] : await adviceForRunning(session, changed)
  return {
    next: applied.run ? [...toDo, ...advice, 'Undo: repoint rollback'] : [],
    toType: [...toDo, ...running, nextCommand(session, clients)],
  }
}

function writeFiles(plan: SetupPlan): ApplyResult {
  const { session } = plan.proven.context
  acceptUnchanged(plan)
  return writePlan(session, plan, {
    findMismatches: () => mismatchesIn(plan),
    lastStep: (lock) => saveGateway(session.platform, gatewayToSave(plan), lock),
  })
}

/**
 * Writes all files of a plan or none, and reads them back.
 *
 * @param findMismatches why the written files do not say what was planned
 * @throws UserError as `applyPlan` does, and the first mismatch
 */
export function writePlan(
  session: Session,
  plan: Plan,
  {
    findMismatches,
    lastStep,
  }: Pick<ApplyOptions, 'lastStep'> & { readonly findMismatches: () => readonly UserError[] },
): ApplyResult {
  const mismatches: UserError[] = []
  const applied = applyPlan(session.platform, plan, {
    // They are thrown only after the run is recorded, so that the error can name its undo.
    verify: () => mismatches.push(...findMismatches()),
    lastStep,
  })
  session.noteApplied(applied)
  session.addFindings(...applied.findings)
  session.showFindings()
  if (mismatches[0] !== undefined) throw mismatches[0]
  return applied
}

/** Changes by others that this setup keeps no longer count as drift, although nothing is written. */
function acceptUnchanged(plan: SetupPlan): void {
  const { session, runs } = plan.proven.context
  const keptEdits = plan.edits.filter(
    (edit) =>
      actionOf(edit) === 'unchanged' &&
      changedSince(session, { path: edit.path, bytes: edit.before }, runs).length > 0,
  )
  if (keptEdits.length > 0) acceptDrift(session.platform, { ...plan, edits: keptEdits })
}

/** Why the written files do not say what was planned. */
function mismatchesIn({ proven, clients }: SetupPlan): readonly UserError[] {
  const { session } = proven.context
  return clients
    .map(({ client }) =>
      valueOrError(() => refuseMismatch(client, readClientFiles(session, client), proven.access)),
    )
    .filter((result) => result instanceof UserError)
}

function gatewayToSave(plan: SetupPlan) {
  const [{ resolved, answersSafeguards, isProvenByClient }] = plan.clients
  const proof = compact({
    protocol: resolved.protocol,
    model: resolved.probeModel,
    answersSafeguards,
  })
  // If only the client could prove the gateway, a later probe by repoint would be rejected.
  const isProvenByProbe = plan.proven.context.request.flags.verify && !isProvenByClient
  return { access: plan.proven.access, proof: isProvenByProbe ? proof : undefined }
}

/** Starts each client once for `--try-client`. */
async function tryClients({ proven, clients }: SetupPlan): Promise<readonly ClientAnswer[]> {
  const { session, request } = proven.context
  if (!request.flags.tryClient) return []

  const { tryClient } = await import('../client-state/program/try-client.ts')
  const tried: ClientAnswer[] = []
  for (const { client } of clients) tried.push(await tryClient(session, client, proven.access))
  return tried
}
