import http from 'node:http'
import { expect, test } from 'vitest'
import { aServer, type Seen } from '../gateway/forged.ts'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { installedClient, putInBin } from './support/install.ts'

/** Gateways that reject repoint's own request. The real client decides, before anything is written. */

const key = 'sk-asked-1b7f3d9c5e2a8046'
const note = 'canary-note-of-the-user'

type Finish = (close: () => Promise<void>) => unknown

/** What a gateway answers instead of serving a request. Undefined: it serves it. */
type Refusal = (request: {
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}) => { readonly status?: number; readonly words: string } | undefined

/** A local gateway behind a server that refuses some requests. `seen` gets each one that it lets through. */
async function refusing(refusal: Refusal, onFinish: Finish, seen: (request: Seen) => void) {
  const gateway = await withGateway({ key }, onFinish)
  const front = await aServer((request, response) => {
    const { method, url: path, headers, body } = request
    const isInference = method === 'POST' && !path.includes('count_tokens')
    const refused = isInference ? refusal({ body: JSON.parse(body), headers }) : undefined
    if (refused !== undefined) {
      const { status = 400, words: message } = refused
      const error = { type: 'invalid_request_error', message }
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ type: 'error', error }))
      return
    }
    if (isInference) seen(request)
    const { host, port } = new URL(gateway.url)
    const onward = http.request({ port, method, path, headers: { ...headers, host } }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    onward.end(body)
  })
  return `http://127.0.0.1:${front.port}`
}

/** Sets the real client up, which is in PATH as for a user. */
async function setUp(home: Home, client: string, args: readonly string[], url: string) {
  putInBin(home, client, installedClient(client), true)
  return runCli(home, [client, ...args, '--yes', '--json'], {
    env: {
      REPOINT_API_KEY: key,
      REPOINT_BASE_URL: url,
      PATH: `${home.at('bin')}:${process.env['PATH']}`,
    },
    cwd: home.at('project'),
    timeoutMs: 150_000,
  })
}

/** It reads the whole user agent, in which repoint's probe names itself. */
const onlyClients: Refusal = ({ headers }) =>
  /repoint/.test(String(headers['user-agent']))
    ? {
        status: 403,
        words: 'This plan is currently only available for Coding Agents such as Codex.',
      }
    : undefined

test.concurrent.for([
  {
    client: 'codex',
    file: '.codex/config.toml',
    before: '# mine\nmodel = "o3"\n',
    instructions: '.codex/AGENTS.md',
  },
  {
    client: 'claude',
    file: '.claude/settings.json',
    before: '{ "theme": "dark" }\n',
    instructions: '.claude/CLAUDE.md',
  },
  {
    client: 'qwen',
    file: '.qwen/settings.json',
    before: '{ "ui": { "hideTips": true } }\n',
    instructions: '.qwen/QWEN.md',
  },
  {
    // It gets its provider in a variable of repoint.
    client: 'pi',
    file: '.pi/agent/settings.json',
    before: '{ "theme": "dark" }\n',
    instructions: '.pi/agent/AGENTS.md',
  },
  {
    client: 'droid',
    file: '.factory/settings.json',
    before: '{ "theme": "dark" }\n',
    instructions: '.factory/AGENTS.md',
  },
])(
  '$client checks the setup in a temporary home, before anything is written',
  async ({ client, file, before, instructions }, { onTestFinished }) => {
    const home = aHome(
      { [file]: before, [instructions]: note, 'project/README.md': note },
      onTestFinished,
    )
    const admitted: { readonly body: string; readonly fileThen: string }[] = []
    const url = await refusing(onlyClients, onTestFinished, ({ body }) =>
      admitted.push({ body, fileThen: home.text(file) }),
    )

    const result = await setUp(home, client, [], url)
    expect(result.json, result.stdout + result.stderr).toMatchObject({
      changed: true,
      warnings: expect.arrayContaining([expect.objectContaining({ code: 'proven-by-client' })]),
    })
    // A request for a title names no folder.
    expect(admitted.some(({ body }) => body.includes('.try-'))).toBe(true)
    for (const { body, fileThen } of admitted) {
      expect(fileThen).toBe(before)
      expect(body).not.toContain(note)
      expect(body).not.toContain(key)
    }
    expect(home.everything().filter((path) => path.includes('.try-'))).toEqual([])
  },
)

const anthropicsWords: Refusal = ({ headers }) => {
  const betas = String(headers['anthropic-beta'] ?? '').split(',')
  const named = betas.find((beta) => beta.startsWith('context-management'))
  return named === undefined
    ? undefined
    : {
        words: `vertex-ai error: Unexpected value(s) \`${named}\` for the \`anthropic-beta\` header.`,
      }
}

const noContext: Refusal = ({ body }) =>
  body['context_management'] === undefined
    ? undefined
    : { words: 'context_management: Extra inputs are not permitted' }

const atMost =
  (most: number): Refusal =>
  ({ body: { model, max_tokens } }) =>
    Number(max_tokens ?? 0) <= most
      ? undefined
      : {
          words: `max_tokens: ${max_tokens} > ${most}, which is the maximum allowed number of output tokens for ${model}`,
        }

const noSearch: Refusal = ({ body }) =>
  JSON.stringify(body).includes('"type":"web_search"')
    ? { words: "unknown tool type 'web_search'" }
    : undefined

/** What the real client does with a rejected part, and what repoint says: a setup agrees with the client. */
test.concurrent.for([
  { client: 'claude', refused: 'a beta', refusal: anthropicsWords, code: 'proven-by-client' },
  { client: 'claude', refused: 'the context', refusal: noContext, code: 'proven-by-client' },
  { client: 'claude', refused: 'a limit', refusal: atMost(64_000), code: 'proven-by-client' },
  {
    client: 'codex',
    // It sends its tools as a list to this model.
    args: ['--model', 'gpt-5.4'],
    refused: 'web search',
    refusal: noSearch,
    code: 'part-left-out',
    flag: '--web-search disabled',
  },
])(
  '$client: a gateway that rejects $refused is $code',
  async ({ client, args = [], refusal, code, flag = '' }, { onTestFinished }) => {
    const home = aHome({ 'project/README.md': note }, onTestFinished)
    const url = await refusing(refusal, onTestFinished, () => {})
    const result = await setUp(home, client, [...args, '--try-client'], url)
    expect(result.json, result.stdout + result.stderr).toMatchObject({
      changed: true,
      warnings: expect.arrayContaining([
        expect.objectContaining({ code, message: expect.stringContaining(flag) }),
      ]),
      tried: [{ client, ok: true }],
    })
  },
)
