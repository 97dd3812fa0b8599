import { posix, win32 } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  type Client,
  type ClientState,
  type LoadedFiles,
  usesSameCredentials,
  whyUnreadable,
} from '../../clients/client.ts'
import { familyIds, familyRows, loadClients, rows } from '../../clients/list.ts'
import { asPlanned, textOf } from '../../clients/loaded-files.ts'
import { documentOf } from '../../edits/format.ts'
import type { Bytes } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import { isSameButVersion } from '../../gateway/roots.ts'
import type { RecordedFile, RunRecord, Runs } from '../../transaction/record.ts'
import type { ProblemAfter, RollbackPlan } from '../../transaction/rollback.ts'
import { contentsIfAvailable } from '../../transaction/state.ts'
import { isAddress } from '../../transaction/undo/undo-file.ts'
import type { UndoProblem } from '../../transaction/undo/undo-run.ts'
import { asRecorded, listClientFiles, readClientFiles } from '../client-state/files.ts'
import { gatewayOf, isAtOwnRoot, ownRoots, runsOf, shownAddress } from '../client-state/state.ts'
import type { Session } from '../screen/session.ts'

/** What a rollback is planned with. */
export interface Undoing {
  readonly session: Session
  readonly runs: Runs
  /** One client of each family that a run names. */
  readonly clients: readonly Client[]
}

/** What a client reads before a rollback, and after it. */
export interface Outlook {
  readonly client: Client
  readonly before: LoadedFiles
  readonly after: LoadedFiles
  readonly future: ClientState
}

export function outlooksOf(
  { session, runs, clients }: Undoing,
  { plan: { edits } }: RollbackPlan,
): readonly Outlook[] {
  const concerned = clients.filter(({ id }) =>
    edits.some(({ client }) => familyIds(id).includes(client)),
  )
  return concerned.map((client): Outlook => {
    const before = readAllFiles(session, client, runs)
    const after = asPlanned(before, edits)
    return { client, before, after, future: client.read(after) }
  })
}

/** What a client reads now, and the files that runs recorded: someone can have renamed or deleted one. */
function readAllFiles(session: Session, client: Client, runs: Runs): LoadedFiles {
  const recorded = runsOf(client, runs).flatMap(({ files }) => files.map(({ path }) => path))
  return readClientFiles(session, client, undefined, recorded)
}

/** What an undo would break for a client. The transaction sees the recorded files only; this reads all. */
export function problemAfterUndo(undoing: Undoing): ProblemAfter {
  const checks = new Map<Client, ClientCheck>()
  const checkOf = (id: string) => {
    const client = undoing.clients.find((one) => familyIds(one.id).includes(id))
    if (client === undefined) return undefined
    const check = checks.get(client) ?? clientCheck(undoing, client)
    checks.set(client, check)
    return check
  }

  return (id, after, before) => checkOf(id)?.(after, before)
}

type ClientCheck = (
  after: ReadonlyMap<string, Bytes | null>,
  before: ReadonlyMap<string, Bytes | null>,
) => UndoProblem | undefined

function clientCheck({ session, runs }: Undoing, client: Client): ClientCheck {
  const files = readAllFiles(session, client, runs)
  const read = (contents: ReadonlyMap<string, Bytes | null>) =>
    client.read(
      files.map((text) => {
        const bytes = contents.get(text.path)
        return bytes === undefined ? text : { ...text, bytes }
      }),
    )
  const isWrong = wrongKeyCheck(session, client, files, runs)
  const isStillNamed = movedAddressCheck(client, files, runs)

  return (after, before) => {
    const [present, future] = [read(before), read(after)]
    const isNewlyBroken =
      whyUnreadable(future) !== undefined && whyUnreadable(present) === undefined
    if (isNewlyBroken && !wasBroken(session, client, files, runs, future)) return 'unreadable'
    return isWrong(present, future) || isStillNamed(after, before) ? 'wrong-key' : undefined
  }
}

/** Whether a run found the client's files broken in the same way: then its undo restores them so. */
function wasBroken(
  session: Session,
  client: Client,
  texts: LoadedFiles,
  runs: Runs,
  future: ClientState,
): boolean {
  const why = whyUnreadable(future)
  return runsOf(client, runs).some(
    ({ files }) => whyUnreadable(client.read(asRecorded(session, texts, files, 'before'))) === why,
  )
}

/**
 * Whether someone deleted or renamed the file with our address, and another file of the client, for
 * example a profile, still names our gateway. Then the key stays, and no earlier key returns.
 */
function movedAddressCheck(
  client: Client,
  texts: LoadedFiles,
  runs: Runs,
): (
  after: ReadonlyMap<string, Bytes | null>,
  before: ReadonlyMap<string, Bytes | null>,
) => boolean {
  const own = runsOf(client, runs)
  const hosts = ownRoots(client, runs).flatMap((root) =>
    URL.canParse(root) ? [new URL(root).host] : [],
  )
  const isAddressFile = (path: string) =>
    own.some(({ files }) =>
      files.some(
        (file) =>
          file.path === path &&
          file.after !== null &&
          file.settings.some(({ role }) => isAddress(role)),
      ),
    )
  const namesOurGateway = (bytes: Bytes | null) => {
    const text = textOf({ bytes })
    return hosts.some((host) => text.includes(host))
  }

  return (after, before) => {
    const gone = [...after].filter(([path, bytes]) => bytes === null && before.get(path) === null)
    if (!gone.some(([path]) => isAddressFile(path))) return false
    return texts.some(({ path, bytes }) => !after.has(path) && namesOurGateway(bytes))
  }
}

/**
 * Whether a client would send a login, or a key that repoint did not write, to a gateway that repoint
 * wrote. It is allowed if the user had the two together before.
 */
function wrongKeyCheck(
  session: Session,
  client: Client,
  files: LoadedFiles,
  runs: Runs,
): (present: ClientState, future: ClientState) => boolean {
  const own = runsOf(client, runs)
  const roots = ownRoots(client, runs)
  const written = writtenKeys(session, client, files, own)
  const keys = new Set<string>()
  let ways: readonly ClientState[] | undefined

  const isWrittenKey = (key: string) => {
    if (keys.has(key)) return true
    // Reads the records only as far as needed: mostly the newest has the key.
    for (let next = written.next(); !next.done; next = written.next()) {
      if (next.value !== undefined) keys.add(next.value)
      if (next.value === key) return true
    }
    return false
  }

  return (present, future) => {
    const {
      endpoint: { baseUrl, key },
      login,
    } = future
    if (baseUrl === undefined || !roots.some((one) => isSameButVersion(one, baseUrl))) return false
    // The undo does not cause what is already so.
    if (usesSameCredentials(present, future)) return false
    if (login === undefined && key !== undefined && isWrittenKey(key)) return false
    ways ??= waysBefore(session, client, files, own)
    return !ways.some((way) => usesSameCredentials(way, future))
  }
}

/**
 * Rejects a forced rollback after which a client would send a wrong key. A forced rollback restores
 * copies whatever else changed, so that the plan itself does not check this.
 *
 * @throws UserError `config-conflict`
 */
export function refuseWrongKey({ session, runs }: Undoing, outlooks: readonly Outlook[]): void {
  for (const { client, before, future } of outlooks) {
    const isWrong = wrongKeyCheck(session, client, before, runs)
    if (!isWrong(client.read(before), future)) continue
    const {
      endpoint: { key },
      login,
    } = future
    const { baseUrl } = gatewayOf(session, client, future, runs)!
    throw new UserError({
      code: 'config-conflict',
      message: `${client.label} would use ${shownAddress(client, future)} with ${login ?? (key === undefined ? 'no key' : 'a key that repoint did not write')}`,
      hint: `Set it up instead: repoint ${client.id} --base-url ${baseUrl}`,
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
  const unknown = plan.edits.filter((edit) => rows.every(({ id }) => id !== edit.client))
  if (unknown.length === 0) return

  const clients = await loadClients(familyRows)
  const paths = clients.flatMap((one) => readClientFiles(session, one)).map(({ path }) => path)
  const edit = unknown.find(({ path }) => paths.includes(path))
  if (edit === undefined) return
  throw new UserError({
    code: 'config-conflict',
    message: `This version of repoint does not know the client ${edit.client}, for which ${session.showPath(edit.path)} was written`,
    hint: 'Use the version of repoint that wrote it, or a newer one.',
  })
}

/** The keys that setups wrote, as the client reads them, newest first. */
function* writtenKeys(
  session: Session,
  client: Client,
  texts: LoadedFiles,
  runs: Runs,
): Generator<string | undefined> {
  // Uses only what runs wrote, one after the other, and not the current contents.
  const blank = texts.map((text) => ({ ...text, bytes: null }))
  for (const [index, { kind }] of runs.entries()) {
    if (kind !== 'change') continue
    const files = runs.slice(index).flatMap((run) => run.files)
    yield client.read(asRecorded(session, blank, files, 'after')).endpoint.key
  }
}

/**
 * The combinations of address, key and login that runs found, if no earlier run wrote the address. They
 * are the user's own.
 */
function waysBefore(
  session: Session,
  client: Client,
  texts: LoadedFiles,
  runs: Runs,
): readonly ClientState[] {
  const oldestFirst = runs.toReversed()
  const ways: ClientState[] = []
  const written: RunRecord[] = []

  // A file that no run wrote had its current contents then, unless someone copied it from one of ours
  // since.
  const all = oldestFirst.flatMap(({ files }) => files)
  const others = texts.map((text) =>
    isCopyOfOurs(session, text, all) ? { ...text, bytes: null } : text,
  )
  let found = asRecorded(session, others, all, 'before')

  for (const run of oldestFirst) {
    const { files } = run
    found = asRecorded(session, found, files, 'before')
    const way = client.read(found)
    if (way.endpoint.baseUrl !== undefined && !isAtOwnRoot(client, way, written)) ways.push(way)
    written.push(run)
    found = asRecorded(session, found, files, 'after')
  }
  return ways
}

/** Whether a file that no run wrote has all the settings that a run wrote into another one. */
function isCopyOfOurs(
  { platform }: Session,
  { path, bytes }: LoadedFiles[number],
  recorded: readonly RecordedFile[],
): boolean {
  if (bytes === null || recorded.some((file) => file.path === path)) return false

  return recorded.some((file) => {
    if (!file.settings.some(({ role }) => isAddress(role))) return false
    const written = documentOf(file, contentsIfAvailable(platform, file.after))
    const found = documentOf({ ...file, path }, bytes)
    const ours = file.settings.filter(
      (setting) => setting.role !== 'model' && written?.get(setting.path) !== undefined,
    )
    return (
      ours.length > 0 &&
      ours.every((setting) =>
        isDeepStrictEqual(found?.get(setting.path), written?.get(setting.path)),
      )
    )
  })
}

/** Whether a recorded file belongs to a client as it is installed here, or to an unknown client. */
export function isInstalledHere({ session, clients }: Undoing): (file: RecordedFile) => boolean {
  const path = session.platform.machine.os === 'win32' ? win32 : posix
  const targets = clients
    .flatMap((client) => listClientFiles(session, client))
    .filter(({ use }) => use === 'target')
  const folders = new Set(targets.map((target) => path.dirname(target.path)))
  return (file) =>
    rows.every(({ id }) => id !== file.client) || folders.has(path.dirname(file.path))
}
