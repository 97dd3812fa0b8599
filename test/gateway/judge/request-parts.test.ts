import { describe, expect, test } from 'vitest'
import { diagnose } from '../../../src/gateway/judge/diagnose.ts'
import { rejectsLimit } from '../../../src/gateway/judge/request-parts.ts'
import type { HttpResponse } from '../../../src/gateway/judge/types.ts'
import type { Sender } from '../../../src/gateway/types.ts'

function answer(body: unknown, status = 400): HttpResponse {
  return {
    url: 'http://gw.example/v1/responses',
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}

function says(message: string, param?: string, status = 400): HttpResponse {
  return answer({ error: { message, param } }, status)
}

test.each([
  ['max_tokens is too large', 400, true],
  ['max_completion_tokens is too large', 422, true],
  ['The maximum tokens you requested exceeds the model limit', 400, true],
  ['max_tokens is too large', 500, false],
  ['max_tokens is too large', 401, false],
  ['Bad request', 400, false],
  ['Bad request', 422, false],
])('the message %s (%i) is about a limit: %s', (message, status, expected) => {
  expect(rejectsLimit(answer({ error: { message } }, status))).toBe(expected)
})

const sent: Sender = {
  label: 'Codex',
  body: {
    max_output_tokens: 9000,
    stream_options: {},
    include: [],
    reasoning: { effort: 'high' },
    store: undefined,
    input: [{ type: 'additional_tools' }, { type: 'message' }, {}],
    tools: [{ type: 'function', name: 'shell' }, { type: 'web_search' }],
  },
  headers: { 'anthropic-beta': 'a-1,b-2', 'x-mode': 'fast' },
}

function outcomeOf(response: HttpResponse, sender: Sender | undefined = sent) {
  return diagnose(response, {
    route: 'responses',
    address: 'http://gw.example',
    model: 'glm-5',
    secrets: [],
    apiAnswered: 'catalog',
    sender,
  })!
}

const start = 'The gateway rejects a request of Codex for glm-5 with '

describe('the part that a rejection names', () => {
  const place = { detail: [{ loc: ['body', 'include'], msg: 'Extra inputs are not permitted' }] }

  test.each<[string, HttpResponse, string | undefined]>([
    ['its parameter', says('No', 'include'), 'include'],
    ['a member of a parameter', says('No', 'reasoning.effort'), 'reasoning'],
    ['a parameter before its message', says('stream_options of x-mode', 'include'), 'include'],
    ['a name that begins like a parameter', says('No', 'reasoning_effort'), undefined],
    ['a name that ends like a parameter', says('No', 'x.reasoning'), undefined],
    ['a parameter that was not sent', says("Unknown parameter: 'store'", 'store'), undefined],
    ['a limit under another name', says('max_tokens is too large'), 'max_output_tokens 9000'],
    ['a name of two words anywhere', says('got an odd stream_options here'), 'stream_options'],
    ['a name within a longer one', says('no stream_options_v2'), undefined],
    ['an English word in quotes', says("cannot take 'reasoning' here"), 'reasoning'],
    ['an English word called a parameter', says('unknown field: include'), 'include'],
    ['an English word in a sentence', says('we include no reasoning'), undefined],
    ['a kind in a list', says('no additional_tools here'), 'input'],
    ['a kind that is an English word', says('This message is odd'), undefined],
    ['what every request has', says("input: Input should be 'user'", 'input'), undefined],
    ['a type of tool', says("unknown variant 'web_search'"), 'tools of web_search'],
    [
      'that there are types of tools',
      says("'type' of tool must be 'function'"),
      'tools of web_search',
    ],
    ['a place', answer(place), 'include'],
    ['a header', says('odd x-mode'), 'x-mode'],
    ["a header's value", says('b-2 is unknown'), 'anthropic-beta'],
    ['betas without their names', says('invalid beta flag'), 'anthropic-beta'],
    ['a header and a member', says('stream_options with x-mode'), 'x-mode'],
    ['nothing', says('Bad request'), undefined],
    ['a part, where the status is about the key', says('No', 'include', 401), undefined],
    [
      'a part, where the words are about credit',
      says('Insufficient balance', 'include'),
      undefined,
    ],
  ])('%s', (_, rejection, expected) => {
    const { code, message } = outcomeOf(rejection)
    if (expected === undefined) expect(code).not.toBe('parameter-unsupported')
    else {
      expect(code).toBe('parameter-unsupported')
      expect(message).toContain(`${start}${expected} (HTTP 400`)
    }
  })
})

test.each<[string, number, boolean]>([
  ['glm-5 does not support tools', 400, true],
  ['tools is not supported for this model', 400, true],
  ['Function calling is not enabled for this model', 400, true],
  ['No endpoints found that support tool use', 404, true],
  ['"auto" tool choice requires --enable-auto-tool-choice', 400, true],
  ['不支持工具', 400, true],
  ['当前模型不支持 function call', 400, true],
  ['Function tools are not supported for glm-5 in /v1/chat/completions', 400, false],
  ['a toolbox, malfunctioning', 400, false],
  ['tool names must match ^[a-z]+$', 400, false],
  ["tools[3].function.parameters: unsupported keyword '$ref'", 400, false],
  ['No tool output found for function call call_1', 400, false],
  ["Function 'x': Not found for account 'y'", 404, false],
  ['Your subscription does not support third-party tools', 403, false],
])('the words %s (%i) deny all tools: %s', (words, status, expected) => {
  const plain = { label: 'Codex', body: { input: [], tools: [{ type: 'function', name: 'a' }] } }
  for (const sender of [plain, undefined]) {
    const { code } = outcomeOf(says(words, undefined, status), sender)
    expect(code === 'tools-unsupported', code).toBe(expected)
  }
})

test('of several unusual tools, only those that the words name', () => {
  const tools = [{ type: 'local_shell' }, { type: 'web_search' }]
  const sender = { ...sent, body: { ...sent.body, tools } }
  const { message } = outcomeOf(says("unknown variant 'web_search'"), sender)
  expect(message).toContain(`${start}tools of web_search (`)
})

describe('the cure', () => {
  const hints = {
    'x-mode': 'Take it out.',
    max_output_tokens: 'Lower it: {--output-limit TOKENS}, or {--model ID}',
    web_search: 'Turn it off: {--web-search disabled}',
  }
  const curable = { ...sent, hints }

  test.each<[string, string | undefined]>([
    ['max_tokens: 9000 > 8192, which is the maximum', '8192'],
    ['max_tokens is too large: 9,000. This model supports at most 4,096.', '4096'],
    ['Range of max_tokens should be [1, 8192]', '8192'],
    ['max_tokens is not supported', undefined],
  ])('of a limit, in %s, is %s', (words, limit) => {
    const { hint, cure } = outcomeOf(says(words), curable)
    expect(hint).toBe('Lower it: {--output-limit TOKENS}, or {--model ID}')
    expect(cure).toBe(limit && `--output-limit ${limit}`)
  })

  test('of a tool is its flag', () => {
    const { hint, cure } = outcomeOf(says('web_search is not supported'), curable)
    expect([hint, cure]).toEqual(['Turn it off: {--web-search disabled}', '--web-search disabled'])
  })

  test('of a setting that no flag has is its hint', () => {
    const { hint, cure } = outcomeOf(says('odd x-mode'), curable)
    expect([hint, cure]).toEqual(['Take it out.', undefined])
  })

  test('of a part that the client always sends is another model', () => {
    expect(outcomeOf(says('No', 'include')).hint).toContain('--model ID')
  })
})
