import { describe, expect, test } from 'vitest'
import { aGateway, ask, jsonOf, saying } from './support/gateway.ts'

/**
 * What a vendor refuses: the request, and the vendor's answer beside it, with its source. Where that is
 * the vendor's own reference, the rule stands there, and the words are those of its validator for the
 * same fault in other members (read 2026-11-22).
 */
interface Refused {
  readonly what: string
  /** Goes over the smallest good body of its protocol. */
  readonly body: object
  readonly message: string
  readonly param?: string
  readonly code?: string
  readonly source: string
}

const weather = { name: 'weather', parameters: { type: 'object', properties: {} } }
const user = { role: 'user', content: 'hi' }
const openaiGuide = 'https://platform.openai.com/docs/api-reference/chat/create'
const messagesGuide = 'https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use'

const chatTools = [{ type: 'function', function: weather }]
const chatCalls = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({
    id,
    type: 'function',
    function: { name: 'weather', arguments: '{}' },
  })),
})
const chatResult = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'rain' })
const notFollowed =
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
const onlyWithTools =
  "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."

const chat: readonly Refused[] = [
  {
    what: 'a call without its result',
    body: { messages: [user, chatCalls('a'), user] },
    message: `${notFollowed}a`,
    param: 'messages.[2].role',
    source: 'https://github.com/agno-agi/agno/issues/4345',
  },
  {
    what: 'one of several results missing',
    body: { messages: [user, chatCalls('a', 'b'), chatResult('a')] },
    message: `${notFollowed}b`,
    param: 'messages.[3].role',
    source: 'https://github.com/minoism/freecc/issues/2',
  },
  {
    what: 'a result without a call',
    body: { messages: [user, chatResult('a')] },
    message:
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    param: 'messages.[1].role',
    source: 'https://github.com/smarter-sh/smarter/issues/264',
  },
  {
    what: 'a result with an unknown id',
    body: { messages: [user, chatCalls('a'), chatResult('b')] },
    message:
      "Invalid parameter: 'tool_call_id' of 'b' not found in 'tool_calls' of previous message.",
    param: 'messages.[2].tool_call_id',
    source: openaiGuide,
  },
  {
    what: 'arguments that are an object',
    body: {
      messages: [
        user,
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'x', arguments: {} } }],
        },
        chatResult('a'),
      ],
    },
    message:
      "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead.",
    param: 'messages[1].tool_calls[0].function.arguments',
    code: 'invalid_type',
    source: openaiGuide,
  },
  {
    what: 'a message that says nothing',
    body: { messages: [{ role: 'user', content: null }] },
    message: "Invalid value for 'content': expected a string, got null.",
    param: 'messages.[0].content',
    source: 'https://github.com/langchain-ai/langchainjs/issues/4153',
  },
  {
    what: 'a role that there is not',
    body: { messages: [{ role: 'robot', content: 'hi' }] },
    message:
      "Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
    param: 'messages[0].role',
    code: 'invalid_value',
    source: openaiGuide,
  },
  ...['auto', 'none', 'required', { type: 'function', function: { name: 'weather' } }].map(
    (tool_choice) => ({
      what: `the tool choice ${JSON.stringify(tool_choice)} without tools`,
      body: { tool_choice },
      message: onlyWithTools,
      param: 'tool_choice',
      source: 'https://github.com/anomalyco/opencode/pull/48857',
    }),
  ),
  {
    what: 'a tool choice of an unknown name',
    body: { tools: chatTools, tool_choice: { type: 'function', function: { name: 'nope' } } },
    message: "Tool choice 'nope' not found in 'tools' parameter.",
    param: 'tool_choice',
    source: openaiGuide,
  },
  {
    what: 'allowed tools of an unknown name',
    body: {
      tools: chatTools,
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'nope' } }] },
      },
    },
    message: "Tool choice 'nope' not found in 'tools' parameter.",
    param: 'tool_choice',
    source: openaiGuide,
  },
  {
    what: 'a tool choice that is none',
    body: { tools: chatTools, tool_choice: 'sometimes' },
    message: "Invalid value: 'sometimes'. Supported values are: 'none', 'auto', and 'required'.",
    param: 'tool_choice',
    code: 'invalid_value',
    source: openaiGuide,
  },
  {
    what: 'a tool in the shape of the other protocol',
    body: { tools: [{ type: 'function', ...weather }] },
    message: "Missing required parameter: 'tools[0].function'.",
    param: 'tools[0].function',
    code: 'missing_required_parameter',
    source: openaiGuide,
  },
  {
    what: 'a tool with a dot in its name',
    body: { tools: [{ type: 'function', function: { name: 'a.b' } }] },
    message:
      "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    param: 'tools[0].function.name',
    code: 'invalid_value',
    source: openaiGuide,
  },
  {
    what: 'an array of who knows what in the parameters of a tool',
    body: {
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            parameters: { type: 'object', properties: { a: { type: 'array' } } },
          },
        },
      ],
    },
    message:
      "Invalid schema for function 'f': In context=('properties', 'a'), array schema missing items.",
    param: 'tools[0].function.parameters',
    code: 'invalid_function_parameters',
    source: 'https://github.com/sigoden/aichat/pull/1049',
  },
  {
    what: 'a temperature in words',
    body: { temperature: 'hot' },
    message: "Invalid type for 'temperature': expected a decimal, but got a string instead.",
    param: 'temperature',
    code: 'invalid_type',
    source: openaiGuide,
  },
  {
    what: 'a temperature that is too high',
    body: { temperature: 3 },
    message:
      "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
    param: 'temperature',
    code: 'decimal_above_max_value',
    source: openaiGuide,
  },
  {
    what: 'no tokens at all',
    body: { max_tokens: 0 },
    message:
      "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.",
    param: 'max_tokens',
    code: 'integer_below_min_value',
    source: openaiGuide,
  },
  {
    what: 'five stop sequences',
    body: { stop: ['a', 'b', 'c', 'd', 'e'] },
    message:
      "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 instead.",
    param: 'stop',
    code: 'array_above_max_length',
    source: openaiGuide,
  },
  {
    what: 'JSON that nobody speaks of',
    body: { response_format: { type: 'json_object' } },
    message:
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    param: 'messages',
    source: 'https://platform.openai.com/docs/guides/structured-outputs#json-mode',
  },
]

const call = (id: string) => ({
  type: 'function_call',
  call_id: id,
  name: 'weather',
  arguments: '{}',
})
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'rain' })
const inputTypes =
  "'input_text', 'input_image', 'input_audio', 'output_text', 'refusal', 'input_file', 'computer_screenshot', 'summary_text', and 'encrypted_content'"

const responses: readonly Refused[] = [
  {
    what: 'a call without its result',
    body: { input: [user, call('a'), user] },
    message: 'No tool output found for function call a.',
    param: 'input',
    source: 'https://github.com/router-for-me/CLIProxyAPI/issues/2368',
  },
  {
    what: 'one of several results missing',
    body: { input: [user, call('a'), call('b'), output('a')] },
    message: 'No tool output found for function call b.',
    param: 'input',
    source: 'https://github.com/router-for-me/CLIProxyAPI/issues/2368',
  },
  {
    what: 'a result without its call',
    body: { input: [user, output('a')] },
    message: 'No tool call found for function call output with call_id a.',
    param: 'input',
    source: 'https://github.com/continuedev/continue/issues/10092',
  },
  {
    what: 'a result with an unknown id beside a good one',
    body: { input: [user, call('a'), output('a'), output('b')] },
    message: 'No tool call found for function call output with call_id b.',
    param: 'input',
    source: 'https://github.com/microsoft/vscode/issues/320060',
  },
  {
    what: 'text in the shape of the other protocol',
    body: { input: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] },
    message: `Invalid value: 'text'. Supported values are: ${inputTypes}.`,
    param: 'input[0].content[0].type',
    code: 'invalid_value',
    source: 'https://github.com/MervinPraison/PraisonAI/issues/3934',
  },
  {
    what: 'what a user says, said by the assistant',
    body: { input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'hi' }] }, user] },
    message: "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    param: 'input[0].content[0].type',
    code: 'invalid_value',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
  },
  {
    what: 'a required call without tools',
    body: { tool_choice: 'required' },
    message: "Tool choice 'required' must be specified with 'tools' parameter.",
    param: 'tool_choice',
    source: 'https://github.com/anomalyco/opencode/pull/48857',
  },
  {
    what: 'a tool choice of an unknown name',
    body: { tool_choice: { type: 'function', name: 'nope' } },
    message: "Tool choice 'nope' not found in 'tools' parameter.",
    param: 'tool_choice',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
  },
  {
    what: 'a tool in the shape of the other protocol',
    body: { tools: chatTools },
    message: "Missing required parameter: 'tools[0].name'.",
    param: 'tools[0].name',
    code: 'missing_required_parameter',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
  },
  {
    what: 'half a token',
    body: { max_output_tokens: 20.5 },
    message:
      "Invalid type for 'max_output_tokens': expected an integer, but got a decimal instead.",
    param: 'max_output_tokens',
    code: 'invalid_type',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
  },
  {
    what: 'an answer that is no object',
    body: { text: { format: { type: 'json_schema', name: 'x', schema: { type: 'array' } } } },
    message:
      "Invalid schema for response_format 'x': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'.",
    param: 'text.format.schema',
    code: 'invalid_json_schema',
    source: 'https://platform.openai.com/docs/guides/structured-outputs#supported-schemas',
  },
  {
    what: 'an effort that there is not',
    body: { reasoning: { effort: 'heroic' } },
    message:
      "Invalid value: 'heroic'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'.",
    param: 'reasoning.effort',
    code: 'invalid_value',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
  },
]

const use = (...ids: string[]) => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_use', id, name: 'weather', input: {} })),
})
const result = (...ids: string[]) => ({
  role: 'user',
  content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'rain' })),
})
const tool = { name: 'weather', input_schema: { type: 'object' } }
const withoutResult = (ids: string) =>
  `messages.1: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`

const messages: readonly Refused[] = [
  {
    what: 'a call without its result',
    body: { messages: [user, use('a'), user] },
    message: withoutResult('a'),
    source: 'https://github.com/Kilo-Org/kilocode/issues/5163',
  },
  {
    what: 'a call at the end',
    body: { messages: [user, use('a')] },
    message: withoutResult('a'),
    source: 'https://github.com/anthropics/claude-code/issues/8210',
  },
  {
    what: 'several results missing',
    body: { messages: [user, use('a', 'b', 'c'), result('b')] },
    message: withoutResult('a, c'),
    source: 'https://github.com/anthropics/claude-code/issues/5989',
  },
  {
    what: 'a result behind a text',
    body: {
      messages: [
        user,
        use('a'),
        { role: 'user', content: [{ type: 'text', text: 'so' }, ...result('a').content] },
      ],
    },
    message: withoutResult('a'),
    source: messagesGuide,
  },
  {
    what: 'a result without a call',
    body: { messages: [result('a')] },
    message:
      'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    source: 'https://github.com/decocms/studio/issues/1803',
  },
  {
    what: 'a result of a call long ago',
    body: {
      messages: [user, use('a'), result('a'), { role: 'assistant', content: 'ok' }, result('a')],
    },
    message:
      'messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    source: 'https://github.com/router-for-me/CLIProxyAPI/issues/497',
  },
  {
    what: 'an id for two calls',
    body: { messages: [user, use('a', 'a'), result('a')] },
    message: 'messages.1.content.1: `tool_use` ids must be unique',
    source: 'https://github.com/trycua/cua/issues/524',
  },
  {
    what: 'a text of nothing',
    body: { messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] },
    message: 'messages: text content blocks must be non-empty',
    source: 'https://github.com/anthropics/claude-code/issues/53436',
  },
  ...[{ type: 'auto' }, { type: 'any' }, { type: 'tool', name: 'weather' }].map((tool_choice) => ({
    what: `the tool choice ${tool_choice.type} without tools`,
    body: { tool_choice },
    message: 'tool_choice may only be specified while providing tools.',
    source: messagesGuide,
  })),
  {
    what: 'a tool choice of an unknown name',
    body: { tools: [tool], tool_choice: { type: 'tool', name: 'nope' } },
    message: "tool_choice: Tool 'nope' not found in provided tools",
    source: messagesGuide,
  },
  {
    what: 'a tool choice of the other protocols',
    body: { tools: [tool], tool_choice: 'auto' },
    message: 'tool_choice: Input should be a valid dictionary',
    source: messagesGuide,
  },
  {
    what: 'a tool choice that is none',
    body: { tools: [tool], tool_choice: { type: 'required' } },
    message:
      "tool_choice: Input tag 'required' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'",
    source: messagesGuide,
  },
  {
    what: 'a tool without a schema',
    body: { tools: [{ name: 'weather' }] },
    message: 'tools.0.custom.input_schema: Field required',
    source: messagesGuide,
  },
  {
    what: 'two tools of one name',
    body: { tools: [tool, tool] },
    message: 'tools: Tool names must be unique.',
    source: messagesGuide,
  },
  {
    what: 'a picture in the shape of the other protocols',
    body: { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
    message:
      "messages.0.content.0: Input tag 'image_url' found using 'type' does not match any of the expected tags: 'text', 'image', 'document', 'search_result', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', 'server_tool_use', 'web_search_tool_result', 'web_fetch_tool_result', 'advisor_tool_result', 'code_execution_tool_result', 'bash_code_execution_tool_result', 'text_editor_code_execution_tool_result', 'tool_search_tool_result', 'mcp_tool_use', 'mcp_tool_result', 'container_upload', 'compaction', 'tool_addition', 'tool_removal', 'mcp_tool_listing', 'fallback'",
    source: 'https://docs.claude.com/en/api/messages',
  },
  {
    what: 'a role of the other protocols',
    body: { messages: [{ role: 'tool', content: 'x' }] },
    message: "messages.0.role: Input should be 'user' or 'assistant'",
    source: 'https://docs.claude.com/en/api/messages',
  },
  {
    what: 'a limit in words',
    body: { max_tokens: 'many' },
    message: 'max_tokens: Input should be a valid integer',
    source: 'https://docs.claude.com/en/api/messages',
  },
  {
    what: 'no tokens at all',
    body: { max_tokens: 0 },
    message: 'max_tokens: Input should be greater than or equal to 1',
    source: 'https://docs.claude.com/en/api/messages',
  },
  {
    what: 'a temperature of the other protocols',
    body: { temperature: 1.5 },
    message: 'temperature: Input should be less than or equal to 1',
    source: 'https://docs.claude.com/en/api/messages',
  },
]

const hello = { model: 'gpt-5.6', messages: [user] }
const asked = { model: 'gpt-5.6', input: 'x' }

describe.each([
  ['chat', '/v1/chat/completions', hello, chat],
  ['responses', '/v1/responses', { model: 'gpt-5.6', input: 'hi' }, responses],
  ['messages', '/v1/messages', { ...hello, max_tokens: 99 }, messages],
] as const)('%s', (protocol, path, good, rows) => {
  test.each(rows)('refusals: $what', async ({ body, message, param = '', code = null }) => {
    const gateway = await aGateway()
    const answer = await ask(gateway, path, { ...good, ...body })
    const id = answer.headers.get('x-oneapi-request-id')
    const said = { message: `${message} (request id: ${id})`, type: 'invalid_request_error' }
    expect([answer.status, await jsonOf(answer)]).toEqual([
      400,
      protocol === 'messages'
        ? { type: 'error', error: said }
        : { error: { ...said, param, code } },
    ])
  })

  test('refusals: null is as good as nothing', async () => {
    const gateway = await aGateway()
    const nothing = {
      temperature: null,
      tools: null,
      tool_choice: null,
      stop: null,
      metadata: null,
    }
    expect((await ask(gateway, path, { ...good, ...nothing })).status).toBe(200)
  })
})

/** What the vendors do and this gateway does not. */
const notDone: readonly [path: string, body: object, param: string][] = [
  ['/v1/chat/completions', { ...hello, n: 2 }, 'n'],
  ['/v1/chat/completions', { ...hello, logprobs: true }, 'logprobs'],
  ['/v1/chat/completions', { ...hello, modalities: ['text', 'audio'] }, 'modalities'],
  ['/v1/chat/completions', { ...hello, web_search_options: {} }, 'web_search_options'],
  ['/v1/responses', { ...asked, background: true }, 'background'],
  ['/v1/responses', { ...asked, conversation: 'conv_1' }, 'conversation'],
  ['/v1/responses', { ...asked, prompt: { id: 'pmpt_1' } }, 'prompt'],
  ['/v1/responses', { ...asked, top_logprobs: 2 }, 'top_logprobs'],
  ['/v1/responses', { ...asked, include: ['message.output_text.logprobs'] }, 'include'],
  ['/v1/responses', { ...asked, tools: [{ type: 'mcp', server_label: 'x' }] }, 'tools'],
  ['/v1/responses', { ...asked, tools: [{ type: 'code_interpreter', container: 'c' }] }, 'tools'],
  ['/v1/responses', { ...asked, tools: [{ type: 'web_search' }] }, 'tools'],
]

test.each(notDone)('what is not done is refused: %s %j', async (path, body, param) => {
  const gateway = await aGateway()
  const answer = await ask(gateway, path, body)
  expect(answer.status).toBe(400)
  const { error } = await jsonOf(answer)
  expect(error).toMatchObject({ param, code: 'unsupported_by_local_gateway' })
  expect(error.message).toContain('The local gateway does not do this: ')
})

test.each([
  { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  { mcp_servers: [{ type: 'url', url: 'https://x.example', name: 'x' }] },
])('what is not done is refused: messages with %j', async (more) => {
  const gateway = await aGateway()
  const answer = await ask(gateway, '/v1/messages', { ...hello, ...more })
  expect(answer.status).toBe(400)
  expect((await jsonOf(answer)).error.message).toContain('The local gateway does not do this: ')
})

test.each([
  [
    '/v1/chat/completions',
    'response_format',
    (schema: object) => ({ type: 'json_schema', json_schema: { name: 'x', schema } }),
  ],
  [
    '/v1/responses',
    'text',
    (schema: object) => ({ format: { type: 'json_schema', name: 'x', schema } }),
  ],
  [
    '/v1/messages',
    'output_config',
    (schema: object) => ({ format: { type: 'json_schema', schema } }),
  ],
] as const)('refusals: %s: a schema that nothing fits', async (path, member, formatOf) => {
  const gateway = await aGateway()
  const a = { type: 'string', enum: [] }
  const properties = { a }
  const required = ['a']
  const schema = { type: 'object', properties, required, additionalProperties: false }
  const answer = await ask(gateway, path, { ...saying(path, 'hi'), [member]: formatOf(schema) })
  expect(answer.status).toBe(400)
  expect((await jsonOf(answer)).error.message).toContain('finds nothing that fits the schema')
})

test('refusals: the vendor comes last, behind price, quota and protocol', async () => {
  const entry = { ownedBy: 'x', endpointTypes: ['openai'] }
  const gateway = await aGateway({
    models: [
      { ...entry, id: 'a' },
      { ...entry, id: 'free', hasNoPrice: true },
    ],
  })
  const broken = { messages: [user, chatResult('a')] }
  const status = async (model: string, path = '/v1/chat/completions') =>
    (await ask(gateway, path, { model, ...broken })).status
  expect(await status('free')).toBe(500)
  expect(await status('a', '/v1/messages')).toBe(500)
  gateway.setFaults([{ error: 'quota', times: 1 }])
  expect(await status('a')).toBe(403)
  expect(await status('a')).toBe(400)
})
