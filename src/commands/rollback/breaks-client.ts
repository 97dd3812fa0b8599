/** Would an undo break a client? The transaction asks while it plans the undo. */
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import { type ClientState, whyUnreadable } from '../../clients/contract/state.ts'
import { textOf } from '../../clients/files/parse-file.ts'
import { clientRows, familyIds, familyRows, loadClients } from '../../clients/list.ts'
import type { Bytes, FileEdit } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { FileContents, StartAndResult } from '../../transaction/contents.ts'
import type { RollbackPlan } from '../../transaction/plan-rollback.ts'
import { isAddress, type RecordedFile, type Runs } from '../../transaction/record.ts'
import type { BreaksClient } from '../../transaction/undo/undo-client.ts'
import { asRecorded, readClientFiles } from '../client-state/client-files.ts'
import { runsOf, writtenBaseUrls } from '../client-state/client-report.ts'
import type { Session } from '../screen/session.ts'
import { type RollbackContext, readAllFiles } from './context.ts'
import { wrongKeyCheck } from './wrong-key.ts'

/**
 * Checks whether an undo would break a client. The transaction knows only the recorded files, and this
 * check reads all files of the client.
 */
export function breaksClientCheck(context: RollbackContext): BreaksClient {
  // A check reads the client's files, so each client gets one check for all attempts of an undo.
  const checks = new Map<Client, ClientCheck>()
  const checkFor = (id: string) => {
    const client = context.clients.find((candidate) => familyIds(candidate.id).includes(id))
    if (client === undefined) return undefined
    const check = checks.get(client) ?? clientCheck(context, client)
    checks.set(client, check)
    return check
  }

  return (id, contents) => checkFor(id)?.(contents) === true
}

type ClientCheck = (contents: StartAndResult<FileContents>) => boolean

function clientCheck({ session, runs }: RollbackContext, client: Client): ClientCheck {
  const files = readAllFiles(session, client, runs)
  const stateWith = (contents: FileContents) =>
    client.read(
      files.map((file) => {
        const bytes = contents.get(file.path)
        return bytes === undefined ? file : { ...file, bytes }
      }),
    )
  const sendsWrongKey = wrongKeyCheck(session, client, files, runs)
  const isAddressMoved = movedAddressCheck(client, files, runs)

  return (contents) => {
    const states = { start: stateWith(contents.start), result: stateWith(contents.result) }
    const isNewlyBroken =
      whyUnreadable(states.result) !== undefined && whyUnreadable(states.start) === undefined
    if (isNewlyBroken && !wasBroken(session, client, files, runs, states.result)) return true

    return sendsWrongKey(states) || isAddressMoved(contents)
  }
}

/** Whether the client's files were broken in the same way before a run. Then the undo only restores that. */
function wasBroken(
  session: Session,
  client: Client,
  files: LoadedFiles,
  runs: Runs,
  stateUndone: ClientState,
): boolean {
  const problem = whyUnreadable(stateUndone)
  return runsOf(client, runs).some((run) => {
    const beforeRun = client.read(asRecorded(session, files, run.files, 'before'))
    return whyUnreadable(beforeRun) === problem
  })
}

/**
 * Whether someone deleted or renamed the file with our address, and another file of the client, for
 * example a profile, still names our gateway. An undo must then not restore an earlier key, which would be
 * sent to our gateway.
 */
function movedAddressCheck(client: Client, files: LoadedFiles, runs: Runs): ClientCheck {
  const hosts = writtenBaseUrls(client, runs).flatMap((baseUrl) =>
    URL.canParse(baseUrl) ? [new URL(baseUrl).host] : [],
  )
  const namesOurGateway = (bytes: Bytes | null) => {
    const text = textOf({ bytes })
    return hosts.some((host) => text.includes(host))
  }

  const hasAddress = ({ written, settings }: RecordedFile) =>
    written !== null && settings.some(isAddress)
  const recorded = runsOf(client, runs).flatMap((run) => run.files)
  const addressPaths = recorded.filter(hasAddress).map(({ path }) => path)

  return ({ start, result }) => {
    const isUntouched = (path: string) => !result.has(path)
    const isGone = (path: string) => result.get(path) === null && start.get(path) === null
    if (!addressPaths.some(isGone)) return false
    return files.some(({ path, bytes }) => isUntouched(path) && namesOurGateway(bytes))
  }
}

/**
 * Rejects the rollback of a run by another version of repoint, if it wrote for a client that this version
 * does not know into a file of a client that it knows. Only that version can tell what the undo means for
 * the known client.
 *
 * @throws UserError `config-conflict`
 */
export async function refuseUnknownClient(session: Session, { plan }: RollbackPlan): Promise<void> {
  const isUnknown = (edit: FileEdit) => clientRows.every(({ id }) => id !== edit.client)
  const unknownEdits = plan.edits.filter(isUnknown)
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
