import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { aServer, goodGateway, key, tlsFile } from '../gateway/forged.ts'
import { aHome } from '../support/home.ts'

/** The system's certificate store. Each run sees a mount with another certificate authority there. */
const store = '/etc/ssl/certs/ca-certificates.crt'
const unshare = ['--map-root-user', '--mount', 'sh', '-ec']
const canMount =
  existsSync(store) &&
  spawnSync('unshare', [...unshare, `mount --bind ${tlsFile('ca.pem')} ${store}`]).status === 0

async function setUp(client: string, env: Record<string, string> = {}) {
  const { port } = await aServer((request, response) => goodGateway(request, response), {
    certificate: 'good.pem',
  })
  const args = `--base-url https://127.0.0.1:${port} --model gpt-5.6-sol --yes --json`
  const script = `mount --bind ${tlsFile('ca.pem')} ${store}
    ${process.execPath} ${resolve('bin/repoint.js')} ${client} ${args} || true`
  const { stdout } = await promisify(execFile)('unshare', [...unshare, script], {
    env: { PATH: process.env['PATH'], HOME: aHome().path, REPOINT_API_KEY: key, ...env },
    timeout: 15_000,
  })
  return JSON.parse(stdout)
}

test.skipIf(!canMount).each(['codex', 'claude', 'opencode'])(
  '%s reads the system store by default',
  async (client) => expect(await setUp(client)).toMatchObject({ changed: true }),
)

test.skipIf(!canMount)(
  'SSL_CERT_FILE with another certificate authority hides the system store from Codex',
  async () => {
    const env = { SSL_CERT_FILE: tlsFile('good.pem') }
    expect(await setUp('codex', env)).toMatchObject({ error: { code: 'tls' } })
    expect(await setUp('codex', { SSL_CERT_FILE: '/missing' })).toMatchObject({ changed: true })
  },
)

test.skipIf(!canMount).each(['pi', 'qwen'])(
  '%s reads the system store only with an option of Node',
  async (client) => {
    expect(await setUp(client)).toMatchObject({ error: { code: 'tls' } })
    const env = { NODE_OPTIONS: '--use-openssl-ca' }
    expect(await setUp(client, env)).toMatchObject({ changed: true })
  },
)
