import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/serve/index.ts'
import { ask, askJson, sseEvents } from '../serve/support/gateway.ts'

/**
 * Checks every answer against the types of the official SDKs, which their makers generate from
 * the OpenAPI documents of the two protocol families. The documents themselves are not on npm.
 *
 * Each answer is written into a TypeScript file as a literal and checked by the compiler: a missing
 * member, a wrong type and a member that the types do not know all fail.
 */

const tools = [{ type: 'function', function: { name: 'weather', parameters: {} } }]
const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const parameters = { ...city, additionalProperties: false }
const flatTools = [{ type: 'function', name: 'weather', parameters, strict: true }]
const namedTools = [{ name: 'weather', input_schema: { type: 'object' } }]
const call = '#call weather {"city":"Paris"}'

const imports = `import type OpenAI from 'openai'
import type Anthropic from '@anthropic-ai/sdk'
`

async function samples(gateway: Gateway): Promise<[type: string, value: unknown][]> {
  const found: [string, unknown][] = []
  const plain = async (type: string, path: string, body: unknown) => {
    found.push([type, await askJson(gateway, path, body)])
  }
  const stream = async (type: string, path: string, body: object) => {
    const text = await (await ask(gateway, path, { ...body, stream: true })).text()
    for (const { data } of sseEvents(text))
      if (data !== '[DONE]') found.push([type, JSON.parse(data)])
  }
  for (const content of ['ping', call, 'one two three']) {
    const limit = content.startsWith('one') ? 2 : 100
    const messages = [{ role: 'user', content }]
    const chat = { model: 'gpt-5.4', messages, tools, max_completion_tokens: limit }
    await plain('OpenAI.ChatCompletion', '/v1/chat/completions', chat)
    await stream('OpenAI.ChatCompletionChunk', '/v1/chat/completions', {
      ...chat,
      stream_options: { include_usage: true },
    })
    const input = { model: 'gpt-5.6', input: content, tools: flatTools }
    const responses = { ...input, max_output_tokens: limit < 16 ? 16 : 100 }
    await plain('Sent<OpenAI.Responses.Response>', '/v1/responses', responses)
    await stream('SentEvent', '/v1/responses', responses)
    const claude = { model: 'claude-opus-5-5', max_tokens: limit, messages, tools: namedTools }
    await plain('SentMessage', '/v1/messages', claude)
    await stream('SentMessageEvent', '/v1/messages', claude)
    await plain('SentBetaMessage', '/v1/messages?beta=true', claude)
    await stream('SentBetaEvent', '/v1/messages?beta=true', claude)
  }

  const thought = '#think Hm. So.\nping'
  const reasoning = { effort: 'low', summary: 'auto' }
  const include = ['reasoning.encrypted_content']
  const thinking = { type: 'adaptive' }
  const responses = { model: 'gpt-5.6', input: thought, reasoning, include }
  await plain('Sent<OpenAI.Responses.Response>', '/v1/responses', responses)
  await stream('SentEvent', '/v1/responses', responses)
  const messages = [{ role: 'user', content: thought }]
  const claude = { model: 'claude-opus-5-5', max_tokens: 100, messages, thinking }
  await plain('SentMessage', '/v1/messages', claude)
  await stream('SentMessageEvent', '/v1/messages', claude)
  const clientTools = {
    shell: { commands: ['ls', 'pwd'] },
    local_shell: { command: ['ls'] },
    apply_patch: { type: 'create_file', path: 'a', diff: '+b' },
    computer: { type: 'screenshot' },
  }
  for (const [type, input] of Object.entries(clientTools)) {
    const line = `#call ${type} ${JSON.stringify(input)}`
    const body = { model: 'gpt-6-sol', input: line, tools: [{ type }] }
    await plain('Sent<OpenAI.Responses.Response>', '/v1/responses', body)
    await stream('SentEvent', '/v1/responses', body)
  }
  const functions = [{ name: 'weather', parameters: {} }]
  const legacy = { model: 'gpt-5.6', messages: [{ role: 'user', content: call }], functions }
  await plain('OpenAI.ChatCompletion', '/v1/chat/completions', legacy)
  await stream('OpenAI.ChatCompletionChunk', '/v1/chat/completions', legacy)
  return found
}

/**
 * Intentional differences. The SDK adds `output_text` itself; the vendor sends no usage and no user as null and
 * says `store` again, which the types lack; so do the penalties of Open Responses. A text block has no citations, as at the vendor.
 */
const exceptions = `
type Optional<Type, Keys extends PropertyKey> = Omit<Type, Keys> & Partial<Pick<Type, Keys & keyof Type>>
type Sent<Type> = Optional<Omit<Type, 'usage' | 'user'>, 'output_text'> & { usage: OpenAI.Responses.ResponseUsage | null, user: string | null, store: boolean, presence_penalty: number, frequency_penalty: number }
type SentEvent = OpenAI.Responses.ResponseStreamEvent extends infer Event
  ? Event extends { response: infer Response } ? Omit<Event, 'response'> & { response: Sent<Response> }
  : Event
  : never
type SentBlock = Anthropic.ContentBlock extends infer Block ? Block extends unknown ? Optional<Block, 'citations'> : never : never
type SentMessage = Omit<Anthropic.Message, 'content'> & { content: SentBlock[] }
type SentMessageEvent = { type: 'ping' } | (Anthropic.RawMessageStreamEvent extends infer Event
  ? Event extends { message: unknown } ? Omit<Event, 'message'> & { message: SentMessage }
  : Event extends { content_block: unknown } ? Omit<Event, 'content_block'> & { content_block: SentBlock }
  : Event : never)
type SentBetaBlock = Anthropic.Beta.BetaContentBlock extends infer Block ? Block extends unknown ? Optional<Block, 'citations'> : never : never
type SentBetaMessage = Omit<Anthropic.Beta.BetaMessage, 'content'> & { content: SentBetaBlock[] }
type SentBetaEvent = { type: 'ping' } | (Anthropic.Beta.BetaRawMessageStreamEvent extends infer Event
  ? Event extends { message: unknown } ? Omit<Event, 'message'> & { message: SentBetaMessage }
  : Event extends { content_block: unknown } ? Omit<Event, 'content_block'> & { content_block: SentBetaBlock }
  : Event : never)
`

test('every answer fits the types of the official SDKs', async () => {
  const gateway = await startGateway()
  const found = await samples(gateway)
  await gateway.close()
  expect(found.length).toBeGreaterThan(60)
  const file = resolve('.cache/sdk/sent.ts')
  const literals = found.map(
    ([type, value], index) =>
      `export const sent${index}: ${type} = ${JSON.stringify(value, null, 1)}\n`,
  )
  writeFileSync(file, imports + exceptions + literals.join('\n'))
  const { stdout } = spawnSync(
    process.execPath,
    [
      resolve('node_modules/typescript/bin/tsc'),
      ...['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--types', 'node'],
      ...['--typeRoots', resolve('node_modules/@types')],
      ...['--module', 'nodenext', '--target', 'es2023', file],
    ],
    { encoding: 'utf8', cwd: resolve('.cache/sdk') },
  )
  expect(stdout).toBe('')
})
