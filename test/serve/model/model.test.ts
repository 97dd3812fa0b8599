import { expect, test } from 'vitest'
import { splitTokens } from '../../../src/serve/codecs/tokens.ts'
import { buildAnswer } from '../../../src/serve/model/build-answer.ts'
import { builtInAnswer } from '../../../src/serve/model/model.ts'
import type { ModelRequest, Tool } from '../../../src/serve/requests/model-request.ts'
import type { Turn } from '../../../src/serve/requests/turns/turns.ts'
import { aModelRequest } from '../support/a-request.ts'

const bash: Tool = { name: 'Bash', kind: 'function', parameters: {} }
const patch: Tool = { name: 'apply_patch', kind: 'custom', parameters: undefined }

function user(...texts: string[]): Turn {
  return { role: 'user', parts: texts.map((text) => ({ type: 'text', text })) }
}

function answer(text: string, more: Partial<ModelRequest> = {}) {
  return builtInAnswer(aModelRequest([user(text)], more))
}

test.each(['ping', ' Ping\n', '"ping"'])('the model: %j is answered with pong', (text) => {
  expect(answer(text)).toEqual([{ type: 'text', text: 'pong' }])
})

test('the model: is deterministic', () => {
  expect(answer('How are you?')).toEqual([
    { type: 'text', text: 'm on the local gateway. You said: How are you?' },
  ])
})

test('the model: ignores the reminders that clients add around a prompt', () => {
  const messages = [
    user('<system-reminder>x</system-reminder>', 'ping', '<environment_details>\ny'),
  ]
  expect(builtInAnswer(aModelRequest(messages))).toEqual([{ type: 'text', text: 'pong' }])
  const marked = '<<<BEGIN_CLIENT_CONTEXT>>>\nping\n<<<END_CLIENT_CONTEXT>>>'
  expect(builtInAnswer(aModelRequest([user('How?'), user(marked)]))).toMatchObject([
    { text: expect.stringContaining('You said: How?') },
  ])
  expect(builtInAnswer(aModelRequest([user('<b>ping')]))).not.toEqual([
    { type: 'text', text: 'pong' },
  ])
  expect(builtInAnswer(aModelRequest([user('ping', '<b>')]))).toMatchObject([
    { text: expect.stringContaining('You said: <b>') },
  ])
})

test.each([
  '<current_datetime>2026-11-23T10:00:00Z</current_datetime>\n\nping',
  '<a_b>x</a_b>\n<c-d>y</c-d>\n\nping\n\n<reminder_x>z</reminder_x>\n<e-f>\n</e-f>\n',
  '<user_query>\nping\n</user_query>',
  'ping <system-reminder>x</system-reminder>',
  '[Mon 2026-11-23 08:32 UTC] ping\n\nRuntime: agent=main | model=gateway/m',
])('the model: ignores the notes in the text of a prompt: %j', (text) => {
  expect(answer(text)).toEqual([{ type: 'text', text: 'pong' }])
})

test.each([
  '<my-button>press</my-button>x',
  'What is <my-button>press</my-button>',
  'Summarise: <document>many words</document>',
])('the model: keeps what the user writes in tags: %j', (text) => {
  const kept = text.replace(/^<my-button>press<\/my-button>/, '')
  expect(answer(text)).toMatchObject([{ text: expect.stringContaining(`You said: ${kept}`) }])
})

test('the model: unclosed tags take no time', () => {
  const start = process.cpuUsage()
  answer(`${'<a-b>x</a-b>'.repeat(200_000)}ping`)
  answer(`ping${'<a-b>'.repeat(1_000_000)}</a-b>`)
  answer('x</c-d>\n'.repeat(100_000))
  expect(process.cpuUsage(start).user / 1_000).toBeLessThan(3000)
})

test('the model: #call calls the client’s tool', () => {
  const replies = answer('Please:\n#call Bash {"command": "ls -l"}\nthanks', { tools: [bash] })
  expect(replies).toEqual([{ type: 'call', tool: bash, text: '{"command":"ls -l"}' }])
})

test('the model: several #call lines are parallel calls, and a custom tool gets its text', () => {
  const text = '#call Bash\n#call apply_patch *** Begin'
  expect(answer(text, { tools: [bash, patch] })).toEqual([
    { type: 'call', tool: bash, text: '{}' },
    { type: 'call', tool: patch, text: '*** Begin' },
  ])
})

test('the model: accepts a prompt in opencode’s quotes', () => {
  const text = '"#call Bash {\\"command\\":\\"echo \\\\"a b\\\\"\\"}"'
  expect(answer(text, { tools: [bash] })).toEqual([
    { type: 'call', tool: bash, text: '{"command":"echo \\"a b\\""}' },
  ])
})

test('the model: reaches a tool that only a script tool can call', () => {
  const exec: Tool = { ...patch, name: 'exec', nested: ['exec_command'] }
  expect(answer('#call exec_command {"cmd":"ls"}', { tools: [exec] })).toEqual([
    { type: 'call', tool: exec, text: 'text(await tools.exec_command({"cmd":"ls"}))' },
  ])
})

test.each([
  ['#call Nope {}', 'This request offers no tool "Nope". It offers: Bash.'],
  ['#call Bash {oops', 'The arguments of "#call Bash" are not a JSON object: {oops'],
  ['#call Bash [1]', 'The arguments of "#call Bash" are not a JSON object: [1]'],
])('the model: reports the problem of %j', (asked, text) => {
  expect(answer(asked, { tools: [bash] })).toEqual([{ type: 'text', text }])
})

test('the model: a secondary task without tools gets text', () => {
  expect(answer('#call Bash {}')[0]!.type).toBe('text')
})

test('the model: reports the results of tools by name, and calls nothing again', () => {
  const result = (id: string, text: string) =>
    ({ type: 'tool-result', id, text, isError: false }) as const
  const note = { type: 'text', text: '<system-reminder>z</system-reminder>' } as const
  const messages: Turn[] = [
    user('#call Bash {}'),
    { role: 'assistant', parts: [{ type: 'tool-call', id: 'a', name: 'Bash', text: '{}' }] },
    { role: 'user', parts: [result('a', 'hi'), result('b', 'ho'), note] },
  ]
  expect(builtInAnswer(aModelRequest(messages, { tools: [bash] }))).toEqual([
    { type: 'text', text: 'Bash returned: hi\nThe tool returned: ho' },
  ])
})

test('the model: a forced tool is called with the smallest arguments that fit', () => {
  const where = { type: 'object', required: ['x'], properties: { x: { type: ['null', 'string'] } } }
  const properties = {
    city: { type: 'string' },
    days: { type: 'integer', minimum: 1 },
    mode: { enum: ['fast', 'slow'] },
    where,
    extra: { type: 'string' },
  }
  const required = ['city', 'days', 'mode', 'where']
  const parameters = { type: 'object', required, properties }
  const tool: Tool = { name: 'plan', kind: 'function', parameters }
  expect(answer('Go', { tools: [bash, tool], toolChoice: { name: 'plan' } })).toEqual([
    { type: 'call', tool, text: '{"city":"","days":1,"mode":"fast","where":{"x":null}}' },
  ])
  expect(answer('#call Bash {}', { tools: [bash], toolChoice: 'none' })[0]!.type).toBe('text')
  expect(answer('Go', { tools: [bash], toolChoice: 'required' })[0]!.type).toBe('call')
})

test('the model: fills a recursive schema once', () => {
  let outputSchema: object = { type: 'string' }
  for (let depth = 0; depth < 14; depth++)
    outputSchema = { required: Array(20).fill('a'), properties: { a: outputSchema } }
  expect(answer('plan', { outputSchema })).toHaveLength(1)
})

test('the model: gives an answer that fits the required schema', () => {
  const outputSchema = { type: 'object', required: ['a'], properties: { a: { enum: ['x', 'y'] } } }
  expect(answer('plan', { outputSchema })).toEqual([{ type: 'text', text: '{"a":"x"}' }])
})

const newId = () => 'id'

test('answers: the number of tokens is the number of pieces of a stream', () => {
  const sentence = 'One two\n\tthree-verylongwordthatmustbecut 4️⃣ '
  const reply = { type: 'text', text: sentence } as const
  const { blocks, usage } = buildAnswer({ utterances: [reply] }, aModelRequest([]), newId)
  expect(blocks).toEqual([{ ...reply, isCut: false, id: '' }])
  expect(usage.outputTokens).toBeGreaterThan(4)
  expect(usage.outputTokens).toBe(splitTokens(reply).length)
})

test('answers: max_tokens cuts the text, a stop sequence ends it, and the reason names it', () => {
  const utterances = [{ type: 'text', text: 'one two three four' } as const]
  const cut = (more: Partial<ModelRequest>) =>
    buildAnswer({ utterances }, aModelRequest([], more), newId)
  expect(cut({ maxOutputTokens: 2 })).toMatchObject({
    blocks: [{ text: 'one two', isCut: true }],
    reason: { type: 'length' },
  })
  expect(cut({ stopSequences: ['four', 'th'] })).toMatchObject({
    blocks: [{ text: 'one two ' }],
    reason: { type: 'stop-sequence', sequence: 'th' },
  })
})
