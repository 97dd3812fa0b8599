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
  const parentOfMessages = /^(.*)\/anthropic$/.exec(baseUrl)?.[1]
  if (parentOfMessages !== undefined) {
    const paths = ['/v1', '', '/openai', '/compat', '/paas/v4']
    const siblings = paths.map((path) => parentOfMessages + path)
    const ofAlibaba = `${new URL(baseUrl).origin}/compatible-mode/v1`
    return withKnown(baseUrl, 'chat', [withVersion, baseUrl, ...siblings, ofAlibaba])
  }

  const hasVersion = version.test(pathOf(baseUrl))
  const likely = hasVersion ? [baseUrl, withVersion] : [withVersion, baseUrl]
  // A capital may be a mistake: `/V1`.
  const inLowerCase = baseUrl.replace(/\/V(\d+)$/, '/v$1')
  return withKnown(baseUrl, 'chat', [...likely, inLowerCase])
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
  const host = knownHost(baseUrl)
  const path = host?.[side]
  if (host === undefined || path === undefined) return [...new Set(guessed)]

  const known = (host.isBelow ? baseUrl : new URL(baseUrl).origin) + path
  const typedPath = pathOf(baseUrl)
  const isKnownPath = [host.product, host.chat, host.messages].includes(typedPath)
  if (typedPath === '' || isKnownPath) return [...new Set([known, ...guessed])]

  const isProductSure = host.product !== undefined || productsAt(baseUrl).length === 1
  return [...new Set(isProductSure ? [...guessed, known] : guessed)]
}

/**
 * The possible base URLs for `/v1/messages`, most likely first: the address as it was given, the address
 * without its version, and `/anthropic` below the address, its parent paths or `/apps`.
 */
export function messagesRoots(baseUrl: string): readonly string[] {
  if (baseUrl.endsWith('/anthropic')) return [baseUrl]
  const { origin } = new URL(baseUrl)
  const parents: string[] = []
  for (let path = pathOf(baseUrl); path !== ''; path = path.replace(/\/[^/]*$/, ''))
    parents.push(path)

  const unversioned = baseUrl.replace(new RegExp(`${version.source}$`, 'i'), '')
  const paths = [...parents.slice(0, maxParents), '', '/apps']
  const siblings = paths.map((path) => `${origin}${path}/anthropic`)
  return withKnown(baseUrl, 'messages', [baseUrl, unversioned, ...siblings])
}

/** The search for siblings covers the address and its parent paths, at most this many. */
const maxParents = 4

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

export function isSameRoots(a: BaseUrls, b: BaseUrls): boolean {
  return a.chat === b.chat && a.messages === b.messages
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
export function isSameButVersion(a: string, b: string): boolean {
  const withoutVersion = (root: string) => root.replace(/\/v1$/, '')
  return withoutVersion(a) === withoutVersion(b)
}
