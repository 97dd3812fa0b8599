import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import { tlsFile } from '../gateway/forged.ts'

/** A name of the internet, which only its proxy leads to, and what a run needs to reach it. */
export interface Internet {
  readonly origin: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** Puts what listens on this port of loopback behind a proxy, as `https://gw.test`. */
export async function internetTo(port: number): Promise<Internet> {
  const pem = readFileSync(tlsFile('good.pem'))
  const inside = createTlsServer(
    { cert: pem, key: readFileSync(tlsFile('server.key')) },
    (socket) => join(socket, connect(port, '127.0.0.1')),
  )
  const proxy = createServer().on('connect', (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    join(socket, connect((inside.address() as AddressInfo).port, '127.0.0.1'))
  })
  for (const server of [inside, proxy])
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))

  return {
    origin: 'https://gw.test',
    args: ['--ca-file', tlsFile('ca.pem')],
    env: { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` },
    close: async () => {
      proxy.closeAllConnections()
      proxy.close()
      inside.close()
    },
  }
}

function join(one: Duplex, other: Duplex): void {
  for (const end of [one, other]) end.on('error', () => {})
  one.pipe(other).pipe(one)
}
