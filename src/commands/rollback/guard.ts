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
import { contentsIfAvailable } from '../../transaction/records/blobs.ts'
import type { ProblemAfter, RollbackPlan } from '../../transaction/rollback.ts'
import { isAddress } from '../../transaction/undo/settings.ts'
import type { UndoProblem } from '../../transaction/undo/undo-run.ts'
import { asRecorded, listClientFiles, readClientFiles } from '../client-state/files.ts'
import { gatewayOf, isAtOwnRoot, ownRoots, runsOf, shownAddress } from '../client-state/state.ts'
import type { Session } from '../screen/session.ts'

/** What a rollback is planned with. */
export interface RollbackContext {
  readonly session: Session
  readonly runs: Runs
  /** One client of each family that a run names. */
  readonly clients: readonly Client[]
}

/** What a client reads before a rollback, and after it. */
export interface ClientUndo {
  readonly client: Client
  readonly before: LoadedFiles
  readonly after: LoadedFiles
  readonly afterState: ClientState
}

export function clientUndosOf(
  { session, runs, clients }: RollbackContext,
  { plan: { edits } }: RollbackPlan,
): readonly ClientUndo[] {
  const concerned = clients.filter(({ id }) =>
    edits.some(({ client }) => familyIds(id).includes(client)),
  )
  return concerned.map((client): ClientUndo => {
    const before = readAllFiles(session, client, runs)
    const after = asPlanned(before, edits)
    return { client, before, after, afterState: client.read(after) }
  })
}

/** The files that a client reads now, and those that runs recorded: someone can have deleted one of them. */
function readAllFiles(session: Session, client: Client, runs: Runs): LoadedFiles {
  const recorded = runsOf(client, runs).flatMap(({ files }) => files.map(({ path }) => path))
  return readClientFiles(session, client, undefined, recorded)
}

/**
 * Checks what an undo would break for a client. The transaction knows only the recorded files, and this
 * check reads all files of the client.
 */
export function problemAfterUndo(undoing: RollbackContext): ProblemAfter {
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

function clientCheck({ session, runs }: RollbackContext, client: Client): ClientCheck {
  const files = readAllFiles(session, client, runs)
  const read = (contents: ReadonlyMap<string, Bytes | null>) =>
    client.read(
      files.map((text) => {
        const bytes = contents.get(text.path)
        return bytes === undefined ? text : { ...text, bytes }
      }),
    )
  const sendsWrongKey = wrongKeyCheck(session, client, files, runs)
  const isAddressMoved = movedAddressCheck(client, files, runs)

  return (after, before) => {
    const [present, future] = [read(before), read(after)]
    const isNewlyBroken =
      whyUnreadable(future) !== undefined && whyUnreadable(present) === undefined
    if (isNewlyBroken && !wasBroken(session, client, files, runs, future)) return 'unreadable'
    return sendsWrongKey(present, future) || isAddressMoved(after, before) ? 'wrong-key' : undefined
  }
}

/** Whether the client's files were broken in the same way before a run. Then the undo only restores that. */
function wasBroken(
  session: Session,
  client: Client,
  texts: LoadedFiles,
  runs: Runs,
  future: ClientState,
): boolean {
  const problem = whyUnreadable(future)
  return runsOf(client, runs).some(({ files }) => {
    const before = client.read(asRecorded(session, texts, files, 'before'))
    return whyUnreadable(before) === problem
  })
}

/**
 * Whether someone deleted or renamed the file with our address, and another file of the client, for
 * example a profile, still names our gateway. An undo must then not restore an earlier key, which would be
 * sent to our gateway.
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
  const addressPaths = own
    .flatMap(({ files }) => files)
    .filter(({ after, settings }) => after !== null && settings.some(({ role }) => isAddress(role)))
    .map(({ path }) => path)
  const namesOurGateway = (bytes: Bytes | null) => {
    const text = textOf({ bytes })
    return hosts.some((host) => text.includes(host))
  }

  return (after, before) => {
    const gone = [...after].filter(([path, bytes]) => bytes === null && before.get(path) === null)
    if (!gone.some(([path]) => addressPaths.includes(path))) return false
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
  const writtenKeys = keysWritten(session, client, files, own)
  const known = new Set<string>()
  let earlierStates: readonly ClientState[] | undefined

  const isWrittenKey = (key: string) => {
    if (known.has(key)) return true
    // The newest record usually has the key, so the older records are read only if it does not.
    for (let next = writtenKeys.next(); !next.done; next = writtenKeys.next()) {
      if (next.value !== undefined) known.add(next.value)
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
    // The client does so already, so the undo is not the cause.
    if (usesSameCredentials(present, future)) return false
    if (login === undefined && key !== undefined && isWrittenKey(key)) return false
    earlierStates ??= statesOfUser(session, client, files, own)
    return !earlierStates.some((state) => usesSameCredentials(state, future))
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
  outlooks: readonly ClientUndo[],
): void {
  for (const { client, before, afterState } of outlooks) {
    const sendsWrongKey = wrongKeyCheck(session, client, before, runs)
    if (!sendsWrongKey(client.read(before), afterState)) continue
    const { endpoint, login } = afterState
    const key = endpoint.key === undefined ? 'no key' : 'a key that repoint did not write'
    const { baseUrl } = gatewayOf(session, client, afterState, runs)!
    throw new UserError({
      code: 'config-conflict',
      message: `${client.label} would use ${shownAddress(client, afterState)} with ${login ?? key}`,
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
function* keysWritten(
  session: Session,
  client: Client,
  texts: LoadedFiles,
  runs: Runs,
): Generator<string | undefined> {
  // The current contents do not count, only what the runs wrote one after the other.
  const blank = texts.map((text) => ({ ...text, bytes: null }))
  for (const [index, { kind }] of runs.entries()) {
    if (kind !== 'change') continue
    const files = runs.slice(index).flatMap((run) => run.files)
    yield client.read(asRecorded(session, blank, files, 'after')).endpoint.key
  }
}

/**
 * The states of the client before each run, with the address, key and login that the user chose. A state
 * with an address that an earlier run wrote is left out.
 */
function statesOfUser(
  session: Session,
  client: Client,
  texts: LoadedFiles,
  runs: Runs,
): readonly ClientState[] {
  const oldestFirst = runs.toReversed()
  const states: ClientState[] = []
  const earlierRuns: RunRecord[] = []

  // A file that no run wrote had its current contents then, unless someone copied it from one of ours
  // since.
  const recorded = oldestFirst.flatMap(({ files }) => files)
  const unrecorded = texts.map((text) =>
    isCopyOfOurs(session, text, recorded) ? { ...text, bytes: null } : text,
  )
  let files = asRecorded(session, unrecorded, recorded, 'before')

  for (const run of oldestFirst) {
    files = asRecorded(session, files, run.files, 'before')
    const state = client.read(files)
    const isUsersOwn =
      state.endpoint.baseUrl !== undefined && !isAtOwnRoot(client, state, earlierRuns)
    if (isUsersOwn) states.push(state)
    earlierRuns.push(run)
    files = asRecorded(session, files, run.files, 'after')
  }
  return states
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
    const possibleCopy = documentOf({ ...file, path }, bytes)
    const ours = file.settings.filter(
      (setting) => setting.role !== 'model' && written?.get(setting.path) !== undefined,
    )
    return (
      ours.length > 0 &&
      ours.every((setting) =>
        isDeepStrictEqual(possibleCopy?.get(setting.path), written?.get(setting.path)),
      )
    )
  })
}

/** Whether a recorded file belongs to a client as it is installed here, or to an unknown client. */
export function isInstalledHere({
  session,
  clients,
}: RollbackContext): (file: RecordedFile) => boolean {
  const path = session.platform.machine.os === 'win32' ? win32 : posix
  const targets = clients
    .flatMap((client) => listClientFiles(session, client))
    .filter(({ use }) => use === 'target')
  const folders = new Set(targets.map((target) => path.dirname(target.path)))
  return (file) =>
    rows.every(({ id }) => id !== file.client) || folders.has(path.dirname(file.path))
}
