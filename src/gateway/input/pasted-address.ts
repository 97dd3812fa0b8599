/**
 * Finds the address in a pasted text: without quotes, assignments and the words around it, and with a scheme. A
 * text that may be a secret is never shown in a message, and never resolved as a host name.
 */
import { isIPv6 } from 'node:net'
import { UserError } from '../../errors.ts'
import { isLoopback } from './local-host.ts'

/**
 * The URL of a pasted address.
 *
 * @param changes receives what was changed, for the notice
 * @throws UserError `usage`
 */
export function parseAddress(input: string, changes: string[]): URL {
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
export function badAddress(
  message: string,
  hint: string,
  hintAtPrompt = typeAddressHint,
): UserError {
  return new UserError({ code: 'usage', message, hint, hintAtPrompt })
}

const typeAddressHint = 'Type only the address of your gateway, like this: https://gateway.example.'
