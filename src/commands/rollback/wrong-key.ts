/**
 * After an undo, no client may send a key to a gateway that it was not given for. A key is right if a
 * setup wrote it, or if the user had it together with the address before.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../../clients/contract/files.ts'
import { type ClientState, usesSameCredentials } from '../../clients/contract/state.ts'
import { documentOf } from '../../edits/format.ts'
import { UserError } from '../../errors.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
import type { StartAndResult } from '../../transaction/contents.ts'
import {
  isAddress,
  isUndoOrRedo,
  type RecordedFile,
  type RecordedSetting,
  type RunRecord,
  type Runs,
} from '../../transaction/record.ts'
import { contentsIfAvailable } from '../../transaction/records/blobs.ts'
import { asRecorded } from '../client-state/client-files.ts'
import {
  gatewayOf,
  hasWrittenBaseUrl,
  runsOf,
  shownAddress,
  writtenBaseUrls,
} from '../client-state/client-report.ts'
import type { Session } from '../screen/session.ts'
import type { ClientUndo, RollbackContext } from './context.ts'

/**
 * Whether a client would send a login, or a key that repoint did not write, to a gateway that repoint
 * wrote. It is allowed if the user had the two together before.
 */
export function wrongKeyCheck(
  session: Session,
  client: Client,
  files: LoadedFiles,
  runs: Runs,
): (states: StartAndResult<ClientState>) => boolean {
  const clientRuns = runsOf(client, runs)
  const written = writtenBaseUrls(client, runs)
  const isWrittenKey = writtenKeyCheck(session, client, files, clientRuns)
  let earlierStates: readonly ClientState[] | undefined

  return ({ start, result }) => {
    const { baseUrl, key } = result.endpoint
    if (baseUrl === undefined || !written.some((candidate) => isSameButVersion(candidate, baseUrl)))
      return false
    // The client does so already, so the undo is not the cause.
    if (usesSameCredentials(start, result)) return false
    if (result.login === undefined && key !== undefined && isWrittenKey(key)) return false

    earlierStates ??= statesOfUser(session, client, files, clientRuns)
    return !earlierStates.some((state) => usesSameCredentials(state, result))
  }
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

/**
 * Rejects a forced rollback after which a client would send a wrong key. A forced rollback restores
 * copies whatever else changed, so that the plan itself does not check this.
 *
 * @throws UserError `config-conflict`
 */
export function refuseWrongKey(
  { session, runs }: RollbackContext,
  clientUndos: readonly ClientUndo[],
): void {
  for (const { client, now, undoneState } of clientUndos) {
    const sendsWrongKey = wrongKeyCheck(session, client, now, runs)
    if (!sendsWrongKey({ start: client.read(now), result: undoneState })) continue

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
    const recorded = runs.slice(index).flatMap((run) => run.files)
    yield client.read(asRecorded(session, emptyFiles, recorded, 'written')).endpoint.key
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
  const oldestFirst = runs.toReversed()
  const recorded = oldestFirst.flatMap((run) => run.files)

  let current = filesBeforeFirstRun(session, files, recorded)

  const states: ClientState[] = []
  const earlierRuns: RunRecord[] = []
  for (const run of oldestFirst) {
    current = asRecorded(session, current, run.files, 'before')
    const state = client.read(current)
    const isUsersOwn =
      state.endpoint.baseUrl !== undefined && !hasWrittenBaseUrl(client, state, earlierRuns)
    if (isUsersOwn) states.push(state)

    earlierRuns.push(run)
    current = asRecorded(session, current, run.files, 'written')
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
 *
 * @param recorded the files of all runs, oldest first
 */
function filesBeforeFirstRun(
  session: Session,
  files: LoadedFiles,
  recorded: readonly RecordedFile[],
): LoadedFiles {
  const withoutCopies = files.map((file) =>
    isCopyOfOurs(session, file, recorded) ? { ...file, bytes: null } : file,
  )
  return asRecorded(session, withoutCopies, recorded, 'before')
}

/** Whether a file that no run wrote has all the settings that a run wrote into another one. */
function isCopyOfOurs(
  { platform }: Session,
  { path, bytes }: LoadedFile,
  recorded: readonly RecordedFile[],
): boolean {
  if (bytes === null || recorded.some((file) => file.path === path)) return false

  return recorded.some((file) => {
    if (!file.settings.some(isAddress)) return false

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
