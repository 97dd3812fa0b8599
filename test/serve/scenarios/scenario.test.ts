import { describe, expect, test } from 'vitest'
import { UserError } from '../../../src/errors.ts'
import { ScenarioPlayer } from '../../../src/serve/scenarios/player.ts'
import { readScenario } from '../../../src/serve/scenarios/scenario.ts'
import { readCatalogFile } from '../../../src/serve/settings/catalog-file.ts'
import { readYaml } from '../../../src/serve/settings/yaml.ts'
import { rows } from '../../support/rows.ts'
import { aModelRequest } from '../support/a-request.ts'
import { aFile, aGateway, ask, askJson } from '../support/gateway.ts'

async function say(gateway: Parameters<typeof ask>[0], content: string, more = {}) {
  const messages = [{ role: 'user', content }]
  const body = { model: 'gpt-5.4', messages, ...more }
  const document = await askJson(gateway, '/v1/chat/completions', body)
  return document.error?.code ?? document.choices[0].message
}

const weather = { type: 'function', function: { name: 'get_weather', parameters: {} } }

test('a scenario: answers in order, repeats the last, and leaves the rest to the model', async () => {
  const scenarioFile = await aFile(`
answers:
  - when: weather
    reply:
      - text: I look it up.
        call: get_weather
        with: { city: Paris }
      - It rains.
  - when: { pattern: '^count', protocol: chat }
    reply: [one, two]
    repeat: loop
  - when: { text: once, model: gpt-5.4 }
    reply: now
    repeat: never
`)
  const gateway = await aGateway({ scenarioFile })
  const first = await say(gateway, 'The WEATHER?', { tools: [weather] })
  expect(first.content).toBe('I look it up.')
  const called = { name: 'get_weather', arguments: '{"city":"Paris"}' }
  expect(first.tool_calls[0].function).toEqual(called)
  for (const content of ['It rains.', 'It rains.'])
    expect((await say(gateway, 'weather', { tools: [weather] })).content).toBe(content)
  for (const content of ['one', 'two', 'one'])
    expect((await say(gateway, 'count')).content).toBe(content)
  for (const content of ['now', 'gpt-5.4 on the local gateway. You said: once'])
    expect((await say(gateway, 'once')).content).toBe(content)
  expect((await say(gateway, 'ping')).content).toBe('pong')
})

test('a scenario: a secondary task without the tool does not use up a call', async () => {
  const scenarioFile = await aFile(`
answers:
  - { when: weather, reply: [{ call: get_weather }, done] }
  - { reply: a title }
`)
  const gateway = await aGateway({ scenarioFile })
  expect((await say(gateway, 'weather')).content).toBe('a title')
  expect((await say(gateway, 'weather', { tools: [weather] })).tool_calls).toHaveLength(1)
})

test('a scenario: has errors, delays and faults', async () => {
  const scenarioFile = await aFile(`
faults:
  - { route: models, status: 502 }
answers:
  - when: broke
    reply: [{ error: quota }, { text: fine, delayMs: 60 }]
`)
  const gateway = await aGateway({ scenarioFile })
  expect(await say(gateway, 'broke')).toBe('insufficient_user_quota')
  expect((await say(gateway, 'broke')).content).toBe('fine')
  expect(gateway.requests()[1]!.firstByteMs).toBeGreaterThan(55)
  expect((await ask(gateway, '/v1/models')).status).toBe(502)
})

test('a scenario: a rule after a tool result differs from the rule before it', async () => {
  const scenarioFile = await aFile(`
answers:
  - when: { text: go, afterTool: true }
    reply: after
  - when: go
    reply: before
`)
  const gateway = await aGateway({ scenarioFile })
  const called = { id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }
  const turns = [
    { role: 'assistant', tool_calls: [called] },
    { role: 'tool', tool_call_id: 'x', content: 'r' },
  ]
  expect((await say(gateway, 'go')).content).toBe('before')
  const messages = [{ role: 'user', content: 'go' }, ...turns]
  expect((await say(gateway, 'go', { messages })).content).toBe('after')
})

test('a scenario: matches a pattern in linear time', async () => {
  const scenarioFile = await aFile(`
answers:
  - { when: { pattern: '^(a+)+$' }, reply: all a }
  - { when: { pattern: '(?<word>\\w+)-\\u00e9\\d{2}' }, reply: found }
`)
  const gateway = await aGateway({ scenarioFile })
  const started = process.cpuUsage()
  expect((await say(gateway, `${'a'.repeat(100_000)}!`)).content).toContain('You said')
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(2_000)
  expect((await say(gateway, 'AAAA')).content).toBe('all a')
  expect((await say(gateway, 'so: x-É12')).content).toBe('found')
})

describe('an invalid scenario', () => {
  function read(text: string): string {
    try {
      readYaml(text, 'scenario.yaml', readScenario)
      return 'accepted'
    } catch (error) {
      const { code, message } = error as UserError
      return `${code}: ${message}`
    }
  }

  // `\n` is a line break.
  test.each(rows`
    5                                          | the document must be a mapping, not a number (line 1, column 1)
                                               | the document must be a mapping, not nothing
    answer: []                                 | answer is unknown. Use one of: answers, faults (line 1, column 9)
    answers:\n  - {}                           | answers[0].reply is missing (line 2, column 5)
    answers:\n  - reply: []                    | answers[0].reply must have at least one answer (line 2, column 12)
    answers:\n  - when: x\n    reply:\n      - text: 5 | answers[0].reply[0].text must be text, not a number (line 4, column 15)
    {"answers": [{"reply": {"status": 200}}]}  | answers[0].reply.status must be a whole number from 400 to 599 (line 1, column 35)
    answers: [{when: {pattern: "("}, reply: x}] | answers[0].when.pattern is not a regular expression:
    answers: [{when: {pattern: "(?=a)b"}, reply: x}] | answers[0].when.pattern is not a regular expression:
    answers: [{reply: {call: f, with: &x {a: *x}}}] | answers[0].reply.with must not contain itself (line 1, column 38)
    answers: [{reply: {with: {}}}]             | answers[0].reply.with belongs to "call", which is missing
    answers: [{reply: {}}]                     | answers[0].reply says nothing: give it "text", "call" or a fault
    answers: [{reply: x, repeat: often}]       | answers[0].repeat must be one of last, loop, never
    faults: [{error: nope}]                    | faults[0].error must be one of invalid-token,
    answers: [}                                | line 1, column 11
    a: 1\na: 2                                 | Map keys must be unique (line 2, column 1)
    a: &x [*x]\n__proto__: 1                   | is unknown
  `)('is rejected: %j', (line, problem) => {
    const text = line!.replaceAll('\\n', '\n')
    expect(read(text)).toMatch(/^config-invalid: Cannot use scenario\.yaml: /)
    expect(read(text)).toContain(problem)
  })

  test('is rejected if the file is missing', async () => {
    const start = aGateway({ scenarioFile: '/nowhere/at/all.yaml' })
    await expect(start).rejects.toThrow('Cannot read the scenario /nowhere/at/all.yaml')
  })

  test('is not one that gives text to a function, which is wrapped as JSON', () => {
    const scenario = readScenario({ answers: [{ reply: { call: 'f', with: 'oops {' } }] })
    const tool = { name: 'f', kind: 'function', parameters: {} } as const
    const request = aModelRequest([], { tools: [tool] })
    expect(new ScenarioPlayer(scenario).play(request, 'chat')).toEqual({
      kind: 'script',
      script: { utterances: [{ type: 'call', tool, text: '{"input":"oops {"}' }] },
      effects: {},
    })
  })
})

describe('a catalog file', () => {
  const read = (text: string) => readYaml(text, 'models.json', readCatalogFile)
  const everyProtocol = ['openai', 'openai-response', 'anthropic']

  test('has IDs, entries, or the response of a real gateway', () => {
    expect(read('[a, {id: b, endpointTypes: [anthropic], aliasOf: a}]')).toEqual([
      { id: 'a', ownedBy: 'custom', endpointTypes: everyProtocol },
      { id: 'b', ownedBy: 'custom', endpointTypes: ['anthropic'], aliasOf: 'a' },
    ])
    const answer = {
      data: [
        { id: 'x', owned_by: 'y', supported_endpoint_types: ['openai'] },
        { id: 'z', object: 'model', created: 5, context_length: 9000, pricing: { prompt: '0' } },
      ],
    }
    const listed = { context_length: 9000, pricing: { prompt: '0' } }
    expect(read(JSON.stringify(answer))).toEqual([
      { id: 'x', ownedBy: 'y', endpointTypes: ['openai'] },
      { id: 'z', ownedBy: 'custom', endpointTypes: everyProtocol, listed },
    ])
  })

  test.each([
    ['[]', 'the document must have at least one model'],
    ['[a, a]', 'is repeated: a (line 1, column 5)'],
    ['[{id: 5}]', '[0].id must be text, not a number'],
    ['[{id: a, aliasOf: b}]', '[0].aliasOf is not a model of this catalog: b'],
    ['[{id: a, color: red}]', '[0].color is unknown. Use one of: id,'],
  ])('is rejected if it is invalid: %j', (text, problem) => {
    expect(() => read(text)).toThrow(problem)
    expect(() => read(text)).toThrow(UserError)
  })
})
