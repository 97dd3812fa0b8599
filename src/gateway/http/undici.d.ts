// Parts of undici 7 by their own path: the whole of it takes twice as long to load.
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici'
  export default Client
}

declare module 'undici/lib/core/socks5-client.js' {
  import type { EventEmitter } from 'node:events'
  import type { Socket } from 'node:net'
  export class Socks5Client extends EventEmitter {
    constructor(socket: Socket, options: { username?: string; password?: string })
    handshake(): void
    connect(host: string, port: number): void
  }
}
