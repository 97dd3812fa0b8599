import { BlockList, isIP, isIPv6 } from 'node:net'
import { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { ownerOfPage } from '../hosts.ts'
import type { AskedHeader } from './header.ts'
import { readQuery } from './query.ts'

/** Routes of the three protocols and their neighbours, as people copy them out of documentation. */
const routeAtEnd =
  /(?:\/v1)*(?:\/(?:chat\/completions|responses(?:\/compact)?|messages(?:\/count_tokens)?|models(?:\/[^/]+)*|completions|embeddings|rerank|moderations|files|images\/[a-z]+|audio\/[a-z]+|realtime))?$/i

/** First path segments of the web applications of this gateway family (New API, one-api, LiteLLM). */
const webPage =
  /\/(?:console|panel|dashboard|login|register|tokens?|pricing|playground|topup|wallet|settings|about|ui|index\.html)(?:\/.*)?$/i

/** Its version is that of this route alone: beside `/v1` Azure refuses one (2026-04). */
const deployment = /\/deployments\/[^/]+/

const docsHost =
  /^(?:docs?|documentation|api-?docs?|help|wiki|manual)\.|\.(?:gitbook\.io|readthedocs\.io|mintlify\.app|apifox\.cn)$/
const docsPage = /\/(?:docs?|documentation|swagger|redoc|openapi\.json|api-docs|guide)(?:\/.*)?$/i

/** The ways in which instructions leave a gap for the address. */
const placeholders: readonly RegExp[] = [
  /^(?:(?:api|base|gateway)[-_]?)?(?:base[-_]?)?(?:url|host|endpoint)$/i,
  /^\{.*\}$/,
  /^\[[\w -]*\]$/,
  /^\$\{?\w+\}?$/,
  /^\$env:\w+$/i,
  /^%\w+%$/,
  /\{(?:base[-_]?)?(?:url|host|domain)\}/i,
  // `my-…` and `your-team.…` are names that people give to machines.
  /^(?:https?:\/\/)?your[-_](?:(?:api|base|gateway|host|domain|endpoint|url|server|proxy|instance|resource)[-_]?)+(?:\.(?:com|net|org|io|example(?:\.com)?))?(?:[:/]|$)/i,
  /^https?:\/\/[.…]/u,
]

export interface AddressOptions {
  /** Plain http to another machine is taken too. */
  readonly allowHttp?: boolean | undefined
}

/**
 * The API root in what people paste: with or without a scheme, `/v1`, a full route, quotes, a web
 * page's path, a whole line of a shell script. A path prefix (`https://host/gateway`) stays, and so does
 * a query, apart, but for that of a page or of an older route of Azure's.
 *
 * @throws UserError `usage` for what is no usable address, `docs-host` for the documentation
 */
export function normaliseBaseUrl(
  input: string,
  options: AddressOptions,
): { baseUrl: string; query: readonly AskedHeader[]; notices: Finding[] } {
  const changes: string[] = []
  const typed = parse(input, changes)
  const url = apiOf(typed, changes)

  if (url.username !== '' || url.password !== '') {
    throw badAddress(
      `The address holds a user name or a password before ${url.host}`,
      'Give the address without them, and the key apart: --key-stdin, --key-file or --key-env.',
      'Type the address without them; the key is asked for apart.',
    )
  }
  const isPage = url.hash !== '' || webPage.test(url.pathname) || deployment.test(url.pathname)
  const query = isPage ? [] : readQuery(url)
  if (url.searchParams.size > query.length) changes.push('the query removed')
  else if (url.hash !== '') changes.push('the part after # removed')

  const hostname = cleanHostname(url, changes)
  const path = apiPrefix(url, hostname, changes)
  const isLocal = isLoopback(hostname)
  if (url.protocol === 'http:' && !isLocal && !options.allowHttp) {
    throw badAddress(
      `http://${url.host} would send the key over the network for everyone to read`,
      `Use https://${url.host}${path}, or add --allow-http if you trust the network.`,
      `Type https://${url.host}${path}; or, if you trust the network, leave with Ctrl-C and begin with, say, repoint codex --allow-http.`,
    )
  }

  const port = url.port === '' ? '' : `:${url.port}`
  const baseUrl = `${url.protocol}//${hostname}${port}${path}`
  const notices =
    changes.length === 0
      ? []
      : [{ code: 'url-cleaned', message: `Address read as ${baseUrl}: ${changes.join(', ')}` }]
  return { baseUrl, query, notices }
}

/** Where the API is whose web page was typed: asking it decides, as with any other address. */
function apiOf(typed: URL, changes: string[]): URL {
  const owner = ownerOfPage(typed.hostname)
  if (owner === undefined || typed.username !== '' || typed.password !== '') return typed
  changes.push(`${typed.hostname} is a web page of ${owner.name}, whose API is at ${owner.host}`)
  return new URL(`https://${owner.host}`)
}

/** What is no usable address, and what to do about it; at a prompt, where flags are of no use, too. */
function badAddress(message: string, hint: string, hintAtPrompt = typeAddress): UserError {
  return new UserError({ code: 'usage', message, hint, hintAtPrompt })
}

const typeAddress = 'Type the address of your gateway alone, like this: https://gateway.example.'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Whether a host is this machine, so that such traffic never leaves it: an address, or a name that
 * only this machine should answer to (RFC 6761, 6.3). What a name leads to is known once it is
 * connected to: then ask again with the address.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/[[\]]/g, '').toLowerCase()
  const version = isIP(bare)
  if (version !== 0) return loopback.check(bare, version === 4 ? 'ipv4' : 'ipv6')
  return /^(?:.+\.)?localhost$/.test(bare)
}

const privateRanges = new BlockList()
for (const [subnet, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  privateRanges.addSubnet(subnet, bits, 'ipv4')
privateRanges.addSubnet('fc00::', 7, 'ipv6')
privateRanges.addSubnet('fe80::', 10, 'ipv6')

/** Whether a host can be reached from this machine or its network alone, as far as its name tells. */
export function isPrivate(host: string): boolean {
  if (isLoopback(host)) return true
  const bare = host.replace(/[[\]]/g, '').toLowerCase()
  const version = isIP(bare)
  if (version !== 0) return privateRanges.check(bare, version === 4 ? 'ipv4' : 'ipv6')
  return !bare.includes('.') || /\.(?:local|lan|internal|home\.arpa)$/.test(bare)
}

function parse(input: string, changes: string[]): URL {
  const text = addressIn(input, changes)
  if (text === '') {
    throw badAddress('The address is empty', 'Give it as --base-url https://gateway.example.')
  }
  if (placeholders.some((pattern) => pattern.test(text))) {
    throw badAddress(
      'The address is still a placeholder from the instructions',
      'Give the address of your gateway: --base-url https://gateway.example.',
    )
  }

  // Before all else: a key must neither be repeated nor be looked up as a name.
  if (isKeyShaped(text)) {
    throw badAddress(
      'This looks like a key, not an address',
      'Give the address as --base-url https://gateway.example, and the key apart: --key-stdin, --key-file or --key-env.',
      `${typeAddress} The key is asked for apart.`,
    )
  }

  // A password with a slash in it ends the host for the URL standard: neither is to be repeated.
  if (/^[^/]*:[^@]*\/[^@]*@/.test(text.replace(/^(?:https?:)?\/*/i, ''))) throw notAnAddress()

  const url = tryUrl(withScheme(text, changes))
  // The URL standard allows characters in a host that no name has: "(", "$", "!".
  if (url === undefined || !/^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:.]+\])$/.test(url.hostname)) {
    throw notAnAddress()
  }
  if (/\P{ASCII}/u.test(text) && /(?:^|\.)xn--/.test(url.hostname)) {
    changes.push('the name in the letters that the network knows')
  }
  return url
}

/** Takes the address out of quotes, assignments, Markdown and shell lines. */
function addressIn(input: string, changes: string[]): string {
  // Zero-width characters and marks come along when people copy from chats and web pages.
  const visible = input.replace(/\p{Cf}/gu, '')
  const bare = visible.trim()
  let text = bare.replaceAll('：', ':').replaceAll('／', '/').replaceAll('。', '.')

  const embedded = text.match(/https?:\/[^\s"'`<>()，、；]+/gi)
  if (embedded?.length === 1) text = embedded[0]
  text = text
    .replace(/^[\w\s]*(?:URL|BASE|HOST|ENDPOINT)\s*=\s*/i, '')
    .replace(/^["'`“”‘’<(]+|["'`“”‘’>)]+$/g, '')
    .replace(/[\s,;.，；]+$/, '')
    .trim()
  if (text !== bare) changes.push('what stood around the address removed')
  if (/\s/.test(text)) {
    throw badAddress(
      'The address has spaces inside',
      'Give one address only: --base-url https://gateway.example.',
    )
  }

  return text
}

function withScheme(text: string, changes: string[]): string {
  if (/^https?:/i.test(text)) return text
  const other = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]
  if (other !== undefined) {
    throw badAddress(
      `The address begins with ${other}://, but a gateway is reached over https://`,
      'Give it like this: --base-url https://gateway.example.',
    )
  }

  const rest = text.replace(/^\/\//, '')
  const address = isIPv6(rest) ? `[${rest}]` : rest
  const hostname = tryUrl(`http://${address}`)?.hostname ?? ''
  if (!isPlainlyHost(address)) throw notAnAddress()
  const scheme = isLoopback(hostname) || hostname === '0.0.0.0' ? 'http' : 'https'
  changes.push(`${scheme}:// put in front`)
  return `${scheme}://${address}`
}

/**
 * Whether what stands there without a scheme can only be meant as a host: an IP address, one with a
 * port, `localhost`, or a name with a top level, which holds no digits (RFC 3696, 2). Any other word
 * may be a secret and must not be asked of a name server.
 */
function isPlainlyHost(address: string): boolean {
  const authority = /^[^/?#]*/.exec(address)![0]
  return (
    /^(?:.*@)?(?:[^:]+:\d+|\[.*\](?::\d+)?|localhost|\d+(?:\.\d+){3})$/i.test(authority) ||
    /\.(?:xn--[\w-]+|\p{L}{2,})\.?:?$/iu.test(authority)
  )
}

/** Does not repeat it: what is no address may be a secret. */
function notAnAddress(): UserError {
  return badAddress(
    'The address is not a web address',
    'Give it like this: --base-url https://gateway.example.',
  )
}

function cleanHostname(url: URL, changes: string[]): string {
  if (docsHost.test(url.hostname)) {
    throw new UserError({
      code: 'docs-host',
      message: `${url.hostname} is the documentation, not the API`,
      hint: 'Take the address that the documentation names, then run the command again with --base-url.',
      hintAtPrompt: 'Type the address that the documentation names.',
    })
  }

  if (url.hostname === '0.0.0.0') {
    // Servers print it as the address they listen on; as a destination it is only sometimes valid.
    changes.push('0.0.0.0 replaced by 127.0.0.1')
    return '127.0.0.1'
  }

  if (!url.hostname.endsWith('.')) return url.hostname
  changes.push('the dot behind the host removed')
  return url.hostname.slice(0, -1)
}

/** The path before `/v1`, without a trailing slash. */
function apiPrefix(url: URL, hostname: string, changes: string[]): string {
  const whole = tidy(url.pathname.replace(/\/{2,}/g, '/'))
  const path = untilSteady(whole, (part) => tidy(part.replace(routeAtEnd, '')))
  if (path !== whole) {
    changes.push(`${whole.slice(path.length)} removed (clients add it where it belongs)`)
  }

  const docs = docsPage.exec(path)?.[0]
  if (docs !== undefined) {
    const root = `${url.protocol}//${url.host}${path.slice(0, -docs.length)}`
    throw new UserError({
      code: 'docs-host',
      message: `${hostname}${path} is a documentation page, not the API`,
      hint: `Try --base-url ${root}, or take the address that the page names.`,
      hintAtPrompt: `Try ${root}, or type the address that the page names.`,
    })
  }

  const prefix = untilSteady(path, (part) => tidy(part.replace(webPage, '')))
  if (prefix !== path) changes.push(`the web page's own path ${path.slice(prefix.length)} removed`)
  return prefix
}

/** Without what sentences and shells leave behind an address. */
function tidy(path: string): string {
  return path
    .replace(/[^\w~%-]+$/, '')
    .replace(/['()]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)
}

function untilSteady(text: string, step: (text: string) => string): string {
  const next = step(text)
  return next === text ? text : untilSteady(next, step)
}

function tryUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

/** Beginnings of well-known keys, too long or too odd for a host name, whose parts end at 63. */
const wellKnown =
  /^(?:(?:sk|pk|rk)-[\w-]{40,}|(?:sk|pk|rk)-[\w-]{16,}$|eyJ[\w-]{16,}\.|gh[pousr]_\w{16,}|xox[abps]-[\w-]{10,})/
const shortKey = /^(?:sk|pk|rk)-[^.:/]*$/

/** Letters with digits; a name without a dot is seldom so long, and a key seldom shorter. */
const longWord = /^(?=.*\d)(?=.*[a-z])[\w+=~-]{24,}$/i

/** Whether a text is a key to all appearances, and not the address of a host. */
function isKeyShaped(text: string): boolean {
  const scheme = /^https?:\/*/i
  if (scheme.test(text)) return wellKnown.test(text.replace(scheme, ''))

  const value = text.replace(/^\w+[=:]["']?/, '')
  return [text, value].some(
    (part) => wellKnown.test(part) || shortKey.test(part) || longWord.test(part),
  )
}
