/**
 * Reads the address of a gateway as people paste it, and reports what was changed in it. `extractAddress`
 * finds the address in the text; the others remove what clients add to it, and what belongs to a web page.
 */

import { isIPv6 } from 'node:net'
import { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { ownerOfPage } from '../hosts.ts'
import type { HeaderChange } from './header.ts'
import { isLoopback } from './local-host.ts'
import { readQuery } from './query.ts'

export interface AddressOptions {
  /** Accepts plain http to another machine. */
  readonly allowHttp?: boolean
}

/**
 * Finds the address in a pasted text, which may have no scheme, or have `/v1`, a full route, quotes, a
 * web page's path, or a whole line of a shell script. A path prefix (`https://host/gateway`) is kept.
 * The query is returned separately, except that of a web page or of an older Azure route.
 *
 * @throws UserError `usage` for an unusable address, `docs-host` for documentation
 */
export function normaliseAddress(
  input: string,
  options: AddressOptions,
): { address: string; query: readonly HeaderChange[]; findings: Finding[] } {
  const changes: string[] = []
  const typed = parseAddress(input, changes)
  const url = replaceWebPage(typed, changes)

  if (url.username !== '' || url.password !== '') {
    throw badAddress(
      `The address contains a user name or a password`,
      'Use only the address, and pass the key with --key-env NAME.',
      'Type only the address. The next question asks for the key.',
    )
  }

  const hasForeignQuery =
    url.hash !== '' || webPage.test(url.pathname) || azureDeployment.test(url.pathname)
  const query = hasForeignQuery ? [] : readQuery(url)
  if (url.searchParams.size > query.length) changes.push('without the query')
  else if (url.hash !== '') changes.push('without the part after #')

  const hostname = cleanHostname(url, changes)
  const path = apiPrefix(url, hostname, changes)
  if (url.protocol === 'http:' && !isLoopback(hostname) && !options.allowHttp) {
    throw badAddress(
      `http://${url.host} would send the key over the network in clear text`,
      `Use https: --base-url https://${url.host}${path}. Or, if you trust the network, add --allow-http`,
      `Type https://${url.host}${path}. If you trust the network, press Ctrl-C and add --allow-http.`,
    )
  }

  const port = url.port === '' ? '' : `:${url.port}`
  const address = `${url.protocol}//${hostname}${port}${path}`
  if (changes.length === 0) return { address, query, findings: [] }
  const message = `Using ${address} (${changes.join(', ')})`
  return { address, query, findings: [{ code: 'url-cleaned', severity: 'note', message }] }
}

/**
 * Routes of the three protocols and related ones, as people copy them from documentation. Paths are
 * case-sensitive: `/V1` belongs to the address.
 */
const trailingRoute =
  /(?:\/v1)*(?:\/(?:chat\/completions|responses(?:\/compact)?|messages(?:\/count_tokens)?|models(?:\/[^/]+)*|completions|embeddings|rerank|moderations|files|images\/[a-z]+|audio\/[a-z]+|realtime))?$/

/** The first path segments of common gateway web applications (New API, one-api, LiteLLM). */
const webPage =
  /\/(?:console|panel|dashboard|login|register|tokens?|pricing|playground|topup|wallet|settings|about|ui|index\.html)(?:\/.*)?$/i

/** A route of Azure. Its `api-version` applies only to this route: with `/v1`, Azure rejects it (2026-04). */
const azureDeployment = /\/deployments\/[^/]+/

const docsHost =
  /^(?:docs?|documentation|api-?docs?|help|wiki|manual)\.|\.(?:gitbook\.io|readthedocs\.io|mintlify\.app|apifox\.cn)$/
const docsPage = /\/(?:docs?|documentation|swagger|redoc|openapi\.json|api-docs|guide)(?:\/.*)?$/i

/** Replaces a known web page by the address of its API. */
function replaceWebPage(typed: URL, changes: string[]): URL {
  const owner = ownerOfPage(typed.hostname)
  if (owner === undefined || typed.username !== '' || typed.password !== '') return typed
  changes.push(`${typed.hostname} is a web page of ${owner.name}. Its API is at ${owner.host}`)
  return new URL(`https://${owner.host}`)
}

function cleanHostname(url: URL, changes: string[]): string {
  if (docsHost.test(url.hostname)) {
    throw new UserError({
      code: 'docs-host',
      message: `${url.hostname} is the documentation, not the API`,
      hint: 'Copy the "API base URL" from the documentation: --base-url URL',
      hintAtPrompt: 'Type the "API base URL" that the documentation names.',
    })
  }

  if (url.hostname === '0.0.0.0') {
    // Servers print it as their listen address. As a destination it works only sometimes.
    changes.push('instead of 0.0.0.0')
    return '127.0.0.1'
  }

  if (!url.hostname.endsWith('.')) return url.hostname
  changes.push('without the dot after the host')

  return url.hostname.slice(0, -1)
}

/** The path before `/v1`, without a trailing slash. */
function apiPrefix(url: URL, hostname: string, changes: string[]): string {
  const whole = cleanPath(url.pathname.replace(/\/{2,}/g, '/'))
  const path = repeatUntilStable(whole, (part) => cleanPath(part.replace(trailingRoute, '')))
  if (path !== whole) {
    changes.push(`without ${whole.slice(path.length)}, which clients add`)
  }

  const docs = docsPage.exec(path)?.[0]

  if (docs !== undefined) {
    const address = `${url.protocol}//${url.host}${path.slice(0, -docs.length)}`
    throw new UserError({
      code: 'docs-host',
      message: `${hostname}${path} is a documentation page, not the API`,
      hint: `Try: --base-url ${address}. Or copy the address from that page.`,
      hintAtPrompt: `Try ${address}, or type the address from that page.`,
    })
  }

  const prefix = repeatUntilStable(path, (part) => cleanPath(part.replace(webPage, '')))
  if (prefix !== path) changes.push(`without ${path.slice(prefix.length)}, a web page`)

  return prefix
}

/** Removes punctuation that a sentence or a shell left after an address. */
function cleanPath(path: string): string {
  return path
    .replace(/[^\w~%-]+$/, '')
    .replace(/['()]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)
}

function repeatUntilStable(text: string, step: (text: string) => string): string {
  const next = step(text)
  return next === text ? text : repeatUntilStable(next, step)
}

/**
 * The URL of a pasted address.
 *
 * @param changes receives what was changed, for the notice
 * @throws UserError `usage`
 */
function parseAddress(input: string, changes: string[]): URL {
  const text = extractAddress(input, changes)
  if (text === '') {
    throw badAddress(
      'The address is empty',
      'Pass the address of your gateway, for example: --base-url https://gateway.example',
    )
  }
  if (placeholders.some((pattern) => pattern.test(text))) {
    throw badAddress(
      'The address is a placeholder from instructions',
      'Pass the address of your gateway, for example: --base-url https://gateway.example',
    )
  }

  // Checked first, because a key must neither be printed nor be resolved as a host name.
  if (isKeyShaped(text)) {
    throw badAddress(
      'This looks like a key, not an address',
      'Pass the address, for example --base-url https://gateway.example, and the key with --key-env NAME.',
      `${typeAddressHint} The next question asks for the key.`,
    )
  }

  // In the URL standard, the slash in a password ends the host. Neither part may be printed.
  const withoutScheme = text.replace(/^(?:https?:)?\/*/i, '')
  if (passwordWithSlash.test(withoutScheme)) throw notAnAddressError()

  const url = parseUrl(addScheme(text, changes))
  if (url === undefined || !hostName.test(url.hostname)) throw notAnAddressError()
  if (/\P{ASCII}/u.test(text) && /(?:^|\.)xn--/.test(url.hostname)) {
    changes.push('the name in ASCII')
  }

  return url
}

/** Placeholders for the address in instructions. */
const placeholders: readonly RegExp[] = [
  /^(?:(?:api|base|gateway)[-_]?)?(?:base[-_]?)?(?:url|host|endpoint)$/i,
  /^\{.*\}$/,
  /^\[[\w -]*\]$/,
  /^\$\{?\w+\}?$/,
  /^\$env:\w+$/i,
  /^%\w+%$/,
  /\{(?:base[-_]?)?(?:url|host|domain)\}/i,
  // `my-…` and `your-team.…` can be real host names.
  /^(?:https?:\/\/)?your[-_](?:(?:api|base|gateway|host|domain|endpoint|url|server|proxy|instance|resource)[-_]?)+(?:\.(?:com|net|org|io|example(?:\.com)?))?(?:[:/]|$)/i,
  /^https?:\/\/[.…]/u,
]

/** `user:pass/word@host`. */
const passwordWithSlash = /^[^/]*:[^@]*\/[^@]*@/

/** A name or an IPv6 address. The URL standard allows characters that no host name has: "(", "$", "!". */
const hostName = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:.]+\])$/

/** Extracts the address from quotes, assignments, Markdown and shell lines. */
function extractAddress(input: string, changes: string[]): string {
  // Text copied from chats and web pages can contain zero-width characters and marks.
  const visible = input.replace(/\p{Cf}/gu, '')
  const trimmed = visible.trim()
  let text = trimmed.replaceAll('：', ':').replaceAll('／', '/').replaceAll('。', '.')

  const embedded = text.match(/https?:\/[^\s"'`<>()，、；]+/gi)
  if (embedded?.length === 1) text = embedded[0]

  text = text
    .replace(/^[\w\s]*(?:URL|BASE|HOST|ENDPOINT)\s*=\s*/i, '')
    .replace(/^["'`“”‘’<(]+|["'`“”‘’>)]+$/g, '')
    .replace(/[\s,;.，；]+$/, '')
    .trim()
  if (text !== trimmed) changes.push('without the text around the address')

  if (/\s/.test(text)) {
    throw badAddress(
      'The address has spaces inside',
      'Pass one address, for example: --base-url https://gateway.example',
    )
  }

  return text
}

function addScheme(text: string, changes: string[]): string {
  if (/^https?:/i.test(text)) return text
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]
  if (scheme !== undefined) {
    throw badAddress(
      `The address begins with ${scheme}://, and a gateway needs https://`,
      'Example: --base-url https://gateway.example',
    )
  }

  const withoutSlashes = text.replace(/^\/\//, '')
  const address = isIPv6(withoutSlashes) ? `[${withoutSlashes}]` : withoutSlashes
  if (!isClearlyHost(address)) throw notAnAddressError()

  const hostname = parseUrl(`http://${address}`)?.hostname ?? ''
  const isThisMachine = isLoopback(hostname) || hostname === '0.0.0.0'
  const usualScheme = isThisMachine ? 'http' : 'https'
  changes.push(`with ${usualScheme}://`)
  return `${usualScheme}://${address}`
}

/**
 * Whether an address without a scheme clearly begins with a host: an IP address, a host with a port,
 * `localhost`, or a name with a top-level domain, which has no digits (RFC 3696, 2). Any other word may
 * be a secret and must not be sent to a name server.
 */
function isClearlyHost(address: string): boolean {
  const authority = /^[^/?#]*/.exec(address)![0]
  return (
    /^(?:.*@)?(?:[^:]+:\d+|\[.*\](?::\d+)?|localhost|\d+(?:\.\d+){3})$/i.test(authority) ||
    /\.(?:xn--[\w-]+|\p{L}{2,})\.?:?$/iu.test(authority)
  )
}

/** The message does not quote the text, because it may be a secret. */
function notAnAddressError(): UserError {
  return badAddress('This is not an address', 'Example: --base-url https://gateway.example')
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

/** Prefixes of well-known keys. A part of a host name has at most 63 characters. */
const knownKeyPrefix =
  /^(?:(?:sk|pk|rk)-[\w-]{40,}|(?:sk|pk|rk)-[\w-]{16,}$|eyJ[\w-]{16,}\.|gh[pousr]_\w{16,}|xox[abps]-[\w-]{10,})/
const shortKey = /^(?:sk|pk|rk)-[^.:/]*$/

/** Letters with digits. Names without a dot are rarely this long, and keys are rarely shorter. */
const longWord = /^(?=.*\d)(?=.*[a-z])[\w+=~-]{24,}$/i

/** Whether a text looks like a key and not like the address of a host. */
function isKeyShaped(text: string): boolean {
  const scheme = /^https?:\/*/i
  if (scheme.test(text)) return knownKeyPrefix.test(text.replace(scheme, ''))

  const value = text.replace(/^\w+[=:]["']?/, '')
  return [text, value].some(
    (part) => knownKeyPrefix.test(part) || shortKey.test(part) || longWord.test(part),
  )
}

/** @param hintAtPrompt the hint at a prompt, where the user cannot use flags */
function badAddress(message: string, hint: string, hintAtPrompt = typeAddressHint): UserError {
  return new UserError({ code: 'usage', message, hint, hintAtPrompt })
}

const typeAddressHint = 'Type only the address of your gateway, like this: https://gateway.example.'
