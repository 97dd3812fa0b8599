import { expect, onTestFinished, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'

const key = 'sk-variables-0123456789'
async function setUp(args: readonly string[], env: Readonly<Record<string, string>>) {
  const gateway = await withGateway({ key }, onTestFinished)
  const home = aHome()
  const flags = ['--base-url', gateway.url, '--yes']
  const setup = await runHere(home, [...args, ...flags], { REPOINT_API_KEY: key, ...env })
  const status = await runHere(home, ['status', args[0]!], env)
  return { home, setup, status }
}

test.each([
  ['codex', 'CODEX_ACCESS_TOKEN', 'Codex sends no key'],
  ['codex', 'OPENAI_IDENTITY_TOKEN_FILE', 'Codex does not start'],
  ['codex', 'OPENAI_IDENTITY_TOKEN_SOURCE', 'Codex does not start'],
  ['claude', 'ANTHROPIC_UNIX_SOCKET', 'Claude Code does not use your key'],
])('%s: %s is an error in setup, status and doctor', async (client, name, effect) => {
  const { setup, status, home } = await setUp([client], { [name]: 'x' })
  expect(setup.text).toContain(`Keep ${name}: ${effect}`)
  expect(status.text).toContain(`${name} is set in this environment: ${effect}`)
  const doctor = await runHere(home, ['doctor', client], { [name]: 'x' })
  expect(doctor.status).toBe(8)
})

test('claude: a setup turns off CLAUDE_CODE_CLIENT_DATA_URL', async () => {
  const { home } = await setUp(['claude'], { CLAUDE_CODE_CLIENT_DATA_URL: 'http://127.0.0.1:1' })
  expect(JSON.parse(home.text('.claude/settings.json')).env).toMatchObject({
    CLAUDE_CODE_CLIENT_DATA_URL: '',
  })
})

test.each([
  ['codex', 'OPENAI_NEW_AUTH_TOKEN', 'Codex'],
  ['claude', 'ANTHROPIC_NEW_BASE_URL', 'Claude Code'],
  ['opencode', 'OPENCODE_NEW_KEY', 'opencode'],
])('%s: %s is a warning that stops nothing', async (client, name, label) => {
  const { setup, status } = await setUp([client], { [name]: 'x' })
  expect(setup.json['error']).toBeUndefined()
  expect(status.status).toBe(0)
  expect(status.text).toContain(`repoint does not know whether ${label} then sends another key`)
})

test.each([
  ['codex', 'OPENAI_API_KEY'],
  ['claude', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS'],
  ['qwen', 'OPENAI_BASE_URL'],
])('%s: %s is not reported', async (client, name) => {
  const { status } = await setUp([client], { [name]: '1' })
  expect(status.text).not.toContain(name)
})
