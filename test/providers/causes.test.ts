import { afterAll, describe, expect, test } from 'vitest'
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
 * What providers refuse with, and whether repoint tells the cause: with a good key never the key, with a
 * wrong one always the key, with a wrong model the model. Each answers at its list as it should, and to
 * one word with its own refusal; the client itself would be answered in the same way.
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

/** What was told wrongly, by kind: the row that this file ends with. */
const wrong = {
  goodKeyCalledBad: 0,
  badKeyNotTold: 0,
  modelNotTold: 0,
  wronglyRefused: 0,
  proven: 0,
}
afterAll(() => expect(Object.values(wrong)).toEqual([0, 0, 0, 0, 0]))

/** The provider of a row; with `isListClosed` it says the same of its list. */
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
  const said = await runHere(home, args, { REPOINT_API_KEY: key })
  expect(said.text).not.toContain(key)
  return {
    home,
    error: said.json['error'] as { code: string; message: string; hint: string } | undefined,
  }
}

/** The client's own request: refusing it must be right. */
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

async function expectCause(row: CauseRow, count: keyof typeof wrong): Promise<void> {
  wrong[count]++
  const { port } = await provider(row)
  const { home, error } = await setUp(row, port)
  expect(error).toMatchObject({ code: row.code })
  expect(`${error!.message} ${error!.hint}`).toMatch(
    row.client === 'claude' && row.code.startsWith('model-') ? /unheard-of-9|claude-/ : row.says,
  )
  expect(home.snapshot()).toEqual({})
  wrong[count]--

  if (await clientIsServed(row, port))
    expect(`${row.who}: ${error!.hint}`).toContain('--try-client')
}

/** The recorded requests of these clients name the client, and are admitted as it is. */
const isAdmitted = ({ client, admits }: CauseRow) =>
  admits !== undefined && agents[client].startsWith(admits)

test.each(goodKeyRows.filter(isAdmitted).map((row) => [row.who, row] as const))(
  '%s admits the client, and so its probe',
  async (_who, row) => {
    const { port } = await provider(row)
    expect((await setUp(row, port)).error).toBeUndefined()
    expect(await clientIsServed(row, port)).toBe(true)
  },
)

describe('with a good key the key is never called bad', () => {
  const rows = goodKeyRows.filter((row) => !isAdmitted(row))
  test.each(rows.map((row) => [row.who, row] as const))('%s', async (_who, row) => {
    expect(row.code).not.toBe('key-rejected')
    await expectCause(row, 'goodKeyCalledBad')
  })
})

describe('a wrong model is named as the cause', () => {
  test.each(wrongModelRows.map((row) => [row.who, row] as const))('%s', async (_who, row) => {
    await expectCause(row, 'modelNotTold')
  })
})

describe('a model without tools is told as one, by at most two more requests', () => {
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
      // Claude Code's request is sent once more without `safeguards`, before the cause is looked for.
      const most = row.client === 'claude' ? 4 : 3
      expect(seen.filter(({ method }) => method === 'POST').length).toBeLessThanOrEqual(most)
    },
  )

  test('where it is refused without them too, its own words stand', async () => {
    const [row] = toolRows
    const { port } = await provider(row!)
    expect((await setUp(row!, port)).error).toMatchObject({ code: 'protocol-unsupported' })
  })
})

describe('a wrong key is told as one', () => {
  test.each(wrongKeyRows.map((row) => [row.who, row] as const))('%s', async (_who, row) => {
    await expectCause(row, 'badKeyNotTold')
  })

  test.each(wrongKeyRows.map((row) => [row.who, row] as const))(
    '%s, at its list too',
    async (_who, row) => {
      wrong.badKeyNotTold++
      const { port } = await provider(row, true)
      expect((await setUp(row, port)).error).toMatchObject({ code: 'key-rejected' })
      wrong.badKeyNotTold--
    },
  )
})

describe('a wrong path is told as one, whatever the key', () => {
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

describe('what only looked like a refusal of the setup is none', () => {
  test('a filter that takes a bare ping for a test of the key lets the question through', async () => {
    const { port } = await aServer((request, response) => {
      if (/"(?:content|text)":"(?:ping|hi|hello|test)"/i.test(request.body))
        return sendJson(response, 403, { error: { message: '请勿发送测试内容', type: 'filter' } })
      if (request.method === 'GET') return sendJson(response, 200, listBody)
      goodGateway(request, response)
    })
    for (const client of ['codex', 'claude', 'opencode'] as const) {
      const row = { client, reply: { status: 403, body: '' } } as CauseRow
      wrong.wronglyRefused++
      expect((await setUp(row, port)).error).toBeUndefined()
      wrong.wronglyRefused--
    }
  })
})
