import { expect, test } from 'vitest'
import { aGateway } from '../serve/support/gateway.ts'
import { sdk } from './sdk.ts'

// Written from docs/gateway.md alone, as a new user would: one agent loop with each SDK.

const scenario = {
  answers: [
    { when: { afterTool: true, toolResult: 'rain' }, reply: 'Take an umbrella.' },
    {
      when: 'Paris',
      reply: { text: 'Let me look.', call: 'get_weather', with: { city: 'Paris' } },
    },
  ],
}
const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const description = 'The weather of a city.'
const question = 'What should I take to Paris?'
const weather = ({ city }: { city: string }) => (city === 'Paris' ? 'rain' : 'unknown')

test('OpenAI SDK: a loop over responses', async () => {
  const gateway = await aGateway({ strict: true, scenario })
  const OpenAI = (await sdk('openai')).default
  const client = new OpenAI({ baseURL: gateway.openaiUrl, apiKey: gateway.key })
  const tools = [
    { type: 'function', name: 'get_weather', description, parameters: schema, strict: true },
  ]

  const input: unknown[] = [{ role: 'user', content: question }]
  let text = ''
  for (let turn = 0; text === '' && turn < 3; turn++) {
    const response = await client.responses.create({ model: 'gpt-6-sol', input, tools })
    input.push(...response.output)
    const calls = response.output.filter(({ type }: { type: string }) => type === 'function_call')
    for (const { call_id, arguments: text } of calls)
      input.push({ type: 'function_call_output', call_id, output: weather(JSON.parse(text)) })
    if (calls.length === 0) text = response.output_text
  }

  expect(text).toBe('Take an umbrella.')
  expect(gateway.requests().map(({ status }) => status)).toEqual([200, 200])
  expect(gateway.unused()).toEqual([])
})

test('OpenAI SDK: its tool runner over chat', async () => {
  const gateway = await aGateway({ strict: true, scenario })
  const OpenAI = (await sdk('openai')).default
  const client = new OpenAI({ baseURL: gateway.openaiUrl, apiKey: gateway.key })
  const runner = client.chat.completions.runTools({
    model: 'gpt-5.4',
    messages: [{ role: 'user', content: question }],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description,
          parameters: schema,
          parse: JSON.parse,
          function: weather,
        },
      },
    ],
  })
  expect(await runner.finalContent()).toBe('Take an umbrella.')
  expect(gateway.unused()).toEqual([])
})

test('Anthropic SDK: a streamed loop over messages, with a count of the tokens', async () => {
  const gateway = await aGateway({ strict: true, scenario })
  const Anthropic = (await sdk('@anthropic-ai/sdk')).default
  const client = new Anthropic({ baseURL: gateway.anthropicUrl, apiKey: gateway.key })
  const tools = [{ name: 'get_weather', description, input_schema: schema }]
  const model = 'claude-opus-5-5'

  const messages: unknown[] = [{ role: 'user', content: question }]
  const { input_tokens } = await client.messages.countTokens({ model, messages, tools })
  let text = ''
  for (let turn = 0; text === '' && turn < 3; turn++) {
    const message = await client.messages
      .stream({ model, max_tokens: 500, messages, tools })
      .finalMessage()
    if (turn === 0) expect(message.usage.input_tokens).toBe(input_tokens)
    messages.push({ role: 'assistant', content: message.content })
    if (message.stop_reason === 'end_turn') text = message.content[0].text
    else
      messages.push({
        role: 'user',
        content: message.content
          .filter(({ type }: { type: string }) => type === 'tool_use')
          .map(({ id, input }: { id: string; input: { city: string } }) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: weather(input),
          })),
      })
  }

  expect(text).toBe('Take an umbrella.')
  expect(gateway.unused()).toEqual([])
})

test.each([
  ['@ai-sdk/openai', 'createOpenAI', 'gpt-6-sol'],
  ['@ai-sdk/anthropic', 'createAnthropic', 'claude-opus-5-5'],
] as const)('AI SDK: a loop with %s', async (provider, create, model) => {
  const gateway = await aGateway({ strict: true, scenario })
  const { generateText, isStepCount, jsonSchema, stepCountIs, tool } = await sdk('ai')
  // The AI SDK takes the address with /v1 for both vendors.
  const options = { baseURL: gateway.openaiUrl, apiKey: gateway.key }
  const models = (await sdk(provider))[create](options)
  const inputSchema = jsonSchema(schema)
  const { text, steps } = await generateText({
    model: models(model),
    prompt: question,
    tools: { get_weather: tool({ description, inputSchema, execute: weather }) },
    stopWhen: (stepCountIs ?? isStepCount)(3),
  })
  expect([text, steps.length]).toEqual(['Take an umbrella.', 2])
  expect(gateway.unused()).toEqual([])
})

test('AI SDK: its own tools, which run here: a shell and a patch', async () => {
  const operation = { type: 'create_file', path: 'a.txt', diff: '+hi' }
  const gateway = await aGateway({
    strict: true,
    scenario: {
      answers: [
        {
          when: 'go',
          reply: [
            { call: 'shell', with: { commands: ['ls'] } },
            { call: 'local_shell', with: { command: ['pwd'] } },
            { call: 'apply_patch', with: operation },
            'Done.',
          ],
        },
      ],
    },
  })
  const { generateText, isStepCount, stepCountIs } = await sdk('ai')
  const { createOpenAI } = await sdk('@ai-sdk/openai')
  const openai = createOpenAI({ baseURL: gateway.openaiUrl, apiKey: gateway.key })
  const ran: unknown[] = []
  const run = (result: object) => async (input: object) => {
    ran.push(input)
    return result
  }
  const outcome = { type: 'exit', exitCode: 0 }
  const execute = run({ output: [{ stdout: 'a.txt', stderr: '', outcome }] })
  const { text } = await generateText({
    model: openai.responses('gpt-6-sol'),
    prompt: 'go',
    tools: {
      shell: openai.tools.shell({ execute, environment: { type: 'local' } }),
      local_shell: openai.tools.localShell({ execute: run({ output: '/tmp' }) }),
      apply_patch: openai.tools.applyPatch({ execute: run({ status: 'completed', output: '' }) }),
    },
    stopWhen: (stepCountIs ?? isStepCount)(5),
  })
  expect(text).toBe('Done.')
  expect(ran).toMatchObject([
    { action: { commands: ['ls'] } },
    { action: { command: ['pwd'] } },
    { operation },
  ])
  expect(gateway.unused()).toEqual([])
})
