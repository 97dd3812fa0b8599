/**
 * Finds what an undo would mean for a client, by all of its files. The transaction asks while it plans the undo,
 * because it knows only the recorded files, and `undo-safety.ts` decides.
 */
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import { type ClientState, whyUnreadable } from '../../clients/contract/state.ts'
import { textOf } from '../../clients/files/parse-file.ts'
import { clientRows, familyIds, familyRows, loadClients } from '../../clients/list.ts'
import type { FileEdit } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { FileContents, NowAndResult } from '../../transaction/contents.ts'
import type { RollbackPlan } from '../../transaction/plan-rollback.ts'
import { isAddress, type RecordedFile, type Runs } from '../../transaction/record.ts'
import type { FindSituations } from '../../transaction/undo/undo-client.ts'
import { isRefused, type Situation } from '../../transaction/undo/undo-safety.ts'
import { asRecorded, readClientFiles } from '../client-state/client-files.ts'
import { gatewayOf, runsOf, shownAddress } from '../client-state/client-report.ts'
import type { Session } from '../screen/session.ts'
import { type ClientUndo, type RollbackContext, readAllFiles } from './context.ts'
import { credentialSituations, type EarlierCredentials, earlierCredentials } from './credentials.ts'

/** Finds the situations of each client that the recorded runs changed. */
export function situationsFinder(context: RollbackContext): FindSituations {
  const { session, runs, clients } = context
  // Each client's files and records are read once for all attempts of an undo.
  const histories = new Map<string, ClientHistory>()

  return (id, contents) => {
    const client = clients.find((candidate) => familyIds(candidate.id).includes(id))
    if (client === undefined) return []
    const history =
      histories.get(client.id) ??
      clientHistoryOf(context, client, readAllFiles(session, client, runs))
    histories.set(client.id, history)
    return situationsOf(history, contents)
  }
}

/** What is known of a client before an undo. */
interface ClientHistory {
  readonly session: Session
  readonly client: Client
  /** The files that it reads now. */
  readonly files: LoadedFiles
  /** The runs that changed them. */
  readonly runs: Runs
  readonly earlier: EarlierCredentials
}

function clientHistoryOf(
  { session, runs: allRuns }: RollbackContext,
  client: Client,
  files: LoadedFiles,
): ClientHistory {
  const runs = runsOf(client, allRuns)
  const earlier = earlierCredentials(session, client, files, runs)
  return { session, client, files, runs, earlier }
}

function situationsOf(
  history: ClientHistory,
  contents: NowAndResult<FileContents>,
): readonly Situation[] {
  const states = {
    now: stateWith(history, contents.now),
    result: stateWith(history, contents.result),
  }
  return [
    ...unreadableSituations(history, states),
    ...credentialSituations(states, history.earlier),
    ...movedAddressSituations(history, contents),
  ]
}

/** The state of a client whose files have these contents. */
function stateWith({ client, files }: ClientHistory, contents: FileContents): ClientState {
  return client.read(
    files.map((file) => {
      const bytes = contents.get(file.path)
      return bytes === undefined ? file : { ...file, bytes }
    }),
  )
}

/** Whether the client could not read its files after the undo, and whether it could before. */
function unreadableSituations(
  { session, client, files, runs }: ClientHistory,
  { now, result }: NowAndResult<ClientState>,
): readonly Situation[] {
  const problem = whyUnreadable(result)
  if (problem === undefined) return []

  const wasSoBefore =
    whyUnreadable(now) !== undefined ||
    runs.some((run) => {
      const beforeRun = client.read(asRecorded(session, files, run.files, 'before'))
      return whyUnreadable(beforeRun) === problem
    })
  return [wasSoBefore ? 'unreadable-before' : 'unreadable']
}

/**
 * Whether someone deleted or renamed the file with our address, and another file of the client, for example a
 * profile, still names our gateway. An undo must then not restore an earlier key, which would be sent to our
 * gateway.
 */
function movedAddressSituations(
  { files, runs, earlier }: ClientHistory,
  { now, result }: NowAndResult<FileContents>,
): readonly Situation[] {
  const isGone = (path: string) => result.get(path) === null && now.get(path) === null
  const isAddressGone = runs
    .flatMap((run) => run.files)
    .some((file) => wroteAddress(file) && isGone(file.path))
  if (!isAddressGone) return []

  const hosts = earlier.baseUrls.flatMap((baseUrl) =>
    URL.canParse(baseUrl) ? [new URL(baseUrl).host] : [],
  )
  const namesOurGateway = files.some((file) => {
    const isUntouched = !result.has(file.path)
    return isUntouched && hosts.some((host) => textOf(file).includes(host))
  })
  return namesOurGateway ? ['address-moved'] : []
}

function wroteAddress({ written, settings }: RecordedFile): boolean {
  return written !== null && settings.some(isAddress)
}

/**
 * Rejects a forced rollback after which a client would send a wrong key. A forced rollback restores
 * copies whatever else changed, so that the plan itself does not check this.
 *
 * @throws UserError `config-conflict`
 */
export function refuseUnsafe(
  context: RollbackContext,
  { plan: { edits } }: RollbackPlan,
  clientUndos: readonly ClientUndo[],
): void {
  const { session, runs } = context
  const contents = {
    now: new Map(edits.map(({ path, before }) => [path, before])),
    result: new Map(edits.map(({ path, after }) => [path, after])),
  }
  for (const { client, now, undoneState } of clientUndos) {
    const history = clientHistoryOf(context, client, now)
    if (!isRefused(situationsOf(history, contents))) continue

    const { endpoint, login } = undoneState
    const key = endpoint.key === undefined ? 'no key' : 'a key that repoint did not write'
    const { address } = gatewayOf(session, client, undoneState, runs)!
    throw new UserError({
      code: 'config-conflict',
      message: `${client.label} would use ${shownAddress(client, undoneState)} with ${login ?? key}`,
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
