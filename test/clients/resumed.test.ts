import { once } from 'node:events'
import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { fixtureCatalog, withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { inferences, prompt } from './support/prompt.ts'

/** A conversation with one gateway continues after a setup for another one, which lacks its model. */

const firstKey = 'sk-real-resumed-first-3f9a2b7c1d'
const secondKey = 'sk-real-resumed-second-8e4d6c0b5a'

interface Row {
  readonly runner: string
  readonly client: string
  readonly flag?: string
  readonly models: readonly [first: string, second: string]
  /** The arguments that continue the conversation, and what the second gateway is asked for then. */
  readonly ways: readonly (readonly [args: readonly string[], asked: string | undefined])[]
}

const gpt = ['gpt-5.6-sol', 'gpt-5.4'] as const

const rows: readonly Row[] = [
  {
    runner: 'claude 2.1.330',
    client: 'claude',
    flag: '--sonnet-model',
    models: ['claude-sonnet-5-5', 'claude-sonnet-4-6'],
    ways: [[['-c'], 'claude-sonnet-4-6']],
  },
  { runner: 'pi', client: 'pi', models: gpt, ways: [[['-c'], 'gpt-5.4']] },
  { runner: 'qwen', client: 'qwen', models: gpt, ways: [[['-c'], 'gpt-5.4']] },
  {
    runner: 'opencode',
    client: 'opencode',
    models: gpt,
    // The client finds no such model, and says "Unexpected server error".
    ways: [
      [['-c'], undefined],
      [['-c', '-m', 'gateway/gpt-5.4'], 'gpt-5.4'],
    ],
  },
]

async function setUp(home: Home, gateway: Gateway, key: string, args: readonly string[]) {
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
  const { status, json, stdout } = await runCli(home, [...args, '--yes', '--json'], { env })
  expect(status).toBe(0)
  expect(stdout).not.toContain(key)
  gateway.clearRequests()
  return (json as { readonly warnings: readonly { readonly code: string }[] }).warnings
}

test.each(rows)('$runner', async ({ runner, client, flag = '--model', models, ways }) => {
  const [first, second] = models
  const old = await withGateway({ key: firstKey }, onTestFinished)
  const withoutFirst = fixtureCatalog.filter(({ id, aliasOf }) => id !== first && aliasOf !== first)
  const gateway = await withGateway({ key: secondKey, models: withoutFirst }, onTestFinished)

  const home = aHome()
  await setUp(home, old, firstKey, [client, flag, first])
  expect((await prompt(runner, { home: home.path })).hasAnswered).toBe(true)
  expect(inferences(old.requests()).map(({ modelAsked }) => modelAsked)).toContain(first)

  old.clearRequests()
  const warnings = await setUp(home, gateway, secondKey, [client, flag, second])
  const codes = warnings.map(({ code }) => code)
  expect(codes.includes(`${client}-conversations-lost`)).toBe(ways.length > 1)

  for (const [args, asked] of ways) {
    gateway.clearRequests()
    const { hasAnswered } = await prompt(runner, { home: home.path, args, prompt: 'again' })
    const requests = inferences(gateway.requests())
    expect([hasAnswered, requests.at(-1)?.modelAsked]).toEqual([asked !== undefined, asked])
    expect(requests.every(({ keyMatches }) => keyMatches)).toBe(true)
    if (asked !== undefined) expect(requests.at(-1)!.requestBody).toContain('pong')
  }
  expect(inferences(old.requests())).toEqual([])
})

describe('thoughts that another gateway has signed or encrypted', () => {
  /** A front that rejects them from now on, as their vendor does. */
  async function aStrictFront(gateway: Gateway, sealed: RegExp, error: object) {
    let isStrict = false
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      if (isStrict && sealed.test(body.toString())) {
        response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(error))
        return
      }
      const { method, headers } = request
      const forwarded = ask(gateway.url + request.url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      })
      forwarded.end(body)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { url, reject: () => (isStrict = true) }
  }

  test.each([
    {
      runner: 'claude 2.1.330',
      client: 'claude',
      args: ['-c'],
      sealed: /"signature":"[^"]/,
      error: {
        type: 'invalid_request_error',
        message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
      },
      isRepeated: true,
    },
    {
      runner: 'codex',
      client: 'codex',
      args: ['resume', '--last'],
      sealed: /"encrypted_content":"[^"]/,
      error: {
        type: 'invalid_request_error',
        code: 'invalid_encrypted_content',
        message: 'The encrypted content could not be verified.',
      },
      isRepeated: false,
    },
  ])('$runner', async ({ runner, client, args, sealed, error, isRepeated }) => {
    const gateway = await withGateway({ key: firstKey }, onTestFinished)
    const front = await aStrictFront(gateway, sealed, { type: 'error', error })
    const home = aHome()
    await setUp(home, { ...gateway, url: front.url }, firstKey, [client])
    await prompt(runner, { home: home.path, prompt: '#think ping' })

    front.reject()
    gateway.clearRequests()
    const resumed = await prompt(runner, { home: home.path, args, prompt: 'again' })
    expect(inferences(gateway.requests()).length > 0).toBe(isRepeated)
    expect(resumed.text.includes(error.message)).toBe(!isRepeated)
  })
})
