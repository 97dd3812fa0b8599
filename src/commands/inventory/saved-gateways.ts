import { resolve } from 'node:path'
import { type Client, protocolOf, type Settings } from '../../clients/client.ts'
import { resultOf, UserError } from '../../errors.ts'
import { isAmong } from '../../gateway/input/header.ts'
import { isSameButVersion, rootOf, rootsOf } from '../../gateway/roots.ts'
import type { ExtraHeader, Roots } from '../../gateway/types.ts'
import type { AskChoice } from '../../platform/platform.ts'
import { looksLikeKey, nearestTo } from '../../text.ts'
import { gatewayNames, readGateways, type SavedGateway } from '../../transaction/gateways.ts'
import { keyOnCommandLine } from '../command.ts'
import type { Session } from '../screen/session.ts'

export const noneRemembered = 'Every setup remembers its gateway. To set up your clients: repoint'

/** @throws UserError `usage` with the name that is nearest */
export function savedGateway(session: Session, name: string): SavedGateway {
  const all = savedGateways(session)
  const found = all.find((one) => one.name === name)
  if (found !== undefined) return found

  if (looksLikeKey(name)) throw keyOnCommandLine()
  const names = all.map((one) => one.name)
  const [near] = nearestTo(name, names)
  throw new UserError({
    code: 'usage',
    message: `There is no gateway ${JSON.stringify(name)}`,
    hint:
      all.length === 0
        ? noneRemembered
        : `${near === undefined ? '' : `Did you mean ${near}? `}\`repoint gateways\` lists them.`,
  })
}

/** All of them, the newest first. Their keys and secret headers are shown nowhere from now on. */
export function savedGateways(session: Session): readonly SavedGateway[] {
  return hidden(session, readGateways(session.platform))
}

/** The same, and nothing is hidden; none where the list cannot be read: whoever needs the list itself says so. */
export function gatewaysIfReadable({ platform }: Session): readonly SavedGateway[] {
  const all = resultOf(() => readGateways(platform))
  return all instanceof UserError ? [] : all
}

function hidden(session: Session, all: readonly SavedGateway[]): readonly SavedGateway[] {
  for (const { key, headers } of all) {
    session.hide(key)
    hideHeaders(session, headers)
  }
  return all
}

/** Secret values are shown nowhere from now on. */
export function hideHeaders(session: Session, headers: readonly ExtraHeader[] = []): void {
  for (const { value, isSecret } of headers) if (isSecret) session.hide(value)
}

/** What goes along with requests to any of them: what repoint may have written into a client's files. */
export function rememberedExtras(session: Session) {
  const all = hidden(session, gatewaysIfReadable(session))
  return {
    headers: all.flatMap(({ headers = [] }) => headers),
    query: all.flatMap(({ query = [] }) => query),
  }
}

/** Where the routes of the gateway at this address were when it was used last. */
export function savedRoots(session: Session, baseUrl: string): Roots | undefined {
  const saved = gatewaysIfReadable(session).find((one) => one.baseUrl === baseUrl)
  return saved && rootsOf(saved)
}

/** Absolute path of a file with further authorities: the given one, else the one that the gateway was used with before. */
export function caFileFor(
  session: Session,
  baseUrl: string,
  given: string | undefined,
): string | undefined {
  if (given) return resolve(session.platform.machine.cwd, given)
  return gatewaysIfReadable(session).find((one) => one.baseUrl === baseUrl)?.caFile
}

/** The name of the gateway that a client points at; undefined: it has none, or none can be read. */
export function nameOf(session: Session, client: Client, settings: Settings): string | undefined {
  const all = hidden(session, gatewaysIfReadable(session))
  const used = all.filter((one) => isUsedBy(one, client, settings))
  // Of several with one address and one key it is the one whose headers are sent.
  const [likest] = used
    .filter(({ headers = [] }) => headers.every((one) => isAmong(one, settings.headers)))
    .toSorted((a, b) => (b.headers?.length ?? 0) - (a.headers?.length ?? 0))
  return (likest ?? used[0])?.name
}

/** Whether a client that believes `settings` points at a remembered gateway, with its key. */
function isUsedBy(saved: SavedGateway, client: Client, settings: Settings): boolean {
  const { root, key } = settings
  if (root === undefined || saved.key !== key) return false
  return isSameButVersion(rootOf(saved, protocolOf(client, settings)), root)
}

/** @throws UserError `usage` for a name that could be mistaken for something else */
export function checkName(name: string): void {
  const isKey = /^sk-/.test(name)
  if (gatewayNames.test(name) && !isKey) return
  throw new UserError({
    code: 'usage',
    message: isKey
      ? 'That looks like a key, not like the name of a gateway'
      : `${JSON.stringify(name)} cannot be the name of a gateway`,
    hint: 'A name has letters, digits, ".", "-" and "_", begins with a letter or digit, and is at most 63 long.',
  })
}

/** To be chosen from: `work  https://gw.example, proven 2 h ago`. */
export function savedChoices(
  { platform }: Session,
  all: readonly SavedGateway[],
): readonly AskChoice[] {
  const now = platform.clock.now()
  return all.map(({ name, baseUrl, proven }) => ({
    value: name,
    name: `${name}  ${baseUrl}${proven === undefined ? '' : `, proven ${sinceThen(proven.at, now)}`}`,
    short: name,
  }))
}

/** How long ago, as people say it. */
export function sinceThen(at: string, now: Date): string {
  const minutes = Math.floor((now.getTime() - Date.parse(at)) / 60_000)
  if (!(minutes >= 1)) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`
  return `${Math.floor(minutes / (24 * 60))} days ago`
}
