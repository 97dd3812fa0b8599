/** What a failure of TLS means: the wrong port, a certificate, or the handshake itself. */
import { cleanForeignText } from '../foreign-text.ts'
import { isLoopback } from '../input/local-host.ts'
import type { NetworkFailure, Outcome, SentRequest } from './types.ts'

export function diagnoseTls(failure: NetworkFailure, request: SentRequest): Outcome {
  const { errorCode: code, detail } = failure
  const url = new URL(failure.url)

  if (plainHttpErrors.test(`${code} ${detail}`)) {
    const plain = `http://${url.host}`
    return {
      code: 'tls',
      message: `${url.host} does not speak TLS on this port; it looks like plain http`,
      hint: isLoopback(url.hostname)
        ? `Use http: {--base-url ${plain}}`
        : `Use the https address of the gateway. If you trust the network: {--base-url ${plain}} --allow-http`,
    }
  }

  const certificate = certificateCauseOf(failure)
  if (certificate !== undefined) {
    const stores = certificate.isUnknown ? describeStores(request) : ''
    const ignored = request.isCheckRefused
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
      hint: "Use a name from the certificate, in {--base-url URL}. If you did, another server answers in the gateway's name.",
    }
  }

  return {
    code: 'tls',
    message: `The TLS handshake with ${url.host} failed${code === '' ? '' : ` (${code})`}${throughProxy(failure)}`,
    hint: 'An old server, a proxy or a firewall can break TLS. Or correct the address: {--base-url URL}',
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
function describeStores({ authorities, hasNodeExtraCa }: SentRequest): string {
  if (authorities?.of === undefined) return ''
  const { of, system, files } = authorities
  const places = [...(system ? ["the system's store"] : []), ...files].join(', ')
  const unreadVariable =
    hasNodeExtraCa && !files.includes('NODE_EXTRA_CA_CERTS')
      ? ` ${of} does not read NODE_EXTRA_CA_CERTS.`
      : ''
  return ` ${of} reads certificates from ${places}.${unreadVariable}`
}

function certificateCauseOf({ errorCode }: NetworkFailure) {
  return certificateCauses.find(({ codes }) => codes.includes(errorCode))
}

/** Whether the certificate comes from an authority that nobody here knows. */
export function isUnknownAuthority(failure: NetworkFailure): boolean {
  return certificateCauseOf(failure)?.isUnknown === true
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
    hint: 'If you expect that, save the certificate to a file and pass it with {--ca-file PATH}.',
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
    hint: "Get the authority's certificate from your administrator and pass it with {--ca-file PATH}.",
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

/** For a plain http request to a TLS port, however it failed. */
export function httpsRequired(url: URL): Outcome {
  return {
    code: 'tls',
    message: `${url.host} speaks only https on this port, and the address begins with http`,
    hint: `Use https: {--base-url https://${url.host}}`,
  }
}

/** Whether a request failed in the TLS handshake, or because of it. */
export function isTlsFailure({ stage, errorCode, detail }: NetworkFailure): boolean {
  return (
    stage === 'tls' ||
    tlsErrorCode.test(errorCode) ||
    (errorCode === 'EPROTO' && /SSL routines/.test(detail)) ||
    // Node, if the server closes the connection during the handshake.
    /before secure TLS connection/.test(detail)
  )
}

/** The codes of Node and OpenSSL. */
const tlsErrorCode =
  /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)/

/** A TLS server answers plain text with an alert: record type 21, version 3.x (RFC 8446, 5.1). */
export function speaksTlsInstead({ url, firstBytes }: NetworkFailure): boolean {
  return url.startsWith('http:') && firstBytes?.startsWith('\x15\x03') === true
}

/** The part of a message that names the proxy, which may be the cause. */
export function throughProxy({ proxy }: NetworkFailure): string {
  return proxy === undefined ? '' : `, asked through the proxy ${proxy}`
}
