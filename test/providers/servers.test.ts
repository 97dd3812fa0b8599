import { describe, expect, onTestFinished, test } from 'vitest'
import { type RunningProvider, startProvider } from './server.ts'
import { type KeyHeader, type Root, type Route, type Rules, routePaths } from './shape.ts'
import { table } from './table.ts'

/** Each forged provider answers only as its table says, and only on its routes. */

async function provide(name: string): Promise<RunningProvider> {
  const provider = await startProvider(name)
  onTestFinished(() => provider.close())
  return provider
}

interface Asked {
  readonly key?: string
  readonly keyHeader?: KeyHeader
  readonly model?: string
  readonly headers?: Readonly<Record<string, string>>
}

async function ask(provider: RunningProvider, root: Root, route: Route, asked: Asked = {}) {
  const { shape, key } = provider
  const name = asked.keyHeader ?? (root.key ?? shape.key)[0] ?? 'authorization'
  const value = asked.key ?? key
  const { needs, agents } = shape
  const headers = {
    'content-type': 'application/json',
    [name]: name === 'authorization' ? `Bearer ${value}` : value,
    ...(needs && { [needs.header]: needs.value }),
    ...(agents && { 'user-agent': `${agents.names[0]}1.0` }),
    ...asked.headers,
  }
  const answered = await fetch(provider.origin + root.at + routePaths[route], {
    method: route === 'models' ? 'GET' : 'POST',
    headers,
    ...(route === 'models' ? {} : { body: bodyOf(route, asked.model) }),
  })
  const text = await answered.text()
  return { status: answered.status, body: jsonOr(text), text }
}

function bodyOf(route: Route, model: string | undefined): string {
  const messages = [{ role: 'user', content: 'ping' }]
  return JSON.stringify({
    model,
    ...(route === 'responses' ? { input: 'ping' } : { messages, max_tokens: 16 }),
  })
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const filled = (reply: unknown, model: string) =>
  jsonOr(
    (typeof reply === 'string' ? reply : JSON.stringify(reply)).replaceAll('$MODEL', () => model),
  )

describe.each(table)('$name', ({ name }) => {
  test('only its models answer, and only on its routes', async () => {
    const provider = await provide(name)
    const { shape } = provider

    for (const root of shape.roots) {
      const rules: Rules = { ...shape, ...root }
      for (const route of root.routes) {
        if (route === 'models') {
          expect(await ask(provider, root, route)).toMatchObject(rules.list)
          continue
        }
        const asked = rules.models.map(async (id) => {
          const answered = await ask(provider, root, route, { model: id.replaceAll('*', 'x') })
          expect([root.at, route, id, answered.status]).toEqual([root.at, route, id, 200])
          expect(answered.text).toContain('pong')
        })
        await Promise.all(asked)
        if (rules.models.includes('*')) continue
        expect(await ask(provider, root, route, { model: 'gpt-unheard-of' })).toMatchObject({
          status: rules.wrongModel.status,
          body: filled(rules.wrongModel.body, 'gpt-unheard-of'),
        })
      }
    }

    const elsewhere = { at: '/nowhere/v7', routes: [] }
    expect((await ask(provider, elsewhere, 'chat')).status).toBe(shape.wrongRoute.status)
    expect((await ask(provider, elsewhere, 'models')).text).not.toContain('"data"')
  })

  test('a wrong key, or the key in another header, gets its error for a wrong key', async () => {
    const provider = await provide(name)
    const { shape } = provider

    for (const root of shape.roots) {
      const rules: Rules = { ...shape, ...root }
      for (const route of root.routes) {
        const isOpen = rules.key.length === 0 || (route === 'models' && rules.isListPublic)
        if (isOpen) continue
        const model = rules.models[0]
        const refused = { status: rules.wrongKey.status, body: rules.wrongKey.body }
        expect(await ask(provider, root, route, { model, key: 'sk-wrong' })).toMatchObject(refused)
        for (const keyHeader of ['authorization', 'x-api-key', 'api-key'] as const)
          if (!rules.key.includes(keyHeader))
            expect(await ask(provider, root, route, { model, keyHeader })).toMatchObject(refused)
      }
    }
  })

  test('its facts have sources', () => {
    const { sources, unchecked } = table.find((shape) => shape.name === name)!
    expect(sources.length + unchecked.length).toBeGreaterThan(0)
    for (const { url, date } of sources) {
      expect(url).toMatch(/^https:\/\//)
      expect(date).toMatch(/^20\d\d-\d\d(-\d\d)?$/)
    }
  })
})

test('a provider can require a header, or a known client', async () => {
  const portkey = await provide('Portkey')
  const [root] = portkey.shape.roots
  const bare = { model: 'gpt-5.6-sol', headers: { 'x-portkey-provider': '' } }
  expect(await ask(portkey, root!, 'chat', bare)).toMatchObject(portkey.shape.needs!.otherwise)

  const kimi = await provide('Kimi Code')
  const foreign = { model: 'kimi-for-coding', headers: { 'user-agent': 'repoint' } }
  expect(await ask(kimi, kimi.shape.roots[0]!, 'chat', foreign)).toMatchObject(
    kimi.shape.agents!.otherwise,
  )
})

test('a provider records its requests', async () => {
  const provider = await provide('Z.ai')
  const [root] = provider.shape.roots
  await ask(provider, root!, 'chat', { model: 'glm-5.3' })
  expect(provider.requests()).toMatchObject([
    { method: 'POST', path: '/api/paas/v4/chat/completions', model: 'glm-5.3', status: 200 },
  ])
  expect(provider.url('messages')).toBe(`${provider.origin}/api/anthropic`)
})
