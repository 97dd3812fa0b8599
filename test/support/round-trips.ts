import net from 'node:net'
import { onTestFinished } from 'vitest'

/** A round ends when the client has sent nothing for this many ms. */
const quietMs = 120

/** A proxy before a server, which counts round trips. */
export interface DelayingProxy {
  readonly port: number
  readonly connections: () => number
  /** How often the client had to wait for the other side: connecting, handshake, each answer. */
  readonly roundTrips: () => number
}

/**
 * A proxy that delays what the client sends, and the opening of its connections, until nothing more comes.
 * Then it forwards everything together, which counts as one round trip. Answers pass at once, so that a
 * request that depends on one is in a later round. It counts rounds, not time, so that the result is the
 * same on a busy machine.
 */
export async function delayingProxy(to: number): Promise<DelayingProxy> {
  const held: { client: net.Socket; forward: () => void }[] = []
  const sockets = new Set<net.Socket>()
  let connections = 0
  let roundTrips = 0
  let quiet: NodeJS.Timeout | undefined

  const hold = (client: net.Socket, forward: () => void): void => {
    held.push({ client, forward })
    clearTimeout(quiet)
    quiet = setTimeout(() => {
      const round = held.splice(0)
      // What a client sends while it closes is not a round trip.
      if (round.some(({ client }) => !client.destroyed)) roundTrips++
      for (const { forward } of round) forward()
    }, quietMs)
  }

  const server = net.createServer((client) => {
    connections++
    const upstream = net.connect(to, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }
    upstream.on('data', (bytes) => client.write(bytes)).on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
    client.on('data', (bytes) => hold(client, () => upstream.write(bytes)))
    client.pause()
    hold(client, () => client.resume())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    clearTimeout(quiet)
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as net.AddressInfo).port,
    connections: () => connections,
    roundTrips: () => roundTrips,
  }
}
