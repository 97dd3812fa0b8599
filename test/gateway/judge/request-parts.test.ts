import { describe, expect, test } from 'vitest'
import {
  parameterUnsupported,
  rejectedParts,
  rejectsLimit,
  speaksOfTools,
} from '../../../src/gateway/judge/request-parts.ts'
import type { HttpResponse, Outcome } from '../../../src/gateway/judge/types.ts'

function answer(body: unknown, status = 400): HttpResponse {
  return { url: 'http://gw.example/v1/responses', status, headers: {}, body: JSON.stringify(body) }
}

function says(message: string, param?: string): HttpResponse {
  return answer({ error: { message, param } })
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

const sent = {
  label: 'Codex',
  body: {
    max_output_tokens: 9000,
    stream_options: {},
    include: [],
    reasoning: { effort: 'high' },
    store: undefined,
    input: [{ type: 'additional_tools' }, { type: 'message' }, {}],
  },
  headers: { 'anthropic-beta': 'a-1,b-2', 'x-mode': 'fast' },
}

describe('the parameters that a rejection names', () => {
  const place = { detail: [{ loc: ['body', 'include'], msg: 'Extra inputs are not permitted' }] }

  test.each<[string, HttpResponse, string[]]>([
    ['its parameter', says('No', 'include'), ['include']],
    ['a member of a parameter', says('No', 'reasoning.effort'), ['reasoning']],
    ['a parameter before its message', says('stream_options of x-mode', 'include'), ['include']],
    ['a name that begins like a parameter', says('No', 'reasoning_effort'), []],
    ['a name that ends like a parameter', says('No', 'x.reasoning'), []],
    ['a parameter that was not sent', says("Unknown parameter: 'store'", 'store'), []],
    ['a limit under another name', says('max_tokens is too large'), ['max_output_tokens']],
    ['a name of two words anywhere', says('got an odd stream_options here'), ['stream_options']],
    ['a name within a longer one', says('no stream_options_v2'), []],
    ['an English word in quotes', says("cannot take 'reasoning' here"), ['reasoning']],
    ['an English word called a parameter', says('unknown field: include'), ['include']],
    ['an English word in a sentence', says('we include no reasoning'), []],
    ['a kind in a list', says('no additional_tools here'), ['input']],
    ['a kind that is an English word', says('This message is odd'), []],
    ['a place', answer(place), ['include']],
    ['a header', says('odd x-mode'), ['x-mode']],
    ["a header's value", says('b-2 is unknown'), ['anthropic-beta']],
    ['betas without their names', says('invalid beta flag'), ['anthropic-beta']],
    ['a header and a member', says('stream_options with x-mode'), ['x-mode']],
    ['nothing', says('Bad request'), []],
  ])('%s', (_, rejection, expected) => {
    expect(rejectedParts(rejection, sent)).toEqual(expected)
  })
})

/** An outcome with the gateway's own words. */
const outcome = (quote: string) =>
  ({ code: 'rejected', message: '', hint: '', quote }) as unknown as Outcome

test.each([
  ['this model has no tool', true],
  ['no tools here', true],
  ['a function is not supported', true],
  ['no functions', true],
  ['不支持工具', true],
  ['不支持函数', true],
  ['a toolbox, malfunctioning', false],
])("the gateway's words %s are about tools: %s", (words, expected) => {
  expect(speaksOfTools(outcome(words))).toBe(expected)
})

test('the name of a model is not about tools', () => {
  const { quote: _, ...silent } = outcome('')
  expect(speaksOfTools({ ...silent, message: 'The gateway does not serve x-tools' })).toBe(false)
})

describe('the error for a rejected parameter', () => {
  const hints = { 'x-mode': 'Take it out.', stream_options: 'Switch it off.' }

  test("names the parameters of the gateway's message, with the value of a limit, and the cure", () => {
    const names = ['max_output_tokens', 'x-mode']
    expect(parameterUnsupported(outcome(''), 'glm', { ...sent, hints }, names)).toMatchObject({
      code: 'parameter-unsupported',
      message: 'glm answers, but rejects a request of Codex with max_output_tokens 9000, x-mode',
      hint: 'Take it out.',
    })
  })

  test('names all parameters of the request if the gateway names none', () => {
    const all =
      'max_output_tokens 9000, stream_options, include, reasoning, input, anthropic-beta, x-mode'
    const { message, hint } = parameterUnsupported(outcome(''), 'glm', { ...sent, hints }, [])
    expect(message).toBe(
      `glm answers, but rejects a request of Codex with all its parameters (${all})`,
    )
    expect(hint).toBe('Switch it off.')
  })

  test('suggests another model if the client has no cure', () => {
    const { hint } = parameterUnsupported(outcome(''), 'glm', sent, ['include'])
    expect(hint).toContain('--model ID')
  })
})
