import { describe, expect, test } from 'vitest'
import { aGateway, ask, askJson, eventsOf, jsonOf, saying } from './support/gateway.ts'

const say = (content: string) => [{ role: 'user', content }]
const thinking = { type: 'enabled', budget_tokens: 1024 }
// No newer family accepts a budget.
const claude = { model: 'claude-sonnet-4-6', max_tokens: 4000, messages: say('#think Hm.\nping') }
const usage = { inputTokens: 100, cachedTokens: 80, outputTokens: 7 }
const tools = [{ name: 'weather', input_schema: { type: 'object' } }]

describe('thinking in messages', () => {
  test('thinking: is a block with a signature before the text, streamed or not', async () => {
    const gateway = await aGateway()
    const plain = await askJson(gateway, '/v1/messages', { ...claude, thinking })
    expect(plain.content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: expect.stringMatching(/^[\w+/=.]{40,}$/) },
      { type: 'text', text: 'pong' },
    ])
    const output_tokens_details = { thinking_tokens: 1 }
    expect(plain.usage).toMatchObject({ output_tokens: 2, output_tokens_details })
    const streamed = await eventsOf(
      ask(gateway, '/v1/messages', { ...claude, thinking, stream: true }),
    )
    const block = { type: 'thinking', thinking: '', signature: '' }
    const { signature } = plain.content[0]
    const delta = (grown: object) => ({ type: 'content_block_delta', index: 0, delta: grown })
    expect(streamed.slice(2, 6)).toEqual([
      { type: 'content_block_start', index: 0, content_block: block },
      delta({ type: 'thinking_delta', thinking: 'Hm.' }),
      delta({ type: 'signature_delta', signature }),
      { type: 'content_block_stop', index: 0 },
    ])
  })

  test('thinking: is sent if it is requested, and always if the model requires it', async () => {
    const gateway = await aGateway()
    const typesOf = async (more: object) =>
      (await askJson(gateway, '/v1/messages', { ...claude, ...more })).content.map(
        ({ type }: { type: string }) => type,
      )
    const messages = say('ping')
    expect(await typesOf({})).toEqual(['text'])
    expect(await typesOf({ thinking: { type: 'disabled' } })).toEqual(['text'])
    expect(await typesOf({ thinking: { type: 'adaptive' } })).toEqual(['thinking', 'text'])
    expect(await typesOf({ messages, thinking: { type: 'adaptive' } })).toEqual(['text'])
    expect(await typesOf({ messages, thinking })).toEqual(['thinking', 'text'])
  })

  test('thinking: omitted thoughts still have a signature', async () => {
    const gateway = await aGateway()
    const body = { ...claude, thinking: { type: 'adaptive', display: 'omitted' } }
    const { content } = await askJson(gateway, '/v1/messages', body)
    expect(content[0]).toMatchObject({ type: 'thinking', thinking: '' })
    const turns = [{ role: 'assistant', content }, ...say('ping')]
    const again = { ...body, messages: [...claude.messages, ...turns] }
    expect((await ask(gateway, '/v1/messages', again)).status).toBe(200)
  })

  test('thinking: must be sent back unchanged in a tool loop', async () => {
    const gateway = await aGateway()
    const asked = say('#think Rain?\n#call weather {"city":"Paris"}')
    const body = { ...claude, thinking, tools, messages: asked }
    const { content, stop_reason } = await askJson(gateway, '/v1/messages', body)
    expect(stop_reason).toBe('tool_use')
    const result = { type: 'tool_result', tool_use_id: content[1].id, content: 'rain' }
    const goOn = (blocks: readonly object[]) => {
      const assistantMessage = { role: 'assistant', content: blocks }
      const messages = [...asked, assistantMessage, { role: 'user', content: [result] }]
      return ask(gateway, '/v1/messages', { ...body, messages })
    }
    const refused = async (blocks: readonly object[]) => {
      const answer = await goOn(blocks)
      expect(answer.status).toBe(400)
      return (await jsonOf(answer)).error.message
    }

    expect((await jsonOf(goOn(content))).content.at(-1).text).toBe('weather returned: rain')
    const [thought, call] = content
    const signature = 'messages.1.content.0: Invalid `signature` in `thinking` block'
    expect(await refused([{ ...thought, thinking: 'Sun?' }, call])).toContain(signature)
    expect(await refused([{ ...thought, signature: 'x' }, call])).toContain(signature)
    expect(await refused([{ type: 'thinking', thinking: 'Rain?' }, call])).toContain(
      'messages.1.content.0.thinking.signature: Field required',
    )
    expect(await refused([call])).toContain(
      'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
    )
  })

  // https://docs.claude.com/en/docs/build-with-claude/extended-thinking, read 2026-11-22
  test.each([
    [{ thinking: { type: 'enabled', budget_tokens: 10 } }, 'greater than or equal to 1024'],
    [{ thinking: { type: 'enabled' } }, 'thinking.enabled.budget_tokens: Field required'],
    [{ thinking: { type: 'deep' } }, "thinking: Input tag 'deep' found using 'type'"],
    [{ thinking, max_tokens: 1024 }, '`max_tokens` must be greater than `thinking.budget_tokens`'],
    [{ thinking, temperature: 0 }, '`temperature` may only be set to 1 when thinking is enabled'],
    [{ thinking, tools, tool_choice: { type: 'any' } }, 'when tool_choice forces tool use.'],
  ])('thinking: %j is refused', async (more, message) => {
    const gateway = await aGateway()
    const answer = await ask(gateway, '/v1/messages', { ...claude, ...more })
    expect(answer.status).toBe(400)
    expect((await jsonOf(answer)).error.message).toContain(message)
  })
})

describe('reasoning in responses', () => {
  const body = {
    model: 'gpt-5.6',
    input: '#think Hm. So.\nping',
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
  }

  test('reasoning: is an item with summary and encrypted content, streamed or not', async () => {
    const gateway = await aGateway()
    const plain = await askJson(gateway, '/v1/responses', body)
    const item = {
      id: expect.stringMatching(/^rs_/),
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Hm. So.' }],
      encrypted_content: expect.stringMatching(/.{40}/),
    }
    expect(plain.output).toMatchObject([item, { type: 'message' }])
    const output_tokens_details = { reasoning_tokens: 2 }
    expect(plain.usage).toMatchObject({ output_tokens: 3, output_tokens_details })
    const streamed = await eventsOf(ask(gateway, '/v1/responses', { ...body, stream: true }))
    const types = streamed.slice(2, 9).map(({ type }) => type.slice('response.'.length))
    expect(types.join(' ')).toBe(
      'output_item.added reasoning_summary_part.added reasoning_summary_text.delta ' +
        'reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done ' +
        'output_item.done',
    )
    expect(streamed[8].item).toMatchObject(item)
    expect(streamed[5]).toMatchObject({ output_index: 0, summary_index: 0, delta: ' So.' })
    expect(streamed.at(-1).response.output).toMatchObject([item, { type: 'message' }])
  })

  test('reasoning: the item is empty without summary and include, and is missing without effort', async () => {
    const gateway = await aGateway()
    const ping = { model: 'gpt-5.6', input: 'ping' }
    const output = async (more: object) =>
      (await askJson(gateway, '/v1/responses', { ...ping, ...more })).output
    const bare = { id: expect.any(String), type: 'reasoning', summary: [] }
    expect((await output({ reasoning: { effort: 'high' } }))[0]).toEqual(bare)
    expect(await output({})).toMatchObject([{ type: 'message' }])
    expect(await output({ reasoning: { effort: 'none' } })).toMatchObject([{ type: 'message' }])
  })

  test('reasoning: encrypted content must be sent back unchanged', async () => {
    const gateway = await aGateway()
    const { output } = await askJson(gateway, '/v1/responses', body)
    const goOn = (item: object) => {
      const input = [...say('ping'), item, output[1], ...say('ping')]
      return ask(gateway, '/v1/responses', { ...body, input })
    }
    expect((await goOn(output[0])).status).toBe(200)
    const altered = await goOn({ ...output[0], encrypted_content: 'gAAAAA' })
    expect(altered.status).toBe(400)
    expect((await jsonOf(altered)).error.code).toBe('invalid_encrypted_content')
  })
})

test('reasoning in chat has text and tokens, streamed or not', async () => {
  const gateway = await aGateway()
  const body = { model: 'gpt-5.6', messages: say('#think Hm. So.\nping'), reasoning_effort: 'low' }
  const plain = await askJson(gateway, '/v1/chat/completions', body)
  expect(plain.choices[0].message).toMatchObject({ content: 'pong', reasoning_content: 'Hm. So.' })
  expect(plain.usage.completion_tokens_details.reasoning_tokens).toBe(2)
  const streamed = await eventsOf(ask(gateway, '/v1/chat/completions', { ...body, stream: true }))
  expect(streamed.slice(1, 4).map(({ choices }) => choices[0].delta)).toEqual([
    { reasoning_content: 'Hm.' },
    { reasoning_content: ' So.' },
    { content: 'pong' },
  ])
})

test('a scenario sets thoughts, a refusal, the reason of the end and the usage', async () => {
  const gateway = await aGateway({
    scenario: {
      answers: [
        { when: 'bomb', reply: { refusal: 'I will not.', usage } },
        { when: 'filter', reply: { text: 'So', finish: 'content-filter' } },
        { reply: { thinking: 'Let me see.', text: 'Yes.' } },
      ],
    },
  })
  const chat = (content: string) =>
    askJson(gateway, '/v1/chat/completions', { model: 'gpt-5.6', messages: say(content) })
  const responses = (input: string) =>
    askJson(gateway, '/v1/responses', { model: 'gpt-5.6', input })
  const messages = (content: string, more: object = {}) =>
    askJson(gateway, '/v1/messages', { ...claude, messages: say(content), ...more })

  expect(await chat('bomb')).toMatchObject({
    choices: [{ message: { content: null, refusal: 'I will not.' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 80 },
    },
  })
  const [{ content: refused }] = (await responses('bomb')).output
  expect(refused).toEqual([{ type: 'refusal', refusal: 'I will not.' }])
  expect(await messages('bomb')).toMatchObject({
    stop_reason: 'refusal',
    usage: { input_tokens: 20, cache_read_input_tokens: 80, output_tokens: 7 },
  })

  expect((await chat('filter')).choices[0].finish_reason).toBe('content_filter')
  const incomplete_details = { reason: 'content_filter' }
  expect(await responses('filter')).toMatchObject({ status: 'incomplete', incomplete_details })

  const block = { type: 'text', text: 'Yes.' }
  const thought = { type: 'thinking', thinking: 'Let me see.' }
  expect((await messages('so?', { thinking })).content).toMatchObject([thought, block])
  expect((await messages('so?')).content).toMatchObject([block])
  const types = (await responses('so?')).output.map(({ type }: { type: string }) => type)
  expect(types).toEqual(['reasoning', 'message'])
})

test('responses and chat stream a refusal in its own member', async () => {
  const gateway = await aGateway({ scenario: { answers: [{ reply: { refusal: 'I will not.' } }] } })
  const streamed = (path: string) =>
    eventsOf(ask(gateway, path, { ...saying(path, 'x'), stream: true }))
  const ofResponses = await streamed('/v1/responses')
  expect(ofResponses.map(({ type }) => type)).toContain('response.refusal.delta')
  const done = ofResponses.find(({ type }) => type === 'response.refusal.done')
  expect(done).toMatchObject({ refusal: 'I will not.', content_index: 0 })
  const ofChat = await streamed('/v1/chat/completions')
  expect(ofChat[1].choices[0].delta).toEqual({ refusal: 'I' })
})

describe('an answer that is cut', () => {
  const days = Array.from({ length: 999 }, (_, day) => day)
  const call = `#call weather ${JSON.stringify({ city: 'Paris', days })}`

  test('max_tokens cuts the arguments of a call, and every protocol says so', async () => {
    const gateway = await aGateway()
    const named = { name: 'weather', parameters: { type: 'object' } }
    const chat = await askJson(gateway, '/v1/chat/completions', {
      ...saying('/v1/chat/completions', call, 'gpt-5.4'),
      tools: [{ type: 'function', function: named }],
      max_completion_tokens: 2,
    })
    expect(chat.choices[0].finish_reason).toBe('length')
    const [{ function: called }] = chat.choices[0].message.tool_calls
    expect(() => JSON.parse(called.arguments)).toThrow()
    expect(chat.usage.completion_tokens).toBe(2)

    const responses = await askJson(gateway, '/v1/responses', {
      ...saying('/v1/responses', call),
      tools: [{ type: 'function', ...named }],
      max_output_tokens: 16,
    })
    expect(responses).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'function_call', status: 'incomplete' }],
    })

    const body = { ...claude, messages: say(call), tools, max_tokens: 2 }
    const messages = await askJson(gateway, '/v1/messages', body)
    expect(messages).toMatchObject({ stop_reason: 'max_tokens', content: [{ type: 'tool_use' }] })
  })

  test('without parallel calls, an answer has one call', async () => {
    const gateway = await aGateway()
    const two = '#call weather {}\n#call weather {"a":1}'
    const named = { name: 'weather', parameters: { type: 'object' } }
    const input = { model: 'gpt-5.6', input: two, tools: [{ type: 'function', ...named }] }
    const count = async (more: object) =>
      (await askJson(gateway, '/v1/responses', { ...input, ...more })).output.length
    expect([await count({}), await count({ parallel_tool_calls: false })]).toEqual([2, 1])
    const tool_choice = { type: 'auto', disable_parallel_tool_use: true }
    const body = { ...claude, messages: say(two), tools, tool_choice }
    expect((await askJson(gateway, '/v1/messages', body)).content).toHaveLength(1)
  })
})

test('legacy functions are called in their old format', async () => {
  const gateway = await aGateway()
  const functions = [{ name: 'weather', parameters: { type: 'object', properties: {} } }]
  const body = { model: 'gpt-5.6', functions, messages: say('#call weather {"city":"Paris"}') }
  const plain = (await askJson(gateway, '/v1/chat/completions', body)).choices[0]
  const function_call = { name: 'weather', arguments: '{"city":"Paris"}' }
  expect(plain).toMatchObject({ message: { function_call }, finish_reason: 'function_call' })
  const streamed = await eventsOf(ask(gateway, '/v1/chat/completions', { ...body, stream: true }))
  expect(streamed[1].choices[0].delta.function_call).toEqual({ name: 'weather', arguments: '' })
  const result = { role: 'function', name: 'weather', content: 'rain' }
  const messages = [...body.messages, plain.message, result]
  const last = await askJson(gateway, '/v1/chat/completions', { ...body, messages })
  expect(last.choices[0].message.content).toBe('weather returned: rain')
  const forced = { ...body, messages: say('x'), function_call: { name: 'weather' } }
  const called = await askJson(gateway, '/v1/chat/completions', forced)
  expect(called.choices[0].message.function_call.name).toBe('weather')
})
