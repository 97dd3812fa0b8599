import net from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { aSocketServer, tlsFile } from '../gateway/forged.ts'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { claudeVersions } from './support/install.ts'
import { prompt, type Runner } from './support/prompt.ts'

/** Real clients at a gateway with the certificate of a private authority. Each gets what repoint says that it needs. */

const key = 'sk-real-clients-4f7a1c9e2b8d6035'
const caFile = tlsFile('ca.pem')

async function aPrivateGateway(): Promise<string> {
  const gateway = await withGateway({ key }, onTestFinished)
  const { port } = await aSocketServer((socket) => {
    const behind = net.connect(gateway.port, '127.0.0.1')
    behind.on('error', () => socket.destroy())
    socket.pipe(behind).pipe(socket)
  }, 'good.pem')
  return `https://127.0.0.1:${port}`
}

test.each<[Runner, string | undefined]>([
  ['codex', 'CODEX_CA_CERTIFICATE'],
  ['opencode', 'NODE_EXTRA_CA_CERTS'],
  ...claudeVersions.map((version): [Runner, undefined] => [`claude ${version}`, undefined]),
])('%s trusts the authority after a setup (in the environment: %s)', async (runner, variable) => {
  const home = aHome({ 'work/.keep': '' })
  const client = runner.split(' ')[0]!
  const args = [client, '--yes', '--json', '--ca-file', caFile]
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: await aPrivateGateway() }
  const { status, stdout } = await runCli(home, args, { env })
  expect(status).toBe(0)

  if (variable !== undefined) {
    const hint = `export ${variable}='${caFile}'`
    expect(stdout).toContain(hint)
    const alone = await prompt(runner, { home: home.path, timeoutMs: 8_000 })
    expect(alone.hasAnswered).toBe(false)
  }
  const told = variable === undefined ? {} : { env: { [variable]: caFile } }
  expect(await prompt(runner, { home: home.path, ...told })).toMatchObject({
    text: 'pong',
    hasAnswered: true,
  })
})
