import { chmodSync, copyFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { aServer, goodGateway, key, tlsFile } from '../gateway/forged.ts'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

interface Document {
  readonly checks: readonly { id: string; about: string; result: string; cure?: string }[]
  readonly warnings: readonly object[]
}

/** A home with the certificate of an authority, and a gateway whose certificate only that authority signed. */
async function aPrivateGateway(settings = '{}\n') {
  const { port } = await aServer((request, response) => goodGateway(request, response), {
    certificate: 'good.pem',
  })
  const home = aHome({ '.claude/settings.json': settings })
  copyFileSync(tlsFile('ca.pem'), home.at('ca.pem'))
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: `https://127.0.0.1:${port}` }
  const run = (args: string[], more = {}) => runInProcess(home, args, { env: { ...env, ...more } })
  const documentOf = async (args: string[], more = {}) => (await run(args, more)).json as Document
  return { home, run, documentOf, caFile: home.at('ca.pem') }
}

const setUp = ['--yes', '--json', '--model', 'gpt-5.6-sol']
const variable = { codex: 'CODEX_CA_CERTIFICATE', opencode: 'NODE_EXTRA_CA_CERTS' }

test.each(['codex', 'opencode'] as const)(
  'a setup of %s explains, before the question, how the client can trust the authority',
  async (client) => {
    const { run, documentOf, caFile } = await aPrivateGateway()
    const first = await documentOf([client, ...setUp, '--ca-file', 'ca.pem', '--dry-run'])
    expect(first.warnings).toContainEqual({
      code: 'authority-unknown',
      message: expect.stringContaining(variable[client]),
      hint: expect.stringContaining(`export ${variable[client]}='${caFile}'`),
    })
    const withVariable = await run([client, ...setUp, '--ca-file', caFile], {
      [variable[client]]: caFile,
    })
    expect(withVariable.status).toBe(0)
    expect(withVariable.stdout).not.toContain('authority-unknown')
  },
)

test('a setup tries a client with the variable that it names, and names it again at the end', async () => {
  const { home, run, caFile } = await aPrivateGateway()
  // A client that answers only with the variable.
  const script = `[ "$1" = --version ] && echo 0.169.0 || test -n "$CODEX_CA_CERTIFICATE"`
  home.put('bin/codex', `#!/bin/sh\n${script}\n`, 0o755)
  const PATH = `${home.at('bin')}:/usr/bin:/bin`
  const { json } = await run(['codex', ...setUp, '--ca-file', caFile, '--try-client'], { PATH })
  expect(json).toMatchObject({
    tried: [{ client: 'codex', ok: true }],
    next: expect.arrayContaining([
      `Before you start Codex: export CODEX_CA_CERTIFICATE='${caFile}'`,
    ]),
  })
})

test("a setup reports a server's certificate that Codex rejects, because it is marked as an authority", async () => {
  const { port } = await aServer((request, response) => goodGateway(request, response), {
    certificate: 'self-signed.pem',
  })
  const home = aHome()
  copyFileSync(tlsFile('self-signed.pem'), home.at('gw.pem'))
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: `https://127.0.0.1:${port}` }
  const warnings = async (client: string) => {
    const words = [client, ...setUp, '--ca-file', 'gw.pem', '--dry-run']
    const { status, stdout } = await runInProcess(home, words, { env })
    expect(status).toBe(0)
    return stdout
  }
  expect(await warnings('codex')).toContain('it is marked as an authority (CA:TRUE)')
  expect(await warnings('opencode')).not.toContain('CA:TRUE')
})

test('a setup writes the authority into the settings of Claude Code, and a rollback removes it', async () => {
  const { home, run, caFile } = await aPrivateGateway()
  const { status, stdout } = await run(['claude', ...setUp, '--ca-file', 'ca.pem'])
  expect(status).toBe(0)
  expect(stdout).not.toContain('authority-unknown')
  expect(JSON.parse(home.text('.claude/settings.json')).env.NODE_EXTRA_CA_CERTS).toBe(caFile)
  await run(['rollback', '--yes'])
  expect(home.text('.claude/settings.json')).toBe('{}\n')
})

test('a setup keeps another file that Claude Code already names, and reports it', async () => {
  const settings = '{ "env": { "NODE_EXTRA_CA_CERTS": "/etc/proxy.pem" } }\n'
  const { home, documentOf } = await aPrivateGateway(settings)
  const { warnings } = await documentOf(['claude', ...setUp, '--ca-file', 'ca.pem'])
  const message = expect.stringContaining('/etc/proxy.pem')
  expect(warnings).toContainEqual(expect.objectContaining({ code: 'authority-unknown', message }))
  const { env } = JSON.parse(home.text('.claude/settings.json'))
  expect(env.NODE_EXTRA_CA_CERTS).toBe('/etc/proxy.pem')
})

test('later commands remember the file of --ca-file', async () => {
  const { home, run, caFile } = await aPrivateGateway()
  expect((await run(['codex', ...setUp])).json).toMatchObject({ error: { code: 'tls' } })
  expect((await run(['codex', ...setUp, '--ca-file', 'ca.pem'])).status).toBe(0)

  for (const args of [['codex', ...setUp], ['claude', ...setUp], ['models']])
    expect((await run(args)).status).toBe(0)
  const { env } = JSON.parse(home.text('.claude/settings.json'))
  expect(env.NODE_EXTRA_CA_CERTS).toBe(caFile)

  const { json, status } = await run(['doctor', '--json'])
  const { checks } = json as Document
  expect(status).toBe(0)
  expect(checks.filter(({ id }) => id === 'probe')).toHaveLength(2)
  expect(checks.filter(({ id }) => id === 'authority-unknown')).toMatchObject([
    { about: 'codex', result: 'warning', cure: expect.stringContaining(caFile) },
  ])
})

test('the cures of doctor contain the flags that they need', async () => {
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
  const found = (json as Document).checks.find(({ id }) => id === 'key-missing')
  expect(found?.cure).toBe(`repoint claude ${given.join(' ')} "${home.at('our authority.pem')}"`)
})

test('a setup reports a file that others may replace, before the question', async () => {
  const { home, run } = await aPrivateGateway()
  home.put('shared/ca.pem', home.text('ca.pem'))
  const dryRunText = async () =>
    (await run(['codex', ...setUp, '--ca-file', 'shared/ca.pem', '--dry-run'])).stdout
  expect(await dryRunText()).not.toContain('open-to-others')
  chmodSync(home.at('shared'), 0o777)
  expect(await dryRunText()).toContain('"code":"open-to-others"')
  expect(await dryRunText()).toContain('chmod go-w ~/shared')
})

/** Which authorities each client reads, as observed with a test authority. */
describe('which authorities a client trusts', () => {
  const reads = {
    codex: ['CODEX_CA_CERTIFICATE', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
    claude: ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
    opencode: ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
    kilo: ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
    droid: ['FACTORY_EXTRA_CA_CERTS', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
    cline: ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
    pi: ['NODE_EXTRA_CA_CERTS'],
    qwen: ['NODE_EXTRA_CA_CERTS'],
  }
  const variables = [...new Set(Object.values(reads).flat())]
  const cells = Object.entries(reads).flatMap(([client, known]) =>
    variables.map((name) => ({ client, name, isKnown: known.includes(name) })),
  )

  test.each(cells)('$client with $name: $isKnown', async ({ client, name, isKnown }) => {
    const { home, run, caFile } = await aPrivateGateway()
    home.put('folder/ca.pem', home.text('ca.pem'))
    const value = name.endsWith('_DIR') ? home.at('folder') : caFile
    const { json } = await run([client, ...setUp], { [name]: value })
    if (isKnown) return expect(json).toMatchObject({ changed: true })

    expect(json).toMatchObject({ changed: false, error: { code: 'tls' } })
    const { hint } = (json as { error: { hint: string } }).error
    if (name === 'NODE_EXTRA_CA_CERTS') expect(hint).toContain(`does not read ${name}`)
    expect(hint).toContain(reads[client as keyof typeof reads][0])
  })

  test("Claude Code without the system's authorities trusts only those of its variable", async () => {
    const { run, caFile } = await aPrivateGateway()
    const bundled = { CLAUDE_CODE_CERT_STORE: 'bundled' }
    const refused = await run(['claude', ...setUp], { ...bundled, SSL_CERT_FILE: caFile })
    expect(refused.json).toMatchObject({ error: { code: 'tls' } })
    const withBoth = await run(['claude', ...setUp], { ...bundled, NODE_EXTRA_CA_CERTS: caFile })
    expect(withBoth.json).toMatchObject({ changed: true })
  })

  test('a setup of several clients names the one that does not trust the authority', async () => {
    const { run, caFile } = await aPrivateGateway()
    const both = ['setup', 'codex', 'opencode', '--yes', '--json']
    expect((await run(both, { SSL_CERT_FILE: caFile })).json).toMatchObject({ changed: true })
    const { json } = await aPrivateGateway().then((other) =>
      other.run(both, { NODE_EXTRA_CA_CERTS: other.caFile }),
    )
    expect(json).toMatchObject({
      changed: false,
      error: { code: 'tls', hint: expect.stringContaining('Codex reads certificates from') },
    })
  })

  test('doctor says for which client the variable makes a difference', async () => {
    const { run, documentOf, caFile } = await aPrivateGateway()
    await run(['codex', ...setUp], { CODEX_CA_CERTIFICATE: caFile })
    const checksWith = async (name: string) =>
      (await documentOf(['doctor', 'codex', '--json'], { [name]: caFile })).checks
    const message = expect.stringContaining('by an authority of CODEX_CA_CERTIFICATE')
    expect(await checksWith('CODEX_CA_CERTIFICATE')).toContainEqual(
      expect.objectContaining({ id: 'network', message }),
    )
    const cure = expect.stringContaining('does not read NODE_EXTRA_CA_CERTS')
    expect(await checksWith('NODE_EXTRA_CA_CERTS')).toContainEqual(
      expect.objectContaining({ id: 'tls', cure }),
    )
  })
})
