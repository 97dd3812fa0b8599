import net from 'node:net'
import { onTestFinished } from 'vitest'

/** As long as nothing new comes, a round has all that was sent at the same time, in ms. */
const quietMs = 120

/** A way to a server on which everything takes whole round trips. */
export interface LongWay {
  readonly port: number
  readonly connections: () => number
  /** How often the client had to wait for the other side: connecting, handshake, each answer. */
  readonly roundTrips: () => number
}

/**
 * Hands everything on in rounds: what a client sends, and the opening of a connection, is held until
 * nothing more comes, and goes on together as one round trip. Answers pass at once, so that what
 * depends on one is in a later round. Counts without a clock, so that a busy machine counts alike.
 */
export async function aLongWay(to: number): Promise<LongWay> {
  const held: { client: net.Socket; goOn: () => void }[] = []
  const sockets = new Set<net.Socket>()
  let connections = 0
  let roundTrips = 0
  let quiet: NodeJS.Timeout | undefined

  const hold = (client: net.Socket, goOn: () => void): void => {
    held.push({ client, goOn })
    clearTimeout(quiet)
    quiet = setTimeout(() => {
      const round = held.splice(0)
      // Nobody waits for what goes out at hanging up.
      if (round.some((one) => !one.client.destroyed)) roundTrips++
      for (const { goOn } of round) goOn()
    }, quietMs)
  }

  const server = net.createServer((client) => {
    connections++
    const behind = net.connect(to, '127.0.0.1')
    for (const socket of [client, behind]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }
    behind.on('data', (bytes) => client.write(bytes)).on('close', () => client.destroy())
    client.on('close', () => behind.destroy())
    client.on('data', (bytes) => hold(client, () => behind.write(bytes)))
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
