import { describe, expect, test } from 'vitest'
import { loadClient, rowOf } from '../../src/clients/list.ts'
import { aServer, goodGateway, key, sendJson } from '../gateway/forged.ts'
import { aHome } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import {
  type AdmittingRow,
  admittingRows,
  type CauseRow,
  type ErrorRow,
  goodKeyRows,
  wrongModelRows,
} from './table/causes.ts'

/**
 * repoint must name the true cause of a provider's error. It must never blame a valid key, and always an unknown
 * model. Each forged provider has a correct list of models, and answers every question with its error.
 */

const listed = [
  'gpt-5.6-sol',
  'claude-fable-5-2',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-haiku-5-5',
]
const listBody = { object: 'list', data: listed.map((id) => ({ id, object: 'model' })) }
const agents = {
  codex: 'codex_cli_rs/0.169.0',
  claude: 'claude-cli/2.1.329',
  opencode: 'opencode/1.18',
}

/** Starts the provider of a row. */
function provider({ reply, admits }: ErrorRow & Partial<AdmittingRow>) {
  return aServer((request, response) => {
    const agent = request.headers['user-agent'] ?? ''
    if (request.method === 'GET') return sendJson(response, 200, listBody)
    if (request.body === '{}')
      return sendJson(response, 400, { error: { message: 'you must provide a model parameter' } })
    if (admits !== undefined && agent.startsWith(admits)) return goodGateway(request, response)
    if (typeof reply.body !== 'string') return sendJson(response, reply.status, reply.body)
    response.writeHead(reply.status, { 'content-type': 'text/plain' })
    response.end(reply.body)
  })
}

async function setUp(
  { client, isUnlisted }: Pick<CauseRow, 'client' | 'isUnlisted'>,
  port: number,
) {
  const home = aHome()
  const model = isUnlisted ? 'unheard-of-9' : client === 'claude' ? undefined : 'gpt-5.6-sol'
  const args = [client, '--base-url', `http://127.0.0.1:${port}`, '--yes']
  if (model !== undefined) args.push('--model', model)
  const result = await runHere(home, args, { REPOINT_API_KEY: key })
  expect(result.text).not.toContain(key)
  return {
    home,
    error: result.json['error'] as { code: string; message: string; hint: string } | undefined,
  }
}

/** Whether the provider answers the client's own request. */
async function clientIsServed({ client }: ErrorRow, port: number): Promise<boolean> {
  const {
    protocols: [protocol],
  } = await loadClient(rowOf(client))
  const route = {
    responses: '/v1/responses',
    messages: '/v1/messages',
    chat: '/v1/chat/completions',
  }[protocol]
  const answered = await fetch(`http://127.0.0.1:${port}${route}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      'user-agent': agents[client],
    },
    body: JSON.stringify({ model: 'gpt-5.6-sol', stream: true }),
  })
  await answered.text()
  return answered.status === 200
}

test.each(admittingRows.map((row) => [row.who, row] as const))(
  '%s accepts the client, and so the probe for it',
  async (_who, row) => {
    const { port } = await provider(row)
    expect((await setUp(row, port)).error).toBeUndefined()
    expect(await clientIsServed(row, port)).toBe(true)
  },
)

describe('repoint never blames a valid key, and names an unknown model', () => {
  test.each([...goodKeyRows, ...wrongModelRows].map((row) => [row.who, row] as const))(
    '%s',
    async (_who, row) => {
      const { port } = await provider(row)
      const { home, error } = await setUp(row, port)
      expect(error).toMatchObject({ code: row.code })
      expect(`${error!.message} ${error!.hint}`).toMatch(row.says)
      expect(home.snapshot()).toEqual({})
    },
  )
})

test.each(['codex', 'claude', 'opencode'] as const)(
  'repoint reports a wrong path to %s, whatever the key',
  async (client) => {
    const { port } = await aServer((_request, response) =>
      sendJson(response, 404, { detail: 'Not Found' }),
    )
    expect((await setUp({ client, isUnlisted: true }, port)).error).toMatchObject({
      code: 'wrong-route',
    })
  },
)

describe('a setup succeeds', () => {
  test('at a gateway that rejects a bare ping as a test of the key', async () => {
    const { port } = await aServer((request, response) => {
      if (/"(?:content|text)":"(?:ping|hi|hello|test)"/i.test(request.body))
        return sendJson(response, 403, { error: { message: '请勿发送测试内容', type: 'filter' } })
      if (request.method === 'GET') return sendJson(response, 200, listBody)
      goodGateway(request, response)
    })
    for (const client of ['codex', 'claude', 'opencode'] as const) {
      expect((await setUp({ client }, port)).error).toBeUndefined()
    }
  })
})
