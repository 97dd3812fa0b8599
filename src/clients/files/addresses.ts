import type { Finding } from '../../finding.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
import { isLoopback } from '../../gateway/input/local-host.ts'
import type { Protocol } from '../../gateway/types.ts'
import type { Client, ClientContext } from '../contract/client.ts'
import type { SetupTarget } from '../contract/setup.ts'
import type { ClientState } from '../contract/state.ts'

/** An address without slashes at the end: a client appends its route to it. */
export function withoutTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** Whether a client has another address than this base URL. Without any, it uses its own service. */
export function pointsElsewhere(url: string | undefined, baseUrl: string): boolean {
  return url !== undefined && !isSameButVersion(url, baseUrl)
}

/** Whether an address is on this machine. */
export function isLoopbackUrl(url: string | undefined): boolean {
  return url !== undefined && URL.canParse(url) && isLoopback(new URL(url).hostname)
}

/**
 * Whether repoint wrote an address before, or is about to set it up. An additional or missing `/v1` at its
 * end does not matter.
 */
export function isOwnAddress(
  url: string | undefined,
  { writtenBaseUrls }: ClientContext,
  target?: SetupTarget,
): boolean {
  if (url === undefined) return false
  const written = target === undefined ? writtenBaseUrls : [...writtenBaseUrls, target.baseUrl]
  return written.some((baseUrl) => isSameButVersion(url, baseUrl))
}

/** A model server on this machine may need no key, unless repoint wrote its address. */
export function mayNeedNoKey(url: string | undefined, context: ClientContext): boolean {
  return isLoopbackUrl(url) && !isOwnAddress(url, context)
}

/**
 * The base URL with the `/v1` that repoint wrote and that is missing now. Undefined: it is not missing.
 *
 * @param protocol for a client with several: the messages protocol needs no `/v1`
 */
export function withLostVersion(
  url: string,
  { writtenBaseUrls }: ClientContext,
  protocol?: Protocol,
): string | undefined {
  const withVersion = `${withoutTrailingSlash(url)}/v1`
  const isRight =
    protocol === undefined
      ? writtenBaseUrls.includes(withoutTrailingSlash(url))
      : protocol === 'messages'
  return writtenBaseUrls.includes(withVersion) && !isRight ? withVersion : undefined
}

/** An address without parts that may be secret: user and password, query and fragment. */
export function shownUrl(url: string): string {
  if (URL.canParse(url)) {
    const { protocol, host, pathname } = new URL(url)
    if (host !== '') return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`
  }
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url)?.[0] ?? ''
  const rest = url.slice(scheme.length)
  // Everything up to the last @ may be a password.
  return scheme + rest.slice(rest.lastIndexOf('@') + 1).replace(/[?#].*$/s, '')
}

export const invalidAddressCode = 'client-address-invalid'

/**
 * A client whose state has no address that is no URL, such as one without `http://`: nobody can send a request there.
 * A finding of the state says so.
 */
export function withUsableAddress(client: Client): Client {
  return { ...client, read: (files) => usableState(client, client.read(files)) }
}

function usableState({ id, label }: Client, state: ClientState): ClientState {
  const { baseUrl } = state.endpoint
  if (baseUrl === undefined || isWebAddress(baseUrl)) return state
  const finding: Finding = {
    code: invalidAddressCode,
    severity: 'error',
    message: `${label} points at ${JSON.stringify(shownUrl(baseUrl))}, which is no address of the form https://host`,
    hint: `Set it up again: repoint ${id}`,
    topic: 'broken',
    location: state.origins.baseUrl,
  }
  return {
    ...state,
    endpoint: { ...state.endpoint, baseUrl: undefined },
    findings: [...state.findings, finding],
  }
}

function isWebAddress(text: string): boolean {
  // A client appends its route, so that even a space at the end makes it invalid.
  return !/\s/.test(text) && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
