import { shellProfilePaths } from '../../clients/checks/shell-profiles.ts'
import { type Client, isConfiguredAs } from '../../clients/contract/client.ts'
import type {
  ConfigFile,
  DiskReader,
  LoadedFile,
  LoadedFiles,
} from '../../clients/contract/files.ts'
import { type ClientState, emptyState, inEnvironment } from '../../clients/contract/state.ts'
import { parseFile } from '../../clients/files/parse-file.ts'
import { maxConfigBytes } from '../../edits/text.ts'
import type { Bytes } from '../../edits/types.ts'
import { ifPossible, UserError, valueOrError } from '../../errors.ts'
import type { Files } from '../../platform/platform.ts'
import type { FileContents } from '../../transaction/contents.ts'
import { toFileError } from '../../transaction/files.ts'
import type { RunRecord } from '../../transaction/record.ts'
import { contentsIfAvailable } from '../../transaction/records/blobs.ts'
import { readIfExists } from '../../transaction/resolve-file.ts'
import type { Session } from '../screen/session.ts'

/**
 * Reads all files that a client reads. An unreadable layer or companion counts as absent: no setup writes it.
 *
 * @throws UserError `not-permitted`, `config-invalid` (too large, not UTF-8), `config-conflict` (not a
 *   file)
 */
export function readClientFiles(
  session: Session,
  client: Client,
  options: FilesToList = {},
): LoadedFiles {
  return listClientFiles(session, client, options).map((file): LoadedFile => {
    const loaded = { ...file, bytes: readConfig(session, file) }
    if (file.use === 'editable') expectParsed(session, client, loaded)
    return loaded
  })
}

/** @throws UserError `config-invalid` for a file that the client may accept and repoint cannot read */
function expectParsed(session: Session, { label }: Client, file: LoadedFile): void {
  const { error } = parseFile(file)
  if (!error?.isUnsupported) return
  throw new UserError({
    code: 'config-invalid',
    message: `Cannot read ${session.showPath(file.path)}, which ${label} may read: ${error.reason}`,
    hint: 'Fix the file, then run the command again.',
  })
}

interface FilesToList {
  /** The client's working folder. Absent: the current one. */
  readonly cwd?: string
  /** Paths that are listed even if they do not exist, because an undo can restore them. */
  readonly restorable?: readonly string[]
}

/** Lists all files that a client reads from its working folder. */
export function listClientFiles(
  { platform: { files, machine } }: Session,
  client: Client,
  { cwd = machine.cwd, restorable = [] }: FilesToList = {},
): readonly ConfigFile[] {
  const reader = diskReader(files)
  const exists = (path: string) => restorable.includes(path) || reader.exists(path)
  return client.files({ ...machine, cwd }, { ...reader, exists })
}

export function diskReader(files: Files): DiskReader {
  return {
    exists: (path) => ifPossible(() => files.stat(path)) !== undefined,
    entries: (folder) => ifPossible(() => files.readdir(folder).sort()) ?? [],
    readStart: (path) => new TextDecoder().decode(ifPossible(() => files.readStart(path, 1024))),
  }
}

/** A client's current state, in this environment. Empty if its files cannot be read. */
export function stateNow(session: Session, client: Client): ClientState {
  const state = valueOrError(() => client.read(readClientFiles(session, client)))
  if (state instanceof UserError) return emptyState
  return inEnvironment(state, session.platform.machine.env)
}

/** Whether a client is the one of its family that the files are set up for. */
export function isFamilyMemberInUse(session: Session, client: Client): boolean {
  return isConfiguredAs(client, stateNow(session, client))
}

function readConfig(session: Session, file: ConfigFile): Bytes | null {
  const { files, machine } = session.platform
  try {
    return readIfExists(files, machine, file.path, 'config-invalid')
  } catch (error) {
    if (file.use !== 'editable') return null
    const failure = toFileError(machine, file.path, error)
    if (failure instanceof UserError) throw failure
    // This is a user error even if the fault is ours, so that the command reports it together with what
    // it has already changed.
    throw new UserError({
      code: 'config-conflict',
      message: `${session.showPath(file.path)} cannot be read as a file (${String(error)})`,
      hint: 'Move it away, then run the command again.',
      cause: error,
    })
  }
}

/** The user's shell startup files that exist and are not absurdly large. */
export function readShellProfiles(session: Session): readonly { path: string; text: string }[] {
  const { files, machine } = session.platform
  return shellProfilePaths(machine).flatMap((path) => {
    const bytes = ifPossible(() => files.read(path, maxConfigBytes))
    return bytes ? [{ path, text: new TextDecoder().decode(bytes) }] : []
  })
}

/** The files with these contents. A file that has none there stays. */
export function withContents(files: LoadedFiles, contents: FileContents): LoadedFiles {
  return files.map((file) => {
    const bytes = contents.get(file.path)
    return bytes === undefined ? file : { ...file, bytes }
  })
}

/** Runs, newest first, of which only the recorded files matter. */
type RunFiles = readonly Pick<RunRecord, 'files'>[]

/** The files before these runs: each as the oldest of its runs found it. A file without a run stays. */
export function asBefore(
  { platform }: Session,
  files: LoadedFiles,
  newestFirst: RunFiles,
): LoadedFiles {
  const recorded = newestFirst.flatMap((run) => run.files)
  return files.map((file) => {
    const oldest = recorded.findLast(({ path }) => path === file.path)
    return oldest ? { ...file, bytes: contentsIfAvailable(platform, oldest.before) } : file
  })
}

/** The files after these runs: each as the newest of its runs wrote it. A file without a run stays. */
export function asWritten(
  { platform }: Session,
  files: LoadedFiles,
  newestFirst: RunFiles,
): LoadedFiles {
  const recorded = newestFirst.flatMap((run) => run.files)
  return files.map((file) => {
    const newest = recorded.find(({ path }) => path === file.path)
    return newest ? { ...file, bytes: contentsIfAvailable(platform, newest.written) } : file
  })
}
