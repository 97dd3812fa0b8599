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
  if (speaksTlsInstead(failure)) return httpsRequired(url)
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
            `${url.host} answers with "100 Continue" or with no status, which clients cannot read`
          : `${url.host} sends more than 128 kB of headers, which many clients cannot read`,
      hint: "Ask the gateway's operator: the gateway, or a proxy in front of it, must change that.",
    }
  if (failure.firstBytes !== undefined) {
    const shown = cleanForeignText(failure.firstBytes.slice(0, 40), question.secrets)
    return {
      code: 'not-an-api',
      message: `The program at ${url.host} does not speak HTTP${shown === '' ? '' : `: "${shown}"`}`,
      hint: 'Correct the port of the address: --base-url URL',
    }
  }
  return {
    code: 'refused',
    message: `${url.host} closed the connection without an answer${inBrackets(code)}${through(failure)}`,
    hint:
      url.protocol === 'http:'
        ? `Try https: --base-url ${question.baseUrl.replace(/^http:/, 'https:')}`
        : 'Check the network: a firewall may block the connection. Then run the command again.',
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
        message: `There is no address for the name ${url.hostname} (${code})`,
        hint:
          code === 'EAI_AGAIN'
            ? 'The name server did not answer. Check the network, then run the command again.'
            : 'Check the network and the VPN, or correct the address: --base-url URL',
      }
    case 'ECONNREFUSED':
      return {
        code: 'refused',
        message: `Nothing listens at ${url.host}${through(failure)}`,
        hint: isLoopback(url.hostname)
          ? `Start the gateway, or correct the port of the address: --base-url URL. To try repoint's own gateway: repoint serve --port ${url.port || 80}`
          : 'Start the gateway, or correct the host and port of the address: --base-url URL',
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
        message: `The network has no route to ${url.host} (${code})`,
        hint: 'Check the network and the VPN. If you need a proxy, set HTTPS_PROXY.',
      }
    // Linux, for a "prohibit" route, and for connections that its firewall rejects.
    case 'EACCES':
    case 'EPERM':
      return {
        code: 'refused',
        message: `This machine blocks connections to ${url.host} (${code})`,
        hint: 'Check its firewall and the VPN. If you need a proxy, set HTTPS_PROXY.',
      }
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return diagnoseDeadline(failure, url)
    case 'ERR_NOT_LOOPBACK':
      return {
        code: 'usage',
        message: `${url.hostname} is another machine (${failure.detail}), and http://${url.host} would send the key in clear text`,
        hint: `Use https: --base-url https://${url.host}. If you trust the network, write ${failure.detail} instead of the name and add --allow-http`,
      }
    default:
      return undefined
  }
}

/** For a plain http request to a TLS port, however it failed. */
export function httpsRequired(url: URL): Outcome {
  return {
    code: 'tls',
    message: `${url.host} speaks only https on this port, and the address begins with http`,
    hint: `Use https: --base-url https://${url.host}`,
  }
}

function diagnoseProxy(failure: NetworkFailure): Outcome {
  const { proxy = '', proxyStatus: status, errorCode } = failure
  const named = `The proxy ${proxy}`
  if (status === 407) {
    return {
      code: 'proxy',
      message: `${named} asks for a user name and a password, or rejects the ones in its variable (HTTP 407)`,
      hint: proxyPassword,
    }
  }

  if (status !== undefined) {
    return {
      code: 'proxy',
      message: `${named} does not connect to ${new URL(failure.url).host} (HTTP ${status})`,
      hint: `Bypass the proxy: NO_PROXY=${new URL(failure.url).hostname}. Or ask the proxy's operator to allow the host.`,
    }
  }

  let message = `${named} does not work${inBrackets(errorCode)}: ${cleanForeignText(failure.detail)}`
  if (errorCode === 'ECONNREFUSED') message = `Nothing listens at the proxy ${proxy}`
  if (failure.reason === 'deadline')
    message = `${named} did not connect to ${new URL(failure.url).host} within ${seconds(failure.waitedMs)}`

  return {
    code: 'proxy',
    message,
    hint: `Correct or unset that variable, or bypass the proxy: NO_PROXY=${new URL(failure.url).hostname}`,
  }
}

/** The hint for a proxy with a password. An example would look like a password and be masked. */
export const proxyPassword =
  "Write both in the proxy's variable, before the host: the name, a colon, the password and an @."

function diagnoseDeadline(failure: NetworkFailure, url: URL): Outcome {
  const waited = seconds(failure.waitedMs)
  const messages: Readonly<Record<NetworkFailure['stage'], string>> = {
    proxy: '',
    tunnel: '',
    lookup: `The name ${url.hostname} was not found within ${waited}: no name server answers`,
    connect: `No connection to ${url.host} within ${waited}`,
    tls: `${url.host} accepted the connection but did not finish the TLS handshake within ${waited}`,
    'first-byte': `${url.host} accepted the request but sent nothing within ${waited}`,
    body: `${url.host} started to answer but did not finish within ${waited}`,
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
      ? 'A model may need time to load. Run the command again, or wait longer: --timeout 120'
      : 'Check the network, the VPN and the firewall, or correct the address: --base-url URL',
  }
}

function diagnoseTls(failure: NetworkFailure, question: AskedRequest): Outcome {
  const { errorCode: code, detail } = failure
  const url = new URL(failure.url)
  if (plainHttpErrors.test(`${code} ${detail}`)) {
    const plain = `http://${url.host}`
    return {
      code: 'tls',
      message: `${url.host} does not speak TLS on this port; it looks like plain http`,
      hint: isLoopback(url.hostname)
        ? `Use http: --base-url ${plain}`
        : `Use the https address of the gateway. If you trust the network: --base-url ${plain} --allow-http`,
    }
  }

  const certificate = certificateCauses.find(({ codes }) => codes.includes(code))
  if (certificate !== undefined) {
    const stores = certificate.isUnknown ? describeStores(question) : ''
    const ignored = question.isCheckRefused
      ? ' repoint ignores NODE_TLS_REJECT_UNAUTHORIZED=0, because it would send the key to anyone.'
      : ''
    return {
      code: 'tls',
      message: `The certificate of ${url.host} ${certificate.problem} (${code})`,
      hint: certificate.hint + stores + ignored,
    }
  }

  if (/CERTIFICATE_REQUIRED/.test(code)) return clientCertificateRequired(url)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH') {
    const hosts = cleanForeignText(detail.replace(/\b(?:DNS|IP Address):/g, ''))
    return {
      code: 'tls',
      message: `The certificate of ${url.host} is for other hosts${hosts === '' ? '' : `: ${hosts}`} (${code})`,
      hint: "Use a name from the certificate: --base-url https://NAME. If you did, another server answers in the gateway's name.",
    }
  }

  return {
    code: 'tls',
    message: `The TLS handshake with ${url.host} failed${inBrackets(code)}${through(failure)}`,
    hint: 'An old server, a proxy or a firewall can break TLS. Or correct the address: --base-url URL',
  }
}

/** Mutual TLS. The clients have no setting for a client certificate. */
export function clientCertificateRequired(url: URL): Outcome {
  return {
    code: 'tls',
    message: `${url.host} asks for a client certificate (mutual TLS), and no client can send one`,
    hint: "Ask the gateway's operator for an address without mutual TLS, or run a local proxy that sends the certificate.",
  }
}

/** OpenSSL's errors for bytes that are not TLS, as Node 20 to 26 reports them. */
const plainHttpErrors =
  /WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH_TOO_LONG|packet length too long|HTTP_REQUEST|http request/

/** Names the places where the client looks for certificate authorities. repoint uses the same places. */
function describeStores({ authorities, hasNodeExtraCa }: AskedRequest): string {
  if (authorities?.of === undefined) return ''
  const { of, system, files } = authorities
  const places = [...(system ? ["the system's store"] : []), ...files].join(', ')
  const unreadVariable =
    hasNodeExtraCa && !files.includes('NODE_EXTRA_CA_CERTS')
      ? ` ${of} does not read NODE_EXTRA_CA_CERTS.`
      : ''
  return ` ${of} reads certificates from ${places}.${unreadVariable}`
}

/** OpenSSL's verification results, by Node's names (doc/api/tls.md, X509 certificate error codes). */
const certificateCauses: readonly {
  codes: readonly string[]
  /** The rest of the sentence after "The certificate of HOST". */
  problem: string
  hint: string
  isUnknown?: true
}[] = [
  {
    isUnknown: true,
    codes: ['DEPTH_ZERO_SELF_SIGNED_CERT'],
    problem: 'is self-signed',
    hint: 'If you expect that, save the certificate to a file and pass it with --ca-file PATH.',
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
    problem:
      'is signed by an authority that this machine does not know: a private one or an inspecting proxy, or the chain is incomplete',
    hint: "Get the authority's certificate from your administrator and pass it with --ca-file PATH.",
  },
  {
    codes: ['CERT_HAS_EXPIRED', 'CRL_HAS_EXPIRED'],
    problem: 'has expired',
    hint: "Check this machine's clock. If it is right, ask the gateway's operator to renew the certificate.",
  },
  {
    codes: ['CERT_NOT_YET_VALID', 'CRL_NOT_YET_VALID'],
    problem: 'is not valid yet',
    hint: "Check this machine's clock.",
  },
  {
    codes: ['CERT_REVOKED', 'CERT_REJECTED'],
    problem: 'is revoked',
    hint: "Do not send the key there. Ask the gateway's operator.",
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
