/** What did the last runs write into a client's file, and which of it has another value now? */
import { isDeepStrictEqual } from 'node:util'
import type { LoadedFile, LoadedFiles } from '../../clients/contract/files.ts'
import { documentOf } from '../../edits/format.ts'
import type { SettingChange, SettingPath } from '../../edits/types.ts'
import { includesPath } from '../../edits/values/paths.ts'
import { sha256Of } from '../../transaction/files.ts'
import {
  type RecordedFile,
  type RunRecord,
  type Runs,
  settingChange,
} from '../../transaction/record.ts'
import { contentsIfAvailable } from '../../transaction/records/blobs.ts'
import { activeRuns } from '../../transaction/undo/active-runs.ts'
import type { Session } from '../screen/session.ts'
import type { RecordedRuns } from './recorded-runs.ts'

export interface WrittenFile {
  readonly run: RunRecord
  readonly file: RecordedFile
}

/** Whether a run chose a client's gateway, or its own service. A repair or an undo does not. */
export function choosesGateway({ kind }: RunRecord): boolean {
  return kind === 'setup' || kind === 'off'
}

/** What the last active setup or `off` wrote into a file. */
export function lastSetupOrOff(path: string, runs: Runs): WrittenFile | undefined {
  return lastWritten(path, runs, choosesGateway)
}

/** What the last active run that `matches` wrote into a file. */
function lastWritten(
  path: string,
  runs: Runs,
  matches: (run: RunRecord) => boolean,
): WrittenFile | undefined {
  const run = activeRuns(runs).find(
    (candidate) => matches(candidate) && candidate.files.some((file) => file.path === path),
  )
  const file = run?.files.find((recorded) => recorded.path === path)
  return run && file && { run, file }
}

/**
 * Our keys in a file whose values differ from those of the last setup, each with the setup's value. A key
 * that our repair changed does not count while it still has the repaired value.
 */
export function changedSince(
  { platform }: Session,
  { path, bytes }: Pick<LoadedFile, 'path' | 'bytes'>,
  runs: Runs,
): readonly SettingChange[] {
  const file = lastSetupOrOff(path, runs)?.file
  if (file === undefined) return []

  const written = documentOf(file, contentsIfAvailable(platform, file.written))
  const current = documentOf(file, bytes)
  // With a pruned copy or a file that cannot be read any more, keys cannot be compared.
  if (written === undefined || (current === undefined && bytes !== null)) return []

  const repair = lastWritten(path, runs, ({ kind }) => kind === 'repair')?.file
  const repaired = repair && documentOf(repair, contentsIfAvailable(platform, repair.written))
  const isRepaired = (key: SettingPath) =>
    includesPath(repair?.settings.map((setting) => setting.path) ?? [], key) &&
    isDeepStrictEqual(repaired?.get(key), current?.get(key))

  return file.settings
    .map((setting): SettingChange => settingChange(setting, written.get(setting.path)))
    .filter(
      ({ path: key, value }) => !isDeepStrictEqual(value, current?.get(key)) && !isRepaired(key),
    )
}

/** Who wrote the current content of a client's file. */
export interface RecordedStatus {
  readonly path: string
  /**
   * `as-written`: as the newest run left it. `restored`: that run was a rollback. `changed-since`:
   * someone else wrote it after that run, or our keys in it after the last setup. `not-ours`: no run
   * has written it. `unknown`: the records cannot be read.
   */
  readonly state: 'absent' | 'as-written' | 'restored' | 'changed-since' | 'not-ours' | 'unknown'
  /** The newest run that wrote it. */
  readonly run?: string
  /** Our settings that have another value now. */
  readonly changedSettings: readonly SettingPath[]
}

/** The status of each file that a setup writes. */
export function recordedStatusesOf(
  session: Session,
  files: LoadedFiles,
  records: RecordedRuns,
): readonly RecordedStatus[] {
  return files
    .filter(({ use, isOptional, bytes }) => use === 'editable' && !(isOptional && bytes === null))
    .map((file) => recordedStatusOf(session, file, records))
}

function recordedStatusOf(
  session: Session,
  file: LoadedFile,
  { kind, runs }: RecordedRuns,
): RecordedStatus {
  const { path, bytes } = file
  const run = runs.find(({ files }) => files.some((recorded) => recorded.path === path))
  const recorded = run?.files.find((candidate) => candidate.path === path)
  const status = (
    state: RecordedStatus['state'],
    more: Partial<RecordedStatus> = {},
  ): RecordedStatus => ({
    path,
    run: run?.id,
    state,
    changedSettings: [],
    ...more,
  })

  if (kind === 'unreadable') return status(bytes === null ? 'absent' : 'unknown')
  if (run === undefined || recorded === undefined)
    return status(bytes === null ? 'absent' : 'not-ours')

  const changedSettings = changedSince(session, file, runs).map((change) => change.path)
  const hash = bytes === null ? undefined : sha256Of(bytes)
  if (hash !== recorded.written?.sha256) return status('changed-since', { changedSettings })
  if (hash === undefined) return status('absent')
  // A repair and an undo keep changes by others, and do not approve them.
  if (changedSettings.length > 0)
    return status('changed-since', { run: lastSetupOrOff(path, runs)!.run.id, changedSettings })
  return status(run.kind === 'undo' ? 'restored' : 'as-written')
}
