import { cleanForeignText } from '../foreign-text.ts'
import { isLoopback } from '../input/base-url.ts'
import type { AskedRequest, NetworkFailure, Outcome } from './answer.ts'

/** The outcome of a request without a response. */
export function diagnoseFailure(failure: NetworkFailure, question: AskedRequest): Outcome {
  const url = new URL(failure.url)
  const { errorCode: code, detail, reason, stage } = failure
  if (reason === 'cancelled') {
    return {
      code: 'cancelled',
      message: 'Cancelled while waiting for the gateway',
      hint: 'Run the command again.',
    }
  }

  const isTls = stage === 'tls' || isTlsError(code, detail)
  if (stage === 'proxy' || (stage === 'tunnel' && !isTls)) return diagnoseProxy(failure)
  if (reason === 'deadline') return diagnoseDeadline(failure, url)

  const unreachable = diagnoseConnect(failure, url)
  if (unreachable !== undefined) return unreachable
  if (speaksTlsInstead(failure)) return httpsWanted(url)
  if (isTls) return diagnoseTls(failure, question)

  if (
    code === 'UND_ERR_HEADERS_OVERFLOW' ||
    (code === 'UND_ERR_SOCKET' && detail === 'bad response')
  )
    return {
      code: 'gateway-fault',
      message:
        code === 'UND_ERR_SOCKET'
          ? // undici 7 rejects this (lib/dispatcher/client-h1.js), and so do the clients on Node.
            `${url.host} answers with "100 Continue", for which nobody asked, or with no status at all`
          : `${url.host} sends more than 16 kB of headers, which clients on Node do not read`,
      hint: 'Ask whoever runs the gateway, or the proxy in front of it.',
    }
  if (failure.firstBytes !== undefined) {
    const shown = cleanForeignText(failure.firstBytes.slice(0, 40), question.secrets)
    return {
      code: 'not-an-api',
      message: `What answers at ${url.host} does not speak HTTP${shown === '' ? '' : `: "${shown}"`}`,
      hint: 'Check the port in --base-url.',
    }
  }
  return {
    code: 'refused',
    message: `${url.host} closed the connection without an answer${inBrackets(code)}${through(failure)}`,
    hint:
      url.protocol === 'http:'
        ? `If the gateway uses TLS, give --base-url ${question.baseUrl.replace(/^http:/, 'https:')}.`
        : 'A firewall may be in the way; check the network, then run the command again.',
  }
}

/** The outcome if no connection was made, by the system's error code. */
function diagnoseConnect(failure: NetworkFailure, url: URL): Outcome | undefined {
  const { errorCode: code } = failure
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_FAIL':
    case 'EAI_NODATA':
    case 'EAI_NONAME':
    case 'EAI_AGAIN':
      return {
        code: 'dns',
        message: `The name ${url.hostname} cannot be resolved (${code})`,
        hint:
          code === 'EAI_AGAIN'
            ? 'The name server did not answer: check the network, then run the command again.'
            : 'Check the spelling in --base-url, the network and the VPN.',
      }
    case 'ECONNREFUSED':
      return {
        code: 'refused',
        message: `Nothing listens at ${url.host}${through(failure)}`,
        hint: isLoopback(url.hostname)
          ? 'Start the gateway there (for a try: repoint serve), or check the port in --base-url.'
          : 'Check host and port in --base-url, and whether the gateway is running.',
      }
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
    case 'ENETDOWN':
    case 'EHOSTDOWN':
    // Linux, for a "blackhole" route.
    case 'EINVAL':
      return {
        code: 'refused',
        message: `There is no way from here to ${url.host} (${code})`,
        hint: 'Check the network and the VPN; where a proxy is needed, set HTTPS_PROXY.',
      }
    // Linux, for a "prohibit" route, and for connections that its firewall rejects.
    case 'EACCES':
    case 'EPERM':
      return {
        code: 'refused',
        message: `This machine lets no connection out to ${url.host} (${code})`,
        hint: 'Check its firewall, its routes and the VPN; where a proxy is needed, set HTTPS_PROXY.',
      }
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return diagnoseDeadline(failure, url)
    case 'ERR_NOT_LOOPBACK':
      return {
        code: 'usage',
        message: `${url.hostname} is not this machine but ${failure.detail}: http://${url.host} would send the key over the network for everyone to read`,
        hint: 'Use https, or, if you trust the network, the address itself in place of the name, with --allow-http.',
      }
    default:
      return undefined
  }
}

/** For a plain http request to a TLS port, however it failed. */
export function httpsWanted(url: URL): Outcome {
  return {
    code: 'tls',
    message: `${url.host} speaks TLS on this port, but ${url.origin}${url.pathname} asks in plain http`,
    hint: 'Give the base URL with https:// in front.',
  }
}

function diagnoseProxy(failure: NetworkFailure): Outcome {
  const { proxy = '', proxyStatus: status, errorCode } = failure
  const named = `The proxy ${proxy}`
  if (status === 407) {
    return {
      code: 'proxy',
      message: `${named} wants a user name and a password, or refuses those it got (407)`,
      hint: proxyPassword,
    }
  }

  if (status !== undefined) {
    return {
      code: 'proxy',
      message: `${named} refuses to connect to ${new URL(failure.url).host} (HTTP ${status})`,
      hint: 'Ask whoever runs it to allow the host, or except the host with NO_PROXY.',
    }
  }

  const why =
    failure.reason === 'deadline'
      ? `brought no connection to ${new URL(failure.url).host} within ${seconds(failure.waitedMs)}`
      : `cannot be used${inBrackets(errorCode)}: ${cleanForeignText(failure.detail)}`

  return {
    code: 'proxy',
    message: `${named} ${why}`,
    hint: 'Check that variable, or unset it; NO_PROXY names hosts that need no proxy.',
  }
}

/** Without an example, because one would look like a password and be masked. */
export const proxyPassword =
  "Put them before the host in the proxy's variable: the name, a colon, the password and an @."

function diagnoseDeadline(failure: NetworkFailure, url: URL): Outcome {
  const waited = seconds(failure.waitedMs)
  const messages: Readonly<Record<NetworkFailure['stage'], string>> = {
    proxy: '',
    tunnel: '',
    lookup: `The name ${url.hostname} was not resolved within ${waited}: no name server answers`,
    connect: `No connection to ${url.host} within ${waited}`,
    tls: `${url.host} accepted the connection but did not finish the TLS handshake within ${waited}`,
    'first-byte': `${url.host} took the request but sent nothing within ${waited}`,
    body: `${url.host} began to answer but did not finish within ${waited}`,
  }

  if (failure.stage === 'lookup')
    return {
      code: 'dns',
      message: messages.lookup,
      hint: 'Check the network, the VPN and the name servers of this machine, then run the command again.',
    }
  const isModelSlow = failure.stage === 'first-byte' || failure.stage === 'body'

  return {
    code: 'timeout',
    message: messages[failure.stage] + through(failure),
    hint: isModelSlow
      ? 'A model may need time to load: run the command again, or wait longer with --timeout SECONDS.'
      : 'Check host and port in --base-url, the network and the VPN; a firewall may drop the packets.',
  }
}

function diagnoseTls(failure: NetworkFailure, question: AskedRequest): Outcome {
  const { errorCode: code, detail } = failure
  const url = new URL(failure.url)
  if (plainInstead.test(`${code} ${detail}`)) {
    const plain = `http://${url.host}`
    return {
      code: 'tls',
      message: `${url.host} does not speak TLS on this port; it looks like plain http`,
      hint: isLoopback(url.hostname)
        ? `Give --base-url ${plain}.`
        : `Find the https address of the gateway; --base-url ${plain} --allow-http sends the key readable for everyone on the way.`,
    }
  }

  const certificate = certificateCauses.find(({ codes }) => codes.includes(code))
  if (certificate !== undefined) {
    const unheeded = question.isCheckRefused
      ? ' NODE_TLS_REJECT_UNAUTHORIZED=0 changes nothing here: the key goes to nobody unproven.'
      : ''
    return {
      code: 'tls',
      message: `The certificate of ${url.host} ${certificate.says} (${code})`,
      hint: certificate.hint + (certificate.isUnknown ? whatCounts(question) : '') + unheeded,
    }
  }

  if (/CERTIFICATE_REQUIRED/.test(code)) return certificateWanted(url)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH') {
    const hosts = cleanForeignText(detail.replace(/\b(?:DNS|IP Address):/g, ''))
    return {
      code: 'tls',
      message: `The certificate of ${url.host} is for other hosts${hosts === '' ? '' : `: ${hosts}`} (${code})`,
      hint: 'Use the name that the certificate is for in --base-url; if you did, something else answers in its place.',
    }
  }

  return {
    code: 'tls',
    message: `The TLS handshake with ${url.host} failed${inBrackets(code)}${through(failure)}`,
    hint: 'Check host and port in --base-url; an old server, a proxy or a firewall may break TLS.',
  }
}

/** Mutual TLS. The clients have no setting for a client certificate. */
export function certificateWanted(url: URL): Outcome {
  return {
    code: 'tls',
    message: `${url.host} wants a certificate from whoever asks (mutual TLS), and none of the clients can send one`,
    hint: 'Ask whoever runs the gateway for an address without it, or put a proxy on this machine in front that holds the certificate.',
  }
}

/** OpenSSL's errors for bytes that are not TLS, as Node 20 to 26 reports them. */
const plainInstead =
  /WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH_TOO_LONG|packet length too long|HTTP_REQUEST|http request/

/** Where the client looks for certificate authorities. repoint uses the same places. */
function whatCounts({ authorities, isNodeToldMore }: AskedRequest): string {
  if (authorities?.of === undefined) return ''
  const { of, system, files } = authorities
  const places = [...(system ? ["the system's store"] : []), ...files].join(', ')
  const unread =
    isNodeToldMore && !files.includes('NODE_EXTRA_CA_CERTS')
      ? ' NODE_EXTRA_CA_CERTS, which is set, is not read there.'
      : ''
  return ` ${of} looks in ${places}.${unread}`
}

/** OpenSSL's verification results, by Node's names (doc/api/tls.md, X509 certificate error codes). */
const certificateCauses: readonly {
  codes: readonly string[]
  says: string
  hint: string
  isUnknown?: true
}[] = [
  {
    isUnknown: true,
    codes: ['DEPTH_ZERO_SELF_SIGNED_CERT'],
    says: 'is signed by itself',
    hint: 'If that is meant to be, save the certificate and give it with --ca-file PATH; a setup then says what the client needs.',
  },
  {
    isUnknown: true,
    codes: [
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'CERT_UNTRUSTED',
    ],
    says: 'is signed by an authority that is not known here: a private one, an inspecting proxy, or a link of the chain is missing',
    hint: "Get the authority's certificate from whoever runs it and give it with --ca-file PATH; a setup then says what the client needs.",
  },
  {
    codes: ['CERT_HAS_EXPIRED', 'CRL_HAS_EXPIRED'],
    says: 'has expired',
    hint: 'Check the clock of this machine; if it is right, whoever runs the gateway must renew the certificate.',
  },
  {
    codes: ['CERT_NOT_YET_VALID', 'CRL_NOT_YET_VALID'],
    says: 'is not valid yet',
    hint: 'Check the clock of this machine.',
  },
  {
    codes: ['CERT_REVOKED', 'CERT_REJECTED'],
    says: 'has been withdrawn',
    hint: 'Do not send the key there; ask whoever runs the gateway.',
  },
]

function isTlsError(code: string, detail: string): boolean {
  return (
    /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)/.test(
      code,
    ) ||
    (code === 'EPROTO' && /SSL routines/.test(detail)) ||
    // Node, if the server closes the connection during the handshake.
    /before secure TLS connection/.test(detail)
  )
}

/** A TLS server answers plain text with an alert: record type 21, version 3.x (RFC 8446, 5.1). */
function speaksTlsInstead(failure: NetworkFailure): boolean {
  return failure.url.startsWith('http:') && failure.firstBytes?.startsWith('\x15\x03') === true
}

function through(failure: NetworkFailure): string {
  return failure.proxy === undefined ? '' : `, asked through the proxy ${failure.proxy}`
}

function inBrackets(code: string): string {
  return code === '' ? '' : ` (${code})`
}

function seconds(ms: number): string {
  return `${Math.max(0.1, Math.round(ms / 100) / 10)} s`
}
