import { connect } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { readJson } from '../../src/serve/requests/json.ts'
import { aGateway, ask, paths, saying } from './support/gateway.ts'

afterEach(() => {
  vi.useRealTimers()
})

const input = { model: 'gpt-5.6', input: 'one two three four five six', stream: true }

describe('streams', () => {
  test('a stream stops immediately if the client disconnects', async () => {
    const gateway = await aGateway({ faults: [{ betweenMs: 20 }] })
    const controller = new AbortController()
    const { signal } = controller
    const answer = await ask(gateway, '/v1/responses', input, {}, { signal })
    await answer.body!.getReader().read()
    expect(gateway.openStreams()).toBe(1)
    controller.abort()
    await expect.poll(() => gateway.openStreams(), { interval: 2 }).toBe(0)
    const { state, responseBytes } = gateway.requests()[0]!
    expect(state).toBe('cut')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(gateway.requests()[0]!.responseBytes).toBe(responseBytes)
  })

  test('two hundred slow streams at once all end', async () => {
    // The clock of the streams is stopped until all of them are open.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const gateway = await aGateway({ faults: [{ betweenMs: 100 }] })
    const short = { ...input, input: 'ping' }
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => ask(gateway, '/v1/responses', short)),
    )
    expect(gateway.openStreams()).toBe(200)
    await vi.advanceTimersByTimeAsync(2000)
    vi.useRealTimers()
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    expect(texts.every((text) => text.includes('response.completed'))).toBe(true)
    await expect.poll(() => gateway.openStreams()).toBe(0)
  })

  test('one stream more than allowed is rejected', async () => {
    const limits = { maxOpenStreams: 2 }
    const gateway = await aGateway({ faults: [{ betweenMs: 60_000 }], limits })
    const answers = [await ask(gateway, '/v1/responses', input)]
    answers.push(await ask(gateway, '/v1/responses', input))
    expect((await ask(gateway, '/v1/responses', input)).status).toBe(503)
    await Promise.all(answers.map((answer) => answer.body!.cancel()))
    await expect.poll(() => gateway.openStreams()).toBe(0)
    expect((await ask(gateway, '/v1/responses', input)).status).toBe(200)
  })

  test('a client that does not read is disconnected', async () => {
    const gateway = await aGateway({ faults: [{ betweenMs: 1 }], limits: { stalledWriteMs: 100 } })
    // The answer repeats the tools three times, which is far more than the buffers of a socket hold.
    const description = 'x'.repeat(4_000_000)
    const tools = [{ type: 'function', name: 'x', description, parameters: {} }]
    const body = JSON.stringify({ ...input, tools })
    const socket = connect(gateway.port, '127.0.0.1')
    socket.pause()
    socket.on('error', () => {})
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await expect.poll(() => gateway.requests()[0]?.state).toBe('cut')
    expect(gateway.openStreams()).toBe(0)
    socket.destroy()
  })

  test('closing the gateway ends open streams', async () => {
    const gateway = await aGateway({ faults: [{ betweenMs: 60_000 }] })
    const answer = await ask(gateway, '/v1/responses', input)
    const text = answer.text().then(
      () => 'ended',
      () => 'broken off',
    )
    await gateway.close()
    expect(await text).toBe('broken off')
  })

  /** Requests a stream, and returns the pieces in which it arrives. */
  async function piecesOf(
    gateway: Pick<Gateway, 'url' | 'key'>,
    path: string,
    text: string,
  ): Promise<Buffer[]> {
    const answer = await ask(gateway, path, { ...saying(path, text), stream: true })
    const pieces: Buffer[] = []
    for await (const piece of answer.body!) pieces.push(Buffer.from(piece))
    return pieces
  }

  /** Parses each piece separately, without joining frames that are split. Many clients make this mistake. */
  function parseCarelessly(pieces: readonly string[]): unknown[] {
    return pieces
      .flatMap((piece) => piece.split('\n\n'))
      .flatMap((frame) => readJson(/^data: (\{.*)$/m.exec(frame)?.[1] ?? '') ?? [])
  }

  test.each(Object.values(paths))('%s arrives in pieces that end within a frame', async (path) => {
    const gateway = await aGateway()
    for (const text of ['ping', 'word '.repeat(40), 'the sign \u{1f600} and é']) {
      const pieces = await piecesOf(gateway, path, text)
      expect([2, 3]).toContain(pieces.length)
      for (const piece of pieces.slice(0, -1)) expect(piece.toString()).not.toMatch(/\n\n$/)
      expect(Buffer.concat(pieces).toString()).toMatch(/\n\n$/)
      const whole = Buffer.concat(pieces).toString()
      const events = whole.match(/^data: \{/gm)!.length
      expect(parseCarelessly([whole])).toHaveLength(events)
      expect(parseCarelessly(pieces.map(String)).length).toBeLessThan(events)
    }
  })

  test('a piece may end within a multi-byte character', async () => {
    const [first] = await piecesOf(await aGateway(), paths.chat, 'the sign \u{1f600}')
    expect(first!.toString()).toMatch(/\ufffd$/)
  })

  test('`fragment: off` writes everything at once, and a scope may differ from its gateway', async () => {
    const gateway = await aGateway({ fragment: 'off' })
    const chunks = async (one: Pick<Gateway, 'url' | 'key'>) =>
      (await piecesOf(one, paths.messages, 'ping')).length
    expect(await chunks(gateway)).toBe(1)
    expect(await chunks(await gateway.scope())).toBe(1)
    expect(await chunks(await gateway.scope({ fragment: 'on' }))).toBe(2)
    await expect(aGateway({ fragment: 'no' as 'off' })).rejects.toThrow(
      'startGateway() does not know the value no of the option fragment',
    )
  })

  test('a stream without a fault is counted while it is written', async () => {
    const gateway = await aGateway()
    const answer = await ask(gateway, '/v1/responses', input)
    const reader = answer.body!.getReader()
    await reader.read()
    expect([gateway.openStreams(), gateway.requests()[0]!.state]).toEqual([1, 'open'])
    while (!(await reader.read()).done);
    expect([gateway.openStreams(), gateway.requests()[0]!.state]).toEqual([0, 'done'])
  })

  test.each(['on', 'off'] as const)(
    'with fragment %s, a stream is logged as cut if the client disconnects',
    async (fragment) => {
      const gateway = await aGateway({ fragment })
      const controller = new AbortController()
      const { signal } = controller
      // The answer repeats the tools three times, which is more than the buffers of a socket hold.
      const tools = [{ type: 'function', name: 'x', description: 'x'.repeat(4_000_000) }]
      const answer = await ask(gateway, '/v1/responses', { ...input, tools }, {}, { signal })
      expect(gateway.openStreams()).toBe(1)
      const reading = answer.text()
      controller.abort()
      await expect(reading).rejects.toThrow()
      await expect.poll(() => gateway.requests()[0]!.state).toBe('cut')
      expect(gateway.openStreams()).toBe(0)
    },
  )
})
