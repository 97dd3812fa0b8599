/**
 * Finds what an undo would mean for a client, by all of its files. The transaction asks while it plans the undo,
 * because it knows only the recorded files, and `undo-safety.ts` decides.
 */
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import { type ClientState, whyUnreadable } from '../../clients/contract/state.ts'
import { textOf } from '../../clients/files/parse-file.ts'
import { familyIds } from '../../clients/list.ts'
import type { FileContents, NowAndResult } from '../../transaction/contents.ts'
import { hasAddressRole, type RecordedFile, type Runs } from '../../transaction/record.ts'
import type { FindSituations } from '../../transaction/undo/undo-client.ts'
import type { Situation } from '../../transaction/undo/undo-safety.ts'
import { runsOf } from '../client-state/client-facts.ts'
import { asBefore, withContents } from '../client-state/client-files.ts'
import type { Session } from '../screen/session.ts'
import { type RollbackContext, readKnownFiles } from './context.ts'
import { credentialSituations, type EarlierCredentials, earlierCredentials } from './credentials.ts'

/** Finds the situations of each client that the recorded runs changed. */
export function situationsFinder(context: RollbackContext): FindSituations {
  const { clients } = context
  // Each client's files and records are read once for all attempts of an undo.
  const histories = new Map<string, ClientHistory>()

  return (id, contents) => {
    const client = clients.find((candidate) => familyIds(candidate.id).includes(id))
    if (client === undefined) return []
    const history = histories.get(client.id) ?? clientHistoryOf(context, client)
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
): ClientHistory {
  const files = readKnownFiles(session, client, allRuns)
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
  return client.read(withContents(files, contents))
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
      const beforeRun = client.read(asBefore(session, files, [run]))
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
  return written !== null && settings.some(hasAddressRole)
}
