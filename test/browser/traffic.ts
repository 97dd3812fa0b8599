import type { Gateway } from '../../src/serve/index.ts'
import { ask, jsonOf } from '../serve/support/gateway.ts'

export const clients = {
  codex: { 'user-agent': 'codex_exec/0.169.0 (Debian 12.0.0; x86_64)' },
  claude: { 'user-agent': 'claude-cli/2.1.329 (external, sdk-cli)' },
  opencode: { 'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/3.0' },
}

const bash = { name: 'Bash', description: 'Runs a command', input_schema: { type: 'object' } }
const read = { name: 'Read', description: 'Reads a file', input_schema: { type: 'object' } }

const asked = [{ role: 'user', content: '#call Bash {"command":"npm test"}' }]

const question = {
  // Of newer families none takes a budget of thinking.
  model: 'claude-sonnet-4-6',
  max_tokens: 64_000,
  thinking: { type: 'enabled', budget_tokens: 2048 },
  system: 'You are a coding agent.\nWork in /srv/app.\nBe brief.',
}

/** An agent at work: three requests of one conversation, the last with other settings. */
export async function converse(gateway: Gateway): Promise<void> {
  const say = (body: object) => ask(gateway, '/v1/messages', body, clients.claude)
  const { content } = await jsonOf(say({ ...question, tools: [bash], messages: asked }))
  const { id } = content.find(({ type }: { type: string }) => type === 'tool_use')
  const result = { type: 'tool_result', tool_use_id: id, content: '118 passed, 2 failed' }
  const called = [...asked, { role: 'assistant', content }, { role: 'user', content: [result] }]
  await say({ ...question, stream: true, tools: [bash], messages: called })
  const fail = { role: 'assistant', content: 'Two tests fail.' }
  const goneOn = [...called, fail, { role: 'user', content: 'Why does the first one fail?' }]
  const system = `${question.system}\nChange no files.`
  const changed = { ...question, max_tokens: 32_000, system, tools: [bash, read] }
  await say({ ...changed, stream: true, messages: goneOn })
}

/** What an afternoon with three clients looks like. */
export async function anAfternoon(gateway: Gateway): Promise<void> {
  const { codex, claude, opencode } = clients
  const tool = { type: 'function', name: 'exec_command', parameters: { type: 'object' } }
  const ping = { model: 'gpt-5.6', messages: [{ role: 'user', content: 'ping' }] }
  const call = '#call exec_command {"cmd":"git status --short"}'
  await ask(gateway, '/v1/models', undefined, opencode)
  await ask(gateway, '/v1/chat/completions', { ...ping, stream: true }, opencode)
  await ask(gateway, '/v1/v1/responses', { model: 'gpt-5.6', input: 'Does it build?' }, codex)
  const agent = { model: 'gpt-5.6-sol', stream: true, tools: [tool] }
  await ask(gateway, '/v1/responses', { ...agent, input: call }, codex)
  const named = { name: 'exec_command', arguments: '{"cmd":"git status --short"}' }
  const turns = [
    { role: 'user', content: call },
    { type: 'function_call', call_id: 'call_1', ...named },
    { type: 'function_call_output', call_id: 'call_1', output: ' M src/cli.ts' },
  ]
  await ask(gateway, '/v1/responses', { ...agent, input: turns }, codex)
  await ask(gateway, '/v1/responses', { model: 'gpt-5.7-sol', input: 'ping' }, codex)
  gateway.setFaults([{ error: 'rate-limited', delayMs: 120 }])
  await ask(gateway, '/v1/messages', { ...question, tools: [bash], messages: asked }, claude)
  gateway.setFaults([{ betweenMs: 15 }])
  await converse(gateway)
  gateway.setFaults([])
}
