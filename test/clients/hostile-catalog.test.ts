import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { clients } from '../../scripts/real-clients.js'
import { type Gateway, startGateway } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { aHome } from '../support/home.ts'
import { installedClient, putInBin } from './support/install.ts'

/**
 * The real clients, tried by `--try-client` at a gateway whose list of models attacks the way in which they
 * read it.
 */

const key = 'sk-real-hostile-4f7a1c9e2b8d'
const secret = 'PRIVATE-KEY-5e6f708192a3b47f'
const plain = 'gpt-5.6-sol'

let gateway: Gateway
/** The requests to another address than the gateway. */
const elsewhere: string[] = []
const other = createServer((request, response) => {
  elsewhere.push(JSON.stringify([request.url, request.headers]))
  response.end()
})
beforeAll(async () => {
  gateway = await startGateway({ families: 'rewritten', key })
  await new Promise<void>((ready) => other.listen(0, '127.0.0.1', ready))
})
afterAll(async () => {
  await gateway.close()
  other.close()
})

/** Each ID contains the path of a file that a command would create, the secret file, or the other address. */
function hostileIds(home: string, url: string): string[] {
  const touch = `touch ${home}/mark`
  return [
    `../../../../..${home}/secret`,
    `{file:${home}/secret}`,
    '{env:SECRET}',
    '$SECRET',
    '${SECRET}',
    `$(${touch})`,
    `\`${touch}\``,
    `!${touch}`,
    `x"; ${touch}; "`,
    `x\n${touch}\n`,
    `x"\nbase_url = "${url}/v1`,
    `x","baseUrl":"${url}/v1","y":"`,
    `${url}/v1`,
    '__proto__',
    'constructor',
    'gateway/__proto__',
    '@/etc/passwd',
    '-c',
    `--config=${home}/secret`,
    '\u001b]0;x\u0007',
    'y'.repeat(200_000),
  ]
}

/** A gateway that lists and serves these IDs. */
async function aHostileGateway(ids: readonly string[]) {
  const bodies: string[] = []
  const front = createServer(async (request, response) => {
    const { url = '', method = '', headers } = request
    if (method === 'GET') {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ data: ids.map((id) => ({ id, name: id, display_name: id })) }))
      return
    }
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    bodies.push(body)
    const { authorization = '', 'x-api-key': apiKey = '' } = headers
    const answer = await fetch(gateway.url + url, {
      method,
      headers: {
        authorization: authorization || `Bearer ${String(apiKey)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ ...JSON.parse(body), model: plain }),
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((ready) => front.listen(0, '127.0.0.1', ready))
  return {
    bodies,
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    close: () => {
      front.closeAllConnections()
      front.close()
    },
  }
}

/** With the ID in the list that a shell or the client's own reader would interpret. */
test.each([
  ['codex', 'codex --catalog', 5],
  ['cline', 'cline', 5],
  ['openclaw', 'openclaw', 0],
  ['pi', 'pi', 7],
  ['opencode', 'opencode', 5],
] as const)(
  '%s: every ID in a list of models stays data',
  { timeout: 300_000 },
  async (program, command, mean) => {
    const home = aHome({ secret })
    const ids = hostileIds(home.path, `http://127.0.0.1:${(other.address() as AddressInfo).port}`)
    putInBin(home, program, installedClient(program))
    const up = await aHostileGateway([...ids, plain])

    const PATH = `${home.at('bin')}:${dirname(process.execPath)}:/usr/bin:/bin`
    const flags = ['--yes', '--json', '--try-client', '--base-url', up.url, '--model', ids[mean]!]
    const env = { ...clients[program].env, REPOINT_API_KEY: key, SECRET: secret, PATH }
    const args = [...command.split(' '), ...flags]
    const set = await runCli(home, args, { env, timeoutMs: 200_000 })
    expect(set.stdout + set.stderr).not.toContain(key)
    expect(set.json).toMatchObject({
      changed: true,
      tried: [{ client: program, said: expect.stringContaining('pong') }],
    })
    expect(up.bodies.length).toBeGreaterThan(1)
    expect(up.bodies.join('')).not.toContain(secret)
    expect(readdirSync(home.path)).not.toContain('mark')
    expect(elsewhere).toEqual([])
    up.close()
  },
)
