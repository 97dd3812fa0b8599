import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { startGateway } from '../../src/serve/index.ts'
import { aFile, aGateway, aServer, ask, askJson } from './support/gateway.ts'

const upstreamKey = 'sk-canary-upstream-0123456789'

/** A gateway that replaces a real one, and counts its answers: each is different. */
async function aRealGateway() {
  let count = 0
  const real = await aGateway({
    key: upstreamKey,
    answer: ({ text }) => `answer ${++count} to ${text.slice(-20)}`,
  })
  return { real, upstream: { url: real.url, key: upstreamKey } }
}

const chat = (content: string, more: object = {}) => ({
  model: 'gpt-5.6',
  messages: [{ role: 'user', content }],
  ...more,
})

async function say(scope: { url: string; key: string }, content: string): Promise<string> {
  const answer = await askJson(scope, '/v1/chat/completions', chat(content))
  return answer.choices[0].message.content
}

test('a scope replays what is recorded, and forwards and adds only what is missing', async () => {
  const { real, upstream } = await aRealGateway()
  const gateway = await aGateway()
  const record = await aFile()

  const first = await gateway.scope({ record, upstream })
  expect([await say(first, 'one'), await say(first, 'one')]).toEqual([
    'answer 1 to one',
    'answer 2 to one',
  ])
  await first.close()

  const second = await gateway.scope({ record, upstream })
  expect(await say(second, 'one')).toBe('answer 1 to one')
  expect(await say(second, 'one more')).toBe('answer 3 to one more')
  expect(await say(second, 'one')).toBe('answer 2 to one')
  expect(await say(second, 'one')).toBe('answer 4 to one')
  await second.close()
  expect(real.requests()).toHaveLength(4)

  const third = await gateway.scope({ record, strict: true })
  expect(await say(third, 'one more')).toBe('answer 3 to one more')
  for (const nth of [1, 2, 4, 4]) expect(await say(third, 'one')).toBe(`answer ${nth} to one`)
  expect((await ask(third, '/v1/chat/completions', chat('two'))).status).toBe(400)
  expect(real.requests()).toHaveLength(4)
})

test('an agent loop with streams is replayed to the byte, without the upstream', async () => {
  const { real, upstream } = await aRealGateway()
  real.setFaults([{ betweenMs: 2 }])
  const gateway = await aGateway()
  const record = await aFile()
  const weather = { name: 'weather', input_schema: { type: 'object' } }
  const run = async (scope: { url: string; key: string }) => {
    const messages: object[] = [{ role: 'user', content: 'Paris?' }]
    const body = { model: 'claude-opus-5-5', max_tokens: 99, tools: [weather], messages }
    const asked = await askJson(scope, '/v1/messages', body)
    messages.push({ role: 'assistant', content: asked.content }, { role: 'user', content: 'go on' })
    const stream = await ask(scope, '/v1/messages', { ...body, stream: true })
    return [asked, await stream.text()]
  }
  const first = await gateway.scope({ record, upstream })
  const given = await run(first)
  await first.close()
  await real.close()
  expect(await run(await gateway.scope({ record, upstream }))).toEqual(given)
})

test('scopes record at the same time without mixing, each into its own file', async () => {
  const { upstream } = await aRealGateway()
  const gateway = await aGateway({ upstream })
  const recordings = await Promise.all(
    Array.from({ length: 5 }, async (_, index) => {
      const record = await aFile()
      const scope = await gateway.scope({ record })
      const texts = await Promise.all(
        Array.from({ length: 6 }, (_, nth) => say(scope, `scope ${index}, question ${nth}`)),
      )
      await scope.close()
      return { index, record, texts }
    }),
  )
  for (const { index, record, texts } of recordings) {
    const text = await readFile(record, 'utf8')
    expect(
      text.match(/scope \d, question/g)!.every((found) => found.startsWith(`scope ${index}`)),
    ).toBe(true)
    const replay = await (await aGateway()).scope({ record, strict: true })
    for (const [nth, expected] of texts.entries())
      expect(await say(replay, `scope ${index}, question ${nth}`)).toBe(expected)
  }
})

test('two scopes cannot record into one file, and a closed one gives it back', async () => {
  const { upstream } = await aRealGateway()
  const gateway = await aGateway({ upstream })
  const record = await aFile()
  const first = await gateway.scope({ record })
  await say(first, 'one')
  await expect(gateway.scope({ record })).rejects.toThrow('another scope records into it')
  await expect(gateway.scope({ key: first.key })).rejects.toThrow('same key')
  await first.close()
  await (await gateway.scope({ record })).close()
  expect(await readFile(record, 'utf8')).toContain('text: one')
  const empty = await aFile('answers: []\n')
  await (await gateway.scope({ record: empty })).close()
  expect(await readFile(empty, 'utf8')).toBe('answers: []\n')
})

test('long questions that begin alike are different questions', async () => {
  const { upstream } = await aRealGateway()
  const record = await aFile()
  const scope = await (await aGateway()).scope({ record, upstream })
  const start = 'Summarise this document. '.repeat(100)
  expect(await say(scope, `${start} a`)).toMatch(/^answer 1/)
  expect(await say(scope, `${start} b`)).toMatch(/^answer 2/)
  await scope.close()
  const again = await (await aGateway()).scope({ record, upstream })
  expect(await say(again, `${start} b`)).toMatch(/^answer 2/)
})

test('next to an upstream, a scenario and a function answer first', async () => {
  const { real, upstream } = await aRealGateway()
  const gateway = await aGateway()
  const record = await aFile()
  const scope = await gateway.scope({
    upstream,
    record,
    scenario: { answers: [{ when: 'weather', reply: 'It rains.' }] },
    answer: ({ text }) => (text === 'who' ? 'the function' : undefined),
  })
  expect(await say(scope, 'the weather?')).toBe('It rains.')
  expect(await say(scope, 'who')).toBe('the function')
  expect(await say(scope, 'else')).toBe('answer 1 to else')
  expect(real.requests()).toHaveLength(1)
  expect(await readFile(record, 'utf8')).not.toContain('rains')
  // What this gateway would reject is the upstream's to judge.
  const unknown = { ...chat('hi'), model: 'unknown-model' }
  expect((await ask(scope, '/v1/chat/completions', unknown)).status).toBe(503)
  const models = await ask(scope, '/v1/models')
  expect(models.status).toBe(200)
  expect(
    real
      .requests()
      .map(({ path }) => path)
      .at(-1),
  ).toBe('/v1/models')
  expect((await ask(gateway, '/v1/chat/completions', chat('ping'))).status).toBe(200)
  expect(real.requests()).toHaveLength(3)
})

test('what the upstream accepts is replayed, even if this gateway rejects it', async () => {
  const body = JSON.stringify({ choices: [{ message: { content: 'fine' } }] })
  const url = await aServer((_, response) => response.end(body))
  const gateway = await aGateway()
  const record = await aFile()
  const odd = { ...chat('odd'), model: 'their-model', temperature: 0, unknown_member: 1 }
  const first = await gateway.scope({ record, upstream: { url, key: upstreamKey } })
  expect(await (await ask(first, '/v1/chat/completions', odd)).text()).toBe(body)
  await first.close()
  const replay = await gateway.scope({ record, strict: true })
  expect(await (await ask(replay, '/v1/chat/completions', odd)).text()).toBe(body)
})

test('no key is in the recording, in the log of a closed scope, or in what the upstream gets', async () => {
  const url = await aServer((request, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'set-cookie': 'sk-canary-cookie',
    })
    response.end(JSON.stringify({ text: `${request.headers.authorization} is your key` }))
  })
  const gateway = await startGateway()
  const record = await aFile()
  const scope = await gateway.scope({ record, upstream: { url, key: upstreamKey } })
  const prompt = `my keys are ${scope.key}, ${gateway.key} and ${upstreamKey}`
  await ask(scope, '/v1/chat/completions', chat(prompt))
  await scope.close()
  const text = await readFile(record, 'utf8')
  const log = JSON.stringify(gateway.requests())
  for (const key of [scope.key, gateway.key, upstreamKey]) {
    expect(text).not.toContain(key)
    expect(log).not.toContain(key)
  }
  expect(text).not.toMatch(/cookie|authorization/i)
  // The masked question is found again.
  const replay = await gateway.scope({ record, strict: true, key: scope.key })
  expect((await ask(replay, '/v1/chat/completions', chat(prompt))).status).toBe(200)
  await gateway.close()
})

test('a fault comes before a replayed answer, and options without effect are refused', async () => {
  const { upstream } = await aRealGateway()
  const gateway = await aGateway()
  const record = await aFile()
  const first = await gateway.scope({ record, upstream })
  await say(first, 'one')
  await first.close()
  const faults = [{ error: 'overloaded_error', times: 1 }] as const
  const replay = await gateway.scope({ record, faults })
  expect((await ask(replay, '/v1/chat/completions', chat('one'))).status).toBe(503)
  expect(await say(replay, 'one')).toBe('answer 1 to one')
  for (const more of [{ faults }, { strict: true }, { scenario: { faults } }])
    await expect(gateway.scope({ upstream, ...more })).rejects.toThrow('no effect')
})

test('with fragment off, a recorded answer comes at once', async () => {
  const day = 86_400_000
  const events = [{ text: 'data: 1\n\n' }, { text: 'data: 2\n\n', afterMs: day }]
  const reply = (raw: object) => JSON.stringify({ raw: { afterMs: day, ...raw } })
  const when = 'model: gpt-5.6, protocol: chat, afterTool: false'
  const record = await aFile(`answers:
  - { when: { text: stream, ${when} }, reply: ${reply({ type: 'text/event-stream', events })} }
  - { when: { text: whole, ${when} }, reply: ${reply({ body: '{}' })} }
`)
  const scope = await (await aGateway()).scope({ record, fragment: 'off' })
  const texts = ['stream', 'whole'].map(async (text) =>
    (await ask(scope, '/v1/chat/completions', chat(text))).text(),
  )
  expect(await Promise.all(texts)).toEqual(['data: 1\n\ndata: 2\n\n', '{}'])
})
