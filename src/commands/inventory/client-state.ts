import { isDeepStrictEqual } from 'node:util'
import type {
  Client,
  ClientName,
  FileText,
  FileTexts,
  Obstacle,
  Origins,
  Scene,
  Settings,
} from '../../clients/client.ts'
import { familyIds } from '../../clients/list.ts'
import { formatOf } from '../../edits/format.ts'
import type { KeyPath } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import { sha256Of } from '../../transaction/files.ts'
import type { RecordedFile, RunRecord } from '../../transaction/record.ts'
import { readBlob } from '../../transaction/state.ts'
import type { Session } from '../screen/session.ts'
import { readClientFiles, readShellProfiles } from './client-files.ts'
import { openPlaces } from './open-places.ts'

/** What is known about one client without asking it or the network. */
export interface ClientState {
  readonly client: Client
  readonly texts: FileTexts
  readonly settings: Settings
  readonly origins: Origins
  readonly obstacles: readonly Obstacle[]
  readonly files: readonly FileState[]
}

export interface FileState {
  readonly path: string
  /**
   * `as-written`: as the newest run left it. `restored`: that run was a rollback. `changed-since`:
   * someone else wrote it after that run. `not-ours`: no run has written it. `unknown`: the records
   * cannot be read.
   */
  readonly state: 'absent' | 'as-written' | 'restored' | 'changed-since' | 'not-ours' | 'unknown'
  /** The newest run that wrote it. */
  readonly run?: string
  /** Our keys that have another value now. */
  readonly changedKeys: readonly KeyPath[]
}

/** The recorded runs of a client's family, newest first. */
export function runsOf(client: ClientName, runs: readonly RunRecord[]): readonly RunRecord[] {
  const ids = familyIds(client.id)
  return runs.filter((run) => run.clients.some((id) => ids.includes(id)))
}

/** The addresses that repoint has written for this client. */
export function ownBaseUrls(client: ClientName, runs: readonly RunRecord[]): readonly string[] {
  return [...new Set(runsOf(client, runs).map(({ baseUrl }) => baseUrl))]
}

/** A client whose files cannot even be read. */
export interface Unreadable {
  readonly client: Client
  readonly failure: UserError
}

/** What is known about a client, or why nothing is. @param runs undefined: they cannot be read */
export function stateOrFailure(
  session: Session,
  client: Client,
  runs: readonly RunRecord[] | undefined,
): ClientState | Unreadable {
  try {
    return stateOf(session, client, runs)
  } catch (failure) {
    if (failure instanceof UserError) return { client, failure }
    throw failure
  }
}

/** @throws UserError as `readClientFiles` does */
function stateOf(
  session: Session,
  client: Client,
  runs: readonly RunRecord[] | undefined,
): ClientState {
  const texts = readClientFiles(session, client)
  const settings = client.readBack(texts)
  return {
    client,
    texts,
    settings,
    origins: client.origins(texts),
    obstacles: [
      ...client.wrongNow(sceneOf(session, client, texts, runs ?? [])),
      ...openPlaces(session, texts),
    ],
    files: texts
      .filter(({ use }) => use === 'target')
      .map((file) => fileState(session, file, runs)),
  }
}

export function sceneOf(
  session: Session,
  client: ClientName,
  texts: FileTexts,
  runs: readonly RunRecord[],
): Scene {
  return {
    texts,
    machine: session.platform.machine,
    ownBaseUrls: ownBaseUrls(client, runs),
    shellProfiles: readShellProfiles(session),
  }
}

function fileState(
  session: Session,
  file: FileText,
  runs: readonly RunRecord[] | undefined,
): FileState {
  if (runs === undefined)
    return {
      path: file.path,
      state: file.bytes === null ? 'absent' : 'unknown',
      changedKeys: [],
    }
  const run = runs.find(({ files }) => files.some(({ path }) => path === file.path))
  const recorded = run?.files.find(({ path }) => path === file.path)
  const about = { path: file.path, ...(run === undefined ? {} : { run: run.id }) }
  if (run === undefined || recorded === undefined)
    return { ...about, state: file.bytes === null ? 'absent' : 'not-ours', changedKeys: [] }
  const hash = file.bytes === null ? undefined : sha256Of(file.bytes)
  if (hash === recorded.after?.sha256) {
    const asLeft = run.undoes === undefined ? 'as-written' : 'restored'
    return { ...about, state: hash === undefined ? 'absent' : asLeft, changedKeys: [] }
  }
  return { ...about, state: 'changed-since', changedKeys: changedKeys(session, file, recorded) }
}

function changedKeys(session: Session, file: FileText, recorded: RecordedFile): readonly KeyPath[] {
  if (file.bytes === null || recorded.after === null) return recorded.keys
  try {
    const format = formatOf(file.format)
    const written = format.read(readBlob(session.platform, recorded.after.sha256), file.path)
    const current = format.read(file.bytes, file.path)
    return recorded.keys.filter((key) => !isDeepStrictEqual(written.get(key), current.get(key)))
  } catch (error) {
    // A file that cannot be read any more, or a pruned copy: nothing can be said key by key.
    if (error instanceof UserError) return []
    throw error
  }
}
