import { describe, expect, test } from 'vitest'
import { loadClient, rowOf } from '../../src/clients/list.ts'
import { aServer, goodGateway, key, sendJson } from '../gateway/forged.ts'
import { aHome } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import {
  type CauseRow,
  goodKeyRows,
  toolRows,
  wrongKeyRows,
  wrongModelRows,
} from './table/causes.ts'

/**
 * repoint must name the true cause of a provider's error. It must never blame a valid key, and always a wrong key or
 * an unknown model. Each forged provider has a correct list of models, and answers every question with its error.
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

/** Starts the provider of a row. With `isListClosed`, it answers requests for its list with the error too. */
function provider({ reply, admits }: CauseRow, isListClosed = false) {
  return aServer((request, response) => {
    const agent = request.headers['user-agent'] ?? ''
    const isList = request.method === 'GET'
    if (isList && !isListClosed) return sendJson(response, 200, listBody)
    if (request.body === '{}')
      return sendJson(response, 400, { error: { message: 'you must provide a model parameter' } })
    if (admits !== undefined && agent.startsWith(admits)) return goodGateway(request, response)
    if (typeof reply.body !== 'string') return sendJson(response, reply.status, reply.body)
    response.writeHead(reply.status, { 'content-type': 'text/plain' })
    response.end(reply.body)
  })
}

async function setUp(row: CauseRow, port: number) {
  const home = aHome()
  const model = row.isUnlisted
    ? 'unheard-of-9'
    : row.client === 'claude'
      ? undefined
      : 'gpt-5.6-sol'
  const args = [row.client, '--base-url', `http://127.0.0.1:${port}`, '--yes']
  if (model !== undefined) args.push('--model', model)
  const result = await runHere(home, args, { REPOINT_API_KEY: key })
  expect(result.text).not.toContain(key)
  return {
    home,
    error: result.json['error'] as { code: string; message: string; hint: string } | undefined,
  }
}

/** Whether the provider answers the client's own request. */
async function clientIsServed(row: CauseRow, port: number): Promise<boolean> {
  const {
    protocols: [protocol],
  } = await loadClient(rowOf(row.client))
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
      'user-agent': agents[row.client],
    },
    body: JSON.stringify({ model: 'gpt-5.6-sol', stream: true }),
  })
  await answered.text()
  return answered.status === 200
}

async function expectCause(row: CauseRow): Promise<void> {
  const { port } = await provider(row)
  const { home, error } = await setUp(row, port)
  expect(error).toMatchObject({ code: row.code })
  expect(`${error!.message} ${error!.hint}`).toMatch(
    row.client === 'claude' && row.code.startsWith('model-') ? /unheard-of-9|claude-/ : row.says,
  )
  expect(home.snapshot()).toEqual({})

  if (await clientIsServed(row, port))
    expect(`${row.who}: ${error!.message}`).toContain('nobody could ask it')
}

/** Whether the provider accepts the recorded request of the client, because its user agent is on the list. */
const isAdmitted = ({ client, admits }: CauseRow) =>
  admits !== undefined && agents[client].startsWith(admits)

test.each(goodKeyRows.filter(isAdmitted).map((row) => [row.who, row] as const))(
  '%s accepts the client, and so the probe for it',
  async (_who, row) => {
    const { port } = await provider(row)
    expect((await setUp(row, port)).error).toBeUndefined()
    expect(await clientIsServed(row, port)).toBe(true)
  },
)

describe('repoint never blames a valid key', () => {
  const rows = goodKeyRows.filter((row) => !isAdmitted(row))
  test.each(rows.map((row) => [row.who, row] as const))('%s', async (_who, row) => {
    expect(row.code).not.toBe('key-rejected')
    await expectCause(row)
  })
})

describe('repoint names an unknown model as the cause', () => {
  test.each(wrongModelRows.map((row) => [row.who, row] as const))('%s', async (_who, row) => {
    await expectCause(row)
  })
})

describe('repoint reports a model without tools, by the words of the first request', () => {
  test.each(toolRows.map((row) => [row.who, row] as const))(
    '%s',
    async (_who, { reply, ...row }) => {
      const { port, seen } = await aServer((request, response) => {
        if (request.method === 'GET') return sendJson(response, 200, listBody)
        if (JSON.parse(request.body).tools !== undefined)
          return sendJson(response, reply.status, reply.body as object)
        goodGateway(request, response)
      })
      const { home, error } = await setUp({ ...row, reply }, port)
      expect(error).toMatchObject({ code: 'tools-unsupported' })
      expect(error!.hint).toContain('--model ID')
      expect(home.snapshot()).toEqual({})
      // repoint repeats Claude Code's request without `safeguards`.
      const most = row.client === 'claude' ? 2 : 1
      expect(seen.filter(({ method }) => method === 'POST').length).toBeLessThanOrEqual(most)
    },
  )
})

describe('repoint reports a wrong key', () => {
  test.each(wrongKeyRows.map((row) => [row.who, row] as const))('%s', async (_who, row) => {
    await expectCause(row)
  })

  test.each(wrongKeyRows.map((row) => [row.who, row] as const))(
    '%s, which also rejects the request for its list',
    async (_who, row) => {
      const { port } = await provider(row, true)
      expect((await setUp(row, port)).error).toMatchObject({ code: 'key-rejected' })
    },
  )
})

describe('repoint reports a wrong path, whatever the key', () => {
  test.each([...wrongKeyRows, ...goodKeyRows].map((row) => [row.who, row] as const))(
    '%s',
    async (_who, row) => {
      const { port } = await aServer((_request, response) =>
        sendJson(response, 404, { detail: 'Not Found' }),
      )
      expect((await setUp({ ...row, isUnlisted: true }, port)).error).toMatchObject({
        code: 'wrong-route',
      })
    },
  )
})

describe('a setup succeeds', () => {
  test('at a gateway that rejects a bare ping as a test of the key', async () => {
    const { port } = await aServer((request, response) => {
      if (/"(?:content|text)":"(?:ping|hi|hello|test)"/i.test(request.body))
        return sendJson(response, 403, { error: { message: '请勿发送测试内容', type: 'filter' } })
      if (request.method === 'GET') return sendJson(response, 200, listBody)
      goodGateway(request, response)
    })
    for (const client of ['codex', 'claude', 'opencode'] as const) {
      const row = { client, reply: { status: 403, body: '' } } as CauseRow
      expect((await setUp(row, port)).error).toBeUndefined()
    }
  })
})
