import { describe, expect, test } from 'vitest'
import { shellSyntaxFor } from '../../src/commands/environment-client.ts'
import { aServer, key as forgedKey, goodGateway, sendJson } from '../gateway/forged.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { killedBefore } from '../support/runs.ts'

/** A client without files. repoint prints its variables without the key, or sets them for one process. */

const key = 'sk-canary-env-9b8a7f6e5d4c3b2a'
const gateway = await withGateway({ key })

async function variablesFor(args: readonly string[], env: Record<string, string> = {}) {
  const home = aHome({ key: `${key}\n` })
  const whole = ['copilot', '--base-url', gateway.url, '--name', 'work', ...args]
  const { status, stdout, stderr } = await runInProcess(home, whole, {
    env: { REPOINT_API_KEY: key, ...env },
  })
  expect(stdout + stderr).not.toContain(key)
  return { home, status, text: stdout }
}

describe('repoint copilot', () => {
  test.each([
    [
      '/bin/bash',
      `export COPILOT_MODEL='gpt-5.6-sol'`,
      'read -rs COPILOT_PROVIDER_API_KEY && export',
    ],
    [
      '/usr/bin/fish',
      `set -gx COPILOT_MODEL 'gpt-5.6-sol'`,
      'read -s -gx COPILOT_PROVIDER_API_KEY',
    ],
  ])(
    '%s: checks the key and prints the lines that set the variables',
    async (SHELL, model, reading) => {
      const { status, text } = await variablesFor([], { SHELL, COPILOT_PROVIDER_BEARER_TOKEN: 'x' })
      expect(status).toBe(0)
      expect(text).toContain('repoint run work -- copilot')
      expect(text).toContain(`'${gateway.url}/v1'`)
      for (const line of [model, reading, 'COPILOT_PROVIDER_WIRE_API', 'responses'])
        expect(text).toContain(line)
      expect(text).toMatch(/(unset|set -e) COPILOT_PROVIDER_BEARER_TOKEN/)
    },
  )

  // As PowerShell 7.5 reads it: any of these ends the text, unless the next character is one too.
  test.each(["'", '’', '‘', '‚', '‛', '’; calc; ‘', `a'’b`])(
    'PowerShell reads %s as text',
    (text) => {
      const quotes = "['‘’‚‛]"
      const whole = new RegExp(`^${quotes}((?:[^'‘’‚‛]|${quotes}${quotes})*)${quotes}$`)
      const { quoted } = shellSyntaxFor({ os: 'win32', env: {}, home: 'C:\\', cwd: 'C:\\' })
      const [, inner = ''] = whole.exec(quoted(text)) ?? []
      expect(inner.replace(new RegExp(`(${quotes})${quotes}`, 'g'), '$1')).toBe(text)
    },
  )

  test('the printed lines read the key from the file of --key-file', async () => {
    const file = aHome({ key: `${key}\n` }).at('key')
    const { text } = await variablesFor(['--key-file', file])
    expect(text).toContain(`export COPILOT_PROVIDER_API_KEY="$(cat '${file}')"`)
  })

  test('prints one JSON document, and changes only the list of saved gateways', async () => {
    const { text, home } = await variablesFor(['--json'])
    expect(JSON.parse(text)).toMatchObject({
      command: 'copilot',
      changed: false,
      model: 'gpt-5.6-sol',
      gateway: 'work',
      next: ['repoint run work -- copilot'],
    })
    expect(home.text('key')).toBe(`${key}\n`)
  })

  test("passes on the limits of the gateway's list", async () => {
    const listed = { context_length: 90_000, max_output_tokens: 7_000 }
    const { url } = await withGateway({
      key,
      models: [{ id: 'glm-5', ownedBy: 'x', endpointTypes: ['openai'], listed }],
    })
    const { text } = await variablesFor(['--base-url', url, '--json', '--model', 'glm-5'])
    expect(JSON.parse(text).variables).toEqual(
      expect.arrayContaining([
        { name: 'COPILOT_PROVIDER_MAX_PROMPT_TOKENS', value: '83000' },
        { name: 'COPILOT_PROVIDER_MAX_OUTPUT_TOKENS', value: '7000' },
      ]),
    )
  })

  test('asks the gateway for the output that the list allows for its model, as Copilot does', async () => {
    const limits = { 'kimi-k3': 5_000, 'glm-5': 7_000 }
    const data = Object.entries(limits).map(([id, limit]) => ({ id, max_output_tokens: limit }))
    const { port, seen } = await aServer((request, response) =>
      request.method === 'GET' ? sendJson(response, 200, { data }) : goodGateway(request, response),
    )
    const args = ['--base-url', `http://127.0.0.1:${port}`, '--json', '--model', 'glm-5']
    await variablesFor(args, { REPOINT_API_KEY: forgedKey })
    const { body = '' } = seen.find(({ method }) => method === 'POST') ?? {}
    expect(JSON.parse(body)).toMatchObject({ model: 'glm-5', max_tokens: 7_000 })
  })

  test('without an address uses the gateway of the newest setup, after a killed run was undone', async () => {
    const home = aHome()
    const env = { REPOINT_API_KEY: key }
    await runInProcess(home, ['codex', '--base-url', gateway.url, '--name', 'work', '--yes'], {
      env,
    })
    const before = home.text('.codex/config.toml')
    killedBefore(home, '.codex/config.toml')

    const { status, stdout, stderr } = await runInProcess(home, ['copilot'])
    expect({ status, stderr }).toMatchObject({ status: 0 })
    expect(stdout).toContain(`'${gateway.url}/v1'`)
    expect(stderr).toContain("Using Codex's gateway. Another: --base-url URL")
    expect(stderr).toContain('was interrupted, and repoint undid it')
    expect(home.text('.codex/config.toml')).toBe(before)
  })

  test('reports a rejected key, and prints no lines', async () => {
    const { status, text } = await variablesFor([], {
      REPOINT_API_KEY: 'sk-canary-wrong-000000000000',
    })
    expect(status).toBe(3)
    expect(text).not.toContain('COPILOT_')
  })
})
