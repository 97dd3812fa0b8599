/**
 * The clients of a rollback, and the files that they read. The transaction knows only the recorded files, so the
 * command finds out what an undo would mean for a client.
 */
import { posix, win32 } from 'node:path'
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import type { ClientState } from '../../clients/contract/state.ts'
import { asPlanned } from '../../clients/files/parse-file.ts'
import { clientRows, familyIds } from '../../clients/list.ts'
import type { RollbackPlan } from '../../transaction/plan-rollback.ts'
import type { RecordedFile, Runs } from '../../transaction/record.ts'
import { runsOf } from '../client-state/client-facts.ts'
import { listClientFiles, readClientFiles } from '../client-state/client-files.ts'
import type { Session } from '../screen/session.ts'

/** The recorded runs, and the clients that they changed. */
export interface RollbackContext {
  readonly session: Session
  readonly runs: Runs
  /** One client of each family that a run names. */
  readonly clients: readonly Client[]
}

/** What a rollback knows of a client. */
export interface ClientHistory {
  readonly session: Session
  readonly client: Client
  /** The files that it reads now, and those that an undo can restore. */
  readonly files: LoadedFiles
  /** The runs that changed them. */
  readonly runs: Runs
}

/** The files of a client before a rollback and after it. */
export interface ClientUndo {
  readonly client: Client
  readonly now: LoadedFiles
  readonly result: LoadedFiles
  readonly resultState: ClientState
}

/** The clients whose files a rollback edits. */
export function clientUndosOf(
  { session, runs, clients }: RollbackContext,
  { edits }: RollbackPlan,
): readonly ClientUndo[] {
  const edited = clients.filter(({ id }) =>
    edits.some(({ client }) => familyIds(id).includes(client)),
  )
  return edited.map((client): ClientUndo => {
    const now = readKnownFiles(session, client, runs)
    const result = asPlanned(now, edits)
    return { client, now, result, resultState: client.read(result) }
  })
}

/** The files that a client reads now, and those that runs recorded: an undo can restore a deleted file. */
export function readKnownFiles(session: Session, client: Client, runs: Runs): LoadedFiles {
  const recorded = runsOf(client, runs).flatMap(({ files }) => files.map(({ path }) => path))
  return readClientFiles(session, client, { restorable: recorded })
}

/**
 * Makes the check whether a recorded file is in a folder where one of the clients of the runs has its files now.
 * Files of a client that repoint does not know pass it.
 */
export function isHereCheck({
  session,
  clients,
}: RollbackContext): (file: RecordedFile) => boolean {
  const path = session.platform.machine.os === 'win32' ? win32 : posix
  const written = clients
    .flatMap((client) => listClientFiles(session, client))
    .filter(({ use }) => use !== 'layer')
  const folders = new Set(written.map((file) => path.dirname(file.path)))
  return (file) =>
    clientRows.every(({ id }) => id !== file.client) || folders.has(path.dirname(file.path))
}
