import { chmodSync, copyFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { aServer, goodGateway, key, tlsFile } from '../gateway/forged.ts'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

interface Checked {
  readonly checks: readonly { id: string; about: string; result: string; cure?: string }[]
}

/** A home with the authority's certificate, and a gateway that only it vouches for. */
async function aPrivateGateway(settings = '{}\n') {
  const { port } = await aServer((request, response) => goodGateway(request, response), {
    certificate: 'good.pem',
  })
  const home = aHome({ '.claude/settings.json': settings })
  copyFileSync(tlsFile('ca.pem'), home.at('ca.pem'))
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: `https://127.0.0.1:${port}` }
  const run = (args: string[], more = {}) => runInProcess(home, args, { env: { ...env, ...more } })
  return { home, run, caFile: home.at('ca.pem') }
}

const setUp = ['--yes', '--json', '--model', 'gpt-5.6-sol']
const variable = { codex: 'CODEX_CA_CERTIFICATE', opencode: 'NODE_EXTRA_CA_CERTS' }

test.each(['codex', 'opencode'] as const)(
  '%s is told before the question how it comes to trust the authority',
  async (client) => {
    const { run, caFile } = await aPrivateGateway()
    const first = await run([client, ...setUp, '--ca-file', 'ca.pem', '--dry-run'])
    expect(first.json).toMatchObject({
      warnings: expect.arrayContaining([
        {
          code: 'authority-unknown',
          message: expect.stringContaining(variable[client]),
          hint: expect.stringContaining(`export ${variable[client]}='${caFile}'`),
        },
      ]),
    })
    const told = await run([client, ...setUp, '--ca-file', caFile], { [variable[client]]: caFile })
    expect(told.status).toBe(0)
    expect(told.stdout).not.toContain('authority-unknown')
  },
)

test('Claude Code finds it in its settings, and a rollback takes it out again', async () => {
  const { home, run, caFile } = await aPrivateGateway()
  const { status, stdout } = await run(['claude', ...setUp, '--ca-file', 'ca.pem'])
  expect(status).toBe(0)
  expect(stdout).not.toContain('authority-unknown')
  expect(JSON.parse(home.text('.claude/settings.json')).env.NODE_EXTRA_CA_CERTS).toBe(caFile)
  await run(['rollback', '--yes'])
  expect(home.text('.claude/settings.json')).toBe('{}\n')
})

test('another file that Claude Code already names stays, and is said', async () => {
  const settings = '{ "env": { "NODE_EXTRA_CA_CERTS": "/etc/proxy.pem" } }\n'
  const { home, run } = await aPrivateGateway(settings)
  const { json } = await run(['claude', ...setUp, '--ca-file', 'ca.pem'])
  expect(json).toMatchObject({
    warnings: expect.arrayContaining([
      expect.objectContaining({
        code: 'authority-unknown',
        message: expect.stringContaining('/etc/proxy.pem'),
      }),
    ]),
  })
  const { env } = JSON.parse(home.text('.claude/settings.json'))
  expect(env.NODE_EXTRA_CA_CERTS).toBe('/etc/proxy.pem')
})

test('what was once given with --ca-file is known to every later command', async () => {
  const { home, run, caFile } = await aPrivateGateway()
  expect((await run(['codex', ...setUp])).json).toMatchObject({ error: { code: 'tls' } })
  expect((await run(['codex', ...setUp, '--ca-file', 'ca.pem'])).status).toBe(0)

  for (const args of [['codex', ...setUp], ['claude', ...setUp], ['models']])
    expect((await run(args)).status).toBe(0)
  const { env } = JSON.parse(home.text('.claude/settings.json'))
  expect(env.NODE_EXTRA_CA_CERTS).toBe(caFile)

  const { json, status } = await run(['doctor', '--json'])
  const { checks } = json as Checked
  expect(status).toBe(0)
  expect(checks.filter(({ id }) => id === 'probe')).toHaveLength(2)
  expect(checks.filter(({ id }) => id === 'authority-unknown')).toMatchObject([
    { about: 'codex', result: 'warning', cure: expect.stringContaining(caFile) },
  ])
})

test('the cures of doctor carry the flags without which they would be refused', async () => {
  const home = aHome()
  const address = 'http://gw.example:8080'
  const given = ['--base-url', address, '--allow-http', '--ca-file']
  const env = { REPOINT_API_KEY: key }
  const args = ['claude', '--yes', '--no-verify', ...given, 'our authority.pem']
  await runInProcess(home, args, { env })
  const settings = JSON.parse(home.text('.claude/settings.json'))
  delete settings.env.ANTHROPIC_AUTH_TOKEN
  home.put('.claude/settings.json', JSON.stringify(settings))

  const { json } = await runInProcess(home, ['doctor', 'claude', '--json'])
  const found = (json as Checked).checks.find(({ id }) => id === 'key-missing')
  expect(found?.cure).toBe(`repoint claude ${given.join(' ')} "${home.at('our authority.pem')}"`)
})

test('a file that others may replace is said before the question', async () => {
  const { home, run } = await aPrivateGateway()
  home.put('shared/ca.pem', home.text('ca.pem'))
  const told = async () =>
    (await run(['codex', ...setUp, '--ca-file', 'shared/ca.pem', '--dry-run'])).stdout
  expect(await told()).not.toContain('open-to-others')
  chmodSync(home.at('shared'), 0o777)
  expect(await told()).toContain('"code":"open-to-others"')
  expect(await told()).toContain('chmod go-w ~/shared')
})
