import { knownHost, productsAt } from './hosts.ts'
import type { BaseUrls, Gateway, Protocol } from './types.ts'

/** The base URLs of nearly every gateway. */
export function usualRoots(baseUrl: string): BaseUrls {
  return { chat: `${baseUrl}/v1`, messages: baseUrl }
}

/** A version in a path, as in `/api/paas/v4` and `/v1beta/openai`. After it, no `/v1` is appended. */
const version = /\/v\d+[a-z\d]*(?=\/|$)/i

/** The base URLs to use for a gateway as long as nothing was requested from it. */
export function assumedRoots(baseUrl: string): BaseUrls {
  return { chat: chatRoots(baseUrl)[0]!, messages: messagesRoots(baseUrl)[0]! }
}

/**
 * The possible base URLs for chat and responses, most likely first: with `/v1` and as the address was
 * given; the siblings of the address if it is the messages base URL; and those that are known for the
 * host.
 */
export function chatRoots(baseUrl: string): readonly string[] {
  const withVersion = `${baseUrl}/v1`
  const parent = /^(.*)\/anthropic$/.exec(baseUrl)?.[1]
  if (parent === undefined) {
    const hasVersion = version.test(pathOf(baseUrl))
    return withKnown(baseUrl, 'chat', [
      ...(hasVersion ? [baseUrl, withVersion] : [withVersion, baseUrl]),
      // A capital may be a mistake.
      baseUrl.replace(/\/V(\d+)$/, '/v$1'),
    ])
  }

  const siblings = ['/v1', '', '/openai', '/compat', '/paas/v4'].map((path) => parent + path)
  const origin = new URL(baseUrl).origin
  return withKnown(baseUrl, 'chat', [
    withVersion,
    baseUrl,
    ...siblings,
    `${origin}/compatible-mode/v1`,
  ])
}

/**
 * Adds the known base URL of the host. It comes first if the address is the host alone, or exactly a
 * known path of the same product. In every other case the user's own path comes first. If the host has
 * several products and the path names none of them, the known base URL is left out: the key may belong to
 * another product.
 */
function withKnown(
  baseUrl: string,
  side: keyof BaseUrls,
  guessed: readonly string[],
): readonly string[] {
  const row = knownHost(baseUrl)
  const path = row?.[side]
  if (row === undefined || path === undefined) return [...new Set(guessed)]

  const known = (row.isBelow ? baseUrl : new URL(baseUrl).origin) + path
  const typed = pathOf(baseUrl)
  const isExact = [row.product, row.chat, row.messages].includes(typed)
  if (typed === '' || isExact) return [...new Set([known, ...guessed])]
  const isOnlyProduct = productsAt(baseUrl).length === 1
  return [...new Set(isOnlyProduct || row.product !== undefined ? [...guessed, known] : guessed)]
}

/**
 * The possible base URLs for `/v1/messages`, most likely first: the address as it was given, the address
 * without its version, and `/anthropic` below the address, its parent paths or `/apps`.
 */
export function messagesRoots(baseUrl: string): readonly string[] {
  if (baseUrl.endsWith('/anthropic')) return [baseUrl]
  const { origin } = new URL(baseUrl)
  const above: string[] = []
  for (let path = pathOf(baseUrl); path !== ''; path = path.replace(/\/[^/]*$/, ''))
    above.push(path)

  const unversioned = baseUrl.replace(new RegExp(`${version.source}$`, 'i'), '')
  const named = [...above.slice(0, maxAbove), '', '/apps'].map(
    (path) => `${origin}${path}/anthropic`,
  )
  return withKnown(baseUrl, 'messages', [baseUrl, unversioned, ...named])
}

/** The search for siblings covers at most this many parent paths. */
const maxAbove = 4

function pathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '')
}

/** The base URL that a client with this protocol is configured with. */
export function rootOf(gateway: Located, protocol: Protocol): string {
  const { messages, chat } = rootsOf(gateway)
  return protocol === 'messages' ? messages : chat
}

type Located = Pick<Gateway, 'baseUrl' | 'baseUrls'>

/** The base URLs of a gateway. Only unusual ones are saved. */
export function rootsOf({ baseUrl, baseUrls }: Located): BaseUrls {
  return baseUrls ?? usualRoots(baseUrl)
}

/** The base URLs if they must be saved. Undefined: they are the usual ones. */
export function unusualRoots(gateway: Located): BaseUrls | undefined {
  const roots = rootsOf(gateway)
  return isSameRoots(roots, usualRoots(gateway.baseUrl)) ? undefined : roots
}

export function isSameRoots(one: BaseUrls, other: BaseUrls): boolean {
  return one.chat === other.chat && one.messages === other.messages
}

/** A base URL as repoint shows it: without the usual `/v1`. */
export function shownRoot(root: string, protocol: Protocol): string {
  return protocol === 'messages' ? root : root.replace(/\/v1$/, '')
}

/** A gateway of which one base URL is known. */
export function gatewayAt(root: string, protocol: Protocol): Gateway {
  const baseUrl = shownRoot(root, protocol)
  return protocol === 'messages'
    ? { baseUrl }
    : { baseUrl, baseUrls: { chat: root, messages: baseUrl } }
}

/** Whether two base URLs are equal except for a `/v1` at the end, which users add and remove. */
export function isSameButVersion(one: string, other: string): boolean {
  const plain = (root: string) => root.replace(/\/v1$/, '')
  return plain(one) === plain(other)
}
