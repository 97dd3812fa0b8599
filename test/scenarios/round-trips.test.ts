import net from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { clientRows, loadClient } from '../../src/clients/list.ts'
import { aSocketServer, tlsFile } from '../gateway/forged.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { delayingProxy } from '../support/round-trips.ts'
import { triesAll } from '../support/sample.ts'
import { keys, runOnTerminal } from '../support/terminal.ts'

const canary = 'sk-canary-5f4e3d2c1b0a99887766'

/** The local gateway behind TLS 1.3 and a proxy with a long delay. */
async function aFarGateway() {
  const gateway = await withGateway({ key: canary }, onTestFinished)
  const server = await aSocketServer((socket) => {
    const behind = net.connect(gateway.port, '127.0.0.1')
    behind.on('error', () => socket.destroy())
    socket.pipe(behind).pipe(socket)
  }, 'good.pem')
  const proxy = await delayingProxy(server.port)
  return {
    env: {
      REPOINT_BASE_URL: `https://127.0.0.1:${proxy.port}`,
      REPOINT_API_KEY: canary,
      // Programs of Node read the first variable, and Codex reads the second.
      NODE_EXTRA_CA_CERTS: tlsFile('ca.pem'),
      CODEX_CA_CERTIFICATE: tlsFile('ca.pem'),
    },
    /** The connections, round trips and POST requests of `work`. */
    async cost(work: () => Promise<unknown>) {
      const before = { connections: proxy.connections(), roundTrips: proxy.roundTrips() }
      gateway.clearRequests()
      await work()
      return {
        connections: proxy.connections() - before.connections,
        roundTrips: proxy.roundTrips() - before.roundTrips,
        posts: gateway.requests().filter(({ method }) => method === 'POST').length,
      }
    },
  }
}

async function succeeds(home: Home, args: string[], env: Record<string, string>): Promise<void> {
  const { status, stderr } = await runInProcess(home, args, { env })
  expect(stderr).not.toContain('error:')
  expect(status).toBe(0)
}

const guided = async (home: Home, env: Record<string, string>): Promise<void> => {
  const run = runOnTerminal(home, [], { env })
  const { space, down, enter } = keys
  await run.shows(`❯ ${env['REPOINT_BASE_URL']}`)
  run.type(enter)
  await run.shows('Which clients')
  for (const key of [space, down, space, down, down, space, enter]) run.type(key)
  await run.shows('Apply?')
  run.type(`y${enter}`)
  expect(await run.ended).toBe(0)
}

const clients = await Promise.all(clientRows.map(loadClient))
/** The first client of each protocol. */
const sample = clients.filter(
  ({ protocols: [usual] }, index) =>
    index === clients.findIndex(({ protocols: [other] }) => other === usual),
)

test.each((triesAll ? clients : sample).map(({ id }) => id))(
  '%s: the first and the second setup need four round trips, one connection and one POST',
  async (client) => {
    const { env, cost } = await aFarGateway()
    const home = aHome()
    const least = { connections: 1, roundTrips: 4, posts: 1 }
    expect(await cost(() => succeeds(home, [client, '--yes'], env))).toEqual(least)
    expect(await cost(() => succeeds(home, [client, '--yes'], env))).toEqual(least)
  },
)

test('guided setup, use and doctor check three clients in parallel', async () => {
  const { env, cost } = await aFarGateway()
  const home = aHome()
  const least = { connections: 3, roundTrips: 4, posts: 3 }
  expect(await cost(() => guided(home, env))).toEqual(least)
  expect(await cost(() => succeeds(home, ['use', '127.0.0.1', '--yes'], env))).toEqual(least)
  // At the same time as the probes, doctor asks for the balance of the key. These requests cost nothing, one for each
  // of the three ways that gateways report it, all in parallel.
  const doctor = await cost(() => succeeds(home, ['doctor'], env))
  expect(doctor).toEqual({ ...least, connections: 6, roundTrips: 6 })
})
