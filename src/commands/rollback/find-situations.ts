/**
 * Finds what an undo would mean for a client, by all of its files. The transaction asks while it plans the undo,
 * because it knows only the recorded files, and `undo-safety.ts` decides.
 */
import type { Client } from '../../clients/contract/client.ts'
import { type ClientState, whyUnreadable } from '../../clients/contract/state.ts'
import { textOf } from '../../clients/files/parse-file.ts'
import { familyIds } from '../../clients/list.ts'
import type { FileContents, NowAndResult } from '../../transaction/contents.ts'
import { hasAddressRole, type RecordedFile } from '../../transaction/record.ts'
import type { FindSituations } from '../../transaction/undo/undo-client.ts'
import type { Situation } from '../../transaction/undo/undo-safety.ts'
import { runsOf, writtenBaseUrls } from '../client-state/client-facts.ts'
import { asBefore, withContents } from '../client-state/client-files.ts'
import { type ClientHistory, type RollbackContext, readKnownFiles } from './context.ts'
import {
  credentialSituations,
  type EarlierCredentials,
  earlierCredentials,
  leftKeySituations,
} from './credentials.ts'

/** What a rollback knows of a client, for all attempts of an undo. */
interface KnownClient extends ClientHistory {
  readonly earlier: EarlierCredentials
}

/** Finds the situations of each client that the recorded runs changed. Reads each client's files once. */
export function situationsFinder(context: RollbackContext): FindSituations {
  const knownClients = new Map<string, KnownClient>()

  return (id, contents) => {
    const client = context.clients.find((candidate) => familyIds(candidate.id).includes(id))
    if (client === undefined) return []
    const known = knownClients.get(client.id) ?? readClient(context, client)
    knownClients.set(client.id, known)
    return situationsOf(known, contents)
  }
}

function readClient({ session, runs }: RollbackContext, client: Client): KnownClient {
  const files = readKnownFiles(session, client, runs)
  const history = { session, client, files, runs: runsOf(client, runs) }
  return { ...history, earlier: earlierCredentials(history) }
}

/** The situations of a client after one attempt of an undo. */
function situationsOf(
  known: KnownClient,
  contents: NowAndResult<FileContents>,
): readonly Situation[] {
  const { client, files } = known
  const filesOf = {
    now: withContents(files, contents.now),
    result: withContents(files, contents.result),
  }
  const states = { now: client.read(filesOf.now), result: client.read(filesOf.result) }
  return [
    ...unreadableSituations(known, states),
    ...credentialSituations(known, states, known.earlier),
    ...leftKeySituations(known, filesOf),
    ...movedAddressSituations(known, contents),
  ]
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
  { client, files, runs }: ClientHistory,
  { now, result }: NowAndResult<FileContents>,
): readonly Situation[] {
  const isGone = (path: string) => result.get(path) === null && now.get(path) === null
  const isAddressGone = runs
    .flatMap((run) => run.files)
    .some((file) => wroteAddress(file) && isGone(file.path))
  if (!isAddressGone) return []

  const hosts = writtenBaseUrls(client, runs).flatMap((baseUrl) =>
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
