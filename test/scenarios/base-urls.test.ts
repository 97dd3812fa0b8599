import { chmodSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { type RunningProvider, startProvider } from '../providers/server.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'

async function provide(name: string): Promise<RunningProvider> {
  const provider = await startProvider(name)
  onTestFinished(() => provider.close())
  return provider
}

const asked = (provider: RunningProvider) =>
  provider
    .requests()
    .map(({ method, path }) => `${method} ${path}`)
    .sort()

const env = (provider: RunningProvider) => ({ REPOINT_API_KEY: provider.key })

/** The addresses in the files, as paths. */
function written(home: Home, { origin }: RunningProvider) {
  const files = ['.codex/config.toml', '.claude/settings.json', '.config/opencode/opencode.json']
  return files.map((name) => {
    const text = name in home.snapshot() ? home.text(name) : ''
    const address = /(?:\nbase_url = |"ANTHROPIC_BASE_URL": |"baseURL": )"([^"]*)"/.exec(text)?.[1]
    return address?.replace(origin, '')
  })
}

test('one address of a provider with two roots is enough for a setup and all later commands, and is undone', async () => {
  const provider = await provide('DeepSeek')
  const home = aHome()
  const before = home.snapshot()
  const run = async (...args: string[]) => {
    provider.clearRequests()
    const { status, json, text } = await runHere(home, args, env(provider))
    expect(status, text).toBe(0)
    return json
  }
  const model = 'deepseek-flash'
  const clients = { codex: { model }, claude: { 'sonnet-model': model }, opencode: { model } }
  home.put('team.json', JSON.stringify({ version: 1, baseUrl: provider.origin, clients }))

  const setup = ['setup', '--from', home.at('team.json'), '--name', 'deep', '--yes']
  const roots = { chat: `${provider.origin}/v1`, messages: `${provider.origin}/anthropic` }
  expect(await run(...setup)).toMatchObject({ changed: true, baseUrl: provider.origin, roots })
  expect(written(home, provider)).toEqual(['/v1', '/anthropic', '/v1'])

  const four = [
    'GET /v1/models',
    'POST /anthropic/v1/messages',
    'POST /v1/chat/completions',
    'POST /v1/responses',
  ]
  for (const again of [setup, ['key', '--yes'], ['use', 'deep', '--yes']]) {
    expect(await run(...again)).toMatchObject({ changed: false })
    expect(asked(provider)).toEqual(four)
  }
  await run('doctor')
  // doctor also asks for the balance of the key, which costs nothing.
  const questions = asked(provider)
  expect(questions).toEqual(expect.arrayContaining(four))
  const costs = (question: string) => question.startsWith('POST')
  expect(questions.filter(costs)).toEqual(four.filter(costs))

  for (const expected of ['deep', provider.origin])
    expect(await run('status', '--expect', expected)).toMatchObject({ drifted: false })
  expect((await run('status', 'claude')).clients).toMatchObject([
    { baseUrl: roots.messages, expected: roots.messages, gateway: 'deep' },
  ])
  expect(await run('gateways')).toMatchObject({
    gateways: [{ name: 'deep', baseUrl: provider.origin, roots, clients: Object.keys(clients) }],
  })
  expect((await run('gateways', 'export', 'deep')).messagesUrl).toBe(roots.messages)

  await run('rollback', '--yes')
  await run('rollback', '--redo', '--yes')
  expect(await run('use', 'deep', '--yes')).toMatchObject({ changed: false })
  await run('rollback', '--yes')
  const { 'team.json': _, ...after } = home.snapshot()
  expect(after).toEqual(before)
})

test('a setup asks, writes and saves the root of --messages-url', async () => {
  const provider = await provide('DeepSeek')
  const home = aHome()
  const at = ['--base-url', provider.origin, '--model', 'deepseek-flash', '--yes']
  const set = (...args: string[]) => runHere(home, ['claude', ...at, ...args], env(provider))

  for (const unusable of ['https://other.example/anthropic', '', 'http://192.0.2.1/anthropic'])
    expect(await set('--messages-url', unusable)).toMatchObject({
      status: 2,
      json: { error: { code: 'usage', message: expect.stringContaining('--messages-url') } },
    })
  expect(provider.requests()).toEqual([])
  const wrongRoot = await set('--messages-url', `${provider.origin}/claude`)
  expect(wrongRoot).toMatchObject({ status: 5, json: { error: { code: 'protocol-unsupported' } } })
  expect(asked(provider)).toEqual(['GET /v1/models', 'POST /claude/v1/messages'])
  expect(written(home, provider)).toEqual([undefined, undefined, undefined])

  const right = await set('--messages-url', `${provider.origin}/anthropic/v1/messages`)
  expect(right.status).toBe(0)
  provider.clearRequests()
  expect((await set()).json).toMatchObject({ changed: false })
  expect(asked(provider)).toEqual(['GET /v1/models', 'POST /anthropic/v1/messages'])
})

test('a setup writes an address that ends in a version unchanged, and doctor reports no problem', async () => {
  const provider = await provide('Z.ai')
  const home = aHome()
  const at = ['--base-url', `${provider.origin}/api/coding/paas/v4`, '--model', 'glm-5.3', '--yes']
  const set = (...args: string[]) => runHere(home, ['opencode', ...at, ...args], env(provider))

  const unverified = await set('--no-verify', '--dry-run')
  expect(unverified.json.warnings).toContainEqual(
    expect.objectContaining({
      code: 'roots-unasked',
      message: expect.stringContaining('/paas/v4 '),
    }),
  )
  expect(unverified.json.files).toMatchObject([{}, {}])
  expect((await set()).status).toBe(0)
  expect(written(home, provider)).toEqual([undefined, undefined, '/api/coding/paas/v4'])

  const { status, json } = await runHere(home, ['doctor', 'opencode'], env(provider))
  expect(status, JSON.stringify(json)).toBe(0)
  expect((await runHere(home, ['status', '--exit-code'])).status).toBe(0)
})

test('a setup finds the address for chat from the one for messages', async () => {
  const provider = await provide('DeepSeek')
  const home = aHome()
  const args = [
    'codex',
    '--base-url',
    `${provider.origin}/anthropic`,
    '--model',
    'deepseek-flash',
    '--yes',
  ]
  expect((await runHere(home, args, env(provider))).status).toBe(0)
  expect(written(home, provider)[0]).toBe('/v1')
  expect((await runHere(home, args, env(provider))).json).toMatchObject({ changed: false })
  expect((await runHere(home, ['status', '--exit-code'])).status).toBe(0)
})

/** What `repoint run` starts, without starting it. */
async function started(home: Home, words: readonly string[]) {
  const starts: { args: readonly string[]; env: Readonly<Record<string, string | undefined>> }[] =
    []
  const { status, stderr } = await runInProcess(home, ['run', ...words], {
    env: { PATH: `${home.at('bin')}:${process.env['PATH']}`, SHELL: '/bin/sh' },
    runInForeground: async (_, args, { env = {} }) => {
      starts.push({ args, env })
      return { reason: 'exited', exitStatus: 0 }
    },
  })
  expect({ status, stderr, starts }).toMatchObject({ status: 0, starts: [{}] })
  return { ...starts[0]!, stderr }
}

test.each([
  ['claude', ['--', 'claude']],
  ['a shell', []],
])(
  'run finds the root of messages if only the one for chat has answered before, and saves it: %s',
  async (_, command) => {
    const provider = await provide('DeepSeek')
    const home = aHome({ 'bin/claude': '#!/bin/sh\n' })
    chmodSync(home.at('bin/claude'), 0o755)
    const line = `opencode --name deep --model deepseek-flash --base-url ${provider.origin} --yes`
    expect(await runHere(home, line.split(' '), env(provider))).toMatchObject({ status: 0 })

    for (const posts of [1, 0]) {
      provider.clearRequests()
      const { args, env } = await started(home, ['deep', ...command])
      const root = `${provider.origin}/anthropic`
      if (command.length > 0) expect(args.join(' ')).toContain(`"${root}"`)
      else expect(env['ANTHROPIC_BASE_URL']).toBe(root)
      const answered = provider
        .requests()
        .filter(({ method, status }) => method === 'POST' && status === 200)
      expect(answered).toHaveLength(posts)
    }
  },
)

test('run starts a shell even if no root of messages answers, and names the clients that need one', async () => {
  const provider = await provide('Gemini, OpenAI-compatible')
  const home = aHome({ 'bin/claude': '#!/bin/sh\n' })
  chmodSync(home.at('bin/claude'), 0o755)
  const line = `opencode --name gem --model gemini-3.1-pro-preview --base-url ${provider.origin}/v1beta/openai --yes`
  expect(await runHere(home, line.split(' '), env(provider))).toMatchObject({ status: 0 })

  const shell = await started(home, ['gem'])
  expect(shell.stderr).toContain('note: claude cannot use this gateway: ')
  expect(shell.env['OPENAI_BASE_URL']).toContain('/v1beta/openai')
})
