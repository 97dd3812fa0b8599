import { knownHost, productsAt } from './hosts.ts'
import type { BaseUrls, Gateway, Protocol } from './types.ts'

/** The base URLs of nearly every gateway. */
export function usualBaseUrls(address: string): BaseUrls {
  return { chat: `${address}/v1`, messages: address }
}

/** A version in a path, as in `/api/paas/v4` and `/v1beta/openai`. After it, no `/v1` is appended. */
const version = /\/v\d+[a-z\d]*(?=\/|$)/i

/** The base URLs to use for a gateway that received no request yet. */
export function assumedBaseUrls(address: string): BaseUrls {
  return { chat: chatBaseUrls(address)[0]!, messages: messagesBaseUrls(address)[0]! }
}

/**
 * The possible base URLs for chat and responses, most likely first: with `/v1` and as the address was
 * given; the siblings of the address if it is the messages base URL; and those that are known for the
 * host.
 */
export function chatBaseUrls(address: string): readonly string[] {
  const withVersion = `${address}/v1`
  const parentOfMessages = /^(.*)\/anthropic$/.exec(address)?.[1]
  if (parentOfMessages !== undefined) {
    const paths = ['/v1', '', '/openai', '/compat', '/paas/v4']
    const siblings = paths.map((path) => parentOfMessages + path)
    const ofAlibaba = `${new URL(address).origin}/compatible-mode/v1`
    return withKnown(address, 'chat', [withVersion, address, ...siblings, ofAlibaba])
  }

  const hasVersion = version.test(pathOf(address))
  const likely = hasVersion ? [address, withVersion] : [withVersion, address]
  // A capital may be a mistake: `/V1`.
  const inLowerCase = address.replace(/\/V(\d+)$/, '/v$1')
  return withKnown(address, 'chat', [...likely, inLowerCase])
}

/**
 * Adds the known base URL of the host. It comes first if the address is the host alone, or exactly a
 * known path of the same product. In every other case the user's own path comes first. If the host has
 * several products and the path names none of them, the known base URL is left out: the key may belong to
 * another product.
 */
function withKnown(
  address: string,
  side: keyof BaseUrls,
  guessed: readonly string[],
): readonly string[] {
  const host = knownHost(address)
  const path = host?.[side]
  if (host === undefined || path === undefined) return [...new Set(guessed)]

  const known = (host.isBelow ? address : new URL(address).origin) + path
  const typedPath = pathOf(address)
  const isKnownPath = [host.product, host.chat, host.messages].includes(typedPath)
  if (typedPath === '' || isKnownPath) return [...new Set([known, ...guessed])]

  const isProductSure = host.product !== undefined || productsAt(address).length === 1
  return [...new Set(isProductSure ? [...guessed, known] : guessed)]
}

/**
 * The possible base URLs for `/v1/messages`, most likely first: the address as it was given, the address
 * without its version, and `/anthropic` below the address, its parent paths or `/apps`.
 */
export function messagesBaseUrls(address: string): readonly string[] {
  if (address.endsWith('/anthropic')) return [address]
  const { origin } = new URL(address)
  const parents: string[] = []
  for (let path = pathOf(address); path !== ''; path = path.replace(/\/[^/]*$/, ''))
    parents.push(path)

  const unversioned = address.replace(new RegExp(`${version.source}$`, 'i'), '')
  const paths = [...parents.slice(0, maxParents), '', '/apps']
  const siblings = paths.map((path) => `${origin}${path}/anthropic`)
  return withKnown(address, 'messages', [address, unversioned, ...siblings])
}

/** The search for siblings covers the address and its parent paths, at most this many. */
const maxParents = 4

function pathOf(address: string): string {
  return new URL(address).pathname.replace(/\/$/, '')
}

/**
 * The base URLs to ask, in this order: the known one; the address as the user typed it, if it has a path; and what it
 * suggests.
 */
export function baseUrlsToAsk(gateway: Located, side: keyof BaseUrls): readonly string[] {
  const { address } = gateway
  const known = baseUrlsOf(gateway)[side]
  const guesses = side === 'messages' ? messagesBaseUrls(address) : chatBaseUrls(address)
  const isTyped = side === 'chat' && pathOf(address) !== '' && !address.endsWith('/anthropic')
  const typed = isTyped && knownHost(address) === undefined ? [address] : []
  const isGuess = known === guesses[0]
  return [...new Set([...(isGuess ? [] : [known]), ...typed, ...guesses])]
}

/** The base URL that a client with this protocol is configured with. */
export function baseUrlFor(gateway: Located, protocol: Protocol): string {
  return baseUrlsOf(gateway)[sideOf(protocol)]
}

/** Which of the two base URLs a protocol uses. */
export function sideOf(protocol: Protocol): keyof BaseUrls {
  return protocol === 'messages' ? 'messages' : 'chat'
}

type Located = Pick<Gateway, 'address' | 'baseUrls'>

/** The base URLs of a gateway. Only custom ones are saved. */
export function baseUrlsOf({ address, baseUrls }: Located): BaseUrls {
  return baseUrls ?? usualBaseUrls(address)
}

/** The base URLs if they must be saved. Undefined: they are the usual ones. */
export function customBaseUrls(gateway: Located): BaseUrls | undefined {
  const baseUrls = baseUrlsOf(gateway)
  return sameBaseUrls(baseUrls, usualBaseUrls(gateway.address)) ? undefined : baseUrls
}

export function sameBaseUrls(a: BaseUrls, b: BaseUrls): boolean {
  return a.chat === b.chat && a.messages === b.messages
}

/** The address for a base URL, as repoint shows it: without the usual `/v1`. */
export function addressFor(baseUrl: string, protocol: Protocol): string {
  return protocol === 'messages' ? baseUrl : baseUrl.replace(/\/v1$/, '')
}

/** A gateway of which one base URL is known. */
export function gatewayAt(baseUrl: string, protocol: Protocol): Gateway {
  const address = addressFor(baseUrl, protocol)
  if (protocol === 'messages') return { address }
  return { address, baseUrls: { chat: baseUrl, messages: address } }
}

/**
 * Whether two base URLs are equal except for slashes and a `/v1` at the end, which users and other tools add and
 * leave out:
 *
 *     https://gw/v1/       https://gw/v1     yes
 *     https://gw           https://gw/v1     yes
 *     https://gw/openai    https://gw/v1     no
 *     https://gw/v1        https://gw/v2     no
 */
export function isSameButVersion(a: string, b: string): boolean {
  const withoutVersion = (baseUrl: string) => baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '')
  return withoutVersion(a) === withoutVersion(b)
}
