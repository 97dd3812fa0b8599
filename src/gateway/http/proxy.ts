import { BlockList, isIP } from 'node:net'
import { ifPossible, UserError } from '../../errors.ts'
import { isLoopback } from '../input/local-host.ts'

/** A proxy from the environment. */
export interface ForwardProxy {
  readonly kind: 'http' | 'https' | 'socks5'
  readonly hostname: string
  readonly port: number
  /** Never printed. */
  readonly username: string
  readonly password: string
  /** The environment variable that configures it. */
  readonly variable: string
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * The proxy that the environment sets for `url`, by curl's rules: the lower-case name first, and
 * `NO_PROXY` with hosts, `.suffixes`, ports, addresses, address ranges and `*`.
 *
 * `HTTP_PROXY` in upper case counts too, because Node, Go and the clients read it. A loopback address
 * never uses a proxy: the proxy could not reach this machine by it, and would see the key.
 *
 * @throws UserError `proxy` if the variable is not the address of a proxy
 */
export function proxyFor(url: URL, env: Env): ForwardProxy | undefined {
  if (isLoopback(url.hostname)) return undefined

  const scheme = url.protocol.slice(0, -1)
  const variable = [
    `${scheme}_proxy`,
    `${scheme.toUpperCase()}_PROXY`,
    'all_proxy',
    'ALL_PROXY',
  ].find((name) => (env[name] ?? '') !== '')
  if (variable === undefined || isExempt(url, env['no_proxy'] || env['NO_PROXY'] || '')) {
    return undefined
  }

  return parseProxy(env[variable]!.trim(), variable)
}

function parseProxy(text: string, variable: string): ForwardProxy {
  const withScheme = text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined
  const kind = proxyKinds[url?.protocol ?? '']

  if (url === undefined || kind === undefined || url.hostname === '') {
    throw new UserError({
      code: 'proxy',
      message: `The environment variable ${variable} does not contain the address of a proxy`,
      hint: `Example: ${variable}=http://proxy.example:3128 (http, https or socks5). Or unset it.`,
    })
  }

  return {
    kind,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? defaultPort[kind] : Number(url.port),
    username: decodeIfPossible(url.username),
    password: decodeIfPossible(url.password),
    variable,
  }
}

const proxyKinds: Readonly<Record<string, ForwardProxy['kind']>> = {
  'http:': 'http',
  'https:': 'https',
  'socks:': 'socks5',
  'socks5:': 'socks5',
  'socks5h:': 'socks5',
}

const defaultPort = { http: 80, https: 443, socks5: 1080 } as const

function isExempt(url: URL, noProxy: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => matchesEntry(entry, host, port))
}

function matchesEntry(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true
  const [, network = '', bits] = /^\[?([\d.a-f:]+)\]?\/(\d+)$/.exec(entry) ?? []
  if (bits !== undefined) return isInRange(host, network, Number(bits))

  const parts = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry)
  if (parts !== null && parts[2] !== port) return false
  const name = (parts?.[1] ?? entry).replace(/^\[|\]$/g, '').replace(/^\*?\./, '')
  return host === name || host.endsWith(`.${name}`)
}

function isInRange(host: string, network: string, bits: number): boolean {
  const version = isIP(network)
  if (version === 0 || isIP(host) !== version || bits > (version === 4 ? 32 : 128)) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  const range = new BlockList()
  range.addSubnet(network, bits, family)
  return range.check(host, family)
}

function decodeIfPossible(text: string): string {
  return ifPossible(() => decodeURIComponent(text)) ?? text
}
