/**
 * How commands find a saved gateway. Most of these make the session mask its secrets in everything that it prints.
 *
 *                                                             without a readable list
 *     savedGateway                by its name                 throws
 *     savedGateways               all of them                 throws
 *     savedGatewaysIfReadable     all of them                 none
 *     findGatewayName             by a client's files         none
 *     savedBaseUrls, caFileFor    by its address              none; masks nothing, because it shows no secret
 *     unmaskedGatewaysIfReadable  all of them                 none; masks nothing: for the other files here
 *
 * gateway-list.ts describes the list, saved-list.ts stores it, and save-gateway.ts adds to it.
 */
import { resolve } from 'node:path'
import { UserError, valueOrError } from '../errors.ts'
import { baseUrlFor, baseUrlsOf, isSameButVersion } from '../gateway/base-urls.ts'
import { includesHeader } from '../gateway/input/header.ts'
import { keyOnCommandLineError } from '../gateway/input/key.ts'
import type { BaseUrls, ExtraHeader, Gateway, Protocol } from '../gateway/types.ts'
import type { AskChoice } from '../platform/platform.ts'
import { beginsLikeKey, closestNames, looksLikeAddress, looksLikeKey } from '../text.ts'
import type { World } from '../transaction/record.ts'
import { gatewayList, gatewayNamePattern, type SavedGateway } from './gateway-list.ts'
import { readList } from './saved-list.ts'

/** A command's session: it masks the keys and secret headers of the gateways that it reads. */
interface MaskingSession {
  readonly platform: World
  readonly hide: (secret: string) => void
}

export const noGatewayHint = 'Save one: repoint gateways add URL'

/** @throws UserError `usage` with the nearest name; as `readList` does */
export function savedGateway(session: MaskingSession, name: string): SavedGateway {
  const all = savedGateways(session)
  const found = all.find((gateway) => gateway.name === name)
  if (found !== undefined) return found

  if (looksLikeKey(name)) throw keyOnCommandLineError()
  const names = all.map((gateway) => gateway.name)
  const [closest] = closestNames(name, names)
  const suggestion = closest === undefined ? '' : `Did you mean: {${name}=${closest}}. `
  const listHint = `${suggestion}Your saved gateways: repoint gateways`
  throw new UserError({
    code: 'usage',
    message: `No saved gateway has the name ${JSON.stringify(name)}`,
    hint: all.length === 0 ? noGatewayHint : listHint,
  })
}

/** Whether a word of the command line is an address. A saved gateway can have its host as its name. */
export function isTypedAddress(session: MaskingSession, word: string): boolean {
  return (
    looksLikeAddress(word) && savedGatewaysIfReadable(session).every(({ name }) => name !== word)
  )
}

/** All saved gateways, the latest first. The session masks their secrets from now on. @throws as `readList` does */
export function savedGateways(session: MaskingSession): readonly SavedGateway[] {
  return maskSecrets(session, readList(session.platform, gatewayList))
}

export function savedGatewaysIfReadable(session: MaskingSession): readonly SavedGateway[] {
  return maskSecrets(session, unmaskedGatewaysIfReadable(session.platform))
}

export function unmaskedGatewaysIfReadable(world: World): readonly SavedGateway[] {
  const all = valueOrError(() => readList(world, gatewayList))
  return all instanceof UserError ? [] : all
}

function maskSecrets(
  session: MaskingSession,
  all: readonly SavedGateway[],
): readonly SavedGateway[] {
  for (const { key, headers } of all) {
    session.hide(key)
    hideHeaders(session, headers)
  }
  return all
}

/** Masks the secret values in everything that the session prints. */
export function hideHeaders(session: MaskingSession, headers: readonly ExtraHeader[] = []): void {
  for (const { value, isSecret } of headers) if (isSecret) session.hide(value)
}

/** The headers and queries of all saved gateways. repoint may have written them into clients' files. */
export function savedExtras(session: MaskingSession) {
  const all = savedGatewaysIfReadable(session)
  return {
    headers: all.flatMap(({ headers = [] }) => headers),
    query: all.flatMap(({ query = [] }) => query),
  }
}

export function savedBaseUrls(world: World, address: string): BaseUrls | undefined {
  const saved = savedGatewayAt(world, address)
  return saved && baseUrlsOf(saved)
}

/** The absolute path of a file with additional authorities: the flag's, or the saved gateway's. */
export function caFileFor(
  world: World,
  address: string,
  flag: string | undefined,
): string | undefined {
  if (flag) return resolve(world.machine.cwd, flag)
  return savedGatewayAt(world, address)?.caFile
}

function savedGatewayAt(world: World, address: string): SavedGateway | undefined {
  return unmaskedGatewaysIfReadable(world).find((gateway) => gateway.address === address)
}

/**
 * The name of the saved gateway that a client uses, if the list is readable.
 *
 * @param endpoint what the client's files say
 */
export function findGatewayName(
  session: MaskingSession,
  protocol: Protocol,
  endpoint: { readonly baseUrl?: string } & Pick<Gateway, 'key' | 'headers'>,
): string | undefined {
  const { baseUrl, key, headers: sent } = endpoint
  if (baseUrl === undefined) return undefined
  const candidates = savedGatewaysIfReadable(session).filter(
    (gateway) => gateway.key === key && isSameButVersion(baseUrlFor(gateway, protocol), baseUrl),
  )

  // Several can have the same address and key. The one whose headers the client sends matches best.
  const [withHeaders] = candidates
    .filter(({ headers = [] }) => headers.every((header) => includesHeader(header, sent)))
    .toSorted((a, b) => (b.headers?.length ?? 0) - (a.headers?.length ?? 0))
  return (withHeaders ?? candidates[0])?.name
}

/** @throws UserError `usage` if the name could be mistaken for something else */
export function expectGatewayName(name: string): void {
  const isKey = beginsLikeKey(name)
  if (gatewayNamePattern.test(name) && !isKey) return
  throw new UserError({
    code: 'usage',
    message: isKey
      ? 'This looks like a key, not like the name of a gateway'
      : `Cannot use ${JSON.stringify(name)} as the name of a gateway`,
    hint: 'A name has at most 63 letters, digits, ".", "-" and "_", and begins with a letter or digit.',
  })
}

/** The choices of a prompt: `work  https://gw.example, tested 2 h ago`. */
export function savedChoices({ clock }: World, all: readonly SavedGateway[]): readonly AskChoice[] {
  const now = clock.now()
  return all.map(({ name, address, proven }) => {
    const tested = proven === undefined ? '' : `, tested ${formatAge(proven.at, now)}`
    return { value: name, name: `${name}  ${address}${tested}`, short: name }
  })
}

/** Formats a time in the past: `3 h ago`. */
export function formatAge(time: string, now: Date): string {
  const minutes = Math.floor((now.getTime() - Date.parse(time)) / 60_000)
  if (!(minutes >= 1)) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`
  return `${Math.floor(minutes / (24 * 60))} days ago`
}
