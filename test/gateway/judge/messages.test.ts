import { describe, expect, test } from 'vitest'
import { model, otherGateways, pages, type Row } from '../../fixtures/gateway/answers.ts'
import { apiError, diagnoseRow, failing, head, page, plain, proven } from './diagnosed.ts'

test('diagnose: suggests no alias of the model that the gateway rejects', () => {
  const ids = [model, 'gpt-5.6', 'gpt-5.6-terra', 'gpt-5.5']
  const request = { catalog: { models: ids.map((id) => ({ id })) } }
  const outcome = failing(404, { error: { code: 'model_not_found' } }, { request }, 'chat')
  expect(outcome.hint).toBe('Name another model: {--model gpt-5.5|gpt-5.6-terra}')
})

test('diagnose: removes escape sequences, line breaks and direction marks of a gateway', () => {
  const words = '\u001b[31mBoom\u001b[0m\nsecond \u202eline\u0007 \u009b2J end'
  const outcome = failing(500, apiError(words), {}, 'chat')
  expect(outcome.message).toMatch(/ \(HTTP 500: "Boom second line 2J end"\)$/)
})

test('diagnose: a key that a gateway echoes is not repeated', () => {
  const row = otherGateways.find(([name]) => name === 'OpenAI: bad key')!
  expect(diagnoseRow(row)?.message).toContain('Incorrect API key provided: ....')
})

test('diagnose: cuts a long message of a gateway', () => {
  const outcome = failing(500, apiError('错'.repeat(5_000)), {}, 'chat')
  expect(outcome.message.length).toBeLessThan(300)
})

test('diagnose: names the known base URL of the host for the protocol of the request', () => {
  const host = { base: 'https://api.deepseek.com/beta' }
  const hint = (asked: Row[1]) => failing(404, page('Not found'), host, asked).hint
  expect(hint('chat')).toContain('For DeepSeek it is https://api.deepseek.com/v1 ')
  expect(hint('messages')).toContain('For DeepSeek it is https://api.deepseek.com/anthropic ')
})

test('diagnose: a rate limit says how long to wait', () => {
  expect(failing(429, {}, head('retry-after', '17'), 'chat').hint).toContain('in 17 s')
})

test('diagnose: names a bot check in front of the gateway, whatever its status and body', () => {
  for (const row of pages.filter(([name]) => /Cloudflare: (?:challenge|blocked)/.test(name)))
    expect(diagnoseRow(row)?.message).toContain('Cloudflare checks for bots')
  const broken = pages.find(([name]) => name === 'Cloudflare: 521')!
  expect(diagnoseRow(broken)?.message).not.toContain('for bots')
})

test('a model without a price is not reported as forbidden for the key', () => {
  const error = { code: 'model_price_error', message: 'Model m ratio or price not set' }
  const { code, message } = failing(500, { error }, {}, 'responses')
  expect(code).toBe('model-not-allowed')
  expect(message).toContain(`the model ${model}`)
  expect(message).toContain('no price')
  expect(message).not.toContain('key')
})

describe('diagnose: the message of an outcome', () => {
  test('names the nearest other models for an unknown one, and says whether it is listed', () => {
    const unknown = (...ids: string[]) =>
      failing(
        404,
        { error: { code: 'model_not_found' } },
        { request: { catalog: { models: ids.map((id) => ({ id })) } } },
        'chat',
      )
    expect(unknown(model, `${model}-x`)).toMatchObject({
      message: expect.stringContaining(`${model}, although it lists it (HTTP 404)`),
      hint: expect.stringMatching(/--model \S+-x\}$/),
    })
    expect(unknown('whisper-1')).toMatchObject({
      message: expect.stringContaining(`${model} (HTTP 404)`),
      hint: expect.stringMatching(/--model ID\}$/),
    })
    const code = { error: { code: 'model_not_found' } }
    expect(failing(404, code, {}, 'chat').hint).toMatch(/--model ID\}$/)
  })

  test('names the requested model and protocol', () => {
    const message = (asked: Row[1]) => failing(405, apiError('no'), proven, asked).message
    expect(message('chat')).toContain(`${model} over the chat completions protocol (`)
    expect(message('messages')).toContain(`${model} over the messages protocol (`)
    expect(failing(400, apiError('no'), proven, 'chat').message).toContain(
      `for ${model} (HTTP 400: "no")`,
    )
    const forbidden = { error: { code: 'model_not_allowed' } }
    expect(failing(403, forbidden, {}, 'chat').message).toContain(`the model ${model} (HTTP 403)`)
  })

  test('suggests --model only if the forbidden route is the list of models', () => {
    const hint = (asked: Row[1]) => failing(401, apiError('Missing scopes: x'), {}, asked).hint
    expect(hint('catalog')).toContain('--model ID')
    expect(hint('chat')).not.toContain('--model')
  })

  test('suggests another header for the key unless the gateway reads every header', () => {
    expect(failing(401, apiError('no')).tryOtherKeyHeader).toBe(true)
    expect(failing(401, apiError('no'), head('x-oneapi-request-id', '1')).tryOtherKeyHeader).toBe(
      false,
    )
  })

  test('distinguishes a web page, its login, plain text and an API', () => {
    const message = (status: number, body: string, more: Row[5] = {}) =>
      failing(status, body, more).message
    const basic = head('www-authenticate', 'Basic realm="x"')
    expect(message(404, page('x'), basic)).toMatch(/^A web page answers at /)
    expect(message(401, page('x'), basic)).toContain('its own login')
    expect(message(200, 'hello', plain)).toMatch(
      /^The answer from https:\/\/gw\.example\/v1\/models .* \(HTTP 200: "hello"\)$/,
    )
    const both = head('www-authenticate', 'Basic realm="x", Bearer')
    expect(failing(401, page('x'), both).code).toBe('key-rejected')
    expect(failing(405, apiError('x')).hint).not.toContain('--model')
  })

  test.each(['', 'x5', '5 or so', '1234567'])(
    'says "in a minute" for a Retry-After of %j',
    (wait) => {
      expect(failing(429, {}, head('retry-after', wait)).hint).toContain('in a minute')
    },
  )
})
