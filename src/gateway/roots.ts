import type { ProtocolName, Roots } from './types.ts'

/** Where the routes of nearly every gateway hang: the rule of the design. */
export function usualRoots(baseUrl: string): Roots {
  return { chat: `${baseUrl}/v1`, messages: baseUrl }
}

/** The root that a client of this protocol is configured with. */
export function rootFor(roots: Roots, protocol: ProtocolName): string {
  return protocol === 'messages' ? roots.messages : roots.chat
}

/** The roots of a gateway that is recorded: they are written down only where they are not the usual ones. */
export function rootsOf({
  baseUrl,
  roots,
}: {
  readonly baseUrl: string
  readonly roots?: Roots | undefined
}): Roots {
  return roots ?? usualRoots(baseUrl)
}

/** Undefined: the usual ones, which need not be written down. */
export function unusualRoots({
  baseUrl,
  roots,
}: {
  readonly baseUrl: string
  readonly roots: Roots
}): Roots | undefined {
  return isSameRoots(roots, usualRoots(baseUrl)) ? undefined : roots
}

export function isSameRoots(one: Roots, other: Roots): boolean {
  return one.chat === other.chat && one.messages === other.messages
}

/** What is shown of a root: the base URL where it is the usual one. */
export function shownRoot(root: string, protocol: ProtocolName): string {
  return protocol === 'messages' ? root : root.replace(/\/v1$/, '')
}

/** The roots of a gateway of which one is known. */
export function rootsFrom(root: string, protocol: ProtocolName): Roots {
  const baseUrl = shownRoot(root, protocol)
  return protocol === 'messages' ? usualRoots(baseUrl) : { chat: root, messages: baseUrl }
}

/** Whether two roots are the same, but for a `/v1` at the end, which people add and take away. */
export function isSameButVersion(one: string, other: string): boolean {
  const plain = (root: string) => root.replace(/\/v1$/, '')
  return plain(one) === plain(other)
}
