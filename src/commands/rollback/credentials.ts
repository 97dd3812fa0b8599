/**
 * Finds which login or key a client would send to a gateway after an undo: the one of now, one that a setup
 * wrote, one that the user had together with the address before, or another.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../../clients/contract/files.ts'
import { type ClientState, usesSameCredentials } from '../../clients/contract/state.ts'
import { documentOf } from '../../edits/format.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
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
import { hasWrittenBaseUrl, writtenBaseUrls } from '../client-state/client-facts.ts'
import { asBefore, asWritten } from '../client-state/client-files.ts'
import type { Session } from '../screen/session.ts'

/** What the records say about the credentials of a client. The older records are read only if needed. */
export interface EarlierCredentials {
  /** The base URLs that repoint wrote for the client. */
  readonly baseUrls: readonly string[]
  /** Whether a setup wrote this key. */
  readonly isWrittenKey: (key: string) => boolean
  readonly statesOfUser: () => readonly ClientState[]
}

export function earlierCredentials(
  session: Session,
  client: Client,
  files: LoadedFiles,
  runs: Runs,
): EarlierCredentials {
  let states: readonly ClientState[] | undefined
  return {
    baseUrls: writtenBaseUrls(client, runs),
    isWrittenKey: writtenKeyCheck(session, client, files, runs),
    statesOfUser: () => (states ??= statesOfUser(session, client, files, runs)),
  }
}

/** Which login or key a client would send to a gateway that repoint wrote. */
export function credentialSituations(
  { now, result }: NowAndResult<ClientState>,
  earlier: EarlierCredentials,
): readonly Situation[] {
  const { baseUrl, key } = result.endpoint
  const isOurGateway =
    baseUrl !== undefined && earlier.baseUrls.some((ours) => isSameButVersion(ours, baseUrl))
  if (!isOurGateway) return []

  if (usesSameCredentials(now, result)) return ['same-credentials']
  if (result.login === undefined && key !== undefined && earlier.isWrittenKey(key))
    return ['our-key']
  const wasUsers = earlier.statesOfUser().some((state) => usesSameCredentials(state, result))
  return [wasUsers ? 'earlier-credentials' : 'wrong-key']
}

/** Whether a setup wrote a key. The newest record usually has it, so older records are read only if needed. */
function writtenKeyCheck(
  session: Session,
  client: Client,
  files: LoadedFiles,
  runs: Runs,
): (key: string) => boolean {
  const unreadKeys = keysWritten(session, client, files, runs)
  const readKeys = new Set<string>()

  return (key) => {
    if (readKeys.has(key)) return true
    for (let next = unreadKeys.next(); !next.done; next = unreadKeys.next()) {
      if (next.value !== undefined) readKeys.add(next.value)
      if (next.value === key) return true
    }
    return false
  }
}

/** The keys that setups wrote, as the client reads them, newest first. */
function* keysWritten(
  session: Session,
  client: Client,
  files: LoadedFiles,
  runs: Runs,
): Generator<string | undefined> {
  // The current contents do not count, only what the runs wrote one after the other.
  const emptyFiles = files.map((file) => ({ ...file, bytes: null }))
  for (const [index, run] of runs.entries()) {
    if (isUndoOrRedo(run)) continue
    const upToThis = runs.slice(index)
    yield client.read(asWritten(session, emptyFiles, upToThis)).endpoint.key
  }
}

/**
 * The states of the client before each run, with the address, key and login that the user chose. A state
 * with an address that an earlier run wrote is left out.
 */
function statesOfUser(
  session: Session,
  client: Client,
  files: LoadedFiles,
  runs: Runs,
): readonly ClientState[] {
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
