import type { Gateway } from '../../src/serve/index.ts'
import { ask } from '../serve/support/gateway.ts'

const clients = {
  codex: { 'user-agent': 'codex_exec/0.169.0 (Debian 12.0.0; x86_64)' },
  claude: { 'user-agent': 'claude-cli/2.1.329 (external, sdk-cli)' },
  opencode: { 'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/3.0' },
}

/** Eight requests of three clients: streams, a tool call, and four rejections. */
export async function sendTraffic(gateway: Gateway): Promise<void> {
  const { codex, claude, opencode } = clients
  const shell = { type: 'function', name: 'exec_command', parameters: { type: 'object' } }
  const bash = { name: 'Bash', description: 'Runs a command', input_schema: { type: 'object' } }
  const ping = { model: 'gpt-5.6', messages: [{ role: 'user', content: 'ping' }] }
  const call = '#call exec_command {"cmd":"git status --short"}'
  const question = {
    model: 'claude-sonnet-4-6',
    max_tokens: 64_000,
    system: 'You are a coding agent.\nWork in /srv/app.\nBe brief.',
    tools: [bash],
    messages: [{ role: 'user', content: 'Why does the first test fail?' }],
  }

  await ask(gateway, '/v1/models', undefined, opencode)
  await ask(gateway, '/v1/chat/completions', { ...ping, stream: true }, opencode)
  await ask(gateway, '/v1/v1/responses', { model: 'gpt-5.6', input: 'ping' }, codex)
  await ask(gateway, '/v1/responses', { model: 'gpt-5.7-sol', input: 'ping' }, codex)
  const agent = { model: 'gpt-5.6', stream: true, tools: [shell], input: call }
  await ask(gateway, '/v1/responses', agent, codex)
  await ask(gateway, '/v1/messages', question, {
    ...claude,
    authorization: 'Bearer sk-an-earlier-key-0987',
  })
  gateway.setFaults([{ error: 'rate-limited', delayMs: 120 }])
  await ask(gateway, '/v1/messages', question, claude)
  gateway.setFaults([{ betweenMs: 15 }])
  await ask(gateway, '/v1/messages', { ...question, stream: true }, claude).then((it) => it.text())
  gateway.setFaults([])
}
