import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { isPrivate } from '../../src/gateway/input/base-url.ts'
import { type Gateway, startGateway } from '../../src/serve/index.ts'
import { tlsFile } from '../gateway/forged.ts'
import { aHome } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'

const canary = 'sk-canary-aa00bb11cc22dd33ee44ff55'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ port: 0, key: canary })
})
afterAll(() => gateway.close())

/** A proxy, and behind it a name of the internet with the local gateway. */
async function aProxy(): Promise<string> {
  const pem = readFileSync(tlsFile('good.pem'))
  const inside = createTlsServer(
    { cert: pem, key: readFileSync(tlsFile('server.key')) },
    (socket) => join(socket, connect(Number(new URL(gateway.url).port), '127.0.0.1')),
  )
  const proxy = createServer().on('connect', (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    join(socket, connect((inside.address() as AddressInfo).port, '127.0.0.1'))
  })
  for (const server of [inside, proxy]) {
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
    onTestFinished(() => void server.close())
  }
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

function join(one: Duplex, other: Duplex): void {
  for (const end of [one, other]) end.on('error', () => {})
  one.pipe(other).pipe(one)
}

test('editor prints the fields for a gateway of the internet, with the key masked', async () => {
  const url = 'https://gw.test'
  const args = ['editor', '--base-url', url, '--ca-file', tlsFile('ca.pem')]
  const result = await runHere(aHome(), args, {
    REPOINT_API_KEY: canary,
    HTTPS_PROXY: await aProxy(),
  })
  expect(result.json).toMatchObject({
    changed: false,
    model: 'gpt-5.6-sol',
    fields: [
      { value: expect.stringContaining(canary.slice(-4)) },
      { value: `${url}/v1` },
      { value: 'gpt-5.6-sol' },
    ],
    limits: expect.arrayContaining([expect.stringContaining('Auto')]),
  })
  expect(result.text).not.toContain(canary)
})

test('without a list a model that is named is asked for, and else the hint names the flag', async () => {
  gateway.setFaults([{ route: 'models', status: 404 }])
  onTestFinished(() => gateway.setFaults([]))
  const args = ['editor', '--base-url', 'https://gw.test', '--ca-file', tlsFile('ca.pem')]
  const env = { REPOINT_API_KEY: canary, HTTPS_PROXY: await aProxy() }
  expect(await runHere(aHome(), [...args, '--model', 'gpt-5.4'], env)).toMatchObject({
    status: 0,
    json: { model: 'gpt-5.4', warnings: [{ code: 'catalog-unavailable' }] },
  })
  for (const command of [args, ['models', ...args.slice(1)]])
    expect(await runHere(aHome(), command, env)).toMatchObject({
      status: 4,
      json: { error: { hint: expect.stringContaining('--model ID') } },
    })
})

test('a gateway that Cursor`s servers cannot reach is not approved, and not asked', async () => {
  const before = gateway.requests().length
  const result = await runHere(aHome(), ['editor', '--base-url', gateway.url], {
    REPOINT_API_KEY: canary,
  })
  expect(result).toMatchObject({ status: 2, json: { error: { code: 'usage' } } })
  expect(result.text).toContain('Cursor cannot use')
  expect(gateway.requests()).toHaveLength(before)
})

test.each([
  '127.0.0.1',
  '[::1]',
  'localhost',
  'gw.localhost',
  '10.1.2.3',
  '172.31.0.1',
  '192.168.178.20',
  '169.254.1.1',
  '100.100.1.1',
  '[fd00::1]',
  '[fe80::1]',
  'nas',
  'nas.local',
  'gw.corp.internal',
])('%s is reached from near by alone', (host) => {
  expect(isPrivate(host)).toBe(true)
})

test.each(['gw.example', '8.8.8.8', '172.32.0.1', '[2001:db8::1]', 'local.example', '11.0.0.1'])(
  '%s may be reached from everywhere',
  (host) => {
    expect(isPrivate(host)).toBe(false)
  },
)
