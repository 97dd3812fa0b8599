import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import { tlsFile } from '../gateway/forged.ts'

/** A host on a simulated internet. A run reaches it through a proxy, with these arguments and variables. */
export interface Internet {
  readonly origin: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** Makes a server on this port of loopback available through a proxy, as `https://gw.test` or another host. */
export async function internetTo(port: number, host = 'gw.test'): Promise<Internet> {
  const certificate = host === 'gw.test' ? tlsFile('good.pem') : certificateFor(host)
  const inside = createTlsServer(
    { cert: readFileSync(certificate), key: readFileSync(tlsFile('server.key')) },
    (socket) => splice(socket, connect(port, '127.0.0.1')),
  )
  const proxy = createServer().on('connect', (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    splice(socket, connect((inside.address() as AddressInfo).port, '127.0.0.1'))
  })
  for (const server of [inside, proxy])
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))

  return {
    origin: `https://${host}`,
    args: ['--ca-file', host === 'gw.test' ? tlsFile('ca.pem') : certificate],
    env: { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` },
    close: async () => {
      proxy.closeAllConnections()
      proxy.close()
      inside.close()
    },
  }
}

/** Creates a self-signed certificate with the same key. Needs openssl. */
function certificateFor(host: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'repoint-')), `${host}.pem`)
  const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`, '-days', '2']
  execFileSync(
    'openssl',
    ['req', '-x509', '-key', tlsFile('server.key'), '-out', path, ...subject],
    {
      stdio: 'ignore',
    },
  )
  return path
}

function splice(client: Duplex, server: Duplex): void {
  for (const end of [client, server]) end.on('error', () => {})
  client.pipe(server).pipe(client)
}
