import { cleanForeignText } from '../foreign-text.ts'
import { isLoopback } from '../input/local-host.ts'
import {
  diagnoseTls,
  httpsRequired,
  isTlsFailure,
  speaksTlsInstead,
  throughProxy,
} from './tls-failure.ts'
import type { NetworkFailure, Outcome, SentRequest } from './types.ts'

/** The outcome of a request without a response: first by how far it came, then by the error. */
export function diagnoseFailure(failure: NetworkFailure, request: SentRequest): Outcome {
  const url = new URL(failure.url)
  const { reason, stage } = failure
  if (reason === 'cancelled') {
    return {
      code: 'cancelled',
      message: 'Cancelled while waiting for the gateway',
      hint: 'Run the command again.',
    }
  }

  const isTls = isTlsFailure(failure)
  if (stage === 'proxy' || (stage === 'tunnel' && !isTls)) return diagnoseProxy(failure)
  if (reason === 'deadline') return diagnoseDeadline(failure, url)

  const unreachable = diagnoseConnect(failure, url)
  if (unreachable !== undefined) return unreachable
  if (speaksTlsInstead(failure)) return httpsRequired(url)
  if (isTls) return diagnoseTls(failure, request)

  return diagnoseBrokenResponse(failure, request) ?? connectionClosed(failure, request)
}

/** The outcome if the server sent something that is not an HTTP response. */
function diagnoseBrokenResponse(
  { url, errorCode, detail, firstBytes }: NetworkFailure,
  { secrets }: SentRequest,
): Outcome | undefined {
  const { host } = new URL(url)
  const hint =
    "Ask the gateway's operator: the gateway, or a proxy in front of it, must change that."
  if (errorCode === 'UND_ERR_HEADERS_OVERFLOW') {
    return {
      code: 'gateway-fault',
      message: `${host} sends more than 128 kB of headers, which many clients cannot read`,
      hint,
    }
  }

  // undici 7 rejects this (lib/dispatcher/client-h1.js), and so do the clients on Node.
  if (errorCode === 'UND_ERR_SOCKET' && detail === 'bad response') {
    return {
      code: 'gateway-fault',
      message: `${host} answers with "100 Continue" or with no status, which clients cannot read`,
      hint,
    }
  }

  if (firstBytes === undefined) return undefined
  const shown = cleanForeignText(firstBytes.slice(0, 40), secrets)
  return {
    code: 'not-an-api',
    message: `The program at ${host} does not speak HTTP${shown === '' ? '' : `: "${shown}"`}`,
    hint: 'Correct the port of the address: {--base-url URL}',
  }
}

function connectionClosed(failure: NetworkFailure, { address }: SentRequest): Outcome {
  const { host, protocol } = new URL(failure.url)
  return {
    code: 'refused',
    message: `${host} closed the connection without an answer${inBrackets(failure.errorCode)}${throughProxy(failure)}`,
    hint:
      protocol === 'http:'
        ? `Try https: {--base-url ${address.replace(/^http:/, 'https:')}}`
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
            : 'Check the network and the VPN, or correct the address: {--base-url URL}',
      }
    case 'ECONNREFUSED':
      return {
        code: 'refused',
        message: `Nothing listens at ${url.host}${throughProxy(failure)}`,
        hint: isLoopback(url.hostname)
          ? `Start the gateway, or correct the port of the address: {--base-url URL}. To try repoint's own gateway: repoint serve --port ${url.port || 80}`
          : 'Start the gateway, or correct the host and port of the address: {--base-url URL}',
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
        hint: `Use https: {--base-url https://${url.host}}. If you trust the network, write ${failure.detail} instead of the name and add --allow-http`,
      }
    default:
      return undefined
  }
}

function diagnoseProxy(failure: NetworkFailure): Outcome {
  const { proxy = '', proxyStatus: status, errorCode, waitedMs } = failure
  const { host, hostname } = new URL(failure.url)
  if (status === 407) {
    return proxyLoginRequired(proxy)
  }

  if (status !== undefined) {
    return {
      code: 'proxy',
      message: `The proxy ${proxy} does not connect to ${host} (HTTP ${status})`,
      hint: `Bypass the proxy: NO_PROXY=${hostname}. Or ask the proxy's operator to allow the host.`,
    }
  }

  let message = `The proxy ${proxy} does not work${inBrackets(errorCode)}: ${cleanForeignText(failure.detail)}`
  if (errorCode === 'ECONNREFUSED') message = `Nothing listens at the proxy ${proxy}`
  if (failure.reason === 'deadline')
    message = `The proxy ${proxy} did not connect to ${host} within ${seconds(waitedMs)}`

  return {
    code: 'proxy',
    message,
    hint: `Correct or unset that variable, or bypass the proxy: NO_PROXY=${hostname}`,
  }
}

export function proxyLoginRequired(proxy: string): Outcome {
  return {
    code: 'proxy',
    message: `The proxy ${proxy} asks for a user name and a password, or rejects the ones in its variable (HTTP 407)`,
    // An example would look like a password and be masked.
    hint: "Write both in the proxy's variable, before the host: the name, a colon, the password and an @.",
  }
}

/** The outcome of a request that took too long, by how far it came. */
function diagnoseDeadline(failure: NetworkFailure, { host, hostname }: URL): Outcome {
  const waited = seconds(failure.waitedMs)
  if (failure.stage === 'lookup') {
    return {
      code: 'dns',
      message: `The name ${hostname} was not found within ${waited}: no name server answers`,
      hint: 'Check the network, the VPN and the name servers of this machine, then run the command again.',
    }
  }

  const messages: Readonly<Partial<Record<NetworkFailure['stage'], string>>> = {
    connect: `No connection to ${host} within ${waited}`,
    tls: `${host} accepted the connection but did not finish the TLS handshake within ${waited}`,
    'first-byte': `${host} accepted the request but sent nothing within ${waited}`,
    body: `${host} started to answer but did not finish within ${waited}`,
  }
  const isModelSlow = failure.stage === 'first-byte' || failure.stage === 'body'
  return {
    code: 'timeout',
    message: (messages[failure.stage] ?? '') + throughProxy(failure),
    hint: isModelSlow
      ? 'A model may need time to load. Run the command again, or wait longer: {--timeout 120}'
      : 'Check the network, the VPN and the firewall, or correct the address: {--base-url URL}',
  }
}

function inBrackets(code: string): string {
  return code === '' ? '' : ` (${code})`
}

function seconds(ms: number): string {
  return `${Math.max(0.1, Math.round(ms / 100) / 10)} s`
}
