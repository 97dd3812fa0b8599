import { describe, expect, onTestFinished, test } from 'vitest'
import { chatBaseUrls, messagesBaseUrls } from '../../src/gateway/base-urls.ts'
import { knownHost, knownHosts, ownerOfPage } from '../../src/gateway/hosts.ts'
import { normaliseAddress } from '../../src/gateway/input/address.ts'
import { aHome } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { internetTo } from '../support/internet.ts'
import { aServer, goodGateway, key, sendJson } from './forged.ts'

describe('hosts by name', () => {
  test.each(knownHosts.map((row) => [row.name, row] as const))(
    '%s: has a host, paths without a final slash, separate pages, and a source with its date',
    (_name, { host, chat, messages, pages, keys, source, date }) => {
      expect(host).toMatch(/^[a-z\d.*-]+$/)
      for (const path of [chat, messages])
        if (path !== undefined) expect(path).toMatch(/^(?:\/[\w.-]+)*$/)
      expect(chat ?? messages).toBeDefined()
      for (const page of pages) expect(page).toMatch(/^[a-z\d.-]+$/)
      if (keys !== undefined) expect(keys).toMatch(/^https:\/\//)
      expect(source).toMatch(/^https:\/\//)
      expect(date).toMatch(/^2026-\d\d-\d\d$/)
    },
  )

  test('no host is listed twice, or is a page of another', () => {
    const hosts = knownHosts.map(({ host, product = '' }) => host + product)
    const pages = knownHosts.flatMap(({ pages }) => pages)
    expect(new Set([...hosts, ...pages]).size).toBe(hosts.length + pages.length)
    expect(knownHosts.length).toBeGreaterThanOrEqual(30)
  })

  test.each([
    ['https://api.groq.com', '/openai/v1', ''],
    ['https://openrouter.ai', '/api/v1', '/api'],
    ['https://api.deepseek.com', '/v1', '/anthropic'],
    ['https://api.fireworks.ai', '/inference/v1', '/inference'],
    ['https://team.openai.azure.com', '/openai/v1', ''],
    ['https://team.services.ai.azure.com', '/openai/v1', '/anthropic'],
    ['https://api.z.ai', '/api/paas/v4', '/api/anthropic'],
    ['https://token-plan.cn-beijing.maas.aliyuncs.com', '/compatible-mode/v1', '/apps/anthropic'],
    ['https://us.api.x.ai', '/v1', ''],
    ['https://bedrock-runtime.eu-west-1.amazonaws.com', '/openai/v1', ''],
    ['https://dbc-1.cloud.databricks.com', '/serving-endpoints', '/serving-endpoints/anthropic'],
  ])('%s is asked at %s and %s first', (baseUrl, chat, messages) => {
    expect(chatBaseUrls(baseUrl)[0]).toBe(baseUrl + chat)
    expect(messagesBaseUrls(baseUrl)[0]).toBe(baseUrl + messages)
  })

  test('after a typed path, the paths of the host are tried last, and unknown hosts have none', () => {
    expect(chatBaseUrls('https://api.groq.com/team').at(-1)).toBe('https://api.groq.com/openai/v1')
    expect(chatBaseUrls('https://api.groq.com/team')[0]).toBe('https://api.groq.com/team/v1')
    expect(knownHost('https://api.groq.com.evil.example')).toBeUndefined()
    expect(knownHost('https://evil-openai.azure.com')).toBeUndefined()
    expect(ownerOfPage('evil.groq.com')).toBeUndefined()
  })

  test.each([
    ['https://ark.cn-beijing.volces.com/api/coding', '/api/coding/v3', '/api/coding'],
    ['https://ark.cn-beijing.volces.com/api/coding/v3', '/api/coding/v3', '/api/coding'],
    ['https://ark.cn-beijing.volces.com/api/plan', '/api/plan/v3', '/api/plan'],
    ['https://open.bigmodel.cn/api/coding/paas/v4', '/api/coding/paas/v4', '/api/anthropic'],
    ['https://api.lkeap.cloud.tencent.com/coding/v3', '/coding/v3', '/coding/anthropic'],
    ['https://opencode.ai/zen/go', '/zen/go/v1', '/zen/go'],
    ['https://openrouter.ai/api/v1', '/api/v1', '/api'],
  ])('%s names a product: %s and %s are asked first', (baseUrl, chat, messages) => {
    const { origin } = new URL(baseUrl)
    expect(chatBaseUrls(baseUrl)[0]).toBe(origin + chat)
    expect(messagesBaseUrls(baseUrl)[0]).toBe(origin + messages)
  })

  test.each(['/api/other', '/api/coding', '/api/plan/v3', '/team/v1'])(
    'a typed path %s never selects another product of the host',
    (path) => {
      const roots = chatBaseUrls(`https://ark.cn-beijing.volces.com${path}`)
      expect(roots).not.toContain('https://ark.cn-beijing.volces.com/api/v3')
    },
  )

  test('the paths of an address with an account are below that account', () => {
    const baseUrl = 'https://gateway.ai.cloudflare.com/v1/account/gateway'
    expect(chatBaseUrls(baseUrl)).toContain(`${baseUrl}/compat`)
    expect(chatBaseUrls(baseUrl)[0]).toBe(baseUrl)
    expect(messagesBaseUrls(baseUrl)).toContain(`${baseUrl}/anthropic`)
  })

  test.each(['my-gateway.example', 'https://my-company.openai.azure.com', 'your-llm.internal'])(
    '%s is a host name, not a web address of the service',
    (typed) => {
      expect(normaliseAddress(typed, {}).address).toBe(`https://${typed.replace('https://', '')}`)
    },
  )

  test('the root of an Azure address has no deployment and no version', () => {
    const typed =
      'https://team.openai.azure.com/openai/deployments/sol/chat/completions?api-version=p'
    const { address, findings } = normaliseAddress(typed, {})
    expect(chatBaseUrls(address).at(-1)).toBe('https://team.openai.azure.com/openai/v1')
    expect(findings[0]!.message).toContain('without the query')
  })

  test.each([
    ['groq.com', 'https://api.groq.com'],
    ['https://console.groq.com/keys', 'https://api.groq.com'],
    ['platform.deepseek.com/api_keys', 'https://api.deepseek.com'],
    ['https://openrouter.ai/settings/keys', 'https://openrouter.ai'],
  ])('%s is read as %s, and the note says so', (typed, baseUrl) => {
    const read = normaliseAddress(typed, {})
    expect(read.address).toBe(baseUrl)
    expect(read.findings).toHaveLength(1)
  })
})

/** A server instead of the vendor, whose chat routes are below `root`. */
async function groq(root = '/openai') {
  const { port, seen } = await aServer((request, response) =>
    request.url.startsWith(`${root}/v1/`)
      ? goodGateway({ ...request, url: request.url.slice(root.length) }, response)
      : sendJson(response, 404, { error: { message: 'Unknown request URL' } }),
  )
  const internet = await internetTo(port, 'api.groq.com')
  onTestFinished(internet.close)
  const run = async (typed: string, ownKey = key) => {
    const home = aHome()
    const args = ['opencode', '--base-url', typed, '--model', 'glm-5', '--yes', ...internet.args]
    return { home, ...(await runHere(home, args, { ...internet.env, REPOINT_API_KEY: ownKey })) }
  }
  return { run, seen }
}

test.each(['groq.com', 'https://console.groq.com/keys', 'api.groq.com'])(
  'finds and checks the right address from %s',
  async (typed) => {
    const { run, seen } = await groq()
    const { home, json } = await run(typed)
    expect(json['error']).toBeUndefined()
    const [provider] = Object.values(
      JSON.parse(home.text('.config/opencode/opencode.json')).provider,
    ) as { options: { baseURL: string } }[]
    expect(provider!.options.baseURL).toBe('https://api.groq.com/openai/v1')
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /openai/v1/models',
      'POST /openai/v1/chat/completions',
      // For the GPT models of the list.
      'POST /openai/v1/responses',
    ])
  },
)

test('uses another root that answers, if the known one does not', async () => {
  const { run } = await groq('')
  expect((await run('api.groq.com')).json).toMatchObject({ changed: true })
})

test("names the page of the vendor's keys after a wrong key", async () => {
  const { run } = await groq()
  const { json } = await run('groq.com', 'sk-another-0f9e8d7c6b5a4433')
  expect(json['error']).toMatchObject({
    code: 'key-rejected',
    hint: expect.stringContaining('https://console.groq.com/keys'),
  })
})

/** Zhipu's answer to a key of the coding plan at its pay-as-you-go address (opencode issue 12671). */
const noBalance = { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } }

async function zhipu(typed: string) {
  const { port, seen } = await aServer((request, response) => {
    const plan = /^\/api\/coding\/paas\/v4(\/.*)$/.exec(request.url)?.[1]
    if (plan !== undefined) return goodGateway({ ...request, url: `/v1${plan}` }, response)
    if (request.method === 'GET') return goodGateway({ ...request, url: '/v1/models' }, response)
    sendJson(response, 429, noBalance)
  })
  const internet = await internetTo(port, 'open.bigmodel.cn')
  onTestFinished(internet.close)
  const home = aHome()
  const args = ['opencode', '--base-url', typed, '--model', 'glm-5', '--yes', ...internet.args]
  const { json } = await runHere(home, args, { ...internet.env, REPOINT_API_KEY: key })
  return { home, json, posts: seen.filter(({ method }) => method === 'POST').map(({ url }) => url) }
}

test('tries the address of the plan with a key of the plan, if only the host was typed', async () => {
  const { home, json, posts } = await zhipu('https://open.bigmodel.cn')
  expect(json['error']).toBeUndefined()
  expect(home.text('.config/opencode/opencode.json')).toContain(
    'https://open.bigmodel.cn/api/coding/paas/v4',
  )
  expect(posts.slice(0, 2)).toEqual([
    '/api/paas/v4/chat/completions',
    '/api/coding/paas/v4/chat/completions',
  ])
})

test('keeps a typed path, and names the plan without trying it', async () => {
  const { json, posts } = await zhipu('https://open.bigmodel.cn/api/paas/v4')
  expect(json['error']).toMatchObject({
    code: 'quota',
    hint: expect.stringContaining('--base-url https://open.bigmodel.cn/api/coding'),
  })
  expect(posts).toEqual(['/api/paas/v4/chat/completions'])
})
