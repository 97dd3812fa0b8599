import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import { whyUnreadable } from '../../clients/contract/state.ts'
import { familyIds } from '../../clients/list.ts'
import { type EarlierFiles, isAtGateway } from '../../clients/plan/own-service.ts'
import type { FileContents } from '../../transaction/contents.ts'
import { type EarlierState, earlierStates } from '../../transaction/earlier-states.ts'
import { settingChange } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'

/**
 * An earlier state of a client's files, from the records: the newest one in which the client used its own
 * service, or else the oldest of all. Undefined: the records have no state of these files.
 */
export function earlierFiles(
  { platform }: Session,
  client: Client,
  files: LoadedFiles,
): EarlierFiles | undefined {
  const targets = files.filter(({ use }) => use === 'target')
  const now = new Map(targets.map(({ path, bytes }) => [path, bytes]))
  const isReadable = (texts: LoadedFiles) => whyUnreadable(client.read(texts)) === undefined

  let oldest: EarlierState | undefined
  for (const state of earlierStates(platform, familyIds(client.id), now)) {
    oldest = state
    const recorded = withContents(files, state.recorded)
    if (isAtGateway(client, recorded) || !isReadable(recorded)) continue

    const atOwnService = recorded.filter(({ path }) => state.recorded.has(path))
    return { atOwnService, ...withoutOurRuns(files, state) }
  }
  return oldest && withoutOurRuns(files, oldest)
}

function withContents(files: LoadedFiles, contents: FileContents): LoadedFiles {
  return files.map((file) => {
    const bytes = contents.get(file.path)
    return bytes === undefined ? file : { ...file, bytes }
  })
}

/** The files without the runs since an earlier state, and the settings that those runs wrote. */
function withoutOurRuns(
  files: LoadedFiles,
  { undone, settings }: EarlierState,
): Omit<EarlierFiles, 'atOwnService'> {
  const removals = [...settings].map(([path, written]) => {
    const changes = written.map((setting) => settingChange(setting, undefined))
    return [path, changes] as const
  })
  return { undone: withContents(files, undone), written: new Map(removals) }
}
