import { posix, win32 } from 'node:path'
import type { Client, FileTexts, Settings } from '../../clients/client.ts'
import { familyIds, familyRows, loadClients, rows } from '../../clients/list.ts'
import { asPlanned } from '../../clients/texts.ts'
import { resultOf, UserError } from '../../errors.ts'
import type { RecordedFile, RollbackPlan, RunRecord, Runs } from '../../transaction/record.ts'
import { asRecorded, listClientFiles, readClientFiles } from '../inventory/client-files.ts'
import {
  gatewayOf,
  isAtOwnRoot,
  ownRoots,
  runsOf,
  shownAddress,
} from '../inventory/client-state.ts'
import type { Session } from '../screen/session.ts'

/** What a rollback is found by. */
export interface Undoing {
  readonly session: Session
  readonly runs: Runs
  /** One client of each family that a run names. */
  readonly families: readonly Client[]
}

/** A rollback, and what it does to each client whose files it is about. */
export interface Prospect {
  readonly found: RollbackPlan
  readonly outlooks: readonly Outlook[]
  /** Clients that would not read their files, had our tables not gone with what others wrote there. */
  readonly mended?: readonly Outlook[]
}

/** What a client reads and believes before a rollback, and after it. */
export interface Outlook {
  readonly client: Client
  readonly before: FileTexts
  readonly after: FileTexts
  readonly present: Settings
  readonly future: Settings
}

export function prospectOf({ session, families }: Undoing, found: RollbackPlan): Prospect {
  const { edits } = found.plan
  const concerned = families.filter(({ id }) => {
    const ids = familyIds(id)
    return edits.some(({ client }) => ids.includes(client))
  })

  const outlooks = concerned.map((client): Outlook => {
    const before = readClientFiles(session, client)
    const after = asPlanned(before, edits)
    const [present, future] = [client.readBack(before), client.readBack(after)]
    return { client, before, after, present, future }
  })
  return { found, outlooks }
}

/** The clients that would not read what a rollback leaves, and read their files now. */
export function brokenIn({ outlooks }: Prospect): readonly Outlook[] {
  return outlooks.filter(
    ({ present, future }) => future.broken !== undefined && present.broken === undefined,
  )
}

/**
 * Refuses a rollback (most likely one that goes forward again) after which a client would send a
 * login or a key that repoint did not write to a gateway that repoint did, unless its user had them
 * together before. The transaction sees only the files of its runs; this looks at all that the client
 * would believe.
 *
 * @throws UserError `config-conflict`
 */
export function refuseStrangeLogin(
  { session, runs }: Undoing,
  { found, outlooks }: Prospect,
): void {
  for (const { client, before, present, future } of outlooks) {
    const { key, login } = future
    if (!isAtOwnRoot(client, future, runs)) continue
    // What is so already is no work of this rollback.
    if (isSameWay(present, future)) continue

    const own = runsOf(client, runs)
    const isOurs = login === undefined && key !== undefined
    if (isOurs && hasWritten(session, client, before, { runs: own, key })) continue
    if (waysBefore(session, client, before, own).some((way) => isSameWay(way, future))) continue

    const { baseUrl } = gatewayOf(session, client, future, runs)!
    throw new UserError({
      code: 'config-conflict',
      message: `${client.label} would be pointed at ${shownAddress(client, future)} again, beside ${login ?? (key === undefined ? 'no key' : 'a key that repoint did not write')}`,
      hint: `Set it up anew: repoint ${client.id} --base-url ${baseUrl}${found.isRedo ? '' : '; or go further back: repoint rollback --original'}`,
    })
  }
}

/**
 * Refuses to roll back what another version wrote, for a client that this one does not know, in a file
 * of a client that it does know: what that means for the latter only the other version can tell.
 *
 * @throws UserError `config-conflict`
 */
export async function refuseUnknownClient(session: Session, { plan }: RollbackPlan): Promise<void> {
  const unknown = plan.edits.filter((edit) => rows.every(({ id }) => id !== edit.client))
  if (unknown.length === 0) return

  const families = await loadClients(familyRows)
  const paths = families.flatMap((one) => readClientFiles(session, one)).map(({ path }) => path)
  const edit = unknown.find(({ path }) => paths.includes(path))
  if (edit === undefined) return
  throw new UserError({
    code: 'config-conflict',
    message: `${session.showPath(edit.path)} was written for a client that this version does not know: ${edit.client}`,
    hint: 'Roll back with the version of repoint that wrote it, or a newer one.',
  })
}

/**
 * Whether a file that is gone belongs to a client that nothing points at a gateway any more: no file
 * that it reads, be it under another name or in another layer, names one that repoint has written.
 */
export function isAbandoned({ session, runs, families }: Undoing, path: string): boolean {
  const isLeft = (client: Client) => {
    const texts = readClientFiles(session, client)
    const isGone = texts.some(
      (text) => text.path === path && text.use === 'target' && text.bytes === null,
    )
    return isGone && !isPointed(client, texts, runs)
  }
  return families.some((client) => resultOf(() => isLeft(client)) === true)
}

function isPointed(client: Client, texts: FileTexts, runs: Runs): boolean {
  const { root, broken } = client.readBack(texts)
  if (root !== undefined || broken !== undefined) return true
  const hosts = ownRoots(client, runs).flatMap((url) =>
    URL.canParse(url) ? [new URL(url).host] : [],
  )
  return texts.some(({ bytes }) => {
    const text = bytes === null ? '' : new TextDecoder().decode(bytes)
    return hosts.some((host) => text.includes(host))
  })
}

/** Whether a setup left this key behind, as the client reads it. */
function hasWritten(
  session: Session,
  client: Client,
  texts: FileTexts,
  { runs, key }: { readonly runs: Runs; readonly key: string },
): boolean {
  return runs.some(({ undoes }, index) => {
    if (undoes !== undefined) return false
    // Nothing of what lies there now: only what runs have written, one upon the other.
    const files = runs.slice(index).flatMap((run) => run.files)
    const blank = texts.map((text) => ({ ...text, bytes: null }))
    return client.readBack(asRecorded(session, blank, files, 'after')).key === key
  })
}

/** What runs found there, at addresses that no run before them had written: the user's own ways. */
function waysBefore(
  session: Session,
  client: Client,
  texts: FileTexts,
  runs: Runs,
): readonly Settings[] {
  const oldestFirst = runs.toReversed()
  const ways: Settings[] = []
  const written: RunRecord[] = []

  // What no run has written lay there as it does now.
  const all = oldestFirst.flatMap(({ files }) => files)
  let found = asRecorded(session, texts, all, 'before')

  for (const run of oldestFirst) {
    const { files } = run
    found = asRecorded(session, found, files, 'before')
    const way = client.readBack(found)
    if (way.root !== undefined && !isAtOwnRoot(client, way, written)) ways.push(way)
    written.push(run)
    found = asRecorded(session, found, files, 'after')
  }
  return ways
}

function isSameWay(one: Settings, other: Settings): boolean {
  return one.root === other.root && one.key === other.key && one.login === other.login
}

/** Whether a recorded file belongs to a client as it is installed here, or to one that nobody knows. */
export function isInstalledHere({ session, families }: Undoing): (file: RecordedFile) => boolean {
  const path = session.platform.machine.os === 'win32' ? win32 : posix
  const targets = families
    .flatMap((client) => listClientFiles(session, client))
    .filter(({ use }) => use === 'target')
  const folders = new Set(targets.map((target) => path.dirname(target.path)))
  return (file) =>
    rows.every(({ id }) => id !== file.client) || folders.has(path.dirname(file.path))
}
