import { expect, test } from 'vitest'
import { loadClient, rowOf } from '../../../src/clients/list.ts'
import type { Session } from '../../../src/commands/screen/session.ts'
import { prove } from '../../../src/commands/setup/prove.ts'
import type { GatewayAccess } from '../../../src/gateway/types.ts'
import { accessTo, aServer, failure, key, sendJson } from '../../gateway/forged.ts'

/** The one part of a session that a proof uses. */
const session = { step: <T>(_what: string, work: Promise<T>) => work } as Session

async function proofOfClaude(access: GatewayAccess, model?: string) {
  const client = await loadClient(rowOf('claude'))
  const options = model === undefined ? {} : { model }
  return prove({
    session,
    access,
    clients: [client],
    options,
    choose: async (_client, catalog) => client.choose(catalog, options),
  })
}

const models = [{ id: 'claude-sonnet-4-8' }, { id: 'claude-opus-4-8' }, { id: 'claude-haiku-4-8' }]

test('a proof carries what the catalog and the probe have to say beside it', async () => {
  const server = await aServer((request, response) =>
    request.method === 'GET'
      ? sendJson(response, 200, { data: [...models, { id: `claude-${key}` }] })
      : sendJson(response, 200, { type: 'message', content: [] }),
  )
  const { notices } = await proofOfClaude(accessTo(server))
  expect(notices.map(({ code }) => code)).toEqual(['models-left-out', 'not-streamed'])
})

test('a proof that fails names the nearest models of the catalog, which it asked for once', async () => {
  const server = await aServer((request, response) =>
    request.method === 'GET'
      ? sendJson(response, 200, { data: models })
      : sendJson(response, 503, { error: { code: 'model_not_found', message: 'x' } }),
  )
  const error = await failure(proofOfClaude(accessTo(server)))
  expect(error.code).toBe('model-unknown')
  expect(error.message).toContain('although its catalog lists it')
  expect(error.hint).toContain('nearest:')
  expect(server.seen.map(({ method }) => method)).toEqual(['GET', 'POST'])
})
