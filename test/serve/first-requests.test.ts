import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Recordings } from '../../src/clients/contract/program.ts'
import { recordedRequest } from '../../src/clients/program/recorded-request.ts'
import type { Protocol } from '../../src/protocols.ts'
import { withGateway } from '../support/gateway.ts'
import { ask, paths } from './support/gateway.ts'

/** A gateway that accepts the recorded requests, whatever model they name. */
const gateway = await withGateway({ families: 'rewritten' })

/** A model that serves each protocol. */
const models: Readonly<Record<Protocol, string>> = {
  chat: 'gpt-5.4',
  responses: 'gpt-5.6-sol',
  messages: 'claude-opus-5-5',
}

const files = readdirSync('src/clients')
  .map((client) => `src/clients/${client}/first-requests.json`)
  .filter((file) => existsSync(file))

const recorded = files.flatMap((file) => {
  const recordings: Recordings = JSON.parse(readFileSync(file, 'utf8'))
  return recordings.requests.map(({ kind, version, ...request }) => {
    const protocol = request.protocol as Protocol
    return { file, kind, version, protocol, recordings }
  })
})

async function send(one: (typeof recorded)[number], limits: object = {}): Promise<Response> {
  const { recordings, protocol, ...wanted } = one
  const { query, headers, body } = recordedRequest(recordings, { ...wanted, protocol })
  const path = paths[protocol] + (query === undefined ? '' : `?${query}`)
  return ask(gateway, path, { model: models[protocol], ...body, ...limits }, headers)
}

test.each(recorded)('$file: $version over $protocol ($kind) is accepted', async (one) => {
  const answer = await send(one)
  const text = await answer.text()
  expect([answer.status, answer.ok ? '' : text]).toEqual([200, ''])
})

/**
 * Qwen Code 0.24.4 gives a model that it does not know 32,000 tokens, and asks for 32,000 tokens of thinking. The
 * API rejects that, so a setup turns thinking off for such a model.
 */
test('a request for as many tokens of thinking as of the whole answer is rejected', async () => {
  const request = recorded.find(({ file, kind }) => file.includes('/qwen/') && kind === 'budget')!
  const answer = await send(request, { max_tokens: 32_000 })
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('max_tokens')])
})
