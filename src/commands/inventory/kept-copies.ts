import { loadClients, rows } from '../../clients/list.ts'
import { resultOf, UserError } from '../../errors.ts'
import type { Notice } from '../../notice.ts'
import type { Session } from '../screen/session.ts'
import { readClientFiles } from './client-files.ts'

/** What clients keep of a key where neither an undo nor `forget` reaches. @param ids of the clients */
export async function keptCopies(
  session: Session,
  ids: readonly string[],
): Promise<readonly Notice[]> {
  const clients = await loadClients(rows.filter(({ id }) => ids.includes(id)))
  return clients.flatMap((client) => {
    const texts = resultOf(() => readClientFiles(session, client))
    return texts instanceof UserError ? [] : (client.keepsCopies?.(session.platform, texts) ?? [])
  })
}
