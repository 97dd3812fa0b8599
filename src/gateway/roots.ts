import { knownHost, productsAt } from './hosts.ts'
import type { BaseUrls, Gateway, Protocol } from './types.ts'

/** Where the routes of nearly every gateway hang: the rule of the design. */
export function usualRoots(baseUrl: string): BaseUrls {
  return { chat: `${baseUrl}/v1`, messages: baseUrl }
}

/** A version in a path, as in `/api/paas/v4` and `/v1beta/openai`: then no other is appended. */
const version = /\/v\d+[a-z\d]*(?=\/|$)/i

/** The roots that are taken for a gateway's as long as it has not been asked. */
export function assumedRoots(baseUrl: string): BaseUrls {
  return { chat: chatRoots(baseUrl)[0]!, messages: messagesRoots(baseUrl)[0]! }
}

/**
 * Where the chat and responses routes of a gateway may hang, the likeliest first: with `/v1` and as
 * the address was given; where that is the root of the messages protocol, at its siblings; and where
 * the host is known to have them.
 */
export function chatRoots(baseUrl: string): readonly string[] {
  const given = [`${baseUrl}/v1`, baseUrl]
  const above = /^(.*)\/anthropic$/.exec(baseUrl)?.[1]
  if (above === undefined)
    return withKnown(baseUrl, 'chat', version.test(pathOf(baseUrl)) ? given.reverse() : given)

  const siblings = ['/v1', '', '/openai', '/compat', '/paas/v4'].map((shape) => above + shape)
  const origin = new URL(baseUrl).origin
  return withKnown(baseUrl, 'chat', [...given, ...siblings, `${origin}/compatible-mode/v1`])
}

/**
 * With what is known of the host. It is tried first if the address is the host alone, or exactly a path
 * that is known of the same product. A person's own path is tried first in every other case, and the
 * known roots of a host with several products are not tried at all: the key may belong to another one.
 */
function withKnown(
  baseUrl: string,
  side: keyof BaseUrls,
  guessed: readonly string[],
): readonly string[] {
  const row = knownHost(baseUrl)
  const path = row?.[side]
  if (row === undefined || path === undefined) return [...new Set(guessed)]

  const known = new URL(baseUrl).origin + path
  const typed = pathOf(baseUrl)
  const isExact = [row.product, row.chat, row.messages].includes(typed)
  if (typed === '' || isExact) return [...new Set([known, ...guessed])]
  const isOnlyProduct = productsAt(baseUrl).length === 1
  return [...new Set(isOnlyProduct || row.product !== undefined ? [...guessed, known] : guessed)]
}

/**
 * Where `/v1/messages` of a gateway may hang, the likeliest first: at the address as it was given,
 * before its version, beside or above it under the protocol's usual name.
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

/** The most folders of an address below which a sibling is looked for. */
const maxAbove = 4

function pathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '')
}

/** The root that a client of this protocol is configured with. */
export function rootOf(gateway: Located, protocol: Protocol): string {
  const { messages, chat } = rootsOf(gateway)
  return protocol === 'messages' ? messages : chat
}

type Located = Pick<Gateway, 'baseUrl' | 'baseUrls'>

/** The roots of a gateway: they are written down only where they are not the usual ones. */
export function rootsOf({ baseUrl, baseUrls }: Located): BaseUrls {
  return baseUrls ?? usualRoots(baseUrl)
}

/** Undefined: the usual ones, which need not be written down. */
export function unusualRoots(gateway: Located): BaseUrls | undefined {
  const roots = rootsOf(gateway)
  return isSameRoots(roots, usualRoots(gateway.baseUrl)) ? undefined : roots
}

export function isSameRoots(one: BaseUrls, other: BaseUrls): boolean {
  return one.chat === other.chat && one.messages === other.messages
}

/** What is shown of a root: the base URL where it is the usual one. */
export function shownRoot(root: string, protocol: Protocol): string {
  return protocol === 'messages' ? root : root.replace(/\/v1$/, '')
}

/** A gateway of which one root is known. */
export function gatewayAt(root: string, protocol: Protocol): Gateway {
  const baseUrl = shownRoot(root, protocol)
  return protocol === 'messages'
    ? { baseUrl }
    : { baseUrl, baseUrls: { chat: root, messages: baseUrl } }
}

/** Whether two roots are the same, but for a `/v1` at the end, which people add and take away. */
export function isSameButVersion(one: string, other: string): boolean {
  const plain = (root: string) => root.replace(/\/v1$/, '')
  return plain(one) === plain(other)
}
