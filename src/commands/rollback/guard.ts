import type { Client, FileTexts, Settings } from '../../clients/client.ts'
import { familyIds, rows } from '../../clients/list.ts'
import { UserError } from '../../errors.ts'
import type { RecordedFile, RollbackPlan, RunRecord } from '../../transaction/record.ts'
import { copyOf, listRuns } from '../../transaction/state.ts'
import { asPlanned, readClientFiles } from '../inventory/client-files.ts'
import { ownBaseUrls, runsOf } from '../inventory/client-state.ts'
import type { Session } from '../screen/session.ts'

/**
 * Refuses a rollback (most likely one that goes forward again) after which a client would send a
 * login or a key that repoint did not write to a gateway that repoint did, unless its user had them
 * together before. The transaction sees only the files of its runs; this looks at all that the client
 * would believe.
 *
 * @throws UserError `config-conflict`
 */
export function refuseStrangeLogin(
  session: Session,
  { plan }: RollbackPlan,
  families: readonly Client[],
): void {
  const runs = listRuns(session.platform).runs
  for (const client of families) {
    const ids = familyIds(client.id)
    const edits = plan.edits.filter((edit) => ids.includes(edit.client))
    if (edits.length === 0) continue
    const now = readClientFiles(session, client)
    const future = client.readBack(asPlanned(now, edits))
    const { baseUrl, key, login } = future
    if (baseUrl === undefined || !ownBaseUrls(client, runs).includes(baseUrl)) continue
    const present = client.readBack(now)
    // What is so already is no work of this rollback.
    if (isSameWay(present, future)) continue
    const past = pastOf(session, client, now, runs)
    const isOurs = login === undefined && key !== undefined
    if (isOurs && past.writtenKeys.has(key)) continue
    if (past.ownWays.some((own) => isSameWay(own, future))) continue
    throw new UserError({
      code: 'config-conflict',
      message: `${client.label} would be pointed at ${baseUrl} again, beside ${login ?? (key === undefined ? 'no key' : 'a key that repoint did not write')}`,
      hint: `Set it up anew: repoint ${client.id} --base-url ${baseUrl}`,
    })
  }
}

/**
 * Refuses to roll back what another version wrote, for a client that this one does not know, in a file
 * of a client that it does know: what that means for the latter only the other version can tell.
 *
 * @throws UserError `config-conflict`
 */
export function refuseUnknownClient(
  session: Session,
  { plan }: RollbackPlan,
  families: readonly Client[],
): void {
  const unknown = plan.edits.filter((edit) => rows.every(({ id }) => id !== edit.client))
  if (unknown.length === 0) return
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
export function isAbandoned(session: Session, path: string, families: readonly Client[]): boolean {
  const runs = listRuns(session.platform).runs
  return families.some((client) => {
    try {
      const texts = readClientFiles(session, client)
      const isGone = texts.some(
        (text) => text.path === path && text.use === 'target' && text.bytes === null,
      )
      return isGone && !isPointed(client, texts, runs)
    } catch (error) {
      if (error instanceof UserError) return false
      throw error
    }
  })
}

function isPointed(client: Client, texts: FileTexts, runs: readonly RunRecord[]): boolean {
  const { baseUrl, broken } = client.readBack(texts)
  if (baseUrl !== undefined || broken !== undefined) return true
  const hosts = ownBaseUrls(client, runs).flatMap((url) =>
    URL.canParse(url) ? [new URL(url).host] : [],
  )
  return texts.some(({ bytes }) => {
    const text = bytes === null ? '' : new TextDecoder().decode(bytes)
    return hosts.some((host) => text.includes(host))
  })
}

interface Past {
  /** The keys that setups left behind, as the client reads them. */
  readonly writtenKeys: ReadonlySet<string>
  /** What runs found there, at addresses that no run before them had written: the user's own ways. */
  readonly ownWays: readonly Settings[]
}

function pastOf(
  session: Session,
  client: Client,
  texts: FileTexts,
  runs: readonly RunRecord[],
): Past {
  const oldestFirst = runsOf(client, runs).toReversed()
  const withVersions = (state: FileTexts, files: readonly RecordedFile[], when: When): FileTexts =>
    state.map((text) => {
      const file = files.find(({ path }) => path === text.path)
      return file ? { ...text, bytes: copyOf(session.platform, file[when]) } : text
    })
  const writtenKeys = new Set<string>()
  const ownWays: Settings[] = []
  const addresses = new Set<string>()
  // Nothing of what lies there now: only what runs have written, one upon the other.
  let written: FileTexts = texts.map((text) => ({ ...text, bytes: null }))
  // What no run has written lay there as it does now.
  let found = withVersions(
    texts,
    oldestFirst.flatMap(({ files }) => files),
    'before',
  )
  for (const { files, baseUrl, undoes } of oldestFirst) {
    found = withVersions(found, files, 'before')
    const way = client.readBack(found)
    if (way.baseUrl !== undefined && !addresses.has(way.baseUrl)) ownWays.push(way)
    addresses.add(baseUrl)
    found = withVersions(found, files, 'after')
    written = withVersions(written, files, 'after')
    const { key } = client.readBack(written)
    if (key !== undefined && undoes === undefined) writtenKeys.add(key)
  }
  return { writtenKeys, ownWays }
}

type When = 'before' | 'after'

function isSameWay(one: Settings, other: Settings): boolean {
  return one.baseUrl === other.baseUrl && one.key === other.key && one.login === other.login
}
