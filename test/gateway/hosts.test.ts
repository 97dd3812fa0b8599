import { describe, expect, onTestFinished, test } from 'vitest'
import { knownHost, knownHosts, ownerOfPage } from '../../src/gateway/hosts.ts'
import { normaliseBaseUrl } from '../../src/gateway/input/base-url.ts'
import { chatRoots, messagesRoots } from '../../src/gateway/roots.ts'
import { aHome } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { internetTo } from '../support/internet.ts'
import { aServer, goodGateway, key, sendJson } from './forged.ts'

describe('hosts by name', () => {
  test.each(knownHosts.map((row) => [row.name, row] as const))(
    '%s: a host, paths without a slash behind, pages of its own, a source with its date',
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

  test('none is a page of another, and none stands there twice', () => {
    const hosts = knownHosts.map(({ host }) => host)
    const pages = knownHosts.flatMap(({ pages }) => pages)
    expect(new Set([...hosts, ...pages]).size).toBe(hosts.length + pages.length)
    expect(knownHosts.length).toBeGreaterThanOrEqual(30)
  })

  test.each([
    ['https://api.groq.com', '/openai/v1', ''],
    ['https://openrouter.ai', '/api/v1', '/api'],
    ['https://api.deepseek.com', '/v1', '/anthropic'],
    ['https://api.fireworks.ai', '/inference/v1', '/inference'],
    ['https://team.openai.azure.com', '/openai/v1', '/anthropic'],
    ['https://bedrock-runtime.eu-west-1.amazonaws.com', '/openai/v1', ''],
    ['https://dbc-1.cloud.databricks.com', '/serving-endpoints', '/serving-endpoints/anthropic'],
  ])('%s is asked at %s and %s first', (baseUrl, chat, messages) => {
    expect(chatRoots(baseUrl)[0]).toBe(baseUrl + chat)
    expect(messagesRoots(baseUrl)[0]).toBe(baseUrl + messages)
  })

  test('behind a path of its own the host is the last guess, and a stranger has none', () => {
    expect(chatRoots('https://api.groq.com/team').at(-1)).toBe('https://api.groq.com/openai/v1')
    expect(chatRoots('https://api.groq.com/team')[0]).toBe('https://api.groq.com/team/v1')
    expect(knownHost('https://api.groq.com.evil.example')).toBeUndefined()
    expect(knownHost('https://evil-openai.azure.com')).toBeUndefined()
    expect(ownerOfPage('evil.groq.com')).toBeUndefined()
  })

  test('an address of Azure with a deployment and a version leads to its root without either', () => {
    const typed =
      'https://team.openai.azure.com/openai/deployments/sol/chat/completions?api-version=p'
    const { baseUrl, notices } = normaliseBaseUrl(typed, {})
    expect(chatRoots(baseUrl).at(-1)).toBe('https://team.openai.azure.com/openai/v1')
    expect(notices[0]!.message).toContain('the query removed')
  })

  test.each([
    ['groq.com', 'https://api.groq.com'],
    ['https://console.groq.com/keys', 'https://api.groq.com'],
    ['platform.deepseek.com/api_keys', 'https://api.deepseek.com'],
    ['https://openrouter.ai/settings/keys', 'https://openrouter.ai'],
  ])('%s is read as %s, which is said', (typed, baseUrl) => {
    const read = normaliseBaseUrl(typed, {})
    expect(read.baseUrl).toBe(baseUrl)
    expect(read.notices).toHaveLength(1)
  })
})

/** A server in the place of a vendor, whose chat routes hang where the row says. */
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
    const args = [
      'opencode',
      '--base-url',
      typed,
      '--model',
      'gpt-5.6-sol',
      '--yes',
      ...internet.args,
    ]
    return { home, ...(await runHere(home, args, { ...internet.env, REPOINT_API_KEY: ownKey })) }
  }
  return { run, seen }
}

test.each(['groq.com', 'https://console.groq.com/keys', 'api.groq.com'])(
  '%s leads to the right address, proven by asking',
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
    ])
  },
)

test('what is known is no truth: another root that answers is taken', async () => {
  const { run } = await groq('')
  expect((await run('api.groq.com')).json).toMatchObject({ changed: true })
})

test('a wrong key is looked up on the page where keys are made', async () => {
  const { run } = await groq()
  const { json } = await run('groq.com', 'sk-another-0f9e8d7c6b5a4433')
  expect(json['error']).toMatchObject({
    code: 'key-rejected',
    hint: expect.stringContaining('https://console.groq.com/keys'),
  })
})
