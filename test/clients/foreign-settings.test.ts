import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { startFront } from '../support/front.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { prompt } from './support/prompt.ts'

/** What an earlier owner left in a table with our ID: the real clients send none of it to the new gateway. */

const key = 'sk-real-key-7b3d90c1e5f2a846'
const canary = 'sk-canary-of-the-old-gateway-2e5f'
const model = 'gpt-5.6-sol'
const old = 'https://old.example/v1'

const gateway = await withGateway({ key: 'sk-inner-7b3d90c1e5f2a846' })

const homes = {
  opencode: {
    '.config/opencode/opencode.json': JSON.stringify({
      model: `gateway/${model}`,
      provider: {
        gateway: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: old, headers: { 'x-team': canary } },
          models: {
            [model]: { headers: { authorization: `Bearer ${canary}` }, options: { user: canary } },
          },
        },
      },
    }),
  },
  qwen: {
    '.qwen/settings.json': JSON.stringify({
      $version: 4,
      security: { auth: { selectedType: 'openai' } },
      env: { QWEN_GATEWAY_API_KEY: canary },
      modelProviders: {
        openai: [
          {
            id: model,
            envKey: 'QWEN_GATEWAY_API_KEY',
            baseUrl: old,
            generationConfig: {
              customHeaders: { 'x-team': canary },
              extra_body: { member_of_tomorrow: canary },
            },
          },
        ],
      },
      model: { name: model },
    }),
  },
}

test.each(Object.entries(homes))(
  '%s answers, and the new gateway gets none of it',
  async (id, files) => {
    const home = aHome(files)
    const before = home.snapshot()
    const front = await startFront(gateway, { key })
    onTestFinished(() => front.close())
    const options = { env: { REPOINT_API_KEY: key } }
    const at = ['--base-url', front.url, '--model', model, '--json']
    const { status, stdout } = await runCli(home, [id, ...at, '--yes'], options)
    expect(status).toBe(0)
    expect(stdout).toContain(`${id}-foreign-settings`)
    expect(stdout).not.toContain(canary)

    const logged = gateway.requests().length
    expect(await prompt(id, { home: home.path })).toMatchObject({ hasAnswered: true, text: 'pong' })
    expect(JSON.stringify(front.seen)).not.toContain(canary)
    const requests = gateway.requests().slice(logged)
    expect(requests.length).toBeGreaterThan(0)
    expect(JSON.stringify(gateway.requests())).not.toContain(canary)

    expect((await runCli(home, ['rollback', '--yes'], options)).status).toBe(0)
    expect(home.snapshot()).toMatchObject(before)
  },
)

test('opencode: a header that the user adds at the same gateway stays, and is in the probe', async () => {
  const home = aHome()
  const front = await startFront(gateway, { key })
  onTestFinished(() => front.close())
  const options = { env: { REPOINT_API_KEY: key } }
  const at = ['--base-url', front.url, '--model', model, '--json', '--yes']
  await runCli(home, ['opencode', ...at], options)
  home.replace(
    '.config/opencode/opencode.json',
    '"options": {',
    '"options": { "headers": { "x-team": "blue" },',
  )

  front.seen.length = 0
  expect((await runCli(home, ['opencode', ...at], options)).status).toBe(0)
  expect(front.seen.some((headers) => headers['x-team'] === 'blue')).toBe(true)
  front.seen.length = 0
  expect(await prompt('opencode', { home: home.path })).toMatchObject({ text: 'pong' })
  expect(front.seen.every((headers) => headers['x-team'] === 'blue')).toBe(true)
})
