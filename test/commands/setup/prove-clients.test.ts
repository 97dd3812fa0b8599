import { describe, expect, test } from 'vitest'
import type { Client } from '../../../src/clients/contract/client.ts'
import type { ClientOptions } from '../../../src/clients/contract/options.ts'
import { clientRows, loadClients, rowOf } from '../../../src/clients/list.ts'
import { noFlags } from '../../../src/commands/command-line/flags.ts'
import { usualPolicy } from '../../../src/commands/resolve/policy.ts'
import type { SetupContext } from '../../../src/commands/setup/context.ts'
import { openGateway, proveClients } from '../../../src/commands/setup/prove/prove-clients.ts'
import type { GatewayAccess } from '../../../src/gateway/types.ts'
import {
  accessTo,
  aServer,
  type Forged,
  failure,
  goodGateway,
  type Seen,
  sendJson,
} from '../../gateway/forged.ts'
import { isRecorded } from '../../support/fixtures.ts'
import { triesAll } from '../../support/sample.ts'
import { session } from './session.ts'

function proofOf(
  ids: string | string[],
  access: GatewayAccess,
  model?: string,
  slotModels?: ClientOptions['slotModels'],
) {
  return proofWith([ids].flat(), access, () => ({ model, slotModels }))
}

async function proofWith(
  ids: readonly string[],
  access: GatewayAccess,
  optionsOf: (id: string) => ClientOptions,
  consent: SetupContext['consent'] = 'none',
) {
  const clients = await loadClients(ids.map(rowOf))
  const context: SetupContext = {
    session,
    clients,
    request: { command: 'setup', clientIds: ids, optionsOf, flags: noFlags },
    policy: usualPolicy,
    consent,
    programs: new Map(),
    earlierSetups: new Map(),
    runs: [],
  }

  const requester = openGateway(context, access)
  try {
    const proven = await proveClients(context, requester)
    if (consent === 'none') for (const { error } of proven.failed) throw error
    return proven
  } finally {
    await requester.hangUp()
  }
}

/** A gateway with this response for its list of models, and correct responses on its other routes. */
const withCatalog = (status: number, body: unknown) =>
  aServer((request, response) =>
    request.method === 'GET' ? sendJson(response, status, body) : goodGateway(request, response),
  )

/** A gateway with this list of models, and these responses on its other routes. */
const listing = (data: readonly object[], answer: Parameters<typeof aServer>[0]) =>
  aServer((request, response) =>
    request.method === 'GET' ? sendJson(response, 200, { data }) : answer(request, response),
  )

/** The requests for the list, then the inferences. */
const asked = ({ seen }: Forged) =>
  seen
    .toSorted((a, b) => a.method.localeCompare(b.method))
    .map(({ method, url }) => `${method} ${url}`)

const models = [{ id: 'claude-sonnet-4-8' }, { id: 'claude-opus-4-8' }, { id: 'claude-haiku-4-8' }]

test('a successful check has the notes of the probe', async () => {
  const server = await listing(models, (_, response) =>
    sendJson(response, 200, { type: 'message', content: [] }),
  )
  const { findings } = await proofOf('claude', accessTo(server))
  expect(findings.map(({ code }) => code)).toEqual(['not-streamed'])
})

test.each([
  ['the same words', () => 'x', /\(HTTP 503: "x"\) \(over responses, chat and messages\)$/],
  [
    'other words',
    (url: string) => url.split('/').at(-1),
    /\(over \w+\)\. Over \w+: .*\. Over \w+: .*\)$/,
  ],
] as const)('a model that is rejected over every protocol, with %s', async (_, words, expected) => {
  const server = await listing([{ id: 'gpt-5.6-sol' }], ({ url }, response) =>
    sendJson(response, 503, { error: { code: 'model_not_found', message: words(url) } }),
  )
  const { message } = await failure(proofOf('opencode', accessTo(server)))
  expect(message).toMatch(expected)
})

const lists = ['GET /v1/models']
/** The key as Bearer, then in the other headers; or a transient answer, which is repeated once. */
const twice = [...lists, ...lists]
const elsewhereToo = ['GET /v1/models', 'GET /models']

test.each([
  ['is missing', 404, { detail: 'Not Found' }, elsewhereToo],
  ['is broken', 500, { error: { message: 'oops' } }, twice],
  ['is empty', 200, { object: 'list', data: [] }, lists],
  ['accepts no more requests', 429, { error: { message: 'slowly' } }, twice],
  ['is something else', 200, { hello: 'world' }, elsewhereToo],
])(
  'a list of models that %s stops neither Claude nor a named model',
  async (_, status, body, gets) => {
    const server = await withCatalog(status, body)
    for (const [client, model, route] of [
      ['claude', undefined, '/v1/messages?beta=true'],
      ['codex', 'team-sol', '/v1/responses'],
    ] as const) {
      server.seen.splice(0)
      const { catalog, findings } = await proofOf(client, accessTo(server), model)
      expect(catalog).toBeUndefined()
      expect(findings.map(({ code }) => code)).toContain('catalog-unavailable')
      expect(asked(server)).toEqual([...gets, `POST ${route}`])
    }
  },
)

test('a slow list of models stops no named model, because it gets only a part of the time', async () => {
  const server = await aServer((request, response) => {
    if (request.method === 'POST') goodGateway(request, response)
  })
  const access = accessTo(server, { timeoutMs: 400 })
  const { findings } = await proofOf('codex', access, 'team-sol')
  expect(findings[0]?.message).toContain('within')
  expect((await failure(proofOf('codex', access))).code).toBe('timeout')
})

test.concurrent.for<readonly [string, string | undefined]>([
  ['codex', 'team-sol'],
  ['codex', undefined],
])(
  'a host that sends nothing is reported after two fifths of the time, with one request to each route: %s %s',
  async ([id, model], { expect, onTestFinished }) => {
    const server = await aServer(() => {}, { onTestFinished })
    const hostState = { hasAnswered: false }
    const access = { ...accessTo(server, { timeoutMs: 7_500 }), hostState }
    const error = await failure(proofOf(id, access, model))
    expect(error.code).toBe('timeout')
    expect(Number(/within ([\d.]+) s$/.exec(error.message)?.[1])).toBeLessThanOrEqual(3)
    expect(asked(server)).toEqual(['GET /v1/models', ...(model ? ['POST /v1/responses'] : [])])
  },
)

test.concurrent('a slow catalog gets 2 s if a model is named', async (context) => {
  const { expect, onTestFinished } = context
  const model = 'gpt-5.6-sol'
  const server = await aServer(
    (request, response) => {
      const isList = request.method === 'GET'
      const answer = () =>
        isList ? sendJson(response, 200, { data: [{ id: model }] }) : goodGateway(request, response)
      setTimeout(answer, isList ? 2_500 : 0)
    },
    { onTestFinished },
  )
  const proof = await proofOf('codex', accessTo(server, { timeoutMs: 20_000 }), model)
  expect(proof.catalog).toBeUndefined()
  expect(asked(server)).toEqual(['GET /v1/models', 'POST /v1/responses'])
})

test('the check sends one request for each id that is not listed, and one for the first listed id', async () => {
  const server = await withCatalog(200, { data: [...models, { id: 'gpt-5.6-sol' }] })
  const slotModels = { opus: 'a/opus', sonnet: 'gpt-5.6-sol', haiku: 'a/haiku', fable: 'a/opus' }
  const proof = await proofOf('claude-gpt', accessTo(server), undefined, slotModels)
  const ids = server.seen.flatMap(({ body }) => (body === '' ? [] : [JSON.parse(body).model]))
  expect(ids).toEqual(['gpt-5.6-sol', 'a/opus', 'a/haiku'])
  expect(proof.choices[0]?.resolved.findings.map(({ code }) => code)).toEqual([
    'model-not-listed',
    'model-not-listed',
    'context-window-unknown',
  ])
})

test('if neither the list nor messages are an API, the error blames the address', async () => {
  const server = await aServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<!doctype html><title>Welcome</title>')
  })
  const error = await failure(proofOf('claude', accessTo(server)))
  expect(error.code).toBe('not-an-api')
  expect(error.message).toContain('/v1/models')
  expect(error.hint).toMatch(/ http:\/\/127\.0\.0\.1:\d+\/models\./)
  expect(error.hint).toMatch(/ http:\/\/127\.0\.0\.1:\d+\/v1\/messages, /)
  expect(asked(server)).toEqual([
    'GET /v1/models',
    'GET /models',
    'POST /v1/messages?beta=true',
    'POST /anthropic/v1/messages?beta=true',
    'POST /apps/anthropic/v1/messages?beta=true',
  ])
})

test('if the key may not read the list, the error for a missing route blames the protocol', async () => {
  const server = await aServer((request, response) =>
    request.method === 'GET'
      ? sendJson(response, 403, { error: { message: 'Missing scopes: api.model.read' } })
      : sendJson(response, 404, { error: { message: 'Invalid URL (POST /v1/messages)' } }),
  )
  const error = await failure(proofOf('claude', accessTo(server)))
  expect(error.code).toBe('protocol-unsupported')
})

describe.each([
  ['the first', ['opencode', 'codex']],
  ['the last', ['codex', 'opencode']],
])('if %s of two clients cannot use the gateway, whatever it lists', (_, ids) => {
  // opencode would replace the name by a variable. Codex needs the list for its model.
  const optionsOf = (id: string) => (id === 'opencode' ? { model: '{env:HOME}' } : {})
  const aGateway = () => withCatalog(200, { data: [{ id: 'gpt-5.6-sol' }] })

  test('its error comes before any request', async () => {
    const server = await aGateway()
    const error = await failure(proofWith(ids, accessTo(server), optionsOf))
    expect(error.code).toBe('config-conflict')
    expect(asked(server)).toEqual([])
  })

  test('the other client continues, if the user may skip one', async () => {
    const server = await aGateway()
    const { choices, failed } = await proofWith(ids, accessTo(server), optionsOf, 'ask')
    expect(choices.map(({ client }) => client.id)).toEqual(['codex'])
    expect(failed.map(({ client }) => client.id)).toEqual(['opencode'])
  })
})

describe('the error for a client with one protocol names other clients that may work', () => {
  const withoutProtocol = () =>
    listing([{ id: 'gpt-5.6-sol' }], (_, response) =>
      sendJson(response, 404, { detail: 'Not Found' }),
    )

  test('but none that this command has tried', async () => {
    const server = await withoutProtocol()
    const { hint } = await failure(proofOf(['codex', 'claude'], accessTo(server), 'gpt-5.6-sol'))
    expect(hint).toMatch(/Another client may work: repoint opencode .*\(or .*\)/)
    expect(hint).not.toContain('claude')
  })

  test('but none that cannot send the key', async () => {
    const server = await withoutProtocol()
    const access = accessTo(server, { keyHeader: 'api-key' })
    const { hint } = await failure(proofOf('codex', access, 'gpt-5.6-sol'))
    expect(hint).toContain('opencode')
    expect(hint).not.toContain('claude')
  })

  test('and no command if every client was tried', async () => {
    const server = await withoutProtocol()
    const ids = clientRows.map(({ id }) => id)
    const { hint } = await failure(proofOf(ids, accessTo(server), 'gpt-5.6-sol'))
    expect(hint).toBe('Codex supports only the responses protocol.')
  })
})

describe('the check of a rejected client sends one request for each protocol', async () => {
  const clients = await loadClients(clientRows)
  const model = 'gpt-5.6-sol'
  const posts = ({ seen }: Forged) => seen.filter(({ method }) => method === 'POST')
  // Claude Code itself repeats a rejected request without its safeguards.
  const most = ({ family, protocols }: Client) => protocols.length + (family === 'claude' ? 1 : 0)

  const rejects = (answer: (request: Seen) => string | undefined) =>
    listing([{ id: model }], (request, response) => {
      const message = answer(request)
      return message === undefined
        ? goodGateway(request, response)
        : sendJson(response, 400, { error: { message } })
    })

  const sample = ['codex', 'claude', 'opencode', 'qwen']
  const isTried = ({ id }: Client) => triesAll || sample.includes(id)

  test.each(clients.filter(isTried))(
    '$id: if the gateway rejects everything without a reason',
    async (client) => {
      const server = await rejects(() => 'Bad Request')
      await failure(proofOf(client.id, accessTo(server), model))
      expect(posts(server).length).toBeLessThanOrEqual(most(client))
    },
  )

  /** A member of the request that no option leaves out. */
  const memberIn = ({ url, body }: Seen) => {
    const names = url.includes('/messages') ? ['system'] : ['stream_options', 'store']
    return names.find((name) => name in JSON.parse(body))
  }

  const recordedClients = clients.filter(({ family }) => isRecorded(family))

  const reasons = ['with its name', 'without a reason']
  const cases = recordedClients
    .filter(isTried)
    .flatMap((client) => reasons.map((reason) => [client.id, reason, client] as const))
  test.each(cases)(
    '%s: if the gateway rejects one member over each protocol, %s',
    async (id, reason, client) => {
      const server = await rejects((request) => {
        const member = memberIn(request)
        if (member === undefined) return undefined
        return reason === 'with its name' ? `Unknown parameter: ${member}` : 'Bad Request'
      })
      const error = await failure(proofOf(id, accessTo(server), model))
      const code = reason === 'with its name' ? 'parameter-unsupported' : 'request-rejected'
      expect(error.code).toBe(code)
      expect(posts(server).length).toBeLessThanOrEqual(most(client))
    },
  )
})
