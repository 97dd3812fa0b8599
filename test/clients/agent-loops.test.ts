import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { startGateway } from '../../src/serve/index.ts'
import { aClientHome } from './support/homes.ts'
import { claudeVersions } from './support/install.ts'
import { runClaude, runCodex, runOpencode } from './support/run-client.ts'

/** The real clients, configured by hand, against the gateway: a text turn and a tool loop each. */

let gateway: Gateway

beforeEach(async () => {
  gateway = await startGateway({ families: 'rewritten' })
})

afterEach(() => gateway.close())

/** Only a shell joins these two parts, so the prompt itself does not contain the word. */
const command = 'printf "%s-%s" river stone'
const output = 'river-stone'

/** The answered inference requests, without the clients' secondary tasks. */
function turns(protocol: string) {
  return gateway
    .requests()
    .filter((request) => request.protocol === protocol && request.responseBody !== '')
}

describe('Codex', () => {
  const codexHome = (model = 'gpt-5.6-sol') =>
    aClientHome({
      '.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: gateway.key }),
      '.codex/config.toml': `model = "${model}"
model_provider = "gateway"

[model_providers.gateway]
name = "Gateway"
base_url = "${gateway.url}/v1"
wire_api = "responses"
requires_openai_auth = true
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
`,
    })

  test('Codex: completes a text turn', async () => {
    const result = await runCodex({ home: codexHome(), prompt: 'ping' })
    expect(result.stdout.trim()).toBe('pong')
    expect(result.exitStatus).toBe(0)
    expect(turns('responses')).toMatchObject([
      { status: 200, auth: 'bearer', keyMatches: true, modelServed: 'gpt-5.6-sol', stream: true },
    ])
  })

  // The two models get their tools in different ways: gpt-5.6-sol a script that calls them.
  test.each([
    ['gpt-5.6-sol', 'exec'],
    ['gpt-5.4', 'exec_command'],
  ])('Codex with %s: runs a command and reads its output', async (model, tool) => {
    const prompt = `#call exec_command ${JSON.stringify({ cmd: command })}`
    const args = ['-s', 'workspace-write']
    const result = await runCodex({ home: codexHome(model), prompt, args })
    expect(result.exitStatus).toBe(0)
    expect(result.stdout).toContain(`${tool} returned:`)
    expect(result.stdout).toContain(output)
    expect(turns('responses')).toHaveLength(2)
  })
})

const version = claudeVersions.at(-1)!

describe(`Claude Code ${version}`, () => {
  const claudeHome = () =>
    aClientHome({
      '.claude/settings.json': JSON.stringify({
        env: {
          ANTHROPIC_AUTH_TOKEN: gateway.key,
          ANTHROPIC_BASE_URL: gateway.url,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        },
        model: 'sonnet',
      }),
    })

  test('Claude Code: completes a text turn', async () => {
    const result = await runClaude({ version, home: claudeHome(), prompt: 'ping' })
    expect(JSON.parse(result.stdout)).toMatchObject({ is_error: false, result: 'pong' })
    expect(result.exitStatus).toBe(0)
    expect(turns('messages')).toMatchObject([{ status: 200, auth: 'bearer', keyMatches: true }])
  })

  test('Claude Code: runs a command and reads its output', async () => {
    const input = { command, description: 'Says it' }
    const prompt = `#call Bash ${JSON.stringify(input)}`
    const result = await runClaude({
      version,
      home: claudeHome(),
      prompt,
      args: ['--allowed-tools', 'Bash'],
    })
    const document = JSON.parse(result.stdout)
    expect(document.is_error).toBe(false)
    expect(document.result).toContain('Bash returned:')
    expect(document.result).toContain(output)
    expect(turns('messages')).toHaveLength(2)
  })

  test.each(['opus', 'sonnet', 'haiku', 'fable'])(
    'Claude Code: sends a model of the built-in catalog for the slot %s',
    async (slot) => {
      const result = await runClaude({
        version,
        home: claudeHome(),
        prompt: 'ping',
        args: ['--bare', '--model', slot],
      })
      expect(JSON.parse(result.stdout)).toMatchObject({ is_error: false, result: 'pong' })
    },
  )
})

describe('opencode', () => {
  const opencodeHome = (npm: string) =>
    aClientHome({
      '.local/share/opencode/auth.json': JSON.stringify({
        gateway: { type: 'api', key: gateway.key },
      }),
      '.config/opencode/opencode.json': JSON.stringify({
        $schema: 'https://opencode.ai/config.json',
        provider: {
          gateway: {
            npm,
            name: 'Gateway',
            options: { baseURL: `${gateway.url}/v1` },
            models: { 'gpt-5.6-sol': {}, 'gpt-5.4-mini': {} },
          },
        },
        model: 'gateway/gpt-5.6-sol',
        small_model: 'gateway/gpt-5.4-mini',
      }),
    })

  // With @ai-sdk/openai-compatible, over chat: test/clients/versions.test.ts.
  test.each([
    ['@ai-sdk/openai', 'responses'],
    ['@ai-sdk/anthropic', 'messages'],
  ])('opencode with %s: runs a command, reads its output and repeats it', async (npm, protocol) => {
    const prompt = `#call bash ${JSON.stringify({ command, description: 'Says it' })}`
    const result = await runOpencode({ home: opencodeHome(npm), prompt })
    expect(result.stdout).toContain(output)
    expect(result.exitStatus).toBe(0)
    const main = turns(protocol).filter(({ modelServed }) => modelServed === 'gpt-5.6-sol')
    expect(main).toMatchObject(Array(2).fill({ status: 200, keyMatches: true }))
  })
})
