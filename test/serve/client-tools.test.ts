import { expect, test } from 'vitest'
import { aGateway, ask, askJson } from './support/gateway.ts'

/** Tools that the vendor defines and the client executes: their calls and results over responses. */
const tools = [
  {
    tool: { type: 'shell', environment: { type: 'local' } },
    with: { commands: ['ls', 'pwd'] },
    call: {
      type: 'shell_call',
      action: { commands: ['ls', 'pwd'], max_output_length: null, timeout_ms: null },
      environment: { type: 'local' },
    },
    result: {
      type: 'shell_call_output',
      output: [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
    },
    text: 'a.txt',
  },
  {
    tool: { type: 'local_shell' },
    with: { command: ['ls'] },
    call: {
      type: 'local_shell_call',
      action: { type: 'exec', command: ['ls'], env: {} },
    },
    result: { type: 'local_shell_call_output', output: 'a.txt' },
    text: 'a.txt',
  },
  {
    tool: { type: 'apply_patch' },
    with: { type: 'create_file', path: 'a.txt', diff: '+hi' },
    call: {
      type: 'apply_patch_call',
      operation: { type: 'create_file', path: 'a.txt', diff: '+hi' },
    },
    result: { type: 'apply_patch_call_output', status: 'failed' },
    text: 'failed',
  },
  {
    tool: { type: 'computer' },
    with: { type: 'click', button: 'left', x: 1, y: 2 },
    call: {
      type: 'computer_call',
      pending_safety_checks: [],
      actions: [{ type: 'click', button: 'left', x: 1, y: 2 }],
    },
    result: {
      type: 'computer_call_output',
      output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
    },
    text: '(computer_screenshot)',
  },
  {
    tool: {
      type: 'computer_use_preview',
      display_width: 800,
      display_height: 600,
      environment: 'browser',
    },
    with: { type: 'screenshot' },
    call: {
      type: 'computer_call',
      pending_safety_checks: [],
      action: { type: 'screenshot' },
    },
    result: {
      type: 'computer_call_output',
      output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
    },
    text: '(computer_screenshot)',
  },
] as const

test.each(tools)(
  'responses: a scenario calls $tool.type, and its result is accepted',
  async ({ tool, with: input, call, result, text }) => {
    const gateway = await aGateway({
      strict: true,
      scenario: {
        answers: [
          { when: { afterTool: true }, reply: 'Done.' },
          { when: 'go', reply: { call: tool.type, with: input } },
        ],
      },
    })
    const body = { model: 'gpt-6-sol', tools: [tool], input: [{ role: 'user', content: 'go' }] }
    const { output } = await askJson(gateway, '/v1/responses', body)
    const [item] = output
    expect(output).toEqual([{ ...call, id: item.id, call_id: item.call_id, status: 'completed' }])

    const answered = { ...result, call_id: item.call_id }
    const next = { ...body, input: [...body.input, item, answered] }
    const answer = await askJson(gateway, '/v1/responses', next)
    expect(answer.output[0].content[0].text).toBe('Done.')
    const builtIn = await askJson(await aGateway(), '/v1/responses', next)
    expect(builtIn.output[0].content[0].text).toBe(
      `${tool.type.replace('_use_preview', '')} returned: ${text}`,
    )

    const missing = await ask(gateway, '/v1/responses', { ...body, input: [...body.input, item] })
    expect(missing.status).toBe(400)
    const other = { ...body, input: [...body.input, item, { ...answered, call_id: 'call_other' }] }
    expect((await ask(gateway, '/v1/responses', other)).status).toBe(400)
  },
)

test.each(tools)(
  'responses: the built-in model calls $tool.type if it must',
  async ({ tool, call }) => {
    const gateway = await aGateway()
    const choice = tool.type === 'local_shell' ? 'required' : { type: tool.type }
    const body = { model: 'gpt-6-sol', tools: [tool], tool_choice: choice, input: 'go' }
    const { output } = await askJson(gateway, '/v1/responses', body)
    expect(output[0].type).toBe(call.type)
  },
)

test('responses: the stream of a shell call has its commands', async () => {
  const gateway = await aGateway({
    scenario: { answers: [{ reply: { call: 'shell', with: { commands: ['ls', 'pwd'] } } }] },
  })
  const body = { model: 'gpt-6-sol', tools: [{ type: 'shell' }], input: 'go', stream: true }
  const text = await (await ask(gateway, '/v1/responses', body)).text()
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
  expect(events.map(({ type }) => type.replace('response.', ''))).toEqual([
    'created',
    'in_progress',
    'output_item.added',
    ...Array.from({ length: 2 }, () => ['added', 'delta', 'done'])
      .flat()
      .map((stage) => `shell_call_command.${stage}`),
    'output_item.done',
    'completed',
  ])
  expect(events[2].item).toMatchObject({ status: 'in_progress', action: { commands: [] } })
  expect(events.at(-1).response.output).toEqual([events.at(-2).item])
})

test('responses: the result of a local shell may have the ID of the types', async () => {
  const gateway = await aGateway()
  const action = { type: 'exec', command: ['ls'], env: {} }
  const input = [
    { role: 'user', content: 'go' },
    { type: 'local_shell_call', id: 'lsh_1', call_id: 'call_1', status: 'completed', action },
    { type: 'local_shell_call_output', id: 'call_1', output: 'a.txt' },
  ]
  const body = { model: 'gpt-6-sol', tools: [{ type: 'local_shell' }], input }
  expect((await ask(gateway, '/v1/responses', body)).status).toBe(200)
  for (const odd of [
    { type: 'message', role: 'user', content: 'x', call_id: 'call_1' },
    { role: 'user', content: 'x', call_id: 'call_1' },
  ])
    expect((await ask(gateway, '/v1/responses', { ...body, input: [odd] })).status).toBe(400)
})

test('responses: a shell in a container of the vendor is not done here', async () => {
  const gateway = await aGateway()
  const tool = { type: 'shell', environment: { type: 'container_auto' } }
  const body = { model: 'gpt-6-sol', tools: [tool], input: 'go' }
  const answer = await ask(gateway, '/v1/responses', body)
  expect(answer.status).toBe(501)
})

test.each([
  [{ type: 'bash_20250124', name: 'bash' }, { command: 'ls' }, {}],
  [
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
    { command: 'view', path: '/a' },
    { path: '/a' },
  ],
  [{ type: 'memory_20250818', name: 'memory' }, { command: 'view', path: '/memories' }, {}],
] as const)(
  'messages: a scenario calls %j, and its result is accepted',
  async (tool, input, wrong) => {
    const gateway = await aGateway({
      strict: true,
      scenario: {
        answers: [
          { when: { afterTool: true }, reply: 'Done.' },
          { when: 'wrong', reply: { call: tool.name, with: wrong } },
          { when: 'go', reply: { call: tool.name, with: input } },
        ],
      },
    })
    const messages = (text: string) => [{ role: 'user', content: text }]
    const body = { model: 'claude-opus-5-5', max_tokens: 99, tools: [tool] }
    const { content } = await askJson(gateway, '/v1/messages', {
      ...body,
      messages: messages('go'),
    })
    expect(content[0]).toMatchObject({ type: 'tool_use', name: tool.name, input })
    const result = { type: 'tool_result', tool_use_id: content[0].id, content: 'fine' }
    const answer = await askJson(gateway, '/v1/messages', {
      ...body,
      messages: [
        ...messages('go'),
        { role: 'assistant', content },
        { role: 'user', content: [result] },
      ],
    })
    expect(answer.content[0].text).toBe('Done.')
    const refused = await ask(gateway, '/v1/messages', { ...body, messages: messages('wrong') })
    expect(refused.status).toBe(400)
    const forced = {
      ...body,
      messages: messages('x'),
      tool_choice: { type: 'tool', name: tool.name },
    }
    const sample = await askJson(await aGateway(), '/v1/messages', forced)
    expect(sample.content[0].input).not.toEqual({})
  },
)
