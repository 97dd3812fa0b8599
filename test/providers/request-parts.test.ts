import { describe, expect, onTestFinished, test } from 'vitest'
import { familyRows } from '../../src/clients/list.ts'
import { aServer, goodGateway, key, type Seen, sendJson } from '../gateway/forged.ts'
import { isRecorded } from '../support/fixtures.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'

/**
 * Gateways that accept a minimal request but reject a member of a client's real request. A setup of that client must
 * fail, and a setup of clients that do not send the member must succeed. The real clients were run with each refusal
 * and fail too (opencode 1.18.34, Kilo 7.7.9, Qwen Code 0.24.4, droid 0.225.2, Cline 3.0.65, pi 0.87.1,
 * Codex 0.169.0, Claude Code 2.1.330 and 2.1.197; 2026-11-23).
 */

type Body = Readonly<Record<string, unknown>>
type Refusal = (
  body: Body,
  request: Seen,
) => { readonly words: string; readonly param?: string } | undefined

const limitIn = ({ max_tokens, max_completion_tokens, max_output_tokens }: Body) =>
  Number(max_tokens ?? max_completion_tokens ?? max_output_tokens ?? 0)

/** Rejects a request with this member, in OpenAI's words. */
const without =
  (param: string): Refusal =>
  (body) =>
    body[param] === undefined
      ? undefined
      : { words: `Unsupported parameter: '${param}' is not supported with this model.`, param }

const refusals = {
  tools: (body) =>
    body['tools'] === undefined ? undefined : { words: `glm-5 does not support tools` },
  max_tokens: without('max_tokens'),
  max_completion_tokens: without('max_completion_tokens'),
  'more than 8192': (body) =>
    limitIn(body) > 8192
      ? { words: `max_tokens is too large: ${limitIn(body)}. This model supports at most 8192.` }
      : undefined,
  'more than 8192, in words of Bedrock': (body) =>
    limitIn(body) > 8192
      ? { words: 'The maximum tokens you requested exceeds the model limit of 8192.' }
      : undefined,
  stream_options: without('stream_options'),
  include: without('include'),
  reasoning: without('reasoning'),
  'web search': ({ tools }) =>
    JSON.stringify(tools)?.includes('web_search')
      ? { words: "unknown tool type 'web_search'" }
      : undefined,
  unnamed: () => ({ words: 'Bad request' }),
  betas: (_, { headers }) =>
    headers['anthropic-beta'] === undefined ? undefined : { words: 'invalid beta flag' },
  'a beta, in words of Anthropic': refusingBetas((betas) => anthropicsWords(betas, /^context/)),
  'a beta, in words of Anthropic behind those of a proxy': refusingBetas((betas) => {
    const words = anthropicsWords(betas, /^context/)
    return words && `litellm.BadRequestError: vertex-ai error: ${words} (req_1)`
  }),
  'every beta, in words of Anthropic': refusingBetas((betas) => anthropicsWords(betas, /./)),
  'context_management, in words of LiteLLM': (body) =>
    body['context_management'] === undefined
      ? undefined
      : {
          words:
            'litellm.BadRequestError: AnthropicException - context_management: Extra inputs are not permitted. Received Model Group=x',
        },
  context_management: without('context_management'),
} satisfies Record<string, Refusal>

function refusingBetas(wordsFor: (betas: readonly string[]) => string | undefined): Refusal {
  return (_, { headers }) => {
    const betas = String(headers['anthropic-beta'] ?? '')
      .split(',')
      .filter((beta) => beta !== '')
    const words = wordsFor(betas)
    return words === undefined ? undefined : { words }
  }
}

function anthropicsWords(betas: readonly string[], rejected: RegExp): string | undefined {
  const names = betas.filter((beta) => rejected.test(beta)).map((beta) => `\`${beta}\``)
  return names.length === 0
    ? undefined
    : `Unexpected value(s) ${names.join(', ')} for the \`anthropic-beta\` header.`
}

/** Starts a gateway that rejects requests according to `refusal`. */
function refusing(refusal: Refusal) {
  const data = [
    'glm-5',
    'claude-sonnet-5-5',
    'claude-opus-5-5',
    'claude-haiku-5-5',
    'claude-fable-5-2',
  ]
  return aServer((request, response) => {
    if (request.method === 'GET')
      return sendJson(response, 200, { object: 'list', data: data.map((id) => ({ id })) })
    const refused = refusal(JSON.parse(request.body), request)
    if (refused === undefined) return goodGateway(request, response)
    const { words: message, param } = refused
    const error = { message, type: 'invalid_request_error', param, code: 'unsupported_parameter' }
    sendJson(response, 400, { type: 'error', error })
  })
}

async function setUp(setup: string, refusal: Refusal) {
  const server = await refusing(refusal)
  const home = aHome()
  const model = setup.startsWith('claude') ? '' : ' --model glm-5'
  // By default these clients would use the model over another protocol.
  const protocol = /^(?:opencode|kilo|pi|openclaw|qwen|droid)(?!.*--protocol)/.test(setup)
    ? ' --protocol chat'
    : ''
  const line = `${setup}${model}${protocol} --base-url http://127.0.0.1:${server.port} --yes`
  const args = line.split(' ')
  const { json, text } = await runHere(home, args, { REPOINT_API_KEY: key })
  expect(text).not.toContain(key)
  const posts = server.seen.flatMap(({ method, url, body }) =>
    method === 'POST' ? [`${JSON.parse(body).model} at ${url}`] : [],
  )
  return {
    home,
    posts,
    warnings: json['warnings'],
    error: json['error'] as { code: string; message: string; hint: string } | undefined,
  }
}

const chat = ['opencode', 'kilo', 'qwen', 'droid']
const everyChat = [...chat, 'cline']
const everyClient = familyRows.map(({ id }) => id)

const recordedClients = everyClient.filter(isRecorded)

/** The refusal, the setups that it stops, a part of the message, and a part of the hint. */
const rows: readonly (readonly [keyof typeof refusals, readonly string[], string, string])[] = [
  ['max_tokens', chat, 'max_tokens', '--output-limit'],
  [
    'max_completion_tokens',
    ['pi'],
    'max_completion_tokens 131072',
    '"maxTokensField": "max_tokens"',
  ],
  ['more than 8192', ['cline'], 'max_tokens 32000', '--model ID'],
  ['stream_options', everyChat, 'stream_options', '--model ID'],
  ['stream_options', ['pi'], 'stream_options', '"supportsUsageInStreaming": false'],
  ['include', ['codex'], 'include', '--model ID'],
  ['reasoning', ['codex'], 'reasoning', '--model ID'],
  // Claude Code sends these betas with any settings, and only the installed one repairs its request.
  ['betas', ['claude'], 'anthropic-beta', '--no-verify'],
  ['every beta, in words of Anthropic', ['claude'], 'anthropic-beta', '--no-verify'],
]

describe.each(rows)('a gateway that rejects %s', (refused, setups, named, cure) => {
  test.each(setups)('fails a setup of %s', async (setup) => {
    const { home, error } = await setUp(setup, refusals[refused])
    expect(error).toMatchObject({ code: 'parameter-unsupported' })
    expect(error!.message).toContain(`with ${named}`)
    expect(error!.hint).toContain(cure)
    expect(home.snapshot()).toEqual({})
  })
})

test.each(recordedClients)('a gateway that rejects tools fails a setup of %s', async (setup) => {
  const { error } = await setUp(setup, refusals.tools)
  expect(error).toMatchObject({ code: 'tools-unsupported' })
})

test('a gateway that names no reason is quoted, and asked once for each protocol', async () => {
  const { error, posts } = await setUp('codex', refusals.unnamed)
  expect(error).toMatchObject({
    code: 'request-rejected',
    message: expect.stringContaining('"Bad request"'),
  })
  expect(posts).toHaveLength(1)
})

/** The client never sends the member, or an option removes it. */
test.each<[keyof typeof refusals, string]>([
  ['max_completion_tokens', 'opencode'],
  ['max_tokens', 'pi'],
  ['max_tokens', 'codex'],
  ['include', 'pi --no-reasoning --protocol responses'],
  ['more than 8192', 'opencode --output-limit 8000'],
  ['more than 8192', 'kilo --output-limit 8192'],
  ['more than 8192', 'qwen --output-limit 8192'],
  ['more than 8192', 'droid --output-limit 8192'],
  ['more than 8192', 'pi --output-limit 8192'],
  ['betas', 'codex'],
])('a gateway that rejects %s passes a setup of %s', async (refused, setup) => {
  const { error } = await setUp(setup, refusals[refused])
  expect(error).toBeUndefined()
})

/** One option leaves out what the words name: the flag, and what the files say then. */
test.each<[keyof typeof refusals, string, string, string]>([
  ['more than 8192', 'opencode', '--output-limit 8192', '"output": 8192'],
  ['more than 8192', 'kilo', '--output-limit 8192', '"output": 8192'],
  ['more than 8192', 'qwen', '--output-limit 8192', '"max_tokens": 8192'],
  ['more than 8192', 'pi', '--output-limit 8192', '"maxTokens": 8192'],
  ['more than 8192', 'droid', '--output-limit 8192', '"maxOutputTokens": 8192'],
  ['more than 8192', 'claude', '--output-limit 8192', '"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8192"'],
  ['more than 8192, in words of Bedrock', 'opencode', '--output-limit 8192', '"output": 8192'],
  ['include', 'pi --protocol responses', '--no-reasoning', '"reasoning": false'],
  ['web search', 'codex', '--web-search disabled', 'web_search = "disabled"'],
  ...(
    [
      'a beta, in words of Anthropic',
      'a beta, in words of Anthropic behind those of a proxy',
      'context_management',
      'context_management, in words of LiteLLM',
    ] as const
  ).map((refused): [keyof typeof refusals, string, string, string] => [
    refused,
    'claude',
    '--no-betas',
    '"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1"',
  ]),
])(
  'a gateway that rejects %s is set up for %s with %s, which a rollback undoes',
  async (refused, setup, flag, written) => {
    const { home, error, warnings } = await setUp(setup, refusals[refused])
    expect(error).toBeUndefined()
    expect(warnings).toContainEqual(
      expect.objectContaining({ code: 'part-left-out', message: expect.stringContaining(flag) }),
    )
    const files = Object.values(home.snapshot()).map((entry) => entry.split(' ')[2] ?? '')
    const texts = files.map((bytes) => Buffer.from(bytes, 'base64').toString())
    expect(texts.some((text) => text.includes(written))).toBe(true)

    expect((await runHere(home, ['rollback', '--yes'], {})).json['error']).toBeUndefined()
    expect(home.snapshot()).toEqual({})
  },
)

test.each([
  ['CLAUDE_CODE_MAX_OUTPUT_TOKENS', '8000', 'more than 8192'],
  ['CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS', '1', 'context_management'],
] as const)('%s in the settings of Claude Code is applied', async (name, value, refused) => {
  const server = await refusing(refusals[refused])
  const home = aHome({ '.claude/settings.json': JSON.stringify({ env: { [name]: value } }) })
  const args = ['claude', '--base-url', `http://127.0.0.1:${server.port}`, '--yes']
  expect((await runHere(home, args, { REPOINT_API_KEY: key })).json['error']).toBeUndefined()
})

test.each(everyClient)('a healthy gateway gets each probe of %s once', async (setup) => {
  const { posts, error } = await setUp(setup, () => undefined)
  expect(error).toBeUndefined()
  expect(posts.length).toBeGreaterThan(0)
  expect(posts).toEqual([...new Set(posts)])
})

test('doctor and use report a gateway that starts to reject a member later', async () => {
  let refused: keyof typeof refusals | undefined
  const server = await refusing((body, request) =>
    refused === undefined ? undefined : refusals[refused](body, request),
  )
  const home = aHome()
  const env = { REPOINT_API_KEY: key }
  const url = `http://127.0.0.1:${server.port}`
  const setup = ['codex', '--model', 'glm-5', '--base-url', url, '--name', 'work', '--yes']
  expect((await runHere(home, setup, env)).json['error']).toBeUndefined()

  refused = 'include'
  const doctor = await runHere(home, ['doctor', 'codex'], {})
  expect(doctor.json['checks']).toContainEqual(
    expect.objectContaining({ id: 'parameter-unsupported', result: 'problem' }),
  )
  const use = await runHere(home, ['use', 'work', 'codex', '--yes'], {})
  expect(use.json['error']).toMatchObject({ code: 'parameter-unsupported' })
})

test("the probe for pi asks for thinking in the form of Claude's newer models", async () => {
  const gateway = await withGateway({ key }, onTestFinished)
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
  const args = ['pi', '--protocol', 'messages', '--model', 'claude-sonnet-5-5', '--yes']
  const { json } = await runHere(aHome(), args, env)
  expect(json['error']).toBeUndefined()
})
