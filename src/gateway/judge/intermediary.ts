/**
 * The outcomes of responses that did not come from the gateway: a redirect, a bot check, a firewall, a closed
 * tunnel, a proxy or a network that asks for a login, or a server that requires https.
 */
import { cleanForeignText } from '../foreign-text.ts'
import {
  type Evidence,
  hundredsOf,
  outcome,
  quoteOf,
  responseHost,
  withoutQuery,
} from './evidence.ts'
import { proxyLoginRequired } from './network-failure.ts'
import { checkAddress, fault, forbidden } from './outcomes.ts'
import { clientCertificateRequired, httpsRequired } from './tls-failure.ts'
import type { HttpResponse, Outcome } from './types.ts'

/**
 * The outcome if something in front of the gateway answered. Undefined: the gateway did. Only the status of the
 * response counts: a status in the body of a 200 is the gateway's.
 */
export function diagnoseIntermediary(evidence: Evidence): Outcome | undefined {
  const { response } = evidence
  const { status, proxy = 'on the way' } = response
  if (status === 304) return notModified(evidence)
  if (hundredsOf(status) === 3) return redirected(evidence)
  if (isCloudflareBlock(evidence)) return botCheck(evidence)
  if (status === 407) return outcome(evidence, proxyLoginRequired(proxy))
  if (status === 511) return networkLoginRequired(evidence)
  if (status >= 400 && isProxysOwn(response)) return proxyResponded(evidence, proxy)

  if (status === 400) {
    const url = new URL(response.url)
    if (url.protocol === 'http:' && plainOnTls.test(response.body)) return httpsRequired(url)
    if (noCertificate.test(response.body)) return clientCertificateRequired(url)
  }

  if (isFirewall(response)) return forbidden(evidence, 'firewall')
  return isTunnelClosed(response) ? fault(evidence, 'is not connected to its tunnel') : undefined
}

function notModified(evidence: Evidence): Outcome {
  return fault(
    evidence,
    'answers "not modified" to a first request; a cache in front of it may cause that',
  )
}

function botCheck(evidence: Evidence): Outcome {
  return outcome(evidence, {
    code: 'gateway-fault',
    message: `Cloudflare checks for bots in front of ${responseHost(evidence.response)} and blocks every program${quoteOf(evidence)}`,
    hint: "Ask the gateway's operator to exempt the API from that check.",
  })
}

function networkLoginRequired(evidence: Evidence): Outcome {
  return outcome(evidence, {
    code: 'proxy',
    message: 'This network requires a login first (HTTP 511)',
    hint: 'Open a web page in a browser and log in to the network. Then run the command again.',
  })
}

function proxyResponded(evidence: Evidence, proxy: string): Outcome {
  return outcome(evidence, {
    code: 'proxy',
    message: `The proxy ${proxy} answered instead of the gateway${quoteOf(evidence)}`,
    hint: `Bypass the proxy: NO_PROXY=${new URL(evidence.response.url).hostname}. Or ask the proxy's operator to allow the host.`,
  })
}

/** nginx, if it requires a client certificate. */
const noCertificate = /No required SSL certificate was sent|The SSL certificate error/

/** Whether a forward proxy wrote the response itself. One that it passes on names the web server. */
function isProxysOwn({ headers }: HttpResponse): boolean {
  return (
    headers['x-squid-error'] !== undefined ||
    /^(?:squid|tinyproxy|privoxy|mitmproxy|zscaler|bluecoat)\b/i.test(headers['server'] ?? '')
  )
}

/** nginx, Go's net/http, Apache: fixed texts for plain http on a TLS port. */
const plainOnTls =
  /plain HTTP request was sent to HTTPS port|Client sent an HTTP request to an HTTPS server|speaking plain HTTP to an SSL-enabled server port/

/** A redirect, which `request` did not follow: to another origin, to nowhere, or to itself. */
function redirected(evidence: Evidence): Outcome {
  const { response, request } = evidence
  const location = response.headers['location'] ?? ''
  const from = new URL(response.url)
  const to = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined
  if (location === '' || to === undefined || !/^https?:$/.test(to.protocol)) {
    return outcome(evidence, {
      code: 'redirected',
      message: `${responseHost(response)} redirects without naming a web address (HTTP ${response.status})`,
      hint: `${checkAddress} If the address is right, ask the gateway's operator to fix the redirect.`,
    })
  }

  // A host after two slashes is more often a broken path, or an attack, than the intended address.
  const isHostMeant = !/^[\\/]{2}/.test(location)
  const address = isHostMeant ? redirectedAddress(from, to, request.address) : undefined
  if (to.href === from.href || address === request.address) {
    return outcome(evidence, {
      code: 'redirected',
      message: `${responseHost(response)} redirects ${withoutQuery(from, request)} to itself (HTTP ${response.status})`,
      hint: `Ask the gateway's operator for the base URL. ${checkAddress}`,
    })
  }

  const unsent = to.origin === from.origin ? '' : '. The key was not sent there'
  return outcome(evidence, {
    code: 'redirected',
    message: `${responseHost(response)} redirects to ${withoutQuery(to, request)} (HTTP ${response.status})${unsent}`,
    hint:
      address === undefined
        ? 'Open the address in a browser: it may show a login page. Then check the address: {--base-url URL}'
        : `If you trust that address, use it: {--base-url ${cleanForeignText(address, request.secrets)}}`,
  })
}

/** The address that a redirect leads to. Undefined: the redirect changes the route too. */
function redirectedAddress(from: URL, to: URL, address: string): string | undefined {
  const prefix = new URL(address).pathname.replace(/\/$/, '')
  const route = from.pathname.startsWith(prefix)
    ? from.pathname.slice(prefix.length)
    : from.pathname
  if (route === '' || !to.pathname.endsWith(route)) return undefined
  return to.origin + to.pathname.slice(0, -route.length)
}

/**
 * Whether it is Cloudflare's challenge, in any language, or its block page. Its pages about a broken
 * server look similar.
 */
function isCloudflareBlock({ response, error }: Evidence): boolean {
  const { status, headers, body } = response
  if (status < 400) return false
  if (headers['cf-mitigated'] !== undefined) return true
  if (error.kind !== 'page' || (status !== 403 && status !== 503)) return false
  return (
    /^\s*(?:just a moment|attention required)\b/i.test(error.words) ||
    /challenge-platform|_cf_chl|cf-chl|cf-challenge|cf-browser-verification/.test(body) ||
    (status === 403 && headers['cf-ray'] !== undefined && /cf-(?:error|wrapper)/.test(body))
  )
}

/** Pages and headers of firewalls and web servers that reject a request before the gateway sees it. */
const firewalls: readonly {
  readonly body?: RegExp
  readonly header?: readonly [name: string, value: RegExp]
  readonly statuses: readonly number[]
  readonly source: string
}[] = [
  {
    body: /<center>(?:nginx|openresty|tengine|apisix|kong)\b|<h1>(?:403 )?Forbidden<\/h1>\s*<p>You don't have permission/i,
    statuses: [403],
    source: 'the default pages of nginx, OpenResty, Tengine and Apache httpd, 2026-11-24',
  },
  {
    header: ['x-amzn-waf-action', /./],
    statuses: [202, 403, 405],
    source:
      'https://docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge.html (2026-11-24)',
  },
  {
    body: /Request blocked\.|The request could not be satisfied|generated by cloudfront/i,
    statuses: [403],
    source: 'AWS CloudFront with AWS WAF, 2026-11-24',
  },
  {
    header: ['server', /^AkamaiGHost/i],
    statuses: [403],
    source: 'Akamai, 2026-11-24',
  },
  {
    header: ['x-iinfo', /./],
    statuses: [403, 405, 406],
    source: 'Imperva, 2026-11-24',
  },
  {
    body: /errors\.edgesuite\.net|Incapsula|Sucuri|Mod_Security|\bWAF\b|web application firewall|The request is blocked|requested URL was rejected|Web Page Blocked|Attack ID|访问被阻断|访问被拦截|安全威胁|防火墙|网站防护/i,
    statuses: [400, 403, 405, 406, 418, 493, 501],
    source:
      'https://github.com/anomalyco/opencode/issues/41320 (2026-08); Akamai, Imperva, Sucuri, ModSecurity, Azure, F5, FortiGate, Aliyun and Tencent, 2026-11-24',
  },
]

/** How much of a page is searched, in characters. */
const maxPageSearched = 20_000

/** Whether something in front of the gateway rejected the request. */
export function isFirewall({ status, headers, body }: HttpResponse): boolean {
  const start = body.slice(0, maxPageSearched)
  return firewalls.some(
    ({ statuses, header, body: words }) =>
      statuses.includes(status) &&
      (words === undefined || (/^\s*</.test(start) && words.test(start))) &&
      (header === undefined || header[1].test(headers[header[0]] ?? '')),
  )
}

/** Whether a tunnel answered because the gateway behind it is not connected. */
function isTunnelClosed({ body }: HttpResponse): boolean {
  return /\bERR_NGROK_\d+\b|cloudflare tunnel error|\bargotunnel\b/i.test(
    body.slice(0, maxPageSearched),
  )
}
