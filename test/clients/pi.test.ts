import { afterAll, describe, expect, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { Home } from '../support/home.ts'
import { prompt } from './support/prompt.ts'

/** The facts on which our reading of pi's files depends, with the versions before and after new key names. */

const key = 'sk-real-clients-7c05e1ab94d2f638'
const models = '.pi/agent/models.json'
const settings = '.pi/agent/settings.json'

const gateway = await withGateway({ key })
const homes: Home[] = []
afterAll(() => {
  for (const home of homes) home.remove()
})

/** A handwritten pair of files, with a change. */
function aPair(inModels: (text: string) => string = (text) => text, more: object = {}): Home {
  const provider = {
    baseUrl: `${gateway.url}/v1`,
    api: 'openai-completions',
    apiKey: key,
    models: [{ id: 'gpt-5.6-sol' }],
  }
  const home = new Home({
    [models]: inModels(JSON.stringify({ providers: { gateway: provider } })),
    [settings]: JSON.stringify({
      defaultProvider: 'gateway',
      defaultModel: 'gpt-5.6-sol',
      ...more,
    }),
  })
  homes.push(home)
  return home
}

describe.each(['pi 0.73.1', 'pi'])('%s', (runner) => {
  const says = async (home: Home, env: Readonly<Record<string, string>> = {}) =>
    (await prompt(runner, { home: home.path, env })).text

  test.concurrent('reads line comments, and ignores a file with a block comment', async () => {
    const line = await says(aPair((text) => `// mine\n${text}`))
    expect(line).toBe('pong')
    const block = await says(aPair((text) => `/* mine */${text}`))
    expect(block).toContain('No API key found')
  })

  test.concurrent('ignores a provider without an address, and the older version ignores all providers then', async () => {
    const left = '"left":{"models":[{"id":"gpt-5.4"}]}'
    const answer = await says(aPair((text) => text.replace('"gateway"', `${left},"gateway"`)))
    expect(answer).toContain(runner === 'pi' ? 'pong' : 'No API key found')
  })

  test.concurrent('uses the login of auth.json before the key in models.json', async () => {
    const home = aPair()
    home.put('.pi/agent/auth.json', '{"gateway":{"type":"api_key","key":"sk-old"}}')
    expect(await says(home)).toContain('Invalid token')
  })

  test.concurrent('starts with another model if enabledModels does not have ours', async ({
    onTestFinished,
  }) => {
    const own = await withGateway({ key }, onTestFinished)
    const both = (text: string) =>
      text.replace(gateway.url, own.url).replace('[{', '[{"id":"gpt-5.4"},{')
    await says(aPair(both, { enabledModels: ['gateway/gpt-5.4'] }))
    await says(aPair(both, { enabledModels: ['gateway/gpt-5.4', 'gateway/gpt-5.6-sol'] }))
    const asked = own.requests().map(({ modelAsked }) => modelAsked)
    expect(asked).toEqual(['gpt-5.4', 'gpt-5.6-sol'])
  })

  test.concurrent('uses a proxy for this machine too', async () => {
    const env = { HTTP_PROXY: 'http://127.0.0.1:9' }
    const pair = aPair((text) => text, { retry: { enabled: false } })
    expect(await says(pair, env)).toContain('Connection error')
    expect(await says(pair, { ...env, NO_PROXY: '127.0.0.1' })).toBe('pong')
  })
})
