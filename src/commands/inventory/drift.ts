import { protocolOf } from '../../clients/client.ts'
import { isSameButVersion, rootFor, shownRoot } from '../../gateway/roots.ts'
import type { ExtraHeader } from '../../gateway/types.ts'
import { historyOf } from '../../transaction/history.ts'
import type { Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import { asRecorded } from './client-files.ts'
import { type ClientState, type Place, placeOf, shownAddress } from './client-state.ts'
import { isSent, rememberedHeaders } from './saved-gateways.ts'

/** The gateway that a client has to point at. */
export interface Wanted extends Place {
  /** Whether a key is the one for it; absent: any is. */
  readonly isKey?: (key: string) => boolean
  /** What has to go along. */
  readonly headers?: readonly ExtraHeader[] | undefined
}

/** Why a client does not point where it has to, in words; empty: it does. */
export function driftOf(
  session: Session,
  { client, settings, obstacles }: ClientState,
  wanted: Wanted,
): readonly string[] {
  const { root, key, login, broken } = settings
  if (broken !== undefined) return [`its files cannot be read: ${broken}`]
  const protocol = protocolOf(client, settings)
  const right = rootFor(wanted.roots, protocol)
  if (root === undefined || !isSameButVersion(root, right)) {
    const now = shownAddress(client, settings) ?? 'its own service'
    return [`it points at ${now}, not at ${shownRoot(right, protocol)}`]
  }
  if (key === undefined) return [`it has ${login ?? 'no key'} in place of the key for it`]
  if (wanted.isKey?.(key) === false) return ['it has another key for it']
  const unsent = wanted.headers?.find((header) => !isSent(header, settings))
  if (unsent !== undefined) return [`it does not send the header ${unsent.name} as it was set up`]

  return obstacles
    .filter(({ code, weight }) => weight === 'blocks' && code !== 'open-to-others')
    .map(({ message, place }) => `${message} (${session.showPath(place)})`)
}

/** Where the last setup that stands has left a client; undefined: none stands. */
export function leftAt(
  session: Session,
  { client, texts }: ClientState,
  runs: Runs,
): Wanted | undefined {
  const files = runs.flatMap((run) => run.files)
  const isStanding = texts.some(({ path, use }) => {
    const newest = files.find((file) => file.path === path)
    return use === 'target' && newest && historyOf(newest, runs).standing.length > 0
  })
  if (!isStanding) return undefined

  const settings = client.readBack(asRecorded(session, texts, files, 'after'))
  const place = placeOf(session, client, settings, runs)
  const ours = rememberedHeaders(session)
  const headers = settings.headers?.filter((one) => isSent(one, { headers: ours }))
  return place && { ...place, isKey: (one) => one === settings.key, headers }
}
