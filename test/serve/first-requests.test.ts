import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Recordings, recordedRequest } from '../../src/clients/recorded-request.ts'
import type { Protocol } from '../../src/protocols.ts'
import { withGateway } from '../support/gateway.ts'
import { ask, paths } from './support/gateway.ts'

/** Which model a request was recorded with is not part of it. */
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

test.each(recorded)('$file: $version over $protocol ($kind) is accepted', async (one) => {
  const { recordings, protocol, ...wanted } = one
  const { query, headers, body } = recordedRequest(recordings, { ...wanted, protocol })
  const path = paths[protocol] + (query === undefined ? '' : `?${query}`)
  const answer = await ask(gateway, path, { model: models[protocol], ...body }, headers)
  const text = await answer.text()
  expect([answer.status, answer.ok ? '' : text]).toEqual([200, ''])
})
