import { describe, expect, test } from 'vitest'
import { balanceOf, knownWay, requestBalance } from '../../src/gateway/balance.ts'
import { accessTo, aServer, key, sendJson } from './forged.ts'

/** A gateway that knows one route, and answers everything else as a web server does. */
async function gatewayWith(path: string, body: unknown, status = 200) {
  return aServer((request, response) => {
    const isKey = [`Bearer ${key}`, key].includes(request.headers.authorization ?? '')
    if (request.url === path && isKey) return sendJson(response, status, body)
    response.writeHead(request.url.startsWith('/api') ? 200 : 404, { 'content-type': 'text/html' })
    response.end('<!doctype html><title>Console</title>')
  })
}

const end = 1_790_000_000
const date = new Date(end * 1000).toISOString()

describe('the balance of a key', () => {
  test.each([
    [
      'New API',
      '/api/usage/token/',
      {
        code: true,
        data: {
          object: 'token_usage',
          total_available: 7_100_000,
          unlimited_quota: false,
          expires_at: end,
        },
      },
      { remaining: 14.2, unit: 'USD', expires: date },
    ],
    [
      'New API without a limit, where the number means nothing',
      '/api/usage/token/',
      {
        data: { object: 'token_usage', total_available: -3, unlimited_quota: true, expires_at: 0 },
      },
      { remaining: 'unlimited', unit: 'USD' },
    ],
    [
      'sub2api',
      '/v1/usage',
      { isValid: true, remaining: 3.5, unit: 'USD', planName: 'Pro' },
      { remaining: 3.5, unit: 'USD' },
    ],
    [
      'LiteLLM',
      '/key/info',
      { info: { spend: 4, max_budget: 10, budget_reset_at: date, expires: null } },
      { remaining: 6, unit: 'USD', resets: date },
    ],
    [
      'LiteLLM without a budget',
      '/key/info',
      { info: { spend: 4, max_budget: null } },
      { remaining: 'unlimited', unit: 'USD' },
    ],
  ])('%s', async (_, path, body, expected) => {
    const server = await gatewayWith(path, body)
    expect(await balanceOf(accessTo(server))).toEqual(expected)
    // An unknown gateway gets one request for each known way.
    const paths = server.seen.map(({ url }) => url).filter((url) => url !== '/api/status')
    expect(paths.sort()).toEqual(['/api/usage/token/', '/key/info', '/v1/usage'])
  })

  test.each([
    [
      'OpenRouter',
      'openrouter.ai',
      '/v1/key',
      { data: { label: 'x', limit: 10, limit_remaining: 0, usage: 10, expires_at: null } },
      { remaining: 0, unit: 'USD' },
    ],
    [
      'DeepSeek',
      'api.deepseek.com',
      '/user/balance',
      { is_available: true, balance_infos: [{ currency: 'CNY', total_balance: '110.00' }] },
      { remaining: 110, unit: 'CNY' },
    ],
    [
      'SiliconFlow',
      'api.siliconflow.cn',
      '/v1/user/info',
      { data: { totalBalance: '88.88' } },
      { remaining: 88.88, unit: 'CNY' },
    ],
    [
      'Kimi Code: the tightest window',
      'api.kimi.com',
      '/v1/usages',
      {
        limits: [
          { detail: { limit: '200', remaining: '190', resetTime: date } },
          { detail: { limit: 50, remaining: 3, resetTime: date } },
        ],
      },
      { remaining: 3, unit: 'requests', resets: date },
    ],
    [
      'Z.ai: the tightest window, in percent',
      'api.z.ai',
      '/api/monitor/usage/quota/limit',
      {
        success: true,
        data: {
          limits: [
            { type: 'TIME_LIMIT', percentage: 99 },
            { type: 'TOKENS_LIMIT', percentage: 12, nextResetTime: end * 1000 },
            { type: 'TOKENS_LIMIT', percentage: 40, nextResetTime: end * 1000 },
          ],
        },
      },
      { remaining: 60, unit: '%', resets: date },
    ],
  ])('%s: the host decides, and gets one request', async (_, host, path, body, expected) => {
    const server = await gatewayWith(path, body)
    const way = knownWay({ address: `https://${host}` }, undefined)!
    expect(await requestBalance(accessTo(server), way)).toEqual(expected)
    expect(server.seen.map(({ url }) => url)).toEqual([path])
  })

  test('New API, known by its list: a second request asks for the unit if there is an amount', async () => {
    const data = { object: 'token_usage', total_available: 3000, unlimited_quota: false }
    const server = await aServer((request, response) =>
      sendJson(
        response,
        200,
        request.url === '/api/status' ? { data: { quota_per_unit: 1000 } } : { data },
      ),
    )
    const catalog = { models: [], isNewApi: true } as const
    expect(await balanceOf(accessTo(server), catalog)).toEqual({ remaining: 3, unit: 'USD' })
    expect(server.seen.map(({ url }) => url)).toEqual(['/api/usage/token/', '/api/status'])
  })

  test.each([
    ['no balance', '/nowhere', {}, 200],
    ['an error', '/api/usage/token/', { data: { object: 'token_usage', total_available: 5 } }, 500],
    ['another shape', '/v1/usage', { remaining: 'lots', isValid: true }, 200],
    ['no number', '/v1/usage', { remaining: 'NaN', isValid: true }, 200],
  ])('a gateway that answers with %s has no known balance', async (_, path, body, status) => {
    const server = await gatewayWith(path, body, status)
    expect(await balanceOf(accessTo(server))).toBeUndefined()
  })

  test('a unit with control characters is ignored', async () => {
    const server = await gatewayWith('/v1/usage', {
      isValid: true,
      remaining: 1,
      unit: '\u001b[2J',
    })
    expect(await balanceOf(accessTo(server))).toEqual({ remaining: 1, unit: 'units' })
  })

  test('an unreachable gateway has no known balance', async () => {
    expect(await balanceOf(accessTo({ port: 1 }))).toBeUndefined()
  })
})
