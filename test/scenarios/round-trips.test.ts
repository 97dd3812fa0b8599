import { expect, test } from 'vitest'
import { clientRows, loadClient } from '../../src/clients/list.ts'
import { builtInCatalog } from '../../src/serve/index.ts'
import { aServer, goodGateway, key, sendJson, tlsFile } from '../gateway/forged.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { triesAll } from '../support/sample.ts'
import { keys, runOnTerminal } from '../support/terminal.ts'

/** What a command must send before it gets an answer: its connections so far, and the methods of its requests. */
interface Round {
  readonly connections: number
  readonly requests: readonly string[]
}

const list = { object: 'list', data: builtInCatalog.map(({ id }) => ({ id })) }

/**
 * A gateway behind TLS that answers only a whole round of requests. A command that waits between two requests of a
 * round gets no answer. No time decides what is in a round, so the result is the same on a busy machine.
 */
async function aPatientGateway() {
  const held: { method: string; answer: () => void }[] = []
  const server = await aServer(
    (request, response) => {
      const isList = request.method === 'GET' && request.url === '/v1/models'
      // Over messages, opencode sends the key as x-api-key.
      const authorization =
        request.headers.authorization ?? `Bearer ${request.headers['x-api-key']}`
      const asBearer = { ...request, headers: { ...request.headers, authorization } }
      const answer = () =>
        isList ? sendJson(response, 200, list) : goodGateway(asBearer, response)
      held.push({ method: request.method, answer })
    },
    { certificate: 'good.pem' },
  )
  return {
    env: {
      REPOINT_BASE_URL: `https://127.0.0.1:${server.port}`,
      REPOINT_API_KEY: key,
      // Programs of Node read the first variable, and Codex reads the second.
      NODE_EXTRA_CA_CERTS: tlsFile('ca.pem'),
      CODEX_CA_CERTIFICATE: tlsFile('ca.pem'),
    },

    /** Checks that `work` sends these rounds, and nothing else. */
    async receives(rounds: readonly Round[], work: () => Promise<void>): Promise<void> {
      const before = server.connections()
      const received = (): Round => ({
        connections: server.connections() - before,
        requests: held.map(({ method }) => method).sort(),
      })
      const answerRounds = async (): Promise<void> => {
        for (const round of rounds) {
          await expect.poll(received).toEqual(round)
          for (const { answer } of held.splice(0)) answer()
        }
      }
      await Promise.all([work(), answerRounds()])
      expect(received()).toEqual({ ...rounds.at(-1), requests: [] })
    },
  }
}

/** With this time limit no list is slow, even on a machine that pauses for seconds. */
const patiently = ['--yes', '--timeout', '600']

async function succeeds(home: Home, args: string[], env: Record<string, string>): Promise<void> {
  const { status, stderr } = await runInProcess(home, args, { env })
  expect(stderr).not.toContain('error:')
  expect(status).toBe(0)
}

async function guided(home: Home, env: Record<string, string>): Promise<void> {
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

test.each((triesAll ? clients : sample).map(({ id, protocols }) => [id, protocols.length > 1]))(
  '%s: the first and the second setup need one connection, and wait for the list and one probe for each protocol',
  async (client, hasList) => {
    const { env, receives } = await aPatientGateway()
    const home = aHome()
    const oneMore = { connections: 1, requests: ['POST'] }
    const rounds = [
      { connections: 1, requests: ['GET'] },
      { connections: 1, requests: ['POST'] },
      // Its list has o3, which uses chat, and Claude.
      ...(hasList ? [oneMore, oneMore] : []),
    ]
    await receives(rounds, () => succeeds(home, [client, ...patiently], env))
    await receives(rounds, () => succeeds(home, [client, ...patiently], env))
  },
)

test('guided setup, use and doctor check three clients in parallel', async () => {
  const { env, receives } = await aPatientGateway()
  const home = aHome()
  // The others follow once the API has answered one of them.
  const rounds = [
    { connections: 3, requests: ['GET'] },
    { connections: 3, requests: ['POST'] },
    { connections: 3, requests: ['POST', 'POST'] },
    // The list of opencode has o3, which uses chat, and Claude.
    { connections: 3, requests: ['POST'] },
    { connections: 3, requests: ['POST'] },
  ]
  await receives(rounds, () => guided(home, env))
  await receives(rounds, () => succeeds(home, ['use', '127.0.0.1', ...patiently], env))

  // Doctor also asks for the balance of the key, in each of the three ways that gateways report it.
  const doctor = [
    { connections: 3, requests: ['GET'] },
    { connections: 4, requests: ['GET', 'GET', 'GET', 'POST'] },
    // A connection whose answer is not quite read yet is not used again.
    {
      connections: expect.toSatisfy((count) => count === 4 || count === 5),
      requests: ['POST', 'POST'],
    },
  ]
  await receives(doctor, () => succeeds(home, ['doctor', '--timeout', '600'], env))
})
