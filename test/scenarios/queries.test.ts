import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { clientRows, loadClient } from '../../src/clients/list.ts'
import { aServer, key as forgedKey, goodGateway, sendJson } from '../gateway/forged.ts'
import { startFront } from '../support/front.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'

/** A gateway that requires a query parameter in every request, through all commands. */

const key = 'sk-canary-key-5e6f708192a3b47f'
const version = '2026-04-01-canary'
const query = `?api-version=${version}`

const gateway = await withGateway({ key: 'sk-inner-5e6f708192a3b47f' })
/** Requires a version in the query. */
const versioned = await startFront(gateway, { key, query: { 'api-version': version } })
const plain = await startFront(gateway, { key })
afterAll(() => Promise.all([versioned.close(), plain.close()]))
beforeEach(() => {
  versioned.urls.length = 0
  plain.urls.length = 0
})

/** Runs repoint, and checks that it shows no value of the query. */
async function repoint(home: Home, ...args: string[]) {
  const result = await runHere(home, args, { REPOINT_API_KEY: key })
  for (const canary of [key, version]) expect(result.text).not.toContain(canary)
  return result
}

const setUp = (home: Home, address: string, ...more: string[]) =>
  repoint(home, 'codex', '--base-url', address, '--yes', ...more)

const userConfig = `# mine
model = "o3"

[model_providers.gateway]
name = "Mine"
base_url = "https://before.example/v1"
query_params = { old = "1" } # of before
`

describe('a query that the gateway requires', () => {
  test('is in every request and in the file, and rollback restores every byte', async () => {
    const home = aHome({ '.codex/config.toml': userConfig })
    const before = home.snapshot()
    expect((await setUp(home, versioned.url + query)).status).toBe(0)
    expect(versioned.urls.length).toBeGreaterThan(1)
    for (const url of versioned.urls) expect(url).toContain(query)

    expect(home.text('.codex/config.toml')).toMatch(
      /query_params = \{ "?api-version"? = "2026-04-01-canary" \}/,
    )
    const list = JSON.parse(home.text('.local/state/repoint/gateways.json'))
    expect(list.gateways[0].query).toEqual([{ name: 'api-version', value: version }])

    expect((await repoint(home, 'rollback', '--yes')).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
  })

  test('need not be typed again for a second run, status, doctor or a new key', async () => {
    const home = aHome()
    await setUp(home, versioned.url + query, '--name', 'azure')
    expect((await setUp(home, versioned.url)).json).toMatchObject({ changed: false })
    for (const args of [
      ['models', '--base-url', versioned.url],
      ['doctor', 'codex'],
      ['check', 'azure'],
      ['use', 'azure', 'codex', '--yes', '--defaults'],
      ['key', 'codex', '--yes'],
    ]) {
      versioned.urls.length = 0
      const { json } = await repoint(home, ...args)
      expect([args[0], json['error']]).toEqual([args[0], undefined])
      expect(versioned.urls.length).toBeGreaterThan(0)
      for (const url of versioned.urls) expect(url).toContain(query)
    }
  })

  test('is masked in every output', async () => {
    const home = aHome()
    const plan = await setUp(home, versioned.url + query, '--dry-run')
    expect(plan.text).toMatch(/query_params.api-version = \\"\.\.\.\.|query_params\S* = \.\.\.\./)
    await setUp(home, versioned.url + query)
    expect((await repoint(home, 'gateways')).json).toMatchObject({
      gateways: [{ query: '?api-version=....' }],
    })
    expect((await repoint(home, 'status', 'codex')).json).toMatchObject({
      clients: [{ query: '?api-version=....' }],
    })
  })

  test('is removed from the file with the address, or if the user removes its value', async () => {
    const home = aHome()
    await setUp(home, versioned.url + query)
    await setUp(home, plain.url)
    expect(home.text('.codex/config.toml')).not.toContain('query_params')

    await setUp(home, `${plain.url}?v=1`)
    expect(home.text('.codex/config.toml')).toMatch(/query_params.*v.? = "1"/s)
    await setUp(home, `${plain.url}?v=`)
    expect(home.text('.codex/config.toml')).not.toContain('query_params')
    expect(home.text('.local/state/repoint/gateways.json')).not.toContain('"v"')
  })

  test('is written next to a query of the user for the same address', async () => {
    const home = aHome({
      '.codex/config.toml': `[model_providers.gateway]\nname = "Mine"\nbase_url = "${versioned.url}/v1"\nquery_params = { mine = "1" }\n`,
    })
    expect((await setUp(home, versioned.url + query)).status).toBe(0)
    expect(home.text('.codex/config.toml')).toContain('mine = "1"')
    expect((await repoint(home, 'status', 'codex')).json).toMatchObject({ drifted: false })
  })

  test('is reported by status if someone changed it, and restored by doctor', async () => {
    const home = aHome()
    await setUp(home, versioned.url + query)
    const right = home.text('.codex/config.toml')
    home.replace('.codex/config.toml', version, '2020-01-01')

    expect((await repoint(home, 'status', 'codex')).json).toMatchObject({
      clients: [{ drift: ['the query api-version is missing or has another value'] }],
    })
    expect((await repoint(home, 'doctor', 'codex', '--fix', '--yes')).status).toBe(0)
    expect(home.text('.codex/config.toml')).toBe(right)
  })
})

describe('an address with a query that cannot be sent is refused', () => {
  test('by every client that cannot send it', async () => {
    const able: string[] = []
    for (const row of clientRows) {
      const { id, sends } = await loadClient(row)
      if (sends.queries) able.push(id)
      else {
        const home = aHome()
        const args = [id, '--base-url', versioned.url + query, '--yes']
        const { json } = await repoint(home, ...args)
        expect(json['error']).toMatchObject({
          code: 'protocol-unsupported',
          message: expect.stringContaining(
            'cannot send a query, and the address of this gateway has ?api-version',
          ),
          hint: expect.stringContaining('repoint codex'),
        })
        expect(home.snapshot()).toEqual({})
      }
    }
    expect(able).toEqual(['codex', 'grok'])
  })

  test('as the root of messages, in a file of --from and in a link', async () => {
    const home = aHome({
      'team.json': JSON.stringify({ version: 1, baseUrl: versioned.url + query, clients: {} }),
    })
    const messages = ['--messages-url', `${plain.url}${query}`]
    expect((await setUp(home, plain.url, ...messages)).json['error']).toMatchObject({
      message: 'Cannot use --messages-url: no client can send a query with this protocol',
    })
    const team = await repoint(home, 'setup', '--from', home.at('team.json'), '--yes')
    expect(team.json['error']).toMatchObject({
      message: expect.stringContaining('an address in it has a query'),
    })

    const endpoint = encodeURIComponent(plain.url + query)
    const link = `ccswitch://v1/import?resource=provider&app=codex&apiKey=${key}&endpoint=${endpoint}`
    const result = await runHere(home, ['codex', '--yes'], { REPOINT_API_KEY: link })
    expect(result.json['error']).toMatchObject({ message: 'An address in the link has a query' })
  })

  test('by the export of a gateway', async () => {
    const home = aHome()
    await setUp(home, versioned.url + query, '--name', 'azure')
    expect((await repoint(home, 'gateways', 'export', 'azure')).json['error']).toMatchObject({
      message: 'azure has a query in its address, and a team file cannot contain one',
    })
  })
})

// The message of Azure is from pydantic/pydantic-ai issue 5066, 2026-04.
test("a setup finds Azure's older root, which requires a version, next to its newer one, which rejects any", async () => {
  const { port, seen } = await aServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://azure')
    const hasVersion = searchParams.has('api-version')
    if (pathname.startsWith('/openai/v1') && hasVersion)
      return sendJson(response, 400, {
        error: {
          code: 'BadRequest',
          message: 'api-version query parameter is not allowed when using /v1 path',
        },
      })
    if (!pathname.startsWith('/openai/') || !hasVersion)
      return sendJson(response, 404, { error: { code: '404', message: 'Resource not found' } })
    goodGateway({ ...request, url: pathname.replace('/openai', '/v1') }, response)
  })
  const home = aHome()
  const address = `http://127.0.0.1:${port}/openai/responses${query}`
  const { status } = await runHere(home, ['codex', '--base-url', address, '--yes'], {
    REPOINT_API_KEY: forgedKey,
  })
  expect(status).toBe(0)
  expect(seen.map(({ url }) => url)).toEqual([
    `/openai/models${query}`,
    `/openai/responses${query}`,
  ])
  expect(home.text('.codex/config.toml')).toContain(`base_url = "http://127.0.0.1:${port}/openai"`)
})
