import { isDeepStrictEqual } from 'node:util'
import type { FileText } from '../../clients/client.ts'
import { documentOf } from '../../edits/format.ts'
import type { KeyChange, KeyPath } from '../../edits/plan.ts'
import { includesPath } from '../../edits/values.ts'
import { historiesOf } from '../../transaction/history.ts'
import type { RecordedFile, RunRecord, Runs } from '../../transaction/record.ts'
import { copyOf } from '../../transaction/state.ts'
import { changesTo } from '../../transaction/undo-file.ts'
import type { Session } from '../screen/session.ts'

export interface WrittenFile {
  readonly run: RunRecord
  readonly file: RecordedFile
}

/** Whether a run chose what a client is to have: a repair or an undo chooses nothing. */
export function isSetupRun({ undoes, command }: RunRecord): boolean {
  return undoes === undefined && command !== 'doctor'
}

/** What the last setup that stands has left of a file; undefined: none stands there. */
export function lastSetup(path: string, runs: Runs): WrittenFile | undefined {
  return lastStanding(path, runs, isSetupRun)
}

function lastStanding(
  path: string,
  runs: Runs,
  isMeant: (run: RunRecord) => boolean,
): WrittenFile | undefined {
  const newest = runs.flatMap(({ files }) => files).find((file) => file.path === path)
  const standing = newest ? historiesOf(runs)(newest).standing : []
  const run = standing.findLast((one) => isMeant(one.run))?.run
  const file = run?.files.find((one) => one.path === path)
  return run && file && { run, file }
}

/**
 * Our keys of a file that are not as the last setup left them, each with the value from then. What a
 * repair of ours has changed since is none of them, as long as it stands.
 */
export function changedSince(
  { platform }: Session,
  { path, bytes }: Pick<FileText, 'path' | 'bytes'>,
  runs: Runs,
): readonly KeyChange[] {
  const setup = lastSetup(path, runs)
  if (setup === undefined) return []

  const { file } = setup
  const [then, now] = [documentOf(file, copyOf(platform, file.after)), documentOf(file, bytes)]
  // A pruned copy, or a file that cannot be read any more: nothing can be said key by key.
  if (then === undefined || (now === undefined && bytes !== null)) return []

  const repair = lastStanding(path, runs, (run) => !isSetupRun(run))?.file
  const repaired = repair && documentOf(repair, copyOf(platform, repair.after))
  const isRepaired = (key: KeyPath) =>
    includesPath(repair?.keys ?? [], key) && isDeepStrictEqual(repaired?.get(key), now?.get(key))

  return changesTo(then, file).filter(
    ({ path: key, value }) => !isDeepStrictEqual(value, now?.get(key)) && !isRepaired(key),
  )
}
