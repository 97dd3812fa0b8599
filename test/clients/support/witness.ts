import { execFileSync } from 'node:child_process'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import type { Home } from '../../support/home.ts'

/** A request to another service than the gateway. */
export interface Witnessed {
  readonly host: string
  readonly path: string
  readonly authorization: string | undefined
}

/** Replaces every https service of the internet, behind a proxy in the clients' environment. */
export interface Witness {
  /** The variables with which a client uses the proxy and trusts its certificates. */
  readonly env: Readonly<Record<string, string>>
  readonly seen: readonly Witnessed[]
  close(): Promise<void>
}

export async function startWitness(home: Home, hosts: readonly string[]): Promise<Witness> {
  const { key, cert } = certificateFor(home, hosts)
  const seen: Witnessed[] = []
  const service = createServer({ key, cert }, (request, response) => {
    const { headers, url = '' } = request
    const path = url.replace(/\?.*/, '')
    seen.push({ host: headers.host ?? '', path, authorization: headers.authorization })
    request.resume()
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end('{"error":{"message":"not you"}}')
  })
  service.on('upgrade', ({ headers, url = '' }, socket) => {
    seen.push({ host: headers.host ?? '', path: url, authorization: headers.authorization })
    socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n')
  })
  const proxy = createHttpServer()
  proxy.on('connect', (_, client) => {
    const inner = connect((service.address() as AddressInfo).port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      inner.pipe(client).pipe(inner)
    })
    inner.on('error', () => client.destroy())
    client.on('error', () => inner.destroy())
  })
  for (const server of [service, proxy])
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))

  return {
    env: {
      HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      NO_PROXY: '127.0.0.1',
      SSL_CERT_FILE: home.at('witness/cert.pem'),
      CODEX_CA_CERTIFICATE: home.at('witness/cert.pem'),
    },
    seen,
    close: async () => {
      for (const server of [proxy, service]) {
        server.closeAllConnections()
        await new Promise((closed) => server.close(closed))
      }
    },
  }
}

function certificateFor(home: Home, hosts: readonly string[]): { key: string; cert: string } {
  for (const name of ['key.pem', 'cert.pem']) home.put(`witness/${name}`, '')
  const names = hosts.map((host) => `DNS:${host}`).join(',')
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=witness'],
      ...['-addext', `subjectAltName=${names}`, '-addext', 'basicConstraints=critical,CA:FALSE'],
      ...['-keyout', home.at('witness/key.pem'), '-out', home.at('witness/cert.pem')],
    ],
    { stdio: 'ignore' },
  )
  return { key: home.text('witness/key.pem'), cert: home.text('witness/cert.pem') }
}
