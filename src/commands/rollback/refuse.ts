/** Refuses a rollback before it changes anything: a forced one that is unsafe, and one of an unknown client. */
import { clientRows, familyRows, loadClients } from '../../clients/list.ts'
import type { FileEdit } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { RollbackPlan } from '../../transaction/plan-rollback.ts'
import { isRefused } from '../../transaction/undo/undo-safety.ts'
import { gatewayOf, shownAddress } from '../client-state/client-facts.ts'
import { readClientFiles } from '../client-state/client-files.ts'
import type { Session } from '../screen/session.ts'
import type { ClientUndo, RollbackContext } from './context.ts'
import { situationsFinder } from './find-situations.ts'

/**
 * Rejects a forced rollback after which a client would send a wrong key. A forced rollback restores
 * copies whatever else changed, so that the plan itself does not check this.
 *
 * @throws UserError `config-conflict`
 */
export function refuseUnsafe(
  context: RollbackContext,
  { edits }: RollbackPlan,
  clientUndos: readonly ClientUndo[],
): void {
  const { session, runs } = context
  const contents = {
    now: new Map(edits.map(({ path, before }) => [path, before])),
    result: new Map(edits.map(({ path, after }) => [path, after])),
  }
  const findSituations = situationsFinder(context)
  for (const { client, resultState } of clientUndos) {
    if (!isRefused(findSituations(client.id, contents))) continue

    const { endpoint, login } = resultState
    const key = endpoint.key === undefined ? 'no key' : 'a key that repoint did not write'
    const { address } = gatewayOf(session, client, resultState, runs)!
    throw new UserError({
      code: 'config-conflict',
      message: `${client.label} would use ${shownAddress(client, resultState)} with ${login ?? key}`,
      hint: `Set it up instead: repoint ${client.id} --base-url ${address}`,
    })
  }
}

/**
 * Rejects the rollback of a run by another version of repoint, if it wrote for a client that this version
 * does not know into a file of a client that it knows. Only that version can tell what the undo means for
 * the known client.
 *
 * @throws UserError `config-conflict`
 */
export async function refuseUnknownClient(
  session: Session,
  { edits }: RollbackPlan,
): Promise<void> {
  const isUnknown = (edit: FileEdit) => clientRows.every(({ id }) => id !== edit.client)
  const unknownEdits = edits.filter(isUnknown)
  if (unknownEdits.length === 0) return

  const clients = await loadClients(familyRows)
  const knownFiles = clients.flatMap((client) => readClientFiles(session, client))
  const edit = unknownEdits.find(({ path }) => knownFiles.some((file) => file.path === path))
  if (edit === undefined) return
  throw new UserError({
    code: 'config-conflict',
    message: `This version of repoint does not know the client ${edit.client}, for which ${session.showPath(edit.path)} was written`,
    hint: 'Use the version of repoint that wrote it, or a newer one.',
  })
}
