/**
 * Finds which login or key a client would send to a gateway after an undo: the one of now, one that a setup
 * wrote, one that the user had together with the address before, or another.
 */
import { isDeepStrictEqual } from 'node:util'
import type { LoadedFile, LoadedFiles } from '../../clients/contract/files.ts'
import { type ClientState, usesSameCredentials } from '../../clients/contract/state.ts'
import type { KeyPlace } from '../../clients/files/known-keys.ts'
import { documentOf } from '../../edits/format.ts'
import type { NowAndResult } from '../../transaction/contents.ts'
import {
  hasAddressRole,
  isUndoOrRedo,
  type RecordedFile,
  type RecordedSetting,
  type RunRecord,
  type Runs,
} from '../../transaction/record.ts'
import { contentsIfAvailable } from '../../transaction/records/blobs.ts'
import type { Situation } from '../../transaction/undo/undo-safety.ts'
import { hasWrittenBaseUrl } from '../client-state/client-facts.ts'
import { asBefore, asWritten } from '../client-state/client-files.ts'
import { keysLeft } from '../client-state/known-keys.ts'
import type { Session } from '../screen/session.ts'
import type { ClientHistory } from './context.ts'

/** What the records say about the credentials of a client. Read when needed, and once for all attempts of an undo. */
export interface EarlierCredentials {
  readonly writtenKeys: () => readonly (string | undefined)[]
  readonly statesOfUser: () => readonly ClientState[]
}

export function earlierCredentials(history: ClientHistory): EarlierCredentials {
  let keys: readonly (string | undefined)[] | undefined
  let states: readonly ClientState[] | undefined
  return {
    writtenKeys: () => (keys ??= writtenKeys(history)),
    statesOfUser: () => (states ??= statesOfUser(history)),
  }
}

/** Which login or key a client would send to a gateway that repoint wrote. */
export function credentialSituations(
  { client, runs }: ClientHistory,
  { now, result }: NowAndResult<ClientState>,
  earlier: EarlierCredentials,
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
export function leftKeySituations(
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
    const isUsersOwn =
      state.endpoint.baseUrl !== undefined && !hasWrittenBaseUrl(client, state, earlierRuns)
    if (isUsersOwn) states.push(state)

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
