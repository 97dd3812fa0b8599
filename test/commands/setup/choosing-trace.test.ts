import { expect, test } from 'vitest'
import { loadClients, rowOf } from '../../../src/clients/list.ts'
import { usualPolicy } from '../../../src/commands/resolve/policy.ts'
import type { SetupContext } from '../../../src/commands/setup/context.ts'
import { openGateway, proveClients } from '../../../src/commands/setup/prove/prove-clients.ts'
import { accessTo, aServer, goodGateway, sendJson } from '../../gateway/forged.ts'
import { session } from './session.ts'

/** The example of docs/choosing-models.md. */

const needsResponses = {
  error: {
    message: 'Function tools are not supported for gpt-5.6-sol in /v1/chat/completions.',
    type: 'invalid_request_error',
    param: 'tools',
  },
}
const unknownModel = { error: { code: 'model_not_found', message: 'No such model: gpt-5.6-sol' } }

test('a rejected model is tried over another protocol, then another model is chosen', async () => {
  const server = await aServer((request, response) => {
    if (request.method === 'GET') sendJson(response, 200, { data: [{ id: 'glm-5' }] })
    else if (!request.body.includes('gpt-5.6-sol')) goodGateway(request, response)
    else if (request.url.endsWith('/chat/completions')) sendJson(response, 400, needsResponses)
    else sendJson(response, 404, unknownModel)
  })
  const access = accessTo(server)
  const clients = await loadClients([rowOf('opencode')])
  const options = { model: 'gpt-5.6-sol', protocol: 'chat' } as const
  const context = {
    session,
    clients,
    request: { command: 'opencode', clientIds: ['opencode'], flags: {} },
    policy: usualPolicy,
    consent: 'given',
    programs: new Map(),
    earlierSetups: new Map([[clients[0]!.id, { baseUrl: access.baseUrls.chat, options }]]),
    runs: [],
  } as unknown as SetupContext

  const connection = openGateway(context, access)
  const proven = await proveClients(context, connection)
  await connection.hangUp()

  const requests = server.seen.flatMap(({ method, url, body }) => {
    // If a busy machine makes the list seem slow, the probe looks for another base URL too.
    if (method === 'GET' || !url.startsWith('/v1/')) return []
    return [`${JSON.parse(body).model} ${url}`]
  })
  expect(requests).toEqual([
    'gpt-5.6-sol /v1/chat/completions',
    'gpt-5.6-sol /v1/responses',
    'glm-5 /v1/chat/completions',
  ])
  const [choice] = proven.choices
  expect(
    choice?.input.gatewayInfo.rejections.map(({ model, protocol, error }) => [
      model,
      protocol,
      error.code,
    ]),
  ).toEqual([
    ['gpt-5.6-sol', 'chat', 'protocol-unsupported'],
    ['gpt-5.6-sol', 'responses', 'model-unknown'],
  ])
  expect(choice?.input.earlier?.options).toEqual({})
  expect(choice?.resolved).toMatchObject({ model: 'glm-5', protocol: 'chat' })
  expect(choice?.replacements).toBe(1)
})
