import { describe, expect, test } from 'vitest'
import { runCli } from '../../support/cli.ts'
import { aHome } from '../../support/home.ts'
import { runInProcess } from '../../support/in-process.ts'
import { accessTo, aServer, aSocketServer, goodGateway, key, tlsFile } from '../forged.ts'

/**
 * Runs the bundled `repoint models`, as it is published, in a separate process. A program that does not end is killed,
 * and has no status.
 */
async function models(
  baseUrl: string,
  more: { args?: string[]; env?: Record<string, string> } = {},
) {
  const home = aHome({})
  return runCli(home, ['models', '--base-url', baseUrl, '--json', ...(more.args ?? [])], {
    env: { REPOINT_API_KEY: key, ...more.env },
  })
}

describe('the built program', () => {
  test('ends without waiting for the server, which keeps the connection open', async () => {
    let isClosedByProgram = false
    const server = await aServer(
      (request, response) => {
        // Absent if the server closes the connection first.
        response.socket?.once('end', () => (isClosedByProgram = true))
        response.shouldKeepAlive = true
        goodGateway(request, response)
      },
      { keepAliveTimeoutMs: 600_000 },
    )
    const { status } = await models(accessTo(server).address)
    expect(status).toBe(0)
    await expect.poll(() => isClosedByProgram).toBe(true)
  })

  test('ends at its deadline although the server would never finish the handshake', async () => {
    const server = await aSocketServer(() => {})
    const { address } = accessTo(server, { scheme: 'https' })
    const { status, json } = await models(address, { args: ['--timeout', '1'] })
    expect(status).toBe(6)
    expect(json).toMatchObject({ error: { code: 'timeout' } })
  })

  test('connects to an HTTP/2-only server, and ends although the server keeps the connection open', async () => {
    const server = await aServer(goodGateway, { certificate: 'good.pem', isHttp2Only: true })
    const { status } = await models(accessTo(server, { scheme: 'https' }).address, {
      args: ['--ca-file', tlsFile('ca.pem')],
    })
    expect(status).toBe(0)
  })

  test('trusts NODE_EXTRA_CA_CERTS, alone and together with a CA file', async () => {
    const server = await aServer(goodGateway, { certificate: 'good.pem' })
    const { address } = accessTo(server, { scheme: 'https' })
    const env = { NODE_EXTRA_CA_CERTS: tlsFile('ca.pem') }
    const other = ['--ca-file', tlsFile('self-signed.pem')]
    expect((await models(address, { env })).status).toBe(0)
    expect((await models(address, { env, args: other })).status).toBe(0)
    const without = await models(address, { args: other })
    expect(without.status).toBe(6)
    expect(without.json).toMatchObject({ error: { code: 'tls', filesChanged: false } })
  })

  test('verifies certificates, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
    const server = await aServer(goodGateway, { certificate: 'self-signed.pem' })
    const { status, json } = await models(accessTo(server, { scheme: 'https' }).address, {
      env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    })
    expect(status).toBe(6)
    expect(json).toMatchObject({
      error: {
        code: 'tls',
        message: expect.stringContaining('is self-signed'),
        hint: expect.stringContaining('repoint ignores NODE_TLS_REJECT_UNAUTHORIZED=0'),
      },
    })
    expect(server.seen).toHaveLength(0)
  })

  test('doctor reports an untrusted certificate, whatever that variable says', async () => {
    const server = await aServer(goodGateway, { certificate: 'self-signed.pem' })
    const { address } = accessTo(server, { scheme: 'https' })
    const home = aHome({})
    const env = { REPOINT_API_KEY: key, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    const setup = ['codex', '--base-url', address, '--model', 'gpt-5.6-sol', '--no-verify', '--yes']
    expect(await runInProcess(home, setup, { env })).toMatchObject({ status: 0 })
    const { status, stdout } = await runCli(home, ['doctor', 'codex', '--json'], { env })
    expect(status).toBe(6)
    expect(stdout).toContain('is self-signed')
    expect(stdout).not.toContain('trusted')
    expect(server.seen).toHaveLength(0)
  })

  test('uses the proxy of the environment', async () => {
    const { status, json } = await models('https://gw.test', {
      env: { HTTPS_PROXY: 'http://us:hunter2@127.0.0.1:1' },
    })
    expect(status).toBe(6)
    expect(json).toMatchObject({ error: { code: 'proxy' } })
    expect(JSON.stringify(json)).not.toContain('hunter2')
  })
})
