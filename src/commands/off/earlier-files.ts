import { type Client, type LoadedFiles, whyUnreadable } from '../../clients/client.ts'
import { familyIds } from '../../clients/list.ts'
import { type EarlierFiles, isAtGateway } from '../../clients/own-service.ts'
import {
  type EarlierState,
  earlierStates,
  type FileContents,
} from '../../transaction/earlier-states.ts'
import { settingChange } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'

/**
 * What the records say of a client's files: the newest state in which the client used its own service, or
 * else the oldest state of all. Undefined: the records say nothing.
 */
export function earlierFiles(
  { platform }: Session,
  client: Client,
  files: LoadedFiles,
): EarlierFiles | undefined {
  const targets = files.filter(({ use }) => use === 'target')
  const now = new Map(targets.map(({ path, bytes }) => [path, bytes]))
  const canRead = (some: LoadedFiles) => whyUnreadable(client.read(some)) === undefined

  let oldest: EarlierState | undefined
  for (const state of earlierStates(platform, familyIds(client.id), now)) {
    oldest = state
    const recorded = withContents(files, state.recorded)
    if (isAtGateway(client, recorded) || !canRead(recorded)) continue

    const atOwnService = recorded.filter(({ path }) => state.recorded.has(path))
    return { atOwnService, ...undoneIn(files, state) }
  }
  return oldest && undoneIn(files, oldest)
}

function withContents(files: LoadedFiles, contents: FileContents): LoadedFiles {
  return files.map((file) => {
    const bytes = contents.get(file.path)
    return bytes === undefined ? file : { ...file, bytes }
  })
}

function undoneIn(
  files: LoadedFiles,
  { undone, settings }: EarlierState,
): Omit<EarlierFiles, 'atOwnService'> {
  const written = [...settings].map(
    ([path, all]) => [path, all.map((setting) => settingChange(setting, undefined))] as const,
  )
  return { undone: withContents(files, undone), written: new Map(written) }
}
