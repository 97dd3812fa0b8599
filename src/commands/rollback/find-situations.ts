/**
 * Finds what an undo would mean for a client, by all of its files. The transaction asks while it plans the undo,
 * because it knows only the recorded files, and `undo-safety.ts` decides.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../../clients/contract/files.ts'
import {
  type ClientState,
  usesSameCredentials,
  whyUnreadable,
} from '../../clients/contract/state.ts'
import type { KeyPlace } from '../../clients/files/known-keys.ts'
import { textOf } from '../../clients/files/parse-file.ts'
import { familyIds } from '../../clients/list.ts'
import { documentOf } from '../../edits/format.ts'
import type { FileContents, NowAndResult } from '../../transaction/contents.ts'
import {
  hasAddressRole,
  isUndoOrRedo,
  type RecordedFile,
  type RecordedSetting,
  type RunRecord,
  type Runs,
} from '../../transaction/record.ts'
import { contentsIfAvailable } from '../../transaction/records/blobs.ts'
import type { FindSituations } from '../../transaction/undo/undo-client.ts'
import type { Situation } from '../../transaction/undo/undo-safety.ts'
import { hasWrittenBaseUrl, runsOf, writtenBaseUrls } from '../client-state/client-facts.ts'
import { asBefore, asWritten, withContents } from '../client-state/client-files.ts'
import { keysLeft } from '../client-state/known-keys.ts'
import type { Session } from '../screen/session.ts'
import { type ClientHistory, type RollbackContext, readKnownFiles } from './context.ts'

/** A client with its history, for all attempts of an undo. */
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
    ...credentialSituations(known, states),
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

/** What the records say about the credentials of a client. Read when needed, and once for all attempts of an undo. */
interface EarlierCredentials {
  readonly writtenKeys: () => readonly (string | undefined)[]
  readonly statesOfUser: () => readonly ClientState[]
}

function earlierCredentials(history: ClientHistory): EarlierCredentials {
  let keys: readonly (string | undefined)[] | undefined
  let states: readonly ClientState[] | undefined
  return {
    writtenKeys: () => (keys ??= writtenKeys(history)),
    statesOfUser: () => (states ??= statesOfUser(history)),
  }
}

/** Which login or key a client would send to a gateway that repoint wrote. */
function credentialSituations(
  { client, runs, earlier }: KnownClient,
  { now, result }: NowAndResult<ClientState>,
): readonly Situation[] {
  if (!hasWrittenBaseUrl(client, result, runs)) return []
  if (usesSameCredentials(now, result)) return ['same-credentials']

  const { key } = result.endpoint
  const sendsOnlyKey = result.login === undefined && key !== undefined
  if (sendsOnlyKey && earlier.writtenKeys().includes(key)) return ['our-key']

  const usersHadThem = earlier.statesOfUser().some((state) => usesSameCredentials(state, result))
  return [usersHadThem ? 'earlier-credentials' : 'wrong-key']
}

/** Whether a client's files would have a known key without its address, and did not before the undo or a run. */
function leftKeySituations(
  { session, client, files, runs }: ClientHistory,
  { now, result }: NowAndResult<LoadedFiles>,
): readonly Situation[] {
  const keysIn = (others: LoadedFiles) =>
    keysLeft(session, { client, files: others, state: client.read(others) }, runs)
  const isNew = (place: KeyPlace, others: LoadedFiles) =>
    !keysIn(others).some(
      ({ file, known }) => file.path === place.file.path && known.key === place.known.key,
    )

  const left = keysIn(result).filter((place) => isNew(place, now))
  const isNewSince = (run: RunRecord) =>
    left.every((place) => isNew(place, asBefore(session, files, [run])))
  return left.length > 0 && runs.every(isNewSince) ? ['our-key-elsewhere'] : []
}

/** The keys that setups wrote, as the client reads them. */
function writtenKeys({
  session,
  client,
  files,
  runs,
}: ClientHistory): readonly (string | undefined)[] {
  // The current contents do not count, only what the runs wrote one after the other.
  const emptyFiles = files.map((file) => ({ ...file, bytes: null }))
  // The newest comes first.
  const runsUpTo = (run: RunRecord) => runs.slice(runs.indexOf(run))
  return runs
    .filter((run) => !isUndoOrRedo(run))
    .map((run) => client.read(asWritten(session, emptyFiles, runsUpTo(run))).endpoint.key)
}

/**
 * The states of the client before each run, with the address, key and login that the user chose. A state
 * with an address that an earlier run wrote is left out.
 */
function statesOfUser({ session, client, files, runs }: ClientHistory): readonly ClientState[] {
  let current = filesBeforeFirstRun(session, files, runs)

  const states: ClientState[] = []
  const earlierRuns: RunRecord[] = []
  for (const run of runs.toReversed()) {
    // Someone may have written a file since the previous run.
    current = asBefore(session, current, [run])
    const state = client.read(current)
    if (!hasWrittenBaseUrl(client, state, earlierRuns)) states.push(state)

    earlierRuns.push(run)
    current = asWritten(session, current, [run])
  }
  return states
}

/**
 * The files before the first run, as far as it is known:
 *
 *     file                   now                    before the first run
 *     config.toml            as run 1 wrote it      the copy that run 1 recorded
 *     profile.toml           the user's settings    the same, because no run wrote it
 *     copy-of-config.toml    what run 1 wrote       missing, because someone copied it since
 */
function filesBeforeFirstRun(session: Session, files: LoadedFiles, runs: Runs): LoadedFiles {
  const recorded = runs.flatMap((run) => run.files)
  const withoutCopies = files.map((file) =>
    isCopyOfOurs(session, file, recorded) ? { ...file, bytes: null } : file,
  )
  return asBefore(session, withoutCopies, runs)
}

/** Whether a file that no run wrote has all the settings that a run wrote into another one. */
function isCopyOfOurs(
  { platform }: Session,
  { path, bytes }: LoadedFile,
  recorded: readonly RecordedFile[],
): boolean {
  if (bytes === null || recorded.some((file) => file.path === path)) return false

  return recorded.some((file) => {
    if (!file.settings.some(hasAddressRole)) return false

    const written = documentOf(file, contentsIfAvailable(platform, file.written))
    const possibleCopy = documentOf({ ...file, path }, bytes)
    const writtenSettings = file.settings.filter(
      (setting) => setting.role !== 'model' && written?.get(setting.path) !== undefined,
    )
    const isCopied = (setting: RecordedSetting) =>
      isDeepStrictEqual(possibleCopy?.get(setting.path), written?.get(setting.path))
    return writtenSettings.length > 0 && writtenSettings.every(isCopied)
  })
}
