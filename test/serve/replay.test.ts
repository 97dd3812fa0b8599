import { existsSync } from 'node:fs'
import { readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { aFile, aGateway, aServer, ask, askJson } from './support/gateway.ts'

const upstreamKey = 'sk-canary-upstream-0123456789'
const models = [
  { id: 'my-model', ownedBy: 'x', endpointTypes: ['openai', 'openai-response', 'anthropic'] },
]
const messages = (content: string) => [{ role: 'user', content }]
const chat = (content: string, more: object = {}) => ({
  model: 'my-model',
  messages: messages(content),
  ...more,
})
const weather = { name: 'weather', parameters: { type: 'object', properties: {} } }
const tools = [{ type: 'function', function: weather }]

/** A gateway that records the answers of another one, which replaces a real gateway. */
async function aRecorder(betweenMs = 0) {
  const real = await aGateway({
    key: upstreamKey,
    models,
    faults: [{ betweenMs }, { route: 'chat', status: 429, message: 'slow down', every: 4 }],
  })
  const record = await aFile()
  const upstream = { url: real.url, key: upstreamKey }
  return { recording: await aGateway({ upstream, record }), record }
}

test('the answers of an upstream are recorded and replayed to the byte', async () => {
  const { recording, record } = await aRecorder(40)
  const questions: [string, object][] = [
    ['/v1/chat/completions', chat('#call weather {"city":"Paris"}', { tools, stream: true })],
    ['/v1/chat/completions', chat('ping')],
    ['/v1/chat/completions', chat('one two three', { stream: true })],
    ['/v1/chat/completions', chat('too much')],
    ['/v1/messages', { ...chat('ping'), max_tokens: 99, stream: true }],
    ['/v1/responses', { model: 'my-model', input: 'ping', stream: true }],
  ]
  const given: [number, string | null, string][] = []
  for (const [path, body] of questions) {
    const answer = await ask(recording, path, body)
    given.push([answer.status, answer.headers.get('content-type'), await answer.text()])
  }
  expect(given[3]![0]).toBe(429)
  await expect.poll(() => recording.requests().every(({ state }) => state === 'done')).toBe(true)

  const again = await aGateway({ scenarioFile: record })
  for (const [index, [path, body]] of questions.entries()) {
    const answer = await ask(again, path, body)
    const came = [answer.status, answer.headers.get('content-type'), await answer.text()]
    expect(came).toEqual(given[index])
  }
  const [first, , third] = again.requests()
  expect(third!.totalMs! - third!.firstByteMs!).toBeGreaterThan(100)
  expect(first!.status).toBe(200)
})

/** A scenario with one recorded answer, a stream of three events. */
const recordedStream = {
  answers: [
    {
      when: { text: 'go', model: 'their-model' },
      reply: [
        {
          raw: {
            type: 'text/event-stream',
            events: ['one', 'two', 'three'].map((word) => ({ text: `data: {"${word}":1}\n\n` })),
          },
        },
      ],
    },
  ],
}
const go = { model: 'their-model', messages: messages('go'), stream: true }

test('a model with a recorded answer is served in a scope, and next to a catalog that lacks it', async () => {
  const gateway = await aGateway({ models, scenario: recordedStream })
  const other = await aGateway()
  for (const one of [gateway, await other.scope({ scenario: recordedStream })]) {
    const answer = await ask(one, '/v1/chat/completions', go)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('{"three":1}')
  }
  expect((await ask(other, '/v1/chat/completions', go)).status).toBe(503)
})

test('a fault ends a recorded stream too', async () => {
  const gateway = await aGateway({ scenario: recordedStream, faults: [{ errorAfter: 1 }] })
  const text = await (await ask(gateway, '/v1/chat/completions', go)).text()
  expect(text).toContain('{"one":1}')
  expect(text).not.toContain('{"two":1}')
  expect(text).toContain('upstream error')
  gateway.setFaults([{ cutAfter: 2 }])
  const cut = await ask(gateway, '/v1/chat/completions', go)
  await expect(cut.text()).rejects.toThrow('terminated')
})

test('the rule of a request that the log cuts has its whole condition', async () => {
  const { recording, record } = await aRecorder()
  const long = chat('ping', { metadata: { long: 'x'.repeat(300_000) } })
  await ask(recording, '/v1/chat/completions', long)
  await expect.poll(() => readFile(record, 'utf8')).toContain('text: ping')
})

test('a recording has no key and no header, and only its owner can read it', async () => {
  const { recording, record } = await aRecorder()
  const prompt = `my keys are ${recording.key} and ${upstreamKey}`
  await ask(recording, '/v1/chat/completions', chat(prompt))
  await (await ask(recording, '/v1/chat/completions', chat(prompt, { stream: true }))).text()
  await expect.poll(async () => (await readFile(record, 'utf8')).match(/raw:/g)?.length).toBe(2)
  const text = await readFile(record, 'utf8')
  for (const key of [recording.key, upstreamKey]) expect(text).not.toContain(key)
  expect(text).not.toMatch(/ratelimit|request-id:|date:/i)
  expect((await stat(record)).mode & 0o777).toBe(0o600)
  expect(text).toContain('    text: |')
})

test('a repeated question gets the next answer, and then the last one', async () => {
  const { recording, record } = await aRecorder()
  const ids = async (gateway: typeof recording, count: number) => {
    const found: string[] = []
    for (let round = 0; round < count; round++)
      found.push((await askJson(gateway, '/v1/chat/completions', chat('ping'))).id)
    return found
  }
  const [one, two] = await ids(recording, 2)
  await expect.poll(async () => (await readFile(record, 'utf8')).includes(two!)).toBe(true)
  const again = await aGateway({ scenarioFile: record })
  expect(await ids(again, 3)).toEqual([one, two, two])
})

test('thoughts with a vendor’s signature are accepted if the answer was recorded', async () => {
  const scenarioFile = await aFile(
    'answers: [{ when: { text: go on, model: claude-x }, reply: { raw: { body: "{}" } } }]',
  )
  const gateway = await aGateway({ scenarioFile })
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 'EqQBCgIYAhIM' }
  const history = (last: string) => ({
    model: 'claude-x',
    max_tokens: 9,
    messages: [
      ...messages('x'),
      { role: 'assistant', content: [thought, { type: 'text', text: 'y' }] },
      ...messages(last),
    ],
  })
  expect((await ask(gateway, '/v1/messages', history('go on'))).status).toBe(200)
  expect((await ask(gateway, '/v1/messages', history('else'))).status).toBe(400)
})

test.each([{ faults: [{ status: 500 }] }, { strict: true }, { models }])(
  'an upstream answers the other requests, so %j is refused',
  async (options) => {
    const upstream = { url: 'http://127.0.0.1:9', key: upstreamKey }
    await expect(aGateway({ upstream, ...options })).rejects.toMatchObject({ code: 'usage' })
  },
)

test('a new recording needs an upstream, and a recording never replaces another file', async () => {
  await expect(aGateway({ record: await aFile() })).rejects.toMatchObject({ code: 'usage' })
  const mixed = await aFile('answers: [{ when: hi, reply: hello }]')
  await expect(aGateway({ record: mixed })).rejects.toThrow('an answer that is not recorded')
  const record = await aFile('mine')
  const upstream = { url: 'http://127.0.0.1:9', key: upstreamKey }
  await expect(aGateway({ record, upstream })).rejects.toThrow('it has no recorded answers')
  expect(await readFile(record, 'utf8')).toBe('mine')
})

test('a link that replaces a recording is not followed', async () => {
  const { recording, record } = await aRecorder()
  const [elsewhere, aside] = [await aFile('mine'), `${record}.aside`]
  await rename(record, aside)
  await symlink(elsewhere, record)
  await ask(recording, '/v1/chat/completions', chat('ping'))
  await expect.poll(async () => readFile(aside, 'utf8')).toContain('pong')
  expect(await readFile(elsewhere, 'utf8')).toBe('mine')
  await recording.close()
  expect(existsSync(record)).toBe(true)

  const dangling = await aFile()
  await symlink(`${dangling}.target`, dangling)
  const upstream = { url: 'http://127.0.0.1:9', key: upstreamKey }
  await expect(aGateway({ record: dangling, upstream })).rejects.toThrow('it is a link')
  expect(existsSync(`${dangling}.target`)).toBe(false)
})

test('no header and no body of a recording has the key of the upstream', async () => {
  const key = 'sk-canary/+~?{0123}>>>???'
  const url = await aServer((_, response) => {
    response.writeHead(200, { 'content-type': `application/json; note="${key}"` })
    response.end(JSON.stringify({ text: key }))
  })
  const record = await aFile()
  const recording = await aGateway({ upstream: { url, key }, record })
  await ask(recording, '/v1/chat/completions', chat('ping'))
  await expect.poll(() => readFile(record, 'utf8')).toContain('raw:')
  expect(await readFile(record, 'utf8')).not.toContain(key)
  expect(JSON.stringify(recording.requests())).not.toContain(key)
})

test('an empty recording leaves no file', async () => {
  const upstream = { url: 'http://127.0.0.1:9', key: upstreamKey }
  const record = await aFile()
  await (await aGateway({ upstream, record })).close()
  expect(existsSync(record)).toBe(false)

  const existing = await aGateway()
  const port = existing.port
  await expect(aGateway({ upstream, record, port })).rejects.toThrow('EADDRINUSE')
  expect(existsSync(record)).toBe(false)

  const renamed = await aGateway({ upstream, record })
  await rename(record, `${record}.aside`)
  await writeFile(record, 'mine')
  await renamed.close()
  expect(await readFile(record, 'utf8')).toBe('mine')
})
