import { expect, test } from 'vitest'
import { aGateway, ask, saying, told } from './support/gateway.ts'

const say = (content: string, more = {}) => ({
  model: 'gpt-5.6',
  messages: [{ role: 'user', content }],
  ...more,
})

test('the same question again: the same answer under an id of its own', async () => {
  const gateway = await aGateway()
  for (const stream of [false, true]) {
    const texts: string[] = []
    const ids: string[] = []
    for (let count = 0; count < 5; count++) {
      const body = say('one two', { stream })
      const text = await (await ask(gateway, '/v1/chat/completions', body)).text()
      const found = new Set([...text.matchAll(/chatcmpl-(\w+)/g)].map(([, id]) => id!))
      expect(found.size).toBe(1)
      ids.push([...found][0]!)
      texts.push(text.replaceAll(/chatcmpl-\w+/g, 'ID').replaceAll(/"created":\d+/g, ''))
    }
    expect(new Set(ids).size).toBe(5)
    expect(new Set(texts).size).toBe(1)
  }
  expect(gateway.requests().every(({ modelServed }) => modelServed === 'gpt-5.6-sol')).toBe(true)
})

test('the same question on another protocol is another question', async () => {
  const gateway = await aGateway()
  const answerOf = (path: string) => told(gateway, path, saying(path, 'ping'))
  for (let count = 0; count < 2; count++) {
    expect((await answerOf('/v1/chat/completions')).object).toBe('chat.completion')
    expect((await answerOf('/v1/responses')).object).toBe('response')
    expect((await answerOf('/v1/messages')).type).toBe('message')
  }
})

test('the same tool call again has another call id', async () => {
  const gateway = await aGateway()
  const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }]
  const ids: string[] = []
  for (let count = 0; count < 3; count++) {
    const answer = await told(gateway, '/v1/chat/completions', say('#call f', { tools }))
    ids.push(answer.choices[0].message.tool_calls[0].id)
  }
  expect(new Set(ids).size).toBe(3)
})

test('a fault strikes a question that was answered before', async () => {
  const gateway = await aGateway()
  expect((await ask(gateway, '/v1/chat/completions', say('ping'))).status).toBe(200)
  gateway.setFaults([{ error: 'quota', times: 1 }])
  expect((await ask(gateway, '/v1/chat/completions', say('ping'))).status).toBe(403)
  expect((await ask(gateway, '/v1/chat/completions', say('ping'))).status).toBe(200)
})

test('two hundred different questions are answered rightly twice', async () => {
  const gateway = await aGateway()
  for (let round = 0; round < 2; round++)
    for (let count = 0; count < 200; count++) {
      const answer = await told(gateway, '/v1/chat/completions', say(`q${count}`))
      expect(answer.choices[0].message.content).toMatch(new RegExp(` q${count}$`))
    }
})
