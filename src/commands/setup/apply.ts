/**
 * Step 7 of a setup: write all files or none, read them back, save the gateway, and stop servers with an old key.
 *
 * In: a `SetupPlan` that the user has confirmed. Out: an `AppliedSetup`, which says what was written and what
 * remains to do.
 */
import { actionOf } from '../../edits/types.ts'
import type { UserError } from '../../errors.ts'
import { forgetAddress, rememberModels } from '../../state/remembered.ts'
import { saveGateway } from '../../state/save-gateway.ts'
import { acceptDrift } from '../../transaction/apply-plan.ts'
import type { ApplyResult } from '../../transaction/record.ts'
import { missingTrust, trustAdvice } from '../client-state/certificates.ts'
import { readClientFiles, stateNow } from '../client-state/client-files.ts'
import { stopOldServers } from '../client-state/program/running.ts'
import { changedSince } from '../client-state/written-files.ts'
import { changedClients, type NextSteps, nextSteps, writePlan } from '../plan/write-plan.ts'
import { mismatchIn, type SetupPlan } from './plan.ts'

/** What a setup has done. */
export interface AppliedSetup {
  readonly applied: ApplyResult
  readonly nextSteps: NextSteps
}

/** @throws UserError if a file cannot be written, or does not say what was planned */
export async function applySetup(plan: SetupPlan): Promise<AppliedSetup> {
  const { session, consent, catalog, access } = plan.proven
  const clients = plan.clientPlans.map(({ client }) => client)
  const applied = writeFiles(plan)
  forgetAddress(session.platform)
  if (catalog !== undefined) rememberModels(session.platform, catalog)

  const changed = changedClients(applied, clients)
  const serverAdvice = await stopOldServers(session, changed, consent)
  const beforeStart = clients.flatMap((client) => {
    const missing = missingTrust(session, client, stateNow(session, client).endpoint, access.caFile)
    return missing === undefined ? [] : [trustAdvice(session, client, missing)]
  })
  const steps = await nextSteps(session, { applied, clients, serverAdvice, beforeStart })
  return { applied, nextSteps: steps }
}

function writeFiles(plan: SetupPlan): ApplyResult {
  const { session } = plan.proven
  acceptFittingDrift(plan)
  return writePlan(session, plan, {
    findMismatches: () => mismatchesIn(plan),
    lastStep: (lock) => saveGateway(session.platform, gatewayToSave(plan), lock),
  })
}

/**
 * Records files that somebody edited since the last setup, and that already say what this setup would write.
 * If only such files are left, `applyPlan` records nothing: then `status` would go on to report the edit as drift,
 * and `doctor --fix` would undo it. Writes no file of a client.
 */
function acceptFittingDrift(plan: SetupPlan): void {
  const { session, runs } = plan.proven
  const editedByOthers = plan.edits.filter(
    (edit) =>
      actionOf(edit) === 'unchanged' &&
      changedSince(session, { path: edit.path, bytes: edit.before }, runs).length > 0,
  )
  if (editedByOthers.length > 0) acceptDrift(session.platform, { ...plan, edits: editedByOthers })
}

/** Why the written files do not say what was planned. */
function mismatchesIn({ proven, clientPlans }: SetupPlan): readonly UserError[] {
  const { session } = proven
  return clientPlans.flatMap(
    ({ client }) => mismatchIn(client, readClientFiles(session, client), proven.access) ?? [],
  )
}

function gatewayToSave(plan: SetupPlan) {
  const [{ resolved, safeguards, provenBy }] = plan.clientPlans
  const proof = { protocol: resolved.protocol, model: resolved.probeModel, safeguards }
  // If only the client could prove the gateway, a later probe by repoint would be rejected.
  return { access: plan.proven.access, proof: provenBy === 'probe' ? proof : undefined }
}
